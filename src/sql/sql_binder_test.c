/* The columns of queries over empty tables, and what a failure says. */
#include "sql/sql_fixture.h"

#include "sql/sql_binder.h"

typedef struct Bound {
    SqlFixture *fixture;
    SqlBinder *binder;
} Bound;

static int setup(void **state) {
    if (sql_fixture_setup(state) != 0) {
        return 1;
    }
    Bound *bound = heap_alloc_zeroed(1, sizeof *bound);
    bound->fixture = *state;
    *state = bound;
    return failed(sql_binder_open_beside(bound->fixture->parser, &bound->binder, &bound->fixture->err)) ? 1 : 0;
}

static int teardown(void **state) {
    Bound *bound = *state;
    sql_binder_close(bound->binder);
    *state = bound->fixture;
    free(bound);
    return sql_fixture_teardown(state);
}

static const DuckColumn order_columns[] = {
    {STR_INIT("id"), STR_INIT("INTEGER")},
    {STR_INIT("amount"), STR_INIT("DECIMAL(18,2)")},
    {STR_INIT("day"), STR_INIT("DATE")},
    {STR_INIT("name"), STR_INIT("VARCHAR")},
};

static Status bind(Bound *bound, const char *sql, DuckColumnVec *columns_out) {
    SqlFixture *f = bound->fixture;
    DuckColumnVec orders = {.items = (DuckColumn *)(uintptr_t)order_columns, .count = COUNT_OF(order_columns)};
    SqlText text = whole_file(f->arena, source_file(f->arena, "m.sql", str_from(sql)));
    SqlAnalysis analysis = analyze(f, text.text);
    SqlBoundTable *tables = ARENA_NEW_ARRAY(f->arena, SqlBoundTable, analysis.facts->tables.count);
    for (size_t i = 0; i < analysis.facts->tables.count; i++) {
        bool is_known = !analysis.facts->tables.items[i].is_file &&
                        !str_equal(analysis.facts->tables.items[i].name, STR("elsewhere"));
        tables[i].columns = is_known ? &orders : NULL;
    }
    SqlText spliced;
    TRY(sql_binder_splice(bound->binder, &text, analysis.facts, tables, f->arena, &spliced, &f->err));
    return sql_binder_describe(bound->binder, &spliced, f->arena, columns_out, &f->err);
}

static void check_columns(Bound *bound, const char *sql, const char *expected) {
    DuckColumnVec columns = {0};
    AUTO(strbuf) StrBuf form = {0};
    if (failed(bind(bound, sql, &columns))) {
        fail_msg("%s: %.*s", sql, STR_ARG(bound->fixture->err.message));
    }
    for (size_t i = 0; i < columns.count; i++) {
        strbuf_format(&form, "%s" STR_FMT " " STR_FMT, i == 0 ? "" : ", ", STR_ARG(columns.items[i].name),
                      STR_ARG(columns.items[i].type));
    }
    check_text(sql, strbuf_str(&form), expected);
}

static void check_failure(Bound *bound, const char *sql, SqlBindVerdict verdict, const char *subject, size_t column) {
    DuckColumnVec columns = {0};
    assert_true(failed(bind(bound, sql, &columns)));
    assert_int_equal(sql_bind_verdict(&bound->fixture->err), verdict);
    check_text(sql, sql_bind_subject(&bound->fixture->err), subject);
    assert_int_equal(bound->fixture->err.place.column, column);
    error_clear(&bound->fixture->err);
}

static void test_columns_have_the_types_that_the_engine_gives(void **state) {
    check_columns(*state, "SELECT * FROM orders", "id INTEGER, amount DECIMAL(18,2), day DATE, name VARCHAR");
    check_columns(*state, "SELECT * EXCLUDE (id), sum(amount) OVER () AS total FROM raw.orders AS o",
                  "amount DECIMAL(18,2), day DATE, name VARCHAR, total DECIMAL(38,2)");
    check_columns(*state, "WITH a AS (SELECT day, count(*) AS n FROM orders GROUP BY day) SELECT * FROM a",
                  "day DATE, n BIGINT");
    check_columns(*state, "SELECT orders.id, x.day FROM orders JOIN orders AS x USING (id)", "id INTEGER, day DATE");
    check_columns(*state, "SELECT 1 AS one", "one INTEGER");
}

static void test_a_failure_names_what_is_wrong_and_where(void **state) {
    check_failure(*state, "SELECT amuont FROM orders", SQL_BIND_WRONG, "amuont", 8);
    check_failure(*state, "SELECT o.amuont FROM orders AS o", SQL_BIND_WRONG, "amuont", 8);
    check_failure(*state, "SELECT id FROM orders AS a JOIN orders AS b ON a.id = b.id", SQL_BIND_WRONG, "", 8);
    check_failure(*state, "SELECT sum(day) FROM orders", SQL_BIND_WRONG, "", 8);
    check_failure(*state, "SELECT id, suum(amount) FROM orders", SQL_BIND_UNKNOWN_FUNCTION, "suum", 12);
}

static void test_what_only_a_warehouse_can_tell_is_undecided(void **state) {
    check_failure(*state, "SELECT * FROM elsewhere", SQL_BIND_UNDECIDED, "", 15);
    check_failure(*state, "SELECT id::mood FROM orders", SQL_BIND_UNDECIDED, "", 12);
    check_failure(*state, "SELECT * FROM 'nothing.parquet'", SQL_BIND_UNDECIDED, "", 0);
}

static void test_only_a_binder_of_its_own_looks_at_files(void **state) {
    Bound *bound = *state;
    SqlFixture *f = bound->fixture;
    static const char sql[] = "SELECT filename, size FROM read_text('/proc/version')";
    check_failure(bound, sql, SQL_BIND_UNDECIDED, "", 28);

    SqlBinder *beside = bound->binder;
    assert_false(failed(sql_binder_open(STR("/"), &bound->binder, &f->err)));
    check_columns(bound, sql, "filename VARCHAR, size BIGINT");
    check_columns(bound, "SELECT id FROM orders", "id INTEGER");
    sql_binder_close(bound->binder);
    bound->binder = beside;
}

static void test_a_setting_of_the_engine_counts_and_an_unknown_one_does_not_harm(void **state) {
    Bound *bound = *state;
    sql_binder_set(bound->binder, STR("no_such_setting"), STR("1"));
    check_columns(bound, "SELECT 7 / 2 AS half", "half DOUBLE");
    sql_binder_set(bound->binder, STR("integer_division"), STR("true"));
    check_columns(bound, "SELECT 7 / 2 AS half", "half INTEGER");
}

static void test_a_text_that_is_compared_with_another_type_is_wrong(void **state) {
    static const struct {
        const char *sql;
        size_t column;
    } cases[] = {
        {"SELECT id FROM orders WHERE name = id", 34},
        {"SELECT id FROM orders WHERE day <> lower(name)", 33},
        {"SELECT (name == amount * 2) AS b FROM orders", 14},
        {"SELECT a.id FROM orders a LEFT JOIN orders b ON a.day = b.day AND a.name != b.id", 74},
        {"SELECT id FROM orders WHERE name NOT IN (SELECT id FROM orders)", 34},
        {"WITH c AS (SELECT name AS n FROM orders) SELECT id FROM orders WHERE id IN (FROM c)", 73},
        {"SELECT id FROM orders WHERE name = 1 + 1 AND id = name", 49},
        {"SELECT id FROM orders WHERE name = now()", 34},
        {"SELECT 1 AS a FROM orders JOIN (SELECT name AS id, day FROM orders) AS b USING (id)", 81},
        {"SELECT 1 AS a FROM orders LEFT OUTER JOIN (SELECT id AS name, day FROM orders) AS b USING (name, day)", 92},
        {"SELECT id FROM orders WHERE name = (day = '2026-01-01')", 34},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_failure(*state, cases[i].sql, SQL_BIND_WRONG, "", cases[i].column);
    }
}

static void test_what_the_engine_need_not_cast_row_by_row_is_not_wrong(void **state) {
    static const char *const conditions[] = {
        "name = 'a'",
        "id = '1'",
        "day = '2026-01-01'",
        "id = amount",
        "day = now()",
        "name = 1",
        "-1 = name",
        "name = NULL",
        "name = true",
        "name = id::VARCHAR",
        "name::DATE = day",
        "name = name || id",
        "id IN (1, 2)",
        "name IN (SELECT name FROM orders)",
        "(id, name) IN (SELECT id, name FROM orders)",
        "name = getvariable('x')",
        "id = ANY([1, 2])",
        "name = gen_random_uuid()",
        "name IS NOT DISTINCT FROM name",
        "EXISTS (FROM orders x WHERE x.id = orders.id)",
    };
    for (size_t i = 0; i < COUNT_OF(conditions); i++) {
        SqlFixture *f = ((Bound *)*state)->fixture;
        Str sql = str_format(f->arena, "SELECT id FROM orders WHERE %s", conditions[i]);
        check_columns(*state, str_to_c(f->arena, sql), "id INTEGER");
    }
    check_columns(*state, "SELECT a = b FROM (SELECT 1 AS a, 2 AS b)", "(a = b) BOOLEAN");
    check_columns(*state, "SELECT a.id FROM orders a FULL JOIN orders b ON a.id = b.id", "id INTEGER");
    check_columns(*state,
                  "SELECT a.id FROM orders a FULL JOIN orders b USING (id, name) RIGHT JOIN orders c USING (id)",
                  "id INTEGER");
    check_columns(*state, "SELECT a.id FROM orders a SEMI JOIN orders b USING (name)", "id INTEGER");
    check_columns(*state, "SELECT COLUMNS(c -> c = lower('ID')) FROM orders", "id INTEGER");
    check_columns(*state, "SELECT id FROM orders a ASOF JOIN orders b USING (id, day)", "id INTEGER");
    check_columns(*state, "SELECT a.id FROM orders a ASOF JOIN orders b ON a.name = b.name AND a.day >= b.day",
                  "id INTEGER");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_have_the_types_that_the_engine_gives),
        cmocka_unit_test(test_a_failure_names_what_is_wrong_and_where),
        cmocka_unit_test(test_what_only_a_warehouse_can_tell_is_undecided),
        cmocka_unit_test(test_only_a_binder_of_its_own_looks_at_files),
        cmocka_unit_test(test_a_text_that_is_compared_with_another_type_is_wrong),
        cmocka_unit_test(test_what_the_engine_need_not_cast_row_by_row_is_not_wrong),
        cmocka_unit_test(test_a_setting_of_the_engine_counts_and_an_unknown_one_does_not_harm),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
