/* What each strategy counts, compares and leaves alone (spec 02 §3–5). */
#include "strategy/strategy_fixture.h"

#define P "TIMESTAMP '2026-07-02 12:00:00'"

/* --- Counts and hashes -------------------------------------------------------------------------------------------- */

static void test_02_3_2_merge_tells_new_from_matched(void **state) {
    Fixture *f = *state;
    for (int i = 0; i < 4; i++) {
        Delivery delivery = {.kind = STRATEGY_MERGE, .key = "id", .is_minimal = i % 2 == 1, .is_external = i > 1};
        run_sql(f, "DROP TABLE IF EXISTS t");
        delivery.source = "SELECT range AS id, 'a' AS v FROM range(600)";
        assert_delivery(f, delivery, "+600");
        delivery.source = "SELECT range AS id, 'b' AS v FROM range(1000)";
        assert_delivery(f, delivery, "+400 ~600");
    }
}

static void test_02_4_4_hashes_tell_neighbours_apart(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_HASH_MERGE, .key = "id"};
    delivery.source = "SELECT 1 AS id, 'a' AS v UNION ALL SELECT 2, NULL UNION ALL SELECT 3, ''";
    assert_delivery(f, delivery, "+3");
    assert_rows(f, "SELECT _hash FROM t ORDER BY id",
                "80b043f43e9c3b210165c4afcc2124b5;0e6cc73c21377be81e5886af565c2f30;f21d481af0c11b58a129f80d4fcc324a");
    run_sql(f, "DROP TABLE t");
    delivery.source = "SELECT 1 AS id, 'a' AS x, 'b:c' AS y";
    assert_delivery(f, delivery, "+1");
    delivery.source = "SELECT 1 AS id, 'a:b' AS x, 'c' AS y";
    assert_delivery(f, delivery, "~1");
    run_sql(f, "DROP TABLE t");
    delivery.source = "SELECT 1 AS id";
    assert_delivery(f, delivery, "+1");
    assert_rows(f, "SELECT _hash FROM t", "d41d8cd98f00b204e9800998ecf8427e");
}

static void hashes_do_not_depend_on_the_session_zone(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_HASH_MERGE, .key = "id"};
    delivery.source = "SELECT 1 AS id, TIMESTAMPTZ '2026-07-01 12:00:00.5+02' AS z, TIMESTAMPTZ 'infinity' AS i";
    run_sql(f, "SET TimeZone = 'Asia/Tokyo'");
    assert_delivery(f, delivery, "+1");
    Str tokyo = query_text(f, "SELECT _hash FROM t");
    run_sql(f, "SET TimeZone = 'UTC'");
    assert_delivery(f, delivery, "—");
    assert_rows(f,
                "SELECT md5(length(i) || ':' || i || ';' || length(z) || ':' || z || ';') FROM "
                "(SELECT i::VARCHAR AS i, z::VARCHAR AS z FROM t)",
                str_to_c(f->arena, tokyo));
}

/* Lists, structs and maps, one in the other, are written with the offset that a session in UTC gives. */
static void test_02_4_5_nested_times_do_not_depend_on_the_session_zone(void **state) {
    Fixture *f = *state;
    static const char *const values[] = {
        "[z, NULL, TIMESTAMPTZ 'infinity']",
        "CAST([z, z] AS TIMESTAMPTZ[2])",
        "{'a b\"c': z, 'n': 1, 'x,(y': [[z], NULL]}",
        "MAP {z: 'x', z + INTERVAL 1 DAY: NULL}",
        "MAP {'k, l': {'s': [MAP {1: z}], 'o': CAST(NULL AS STRUCT(t TIMESTAMPTZ))}}",
        "CAST(NULL AS STRUCT(t TIMESTAMPTZ)[])",
        "CAST(NULL AS MAP(TIMESTAMPTZ, INTEGER))",
    };
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        run_sql(f, "DROP TABLE IF EXISTS t");
        Delivery delivery = {.kind = STRATEGY_HASH_MERGE, .key = "id"};
        delivery.source = str_to_c(f->arena, str_format(f->arena,
                                                        "SELECT 1 AS id, %s AS v FROM (SELECT TIMESTAMPTZ "
                                                        "'2026-07-01 12:00:00.5+02' AS z)",
                                                        values[i]));
        run_sql(f, "SET TimeZone = 'Asia/Tokyo'");
        assert_delivery(f, delivery, "+1");
        run_sql(f, "SET TimeZone = 'UTC'");
        assert_rows(f, "SELECT _hash = md5(coalesce(length(v::VARCHAR) || ':' || v::VARCHAR || ';', 'n;')) FROM t",
                    "true");
        assert_delivery(f, delivery, "—");
    }
}

static void test_02_4_2_merge_keeps_other_columns_and_row_ids(void **state) {
    Fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        run_sql(f, "CREATE OR REPLACE TABLE t (id INTEGER, v VARCHAR, note VARCHAR DEFAULT 'new'); "
                   "INSERT INTO t VALUES (1, 'a', 'mine'), (2, 'b', 'yours')");
        Delivery delivery = {.kind = STRATEGY_MERGE, .key = "id", .is_external = true, .is_minimal = i == 1};
        delivery.source = "SELECT 1 AS id, 'A' AS v UNION ALL SELECT 3, 'c'";
        assert_delivery(f, delivery, "+1 ~1");
        assert_rows(f, "SELECT rowid, id, v, note FROM t ORDER BY id", "0|1|A|mine;1|2|b|yours;2|3|c|new");
    }
}

static void a_table_of_keys_alone_only_grows(void **state) {
    Fixture *f = *state;
    static const StrategyKind kinds[] = {STRATEGY_MERGE, STRATEGY_FULL_MERGE, STRATEGY_SCD};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        run_sql(f, "DROP TABLE IF EXISTS t");
        Delivery delivery = {.kind = kinds[i], .key = "id", .now = P};
        delivery.source = "SELECT 1 AS id UNION ALL SELECT 2";
        assert_delivery(f, delivery, "+2");
        delivery.source = "SELECT 1 AS id UNION ALL SELECT 2 UNION ALL SELECT 3";
        assert_delivery(f, delivery, "+1");
        assert_rows(f, "SELECT id FROM t ORDER BY id", "1;2;3");
    }
}

static void an_empty_source_empties_a_full_merge(void **state) {
    Fixture *f = *state;
    Delivery delivery = {
        .kind = STRATEGY_FULL_MERGE, .key = "id", .source = "SELECT range AS id, 'x' AS v FROM range(3)"};
    assert_delivery(f, delivery, "+3");
    delivery.source = "SELECT 1 AS id, 'x' AS v WHERE false";
    assert_delivery(f, delivery, "-3");
}

/* --- Windows ------------------------------------------------------------------------------------------------------ */

static void test_02_5_5_a_row_that_moves_between_windows(void **state) {
    Fixture *f = *state;
    for (int keyed_too = 0; keyed_too < 2; keyed_too++) {
        run_sql(f, "DROP TABLE IF EXISTS t");
        Delivery delivery = {.kind = STRATEGY_INCREMENTAL, .time = "seen", .key = keyed_too ? "id" : NULL};
        delivery.source = "SELECT 1 AS id, DATE '2026-07-01' AS seen";
        assert_delivery(f, delivery, "+1");
        delivery.source = "SELECT 1 AS id, DATE '2026-07-02' AS seen";
        delivery.start = "DATE '2026-07-02'";
        delivery.end = "DATE '2026-07-03'";
        assert_delivery(f, delivery, keyed_too ? "~1" : "+1");
        delivery.start = "DATE '2026-07-01'";
        delivery.end = "DATE '2026-07-02'";
        assert_delivery(f, delivery, keyed_too ? "—" : "-1");
        assert_rows(f, "SELECT * FROM t", "1|2026-07-02");
    }
}

static void windows_are_half_open_for_every_type_of_time(void **state) {
    Fixture *f = *state;
    static const char *const types[] = {"TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_NS", "TIMESTAMP_MS"};
    run_sql(f, "SET TimeZone = 'Asia/Tokyo'");
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        const char *type = str_equal(str_from(types[i]), STR("TIMESTAMPTZ")) ? "TIMESTAMPTZ" : "TIMESTAMP";
        Str bounds[3];
        for (size_t day = 0; day < COUNT_OF(bounds); day++) {
            bounds[day] = str_format(f->arena, "%s '2026-07-0%zu 00:00:00+00'", type, day + 1);
        }
        Str source = str_format(f->arena,
                                "SELECT id, seen::%s AS seen FROM (VALUES (1, %s '2026-07-01 23:59:59.999+00'), "
                                "(2, '2026-07-02 00:00:00+00'), (3, NULL)) r(id, seen)",
                                types[i], type);
        run_sql(f, "DROP TABLE IF EXISTS t");
        Delivery delivery = {.kind = STRATEGY_INCREMENTAL, .time = "seen", .source = str_to_c(f->arena, source)};
        delivery.start = str_to_c(f->arena, bounds[1]);
        delivery.end = str_to_c(f->arena, bounds[2]);
        assert_delivery(f, delivery, "+1");
        assert_rows(f, "SELECT id FROM t ORDER BY id", "2");
        delivery.start = str_to_c(f->arena, bounds[0]);
        delivery.end = str_to_c(f->arena, bounds[1]);
        assert_delivery(f, delivery, "+1");
        delivery.start = delivery.end = NULL;
        assert_delivery(f, delivery, "+2 -2");
    }
}

static void test_02_5_4_the_window_is_on_the_output(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_INCREMENTAL, .time = "seen"};
    delivery.source = "SELECT DATE '2026-07-01' + range::INTEGER AS seen, row_number() OVER (ORDER BY range) AS n "
                      "FROM range(30) ORDER BY 1 LIMIT 10 -- the first ten";
    delivery.start = "DATE '2026-07-10'";
    delivery.end = "DATE '2026-07-20'";
    assert_delivery(f, delivery, "+1");
    assert_rows(f, "SELECT seen, n FROM t", "2026-07-10|10");
}

static void case_026_text_is_no_time(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_INCREMENTAL, .time = "ts", .source = "SELECT 1 AS id, '2024-01-02' AS ts"};
    deliver_refused(f, delivery);
    assert_int_equal(f->err.kind, ERROR_EXECUTION);
    assert_contains(f->err.message, "time column 'ts' is VARCHAR");
    assert_contains(f->err.hint, "CAST(ts AS TIMESTAMP)");
}

/* --- Random sources ----------------------------------------------------------------------------------------------- */

static void test_02_4_6_forms_of_an_engine_agree(void **state) {
    Fixture *f = *state;
    static const StrategyKind kinds[] = {STRATEGY_MERGE, STRATEGY_FULL_MERGE, STRATEGY_HASH_MERGE, STRATEGY_SCD};
    for (int round = 0; round < 10; round++) {
        run_sql(f, "CREATE OR REPLACE TEMP TABLE old AS SELECT range AS id, (random() * 3)::INTEGER AS v "
                   "FROM range(50) WHERE random() < 0.6");
        run_sql(f, "CREATE OR REPLACE TEMP TABLE new AS SELECT range AS id, nullif((random() * 3)::INTEGER, 1) AS v "
                   "FROM range(50) WHERE random() < 0.6");
        for (size_t i = 0; i < COUNT_OF(kinds); i++) {
            Str counts[2];
            for (int is_minimal = 0; is_minimal < 2; is_minimal++) {
                run_sql(f, "DROP TABLE IF EXISTS t");
                Delivery delivery = {.kind = kinds[i], .key = "id", .now = P, .is_minimal = is_minimal == 1};
                delivery.source = "FROM old";
                (void)deliver(f, delivery);
                delivery.source = "FROM new";
                counts[is_minimal] = deliver(f, delivery);
                run_sql(f, is_minimal ? "CREATE OR REPLACE TEMP TABLE b AS FROM t"
                                      : "CREATE OR REPLACE TEMP TABLE a AS FROM t");
            }
            assert_str(counts[0], str_to_c(f->arena, counts[1]));
            assert_rows(f, "SELECT count(*) FROM (FROM a EXCEPT ALL FROM b UNION ALL (FROM b EXCEPT ALL FROM a))", "0");
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
        CASE(test_02_3_2_merge_tells_new_from_matched),
        CASE(test_02_4_4_hashes_tell_neighbours_apart),
        CASE(hashes_do_not_depend_on_the_session_zone),
        CASE(test_02_4_5_nested_times_do_not_depend_on_the_session_zone),
        CASE(test_02_4_2_merge_keeps_other_columns_and_row_ids),
        CASE(a_table_of_keys_alone_only_grows),
        CASE(an_empty_source_empties_a_full_merge),
        CASE(test_02_5_5_a_row_that_moves_between_windows),
        CASE(windows_are_half_open_for_every_type_of_time),
        CASE(test_02_5_4_the_window_is_on_the_output),
        CASE(case_026_text_is_no_time),
        CASE(test_02_4_6_forms_of_an_engine_agree),
    };
    return cmocka_run_group_tests_name("strategy_writes", tests, NULL, NULL);
}
