/* Columns that come, go, move and change their type: the table of spec 02 §14, cell by cell, on owned and external
 * targets, and spec 01 §12.3. */
#include "strategy/strategy_fixture.h"

#define DAY "DATE '2026-07-02'"
#define WINDOW .time = "d", .start = DAY, .end = "DATE '2026-07-03'"

/* Row 1 is supplied again with the same values, row 2 is not, row 3 is new. Row 2 lies in another window. */
static const char base[] = "SELECT * FROM (VALUES (1, 'a', " DAY "), (2, 'b', DATE '2026-07-01')) r(id, v, d)";
static const char more[] = "SELECT * FROM (VALUES (1, 'a', " DAY ", 'x'), (3, 'c', " DAY ", NULL)) r(id, v, d, extra)";
static const char wide[] =
    "SELECT * FROM (VALUES (1, 'a', " DAY ", 'p'), (2, 'b', DATE '2026-07-01', 'q')) r(id, v, d, extra)";
static const char less[] = "SELECT * FROM (VALUES (1, 'a', " DAY "), (3, 'c', " DAY ")) r(id, v, d)";

typedef struct Cell {
    Delivery delivery;
    const char *added, *added_counts; /* id, v, extra afterwards */
    const char *gone, *gone_counts;
    const char *query; /* NULL: id, v, extra */
} Cell;

#define VERSION_ROWS "SELECT id, v, extra, _valid_to IS NULL FROM t ORDER BY id, _valid_from, v"

/* clang-format off */
static const Cell cells[] = {
    {{.kind = STRATEGY_REPLACE, .is_external = true},
     "1|a|x;3|c|NULL", "+2 -2", "1|a|NULL;3|c|NULL", "+2 -2", NULL},
    {{.kind = STRATEGY_APPEND, .is_external = true},
     "1|a|NULL;1|a|x;2|b|NULL;3|c|NULL", "+2", "1|a|NULL;1|a|p;2|b|q;3|c|NULL", "+2", NULL},
    {{.kind = STRATEGY_MERGE, .key = "id"},
     "1|a|x;2|b|NULL;3|c|NULL", "+1 ~1", "1|a|p;2|b|q;3|c|NULL", "+1 ~1", NULL},
    {{.kind = STRATEGY_INCREMENTAL, .key = "id", WINDOW},
     "1|a|x;2|b|NULL;3|c|NULL", "+1 ~1", "1|a|p;2|b|q;3|c|NULL", "+1 ~1", NULL},
    {{.kind = STRATEGY_FULL_MERGE, .key = "id"},
     "1|a|x;3|c|NULL", "+1 ~1 -1", "1|a|p;3|c|NULL", "+1 -1", NULL},
    {{.kind = STRATEGY_HASH_MERGE, .key = "id"},
     "1|a|x;2|b|NULL;3|c|NULL", "+1 ~1", "1|a|p;2|b|q;3|c|NULL", "+1 ~1", NULL},
    {{.kind = STRATEGY_SCD, .key = "id", .now = "TIMESTAMP '2026-08-01'"},
     "1|a|NULL|false;1|a|x|true;2|b|NULL|false;3|c|NULL|true", "+2 ~2",
     "1|a|p|true;2|b|q|false;3|c|NULL|true", "+1 ~1", VERSION_ROWS},
    {{.kind = STRATEGY_INCREMENTAL, WINDOW},
     "1|a|x;2|b|NULL;3|c|NULL", "+2 -1", "1|a|NULL;2|b|q;3|c|NULL", "+2 -1", NULL},
};
/* clang-format on */

static const char plain_rows[] = "SELECT id, v, extra FROM t ORDER BY id, v, extra NULLS FIRST";

static Delivery first_of(const Cell *cell, const char *source) {
    Delivery first = cell->delivery;
    first.source = source;
    first.start = first.end = NULL;
    first.now = "TIMESTAMP '2026-07-10'";
    return first;
}

static void play(Fixture *f, const Cell *cell, bool is_external, bool is_minimal) {
    Cell played = *cell;
    const char *query = cell->query != NULL ? cell->query : plain_rows;
    played.delivery.is_external = is_external || cell->delivery.is_external;
    played.delivery.is_minimal = is_minimal;
    print_message("# %s%s%s\n", strategy_name(cell->delivery.kind), is_external ? ", external" : "",
                  is_minimal ? ", minimal" : "");

    run_sql(f, "DROP TABLE IF EXISTS t");
    (void)deliver(f, first_of(&played, base));
    played.delivery.source = more;
    assert_delivery(f, played.delivery, cell->added_counts);
    assert_rows(f, query, cell->added);
    assert_contains(delivery_notes(), "column 'extra' (VARCHAR) is added");

    run_sql(f, "DROP TABLE t");
    (void)deliver(f, first_of(&played, wide));
    played.delivery.source = less;
    assert_delivery(f, played.delivery, cell->gone_counts);
    assert_rows(f, query, cell->gone);
}

static void test_02_14_1_every_cell(void **state) {
    for (size_t i = 0; i < COUNT_OF(cells); i++) {
        play(*state, &cells[i], true, i % 2 == 0);
    }
}

static void test_02_14_2_every_cell_on_owned_tables(void **state) {
    for (size_t i = 0; i < COUNT_OF(cells); i++) {
        if (!cells[i].delivery.is_external) {
            play(*state, &cells[i], false, i % 2 == 1);
        }
    }
}

static void owned_replace_follows_the_query(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_REPLACE, .source = wide};
    assert_delivery(f, delivery, "+2");
    delivery.source = less;
    assert_delivery(f, delivery, "+2");
    assert_rows(f,
                "SELECT string_agg(column_name, ',' ORDER BY column_index) FROM duckdb_columns() "
                "WHERE table_name = 't'",
                "id,v,d");
}

static void unproduced_columns_take_their_default(void **state) {
    Fixture *f = *state;
    static const StrategyKind kinds[] = {STRATEGY_APPEND, STRATEGY_MERGE};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        run_sql(f, "CREATE OR REPLACE TABLE t (id INTEGER, v VARCHAR, extra VARCHAR DEFAULT 'dflt')");
        Delivery delivery = {.kind = kinds[i], .key = "id", .is_external = true, .source = "SELECT 1 AS id, 'a' AS v"};
        assert_delivery(f, delivery, "+1");
        assert_rows(f, plain_rows, "1|a|dflt");
    }
}

static void test_01_12_3_replace_says_what_it_resets(void **state) {
    Fixture *f = *state;
    run_sql(f, "CREATE TABLE t (id INTEGER, note VARCHAR); INSERT INTO t VALUES (1, 'mine')");
    Delivery delivery = {.kind = STRATEGY_REPLACE, .is_external = true, .source = "SELECT 1 AS id"};
    assert_delivery(f, delivery, "+1 -1");
    assert_rows(f, "FROM t", "1|NULL");
    assert_contains(delivery_notes(), "'note'");
}

static void test_02_14_4_columns_after_the_validity_pair(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_SCD, .key = "id", .now = "TIMESTAMP '2026-07-10'"};
    delivery.source = "SELECT 1 AS id";
    assert_delivery(f, delivery, "+1");
    delivery.now = "TIMESTAMP '2026-07-11'";
    delivery.source = "SELECT TIMESTAMP '2000-01-01' AS extra, 1 AS id";
    assert_delivery(f, delivery, "+1 ~1");
    assert_rows(f, "SELECT * FROM t ORDER BY _valid_from",
                "1|2026-07-10 00:00:00|2026-07-11 00:00:00|NULL;1|2026-07-11 00:00:00|NULL|2000-01-01 00:00:00");
}

static void test_02_14_5_reordered_columns_stay_where_they_are(void **state) {
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(cells); i++) {
        run_sql(f, "DROP TABLE IF EXISTS t");
        (void)deliver(f, first_of(&cells[i], "SELECT 1 AS id, 'Ada' AS first, 'Byron' AS last, " DAY " AS d"));
        Delivery delivery = cells[i].delivery;
        delivery.source = "SELECT 'Byron' AS \"LAST\", " DAY " AS D, 'Ada' AS First, 1 AS Id";
        Str counts = deliver(f, delivery);
        assert_rows(f, "SELECT DISTINCT id, first, last FROM t", "1|Ada|Byron");
        assert_int_equal(query_number(f, "SELECT count(*) FROM duckdb_columns() WHERE table_name = 't' AND "
                                         "column_name[1] != '_'"),
                         4);
        bool compares = delivery.kind == STRATEGY_FULL_MERGE || delivery.kind == STRATEGY_HASH_MERGE ||
                        delivery.kind == STRATEGY_SCD;
        assert_int_equal(compares, str_equal(counts, STR("—")));
    }
}

/* --- Types -------------------------------------------------------------------------------------------------------- */

static Delivery drift(Fixture *f, const Cell *cell, const char *value) {
    Delivery delivery = cell->delivery;
    Str source = str_format(f->arena, "SELECT 1 AS id, %s AS v, " DAY " AS d", value);
    delivery.source = str_to_c(f->arena, source);
    return delivery;
}

static void build_integer(Fixture *f, const Cell *cell) {
    run_sql(f, "DROP TABLE IF EXISTS t");
    (void)deliver(f, first_of(cell, "SELECT 1 AS id, 5::INTEGER AS v, " DAY " AS d"));
}

static void test_02_14_3_values_are_cast_to_the_stored_type(void **state) {
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(cells); i++) {
        build_integer(f, &cells[i]);
        (void)deliver(f, drift(f, &cells[i], "'7'"));
        assert_rows(f, "SELECT max(v), max(typeof(v)) FROM t", "7|INTEGER");
        deliver_refused(f, drift(f, &cells[i], "unnest(['8', 'junk'])"));
        assert_int_equal(f->err.kind, ERROR_EXECUTION);
        assert_str(error_detail_find(&f->err, STR("code")), "cast");
        assert_contains(f->err.message, "value 'junk' of column 'v' does not convert to INTEGER");
    }
}

static void keys_are_compared_after_the_cast(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_MERGE, .key = "id", .source = "SELECT 1 AS id, 'a' AS v"};
    assert_delivery(f, delivery, "+1");
    delivery.source = "SELECT unnest(['1', '01']) AS id, 'b' AS v";
    deliver_refused(f, delivery);
    assert_contains(f->err.message, "(1) x2");
    delivery.source = "SELECT '01' AS id, 'b' AS v";
    assert_delivery(f, delivery, "~1");
}

static void test_01_12_3_numbers_widen_in_place(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *stored, *arriving, *afterwards;
    } types[] = {
        {"TINYINT", "SMALLINT", "SMALLINT"}, {"INTEGER", "BIGINT", "BIGINT"},   {"SMALLINT", "FLOAT", "FLOAT"},
        {"INTEGER", "FLOAT", "INTEGER"},     {"INTEGER", "DOUBLE", "DOUBLE"},   {"BIGINT", "DOUBLE", "DOUBLE"},
        {"FLOAT", "DOUBLE", "DOUBLE"},       {"BIGINT", "INTEGER", "BIGINT"},   {"DOUBLE", "TINYINT", "DOUBLE"},
        {"INTEGER", "HUGEINT", "INTEGER"},   {"VARCHAR", "INTEGER", "VARCHAR"},
    };
    for (size_t i = 0; i < COUNT_OF(types) * COUNT_OF(cells); i++) {
        const Cell *cell = &cells[i % COUNT_OF(cells)];
        size_t at = i / COUNT_OF(cells);
        run_sql(f, "DROP TABLE IF EXISTS t");
        Str source = str_format(f->arena, "SELECT 1 AS id, 5::%s AS v, " DAY " AS d", types[at].stored);
        (void)deliver(f, first_of(cell, str_to_c(f->arena, source)));
        Str value = str_format(f->arena, "6::%s", types[at].arriving);
        (void)deliver(f, drift(f, cell, str_to_c(f->arena, value)));
        assert_rows(f, "SELECT DISTINCT typeof(v) FROM t", types[at].afterwards);
        assert_int_equal(query_number(f, "SELECT count(*) FROM t WHERE v::INTEGER = 6"), 1);
    }
}

static void widening_to_double_that_rounds_is_refused(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_MERGE, .key = "id"};
    delivery.source = "SELECT 1 AS id, 9007199254740993 AS v";
    assert_delivery(f, delivery, "+1");
    delivery.source = "SELECT 2 AS id, 0.5::DOUBLE AS v";
    deliver_refused(f, delivery);
    assert_contains(f->err.message, "value '9007199254740993' of column 'v' does not convert to DOUBLE");
    run_sql(f, "UPDATE t SET v = 9007199254740992");
    assert_delivery(f, delivery, "+1");
}

/* --- Policies ----------------------------------------------------------------------------------------------------- */

static void test_01_12_5_reject_forbids_changes(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_MERGE, .key = "id", .is_external = true, .policy = "reject"};
    run_sql(f, "CREATE TABLE t (id INTEGER, v INTEGER)");
    delivery.source = "SELECT 1 AS id, 2 AS v, 3 AS extra";
    deliver_refused(f, delivery);
    assert_int_equal(f->err.kind, ERROR_PLAN);
    assert_contains(f->err.message, "column 'extra' is not in the target");
    delivery.source = "SELECT 1 AS id, '2' AS v";
    deliver_refused(f, delivery);
    assert_int_equal(f->err.kind, ERROR_PLAN);
    assert_contains(f->err.message, "column 'v' is INTEGER in the target and VARCHAR in the query");
    delivery.source = "SELECT 1 AS id, 2::BIGINT AS v";
    assert_delivery(f, delivery, "+1");
    assert_rows(f, "SELECT typeof(v) FROM t", "BIGINT");
}

static void ignore_leaves_the_mismatch_to_the_engine(void **state) {
    Fixture *f = *state;
    Delivery delivery = {.kind = STRATEGY_MERGE, .key = "id", .is_external = true, .policy = "ignore"};
    run_sql(f, "CREATE TABLE t (id INTEGER)");
    delivery.source = "SELECT 1 AS id, 3 AS extra";
    deliver_refused(f, delivery);
    assert_contains(f->err.message, "extra");
    delivery.source = "SELECT 1::BIGINT AS id";
    assert_delivery(f, delivery, "+1");
    assert_rows(f, "SELECT typeof(id) FROM t", "INTEGER");
}

/* What a build of hash_merge makes of a copy that merge filled: the same hashes as if it had always been one. */
static void test_02_13_hashes_of_copied_rows_are_those_of_a_first_build(void **state) {
    Fixture *f = *state;
    Delivery merge = {.kind = STRATEGY_MERGE, .key = "id"};
    Delivery hashed = {.kind = STRATEGY_HASH_MERGE, .key = "id"};
    merge.source = "SELECT 1 AS id, 10 AS n, 'a{' AS \"v {all @}\", TIMESTAMPTZ '2026-07-01 00:00:00+00' AS at";
    hashed.source =
        "SELECT 1 AS id, 10::BIGINT AS n, 'a{' AS \"v {all @}\", TIMESTAMPTZ '2026-07-01 00:00:00+00' AS at";
    assert_delivery(f, hashed, "+1");
    run_sql(f, "CREATE TABLE anew AS SELECT _hash FROM t");
    run_sql(f, "DROP TABLE t");
    assert_delivery(f, merge, "+1");
    assert_delivery(f, hashed, "—");
    assert_rows(f, "SELECT typeof(n), _hash = (SELECT _hash FROM anew) FROM t", "BIGINT|true");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
        CASE(test_02_14_1_every_cell),
        CASE(test_02_14_2_every_cell_on_owned_tables),
        CASE(owned_replace_follows_the_query),
        CASE(unproduced_columns_take_their_default),
        CASE(test_01_12_3_replace_says_what_it_resets),
        CASE(test_02_14_4_columns_after_the_validity_pair),
        CASE(test_02_14_5_reordered_columns_stay_where_they_are),
        CASE(test_02_14_3_values_are_cast_to_the_stored_type),
        CASE(keys_are_compared_after_the_cast),
        CASE(test_01_12_3_numbers_widen_in_place),
        CASE(widening_to_double_that_rounds_is_refused),
        CASE(test_01_12_5_reject_forbids_changes),
        CASE(test_02_13_hashes_of_copied_rows_are_those_of_a_first_build),
        CASE(ignore_leaves_the_mismatch_to_the_engine),
    };
    return cmocka_run_group_tests_name("strategy_drift", tests, NULL, NULL);
}
