/* The queries of checks, run on the data of spec 05 §2. */
#include "duck/duck_connection.h"
#include "project/project_fixture.h"

typedef struct Bench {
    Fixture *f;
    DuckDatabase *database;
    DuckConnection *connection;
    Str timezone;
    Str rows;
} Bench;

static void execute(Bench *bench, const char *sql) {
    AUTO(error) Error err;
    error_init(&err);
    assert_done(duck_execute(bench->connection, str_from(sql), NULL, &err), &err);
}

static int open_bench(void **state) {
    Bench *bench = heap_alloc_zeroed(1, sizeof *bench);
    void *fixture;
    (void)fixture_open(&fixture);
    bench->f = fixture;
    bench->timezone = STR("UTC");
    AUTO(error) Error err;
    error_init(&err);
    DuckOpenOptions options = {.path = STR(":memory:")};
    assert_done(duck_database_open(&options, &bench->database, &err), &err);
    assert_done(duck_connection_open(bench->database, &bench->connection, &err), &err);
    execute(bench, "CREATE SCHEMA phys; CREATE TABLE phys.orders__1 AS SELECT * FROM (VALUES (1,'open',10,'a@x',1), "
                   "(2,'closed',20,'b@x',2), (3,'open',-5,'nope',9), (3,'weird',NULL,NULL,1)) "
                   "t(order_id, status, amount, email, customer_id);"
                   "CREATE TABLE phys.customers__1 AS SELECT * FROM (VALUES (1),(2),(3)) t(id);"
                   "CREATE TABLE orders AS SELECT 1 AS wrong_one; CREATE TABLE customers AS SELECT 1 AS wrong_one");
    fixture_write(bench->f, "models/customers.sql", "SELECT 1 AS id");
    *state = bench;
    return 0;
}

static int close_bench(void **state) {
    Bench *bench = *state;
    duck_connection_close(bench->connection);
    duck_database_close(bench->database);
    void *fixture = bench->f;
    (void)fixture_close(&fixture);
    free(bench);
    return 0;
}
#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)

static SqlRelation relation_of(void *context, size_t model) {
    const Bench *bench = context;
    Str base = bench->f->project->models[model]->base;
    return (SqlRelation){.schema = STR("phys"), .name = str_format(bench->f->arena, STR_FMT "__1", STR_ARG(base))};
}

static CheckContext context_of(Bench *bench) {
    return (CheckContext){.table = {.schema = STR("phys"), .name = STR("orders__1")},
                          .relation_of = relation_of,
                          .context = bench,
                          .timezone = bench->timezone,
                          .rows = bench->rows};
}

static const Check *load_check(Bench *bench, const char *check) {
    Fixture *f = bench->f;
    fixture_write(f, "models/orders.sql",
                  str_format(f->arena, "/* interlace:\n  checks:\n    - %s\n*/\nSELECT 1 AS order_id", check).ptr);
    assert_loads_at(f, check, 0);
    return fixture_model(f, "orders")->checks.items[0];
}

static int64_t failures(Bench *bench, const char *declared) {
    const Check *check = load_check(bench, declared);
    CheckContext context = context_of(bench);
    AUTO(error) Error err;
    error_init(&err);
    SqlText query;
    DuckRows rows;
    assert_done(check_compile(check, &context, bench->f->arena, &query, &err), &err);
    if (failed(duck_query(bench->connection, query.text, bench->f->arena, &rows, &err))) {
        print_error("%s\n" STR_FMT "\n" STR_FMT "\n", declared, STR_ARG(query.text), STR_ARG(err.message));
        fail();
    }
    assert_int_equal(rows.columns.count, 1);
    assert_str(rows.columns.items[0].name, "failures", declared);
    assert_int_equal(rows.row_count, 1);
    assert_int_equal(duck_cell(&rows, 0, 0)->kind, DUCK_CELL_INTEGER);
    int64_t number;
    assert_true(str_to_int64(duck_cell(&rows, 0, 0)->text, &number));
    return number;
}

typedef struct Case {
    const char *check;
    int64_t failures;
} Case;

static void check_cases(Bench *bench, const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int64_t actual = failures(bench, cases[i].check);
        if (actual != cases[i].failures) {
            print_error("%s: %lld failures, not %lld\n", cases[i].check, (long long)actual,
                        (long long)cases[i].failures);
            fail();
        }
    }
}

static void test_05_2_1_column_checks_count_their_failures(void **state) {
    static const Case cases[] = {
        {"unique: order_id", 1},
        {"unique: [order_id, status]", 0},
        {"unique: amount", 0},
        {"not_null: amount", 1},
        {"not_null: [amount, email]", 1},
        {"not_null: status", 0},
        {"range: {column: amount, min: 0}", 1},
        {"range: {column: amount, max: 10}", 1},
        {"range: {column: amount, min: 0, max: 10}", 2},
        {"range: {column: amount, min: '0'}", 1},
        {"pattern: {column: email, regex: '.+@.+'}", 1},
        {"pattern: {column: email, regex: '^a'}", 2},
        {"pattern: {column: order_id, regex: '^[12]$'}", 2},
        {"pattern: {column: email, regex: \"'\"}", 3},
        {"accepted_values: {column: status, values: [open, closed]}", 1},
        {"accepted_values: {column: status, values: []}", 4},
        {"accepted_values: {column: status, values: [yes, open, true]}", 2},
        {"accepted_values: {column: amount, values: [10, 20]}", 1},
        {"accepted_values: {column: amount, values: [10, '20', -5.0]}", 0},
        {"accepted_values: {column: email, values: [\"o'x\"]}", 3},
        {"relationships: {column: customer_id, to: customers, field: id}", 1},
        {"relationships: {column: customer_id, to: orders, field: order_id}", 1},
    };
    check_cases(*state, cases, COUNT_OF(cases));
}

static void test_05_2_2_a_null_parent_hides_no_orphan(void **state) {
    Bench *bench = *state;
    execute(bench, "INSERT INTO phys.customers__1 VALUES (NULL)");
    assert_int_equal(failures(bench, "relationships: {column: customer_id, to: customers, field: id}"), 1);
}

static void two_null_keys_are_one_duplicate(void **state) {
    Bench *bench = *state;
    execute(bench, "INSERT INTO phys.orders__1 VALUES (7, 'open', NULL, NULL, 1)");
    assert_int_equal(failures(bench, "unique: amount"), 1);
    assert_int_equal(failures(bench, "unique: [status, amount]"), 0);
}

static void test_05_3_row_checks_look_at_the_given_rows_only(void **state) {
    Bench *bench = *state;
    static const Case cases[] = {
        {"not_null: amount", 0},
        {"range: {column: amount, min: 15}", 1},
        {"range: {column: amount, min: 15, where: \"status = 'closed'\"}", 0},
        {"accepted_values: {column: status, values: []}", 2},
        {"pattern: {column: email, regex: '^b'}", 1},
        {"{type: expression, expression: \"amount > 10 OR amount > 100\"}", 1},
    };
    bench->rows = STR("order_id < 2 OR order_id = 2");
    check_cases(bench, cases, COUNT_OF(cases));
}

static void test_05_3_a_verdict_lasts_that_rests_on_the_row_alone(void **state) {
    Bench *bench = *state;
    assert_true(check_verdict_lasts(load_check(bench, "not_null: amount")));
    assert_true(check_verdict_lasts(load_check(bench, "{type: range, column: amount, min: 0, where: amount < 9}")));
    assert_true(check_verdict_lasts(load_check(bench, "{type: expression, expression: \"amount > 0\"}")));
    assert_false(
        check_verdict_lasts(load_check(bench, "{type: expression, expression: \"DATE '2020-01-01' < current_date\"}")));
    assert_false(check_verdict_lasts(load_check(bench, "{type: not_null, column: email, where: now() IS NOT NULL}")));
    assert_false(check_verdict_lasts(
        load_check(bench, "{type: expression, expression: \"amount IN (FROM read_csv('x.csv'))\"}")));
    assert_false(check_verdict_lasts(
        load_check(bench, "{type: expression, expression: \"amount IN (SELECT id FROM customers)\"}")));
    assert_false(check_verdict_lasts(load_check(bench, "unique: order_id")));
    assert_false(check_verdict_lasts(load_check(bench, "row_count: {min: 1}")));
}

static void test_05_2_3_table_checks(void **state) {
    static const Case cases[] = {
        {"row_count: {min: 5}", 1},
        {"row_count: {min: 1, max: 100}", 0},
        {"row_count: {max: 3}", 1},
        {"row_count: {min: 4, max: 4}", 0},
        {"expression: {expression: amount >= 0}", 1},
        {"expression: {expression: amount >= 0 -- all}", 1},
        {"expression: {expression: orders.amount >= 0 OR status = 'x'}", 1},
        {"expression: {expression: customer_id IN (SELECT id FROM customers)}", 1},
        {"expression: {expression: EXISTS (SELECT 1 FROM customers c WHERE c.id = orders.customer_id)}", 1},
        {"sql: {query: 'SELECT * FROM {table} WHERE amount < 0'}", 1},
        {"sql: {query: 'SELECT * FROM {table} t WHERE t.amount < 0;'}", 1},
        {"sql: {query: 'SELECT {table}.amount FROM {table} WHERE {table}.amount > 5 ORDER BY 1 -- two'}", 2},
        {"sql: {query: SELECT * FROM orders WHERE amount > 5}", 2},
        {"sql: {query: 'WITH t AS (SELECT * FROM {table}) SELECT * FROM t JOIN customers c ON c.id = t.customer_id'}",
         3},
        {"sql: {query: SELECT 1 WHERE false}", 0},
        {"sql: {query: \"SELECT '{table}' AS t, 1 AS t\"}", 1},
    };
    check_cases(*state, cases, COUNT_OF(cases));
}

static void where_limits_the_rows_that_are_looked_at(void **state) {
    static const Case cases[] = {
        {"not_null: {column: amount, where: status = 'open'}", 0},
        {"unique: {column: order_id, where: status <> 'weird'}", 0},
        {"accepted_values: {column: status, values: [open], where: order_id < 3}", 1},
        {"range: {column: amount, min: 0, max: 10, where: order_id = 2 OR order_id = 1}", 1},
        {"pattern: {column: email, regex: '@', where: order_id = 1}", 0},
        {"relationships: {column: customer_id, to: customers, field: id, where: orders.amount > 0}", 0},
        {"relationships: {column: customer_id, to: customers, field: id, where: order_id NOT IN (SELECT id FROM "
         "customers)}",
         0},
    };
    check_cases(*state, cases, COUNT_OF(cases));
}

static void names_are_quoted(void **state) {
    Bench *bench = *state;
    execute(bench, "ALTER TABLE phys.orders__1 RENAME amount TO \"a \"\"b\"");
    assert_int_equal(failures(bench, "not_null: 'a \"b'"), 1);
    assert_int_equal(failures(bench, "unique: ['a \"b', STATUS]"), 0);
}

static void range_and_values_take_the_type_of_their_column(void **state) {
    static const Case cases[] = {
        {"range: {column: d, min: '2026-01-02'}", 1},
        {"range: {column: d, min: 2026-01-01, max: 2026-01-01}", 1},
        {"range: {column: ts, max: '2026-01-01 12:00:00'}", 1},
        {"accepted_values: {column: d, values: [2026-01-01, '2026-01-02']}", 0},
        {"accepted_values: {column: d, values: [2026-01-01]}", 1},
        {"accepted_values: {column: b, values: [true]}", 1},
        {"accepted_values: {column: b, values: [yes, no]}", 0},
        {"accepted_values: {column: n, values: [0x2, '1.5']}", 0},
        {"range: {column: n, max: 0x1}", 2},
        {"accepted_values: {column: n, values: [1.5]}", 1},
    };
    Bench *bench = *state;
    execute(
        bench,
        "CREATE OR REPLACE TABLE phys.orders__1 AS SELECT * FROM (VALUES "
        "(DATE '2026-01-01', TIMESTAMP '2026-01-01 00:00:00', true, 1.5), "
        "(DATE '2026-01-02', TIMESTAMP '2026-01-02 00:00:00', false, 2.0), (NULL, NULL, NULL, NULL)) t(d, ts, b, n)");
    check_cases(bench, cases, COUNT_OF(cases));
}

/* The clock stands at 2026-07-01 12:00 UTC (set in main). */
static void freshness_of(Bench *bench, const char *column, const char *max_age, int64_t expected) {
    execute(bench,
            str_format(bench->f->arena, "CREATE OR REPLACE TABLE phys.orders__1 AS SELECT %s AS ts", column).ptr);
    const char *check = str_format(bench->f->arena, "freshness: {column: ts, max_age: %s}", max_age).ptr;
    int64_t actual = failures(bench, check);
    if (actual != expected) {
        print_error("%s with %s: %lld\n", column, max_age, (long long)actual);
        fail();
    }
}

static void test_05_2_4_freshness_judges_the_newest_time(void **state) {
    Bench *bench = *state;
    static const char *const an_hour_old[] = {"TIMESTAMP '2026-07-01 11:00:00'", "TIMESTAMPTZ '2026-07-01 13:00:00+02'",
                                              "TIMESTAMP_S '2026-07-01 11:00:00'"};
    static const char *const zones[] = {"UTC", "Asia/Tokyo", "America/New_York"};
    for (size_t zone = 0; zone < COUNT_OF(zones); zone++) { /* the session's zone changes nothing */
        execute(bench, str_format(bench->f->arena, "SET TimeZone = '%s'", zones[zone]).ptr);
        for (size_t i = 0; i < COUNT_OF(an_hour_old); i++) {
            freshness_of(bench, an_hour_old[i], "2h", 0);
            freshness_of(bench, an_hour_old[i], "30m", 1);
        }
    }
    freshness_of(bench, "DATE '2026-07-01'", "12h", 0); /* midnight */
    freshness_of(bench, "DATE '2026-07-01'", "11h", 1);
    freshness_of(bench, "CAST(NULL AS TIMESTAMP)", "7d", 1);
    execute(bench, "DELETE FROM phys.orders__1");
    assert_int_equal(failures(bench, "freshness: {column: ts, max_age: 7d}"), 1);
}

static void freshness_takes_naive_times_as_wall_time_of_the_project(void **state) {
    Bench *bench = *state;
    bench->timezone = STR("Europe/Berlin"); /* 14:00 there */
    freshness_of(bench, "TIMESTAMP '2026-07-01 13:30:00'", "1h", 0);
    freshness_of(bench, "TIMESTAMP '2026-07-01 12:30:00'", "1h", 1);
    freshness_of(bench, "TIMESTAMPTZ '2026-07-01 11:30:00+00'", "1h", 0);
    bench->timezone = STR_EMPTY;
    execute(bench, "SET TimeZone = 'Asia/Tokyo'"); /* 21:00 there */
    freshness_of(bench, "TIMESTAMP '2026-07-01 20:30:00'", "1h", 0);
    freshness_of(bench, "TIMESTAMP '2026-07-01 19:30:00'", "1h", 1);
}

/* The check cannot run: an error of the engine, for which there is the status `error`. */
static void check_breaks(Bench *bench, const char *declared) {
    const Check *check = load_check(bench, declared);
    CheckContext context = context_of(bench);
    AUTO(error) Error err;
    error_init(&err);
    SqlText query;
    DuckRows rows;
    assert_done(check_compile(check, &context, bench->f->arena, &query, &err), &err);
    if (!failed(duck_query(bench->connection, query.text, bench->f->arena, &rows, &err))) {
        print_error("%s: runs\n", declared);
        fail();
    }
}

static void test_05_2_5_what_cannot_be_judged_is_an_error(void **state) {
    Bench *bench = *state;
    check_breaks(bench, "not_null: nosuch");
    check_breaks(bench, "freshness: {column: status, max_age: 1h}");
    check_breaks(bench, "freshness: {column: amount, max_age: 1h}");
    check_breaks(bench, "range: {column: amount, min: 2026-01-01}");
}

static size_t failing_rows(Bench *bench, const char *declared, size_t limit, size_t *columns_out) {
    const Check *check = load_check(bench, declared);
    CheckContext context = context_of(bench);
    AUTO(error) Error err;
    error_init(&err);
    SqlText query;
    DuckRows rows;
    assert_done(check_failing_rows_query(check, &context, limit, bench->f->arena, &query, &err), &err);
    if (query.text.size == 0) {
        *columns_out = 0;
        return 0;
    }
    assert_done(duck_query(bench->connection, query.text, bench->f->arena, &rows, &err), &err);
    *columns_out = rows.columns.count;
    return rows.row_count;
}

static void test_05_5_4_failing_rows_are_the_bad_rows(void **state) {
    static const struct {
        const char *check;
        size_t limit, rows, columns;
    } cases[] = {
        {"unique: order_id", 10, 2, 5},
        {"unique: {column: order_id, where: status <> 'weird'}", 10, 0, 5},
        {"not_null: [amount, email]", 10, 1, 5},
        {"range: {column: amount, min: 0, max: 10}", 10, 2, 5},
        {"range: {column: amount, min: 0, max: 10}", 1, 1, 5},
        {"pattern: {column: email, regex: '@'}", 10, 1, 5},
        {"relationships: {column: customer_id, to: customers, field: id}", 10, 1, 5},
        {"expression: {expression: amount >= 0}", 10, 1, 5},
        {"accepted_values: {column: status, values: [open]}", 10, 2, 5},
        {"sql: {query: 'SELECT order_id FROM {table} WHERE amount > 5'}", 1, 1, 1},
        {"row_count: {min: 100}", 10, 0, 0},
        {"freshness: {column: order_id, max_age: 1h}", 10, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t columns;
        size_t rows = failing_rows(*state, cases[i].check, cases[i].limit, &columns);
        if (rows != cases[i].rows || columns != cases[i].columns) {
            print_error("%s: %zu rows, %zu columns\n", cases[i].check, rows, columns);
            fail();
        }
    }
}

static SqlRelation relation_of_nothing(void *context, size_t model) {
    (void)context, (void)model;
    return (SqlRelation){0};
}

static void a_check_of_what_is_not_built_says_so(void **state) {
    Bench *bench = *state;
    const Check *check = load_check(bench, "relationships: {column: customer_id, to: customers, field: id}");
    CheckContext context = context_of(bench);
    context.relation_of = relation_of_nothing;
    AUTO(error) Error err;
    error_init(&err);
    SqlText query;
    assert_true(failed(check_compile(check, &context, bench->f->arena, &query, &err)));
    assert_int_equal(err.kind, ERROR_CHECK);
}

int main(void) {
    setenv("INTERLACE_NOW", "2026-07-01T12:00:00Z", 1);
    const struct CMUnitTest tests[] = {
        BENCH_TEST(test_05_2_1_column_checks_count_their_failures),
        BENCH_TEST(test_05_2_2_a_null_parent_hides_no_orphan),
        BENCH_TEST(two_null_keys_are_one_duplicate),
        BENCH_TEST(test_05_2_3_table_checks),
        BENCH_TEST(where_limits_the_rows_that_are_looked_at),
        BENCH_TEST(names_are_quoted),
        BENCH_TEST(range_and_values_take_the_type_of_their_column),
        BENCH_TEST(test_05_2_4_freshness_judges_the_newest_time),
        BENCH_TEST(freshness_takes_naive_times_as_wall_time_of_the_project),
        BENCH_TEST(test_05_2_5_what_cannot_be_judged_is_an_error),
        BENCH_TEST(test_05_5_4_failing_rows_are_the_bad_rows),
        BENCH_TEST(a_check_of_what_is_not_built_says_so),
        BENCH_TEST(test_05_3_row_checks_look_at_the_given_rows_only),
        BENCH_TEST(test_05_3_a_verdict_lasts_that_rests_on_the_row_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
