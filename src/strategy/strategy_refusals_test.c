/* Sources that break a promise (spec 02 §2): refused before the first write, on first builds and on later ones. */
#include "strategy/strategy_fixture.h"

#define P "TIMESTAMP '2026-07-02 12:00:00'"

/* The keyed strategies, each with what it needs. */
static const Delivery keyed[] = {
    {.kind = STRATEGY_MERGE, .key = "id"},
    {.kind = STRATEGY_FULL_MERGE, .key = "id"},
    {.kind = STRATEGY_HASH_MERGE, .key = "id"},
    {.kind = STRATEGY_SCD, .key = "id", .now = P},
    {.kind = STRATEGY_SCD, .key = "id", .now = P, .time = "seen"},
    {.kind = STRATEGY_INCREMENTAL, .key = "id", .time = "seen"},
};

/* Each keyed strategy on a first build and on a later one, as it is and with the least an engine can do. */
static void refuse_everywhere(Fixture *f, const char *source, const char *key, const char *code, const char *part) {
    for (size_t i = 0; i < COUNT_OF(keyed) * 4; i++) {
        Delivery delivery = keyed[i / 4];
        delivery.is_minimal = i % 2 == 1;
        delivery.key = key;
        run_sql(f, "DROP TABLE IF EXISTS t");
        if (i / 2 % 2 == 1) {
            delivery.source = "SELECT 1 AS id, 0 AS part, 'old' AS v, TIMESTAMP '2026-07-01' AS seen";
            (void)deliver(f, delivery);
        }
        delivery.source = source;
        deliver_refused(f, delivery);
        assert_int_equal(f->err.kind, ERROR_EXECUTION);
        assert_str(error_detail_find(&f->err, STR("code")), code);
        assert_contains(f->err.message, part);
    }
}

static void test_02_2_1_repeated_keys_are_refused(void **state) {
    Fixture *f = *state;
    const char *source = "SELECT id, 0 AS part, 'x' || row_number() OVER () AS v, TIMESTAMP '2026-07-01' AS seen "
                         "FROM unnest([1, 7, 1, 2, 7, 1]) u(id)";
    refuse_everywhere(f, source, "id", "duplicate_key", "x3, (7");
    assert_contains(f->err.message, "2 key values repeat over 5 rows, e.g. (1) x3, (7) x2");
    assert_str(error_detail_find(&f->err, STR("sample")),
               "[{\"key\":{\"id\":1},\"count\":3},{\"key\":{\"id\":7},\"count\":2}]");
    assert_str(error_detail_find(&f->err, STR("repeated")), "2");
    assert_str(error_detail_find(&f->err, STR("rows")), "5");
    assert_str(error_detail_find(&f->err, STR("key")), "[\"id\"]");
}

static void repeated_keys_are_sampled_by_frequency_then_key(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_MERGE, .key = "n,count"};
    delivery.source = "SELECT n, 'k' AS count, 'v' AS repeats FROM unnest([9,9,8,8,7,7,6,6,5,5,4,4,4]) u(n)";
    deliver_refused(f, delivery);
    assert_contains(f->err.message, "key (n, count) is not unique in the source: 6 key values repeat over 13 rows, "
                                    "e.g. (4, k) x3, (5, k) x2, (6, k) x2, (7, k) x2, (8, k) x2");
}

static void test_02_2_2_equal_rows_collapse_where_the_source_is_a_set(void **state) {
    Fixture *f = *state;
    const char *source =
        "SELECT id, 'v' || id AS v, TIMESTAMP '2026-07-01' AS seen FROM unnest([1, 1, 2, 2, 2, 3]) u(id)";
    for (size_t i = 0; i < COUNT_OF(keyed) * 2; i++) {
        Delivery delivery = keyed[i / 2];
        delivery.is_minimal = i % 2 == 1;
        delivery.source = source;
        run_sql(f, "DROP TABLE IF EXISTS t");
        if (delivery.kind != STRATEGY_FULL_MERGE && delivery.kind != STRATEGY_SCD) {
            deliver_refused(f, delivery);
            continue;
        }
        assert_delivery(f, delivery, "+3");
        assert_rows(f, "SELECT id, v FROM t ORDER BY id", "1|v1;2|v2;3|v3");
        assert_delivery(f, delivery, "—");
        run_sql(f, "DELETE FROM t WHERE id = 2");
        assert_delivery(f, delivery, "+1");
    }
}

static void test_02_2_3_null_keys_are_refused(void **state) {
    Fixture *f = *state;
    refuse_everywhere(f,
                      "SELECT id, 0 AS part, 'x' AS v, TIMESTAMP '2026-07-01' AS seen FROM unnest([1, NULL, 2]) u(id)",
                      "id", "null_key", "1 source row has NULL in key column(s) id, e.g. {id: NULL, part: 0, v: x");
    refuse_everywhere(f,
                      "SELECT 5 AS id, part, 'x' AS v, TIMESTAMP '2026-07-01' AS seen FROM unnest([1, NULL, NULL]) "
                      "u(part)",
                      "id,part", "null_key", "2 source rows have NULL in key column(s) part, e.g. {id: 5, part: NULL");
    assert_contains(error_detail_find(&f->err, STR("sample")), "[{\"id\":5,\"part\":null,\"v\":\"x\"");
    assert_str(error_detail_find(&f->err, STR("rows")), "2");
}

static void test_02_2_4_null_keys_in_the_target_are_tolerated(void **state) {
    Fixture *f = *state;
    static const struct {
        StrategyKind kind;
        const char *counts, *rows;
    } cases[] = {
        {STRATEGY_MERGE, "+1 ~1", "1|y;2|x;NULL|old"},
        {STRATEGY_HASH_MERGE, "+1 ~1", "1|y;2|x;NULL|old"},
        {STRATEGY_FULL_MERGE, "+1 ~1 -1", "1|y;2|x"},
    };
    for (size_t i = 0; i < COUNT_OF(cases) * 2; i++) {
        run_sql(f, "CREATE OR REPLACE TABLE t (id INTEGER, v VARCHAR, _hash VARCHAR); "
                   "INSERT INTO t VALUES (NULL, 'old', ''), (1, 'x', '')");
        Delivery delivery = {.kind = cases[i / 2].kind, .key = "id", .is_external = true, .is_minimal = i % 2 == 1};
        delivery.source = "SELECT 2 AS id, 'x' AS v UNION ALL SELECT 1, 'y'";
        assert_delivery(f, delivery, cases[i / 2].counts);
        assert_rows(f, "SELECT id, v FROM t ORDER BY id NULLS LAST", cases[i / 2].rows);
    }
}

/* Several of them, by both kinds of scd: each version is ended, and counted, once. */
static void test_02_2_4_versions_with_a_null_key_are_ended_once(void **state) {
    Fixture *f = *state;
    for (int i = 0; i < 4; i++) {
        run_sql(f,
                "CREATE OR REPLACE TABLE t (id INTEGER, part INTEGER, v VARCHAR, e TIMESTAMP, _valid_from TIMESTAMP, "
                "_valid_to TIMESTAMP); INSERT INTO t SELECT u.*, '2026-07-01', '2026-07-01', NULL FROM (VALUES "
                "(NULL, 1, 'a'), (NULL, 1, 'a'), (NULL, NULL, 'b'), (1, 1, 'x'), (1, 2, 'x'), (3, 3, 'gone')) u");
        Delivery delivery = {
            .kind = STRATEGY_SCD, .key = "id,part", .is_external = true, .is_minimal = i % 2 == 1, .now = P};
        delivery.time = i / 2 == 1 ? "e" : NULL;
        delivery.source = "SELECT id, part, v, TIMESTAMP '2026-07-01' + to_days((v = 'y')::INTEGER) AS e FROM "
                          "(VALUES (1, 1, 'x'), (1, 2, 'y'), (2, 2, 'x')) u(id, part, v)";
        assert_delivery(f, delivery, "+2 ~5");
        assert_rows(f, "SELECT id, part, v FROM t WHERE _valid_to IS NULL ORDER BY ALL", "1|1|x;1|2|y;2|2|x");
        assert_delivery(f, delivery, "—");
    }
}

static void test_02_2_5_a_source_is_evaluated_once(void **state) {
    Fixture *f = *state;
    Delivery delivery = {
        .kind = STRATEGY_FULL_MERGE, .key = "id", .source = "SELECT range AS id, random() AS r FROM range(100)"};
    assert_delivery(f, delivery, "+100");
    assert_delivery(f, delivery, "~100");
    delivery.source = "SELECT (random() * 1000000)::INTEGER AS id, random() AS r";
    assert_contains(deliver(f, delivery), "+1 -100");
    assert_int_equal(query_number(f, "SELECT count(*) FROM t"), 1);
}

static void test_02_2_6_null_and_empty_text_differ(void **state) {
    Fixture *f = *state;
    static const StrategyKind comparing[] = {STRATEGY_FULL_MERGE, STRATEGY_HASH_MERGE, STRATEGY_SCD};
    for (size_t i = 0; i < COUNT_OF(comparing); i++) {
        run_sql(f, "DROP TABLE IF EXISTS t");
        Delivery delivery = {.kind = comparing[i], .key = "id", .now = P};
        const char *changed = comparing[i] == STRATEGY_SCD ? "+2 ~2" : "~2";
        delivery.source = "SELECT 1 AS id, NULL::VARCHAR AS v, 'NaN'::DOUBLE AS n UNION ALL SELECT 2, '', 'NaN'";
        assert_delivery(f, delivery, "+2");
        assert_delivery(f, delivery, "—");
        delivery.source = "SELECT 1 AS id, '' AS v, 'NaN'::DOUBLE AS n UNION ALL SELECT 2, NULL, 'NaN'";
        assert_delivery(f, delivery, changed);
        assert_delivery(f, delivery, "—");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
        CASE(test_02_2_1_repeated_keys_are_refused),
        CASE(repeated_keys_are_sampled_by_frequency_then_key),
        CASE(test_02_2_2_equal_rows_collapse_where_the_source_is_a_set),
        CASE(test_02_2_3_null_keys_are_refused),
        CASE(test_02_2_4_null_keys_in_the_target_are_tolerated),
        CASE(test_02_2_4_versions_with_a_null_key_are_ended_once),
        CASE(test_02_2_5_a_source_is_evaluated_once),
        CASE(test_02_2_6_null_and_empty_text_differ),
    };
    return cmocka_run_group_tests_name("strategy_refusals", tests, NULL, NULL);
}
