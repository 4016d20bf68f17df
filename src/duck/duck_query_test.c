/* Cells, columns, and where errors point. */
#include "base/files.h"
#include "duck/duck_fixture.h"

static void plain_columns_have_their_kinds(void **state) {
    Fixture *f = *state;
    DuckRows rows;
    Str sql = STR("SELECT true AS b, 1::TINYINT, -5::INTEGER, 9223372036854775807, 4294967295::UINTEGER, 'é' AS t, "
                  "NULL AS n, '' AS e");
    assert_ok(duck_query(f->connection, sql, f->arena, &rows, &f->err), &f->err);
    static const struct {
        DuckCellKind kind;
        const char *text;
    } expected[] = {
        {DUCK_CELL_BOOLEAN, "true"},
        {DUCK_CELL_INTEGER, "1"},
        {DUCK_CELL_INTEGER, "-5"},
        {DUCK_CELL_INTEGER, "9223372036854775807"},
        {DUCK_CELL_INTEGER, "4294967295"},
        {DUCK_CELL_TEXT, "é"},
        {DUCK_CELL_NULL, ""},
        {DUCK_CELL_TEXT, ""},
    };
    assert_int_equal(rows.row_count, 1);
    assert_int_equal(rows.columns.count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(duck_cell(&rows, 0, i)->kind, expected[i].kind);
        assert_str(duck_cell(&rows, 0, i)->text, expected[i].text);
    }
    assert_str(rows.columns.items[0].name, "b");
    assert_str(rows.columns.items[3].type, "BIGINT");
}

/* Value, its type as the engine spells it, its kind, its text. */
static void other_types_are_the_engines_own_text(void **state) {
    Fixture *f = *state;
    run_sql(f, "CREATE TYPE mood AS ENUM ('a', 'b''c'); SET TimeZone = 'UTC'");
    static const struct {
        const char *value, *type;
        DuckCellKind kind;
        const char *text;
    } cases[] = {
        {"18446744073709551615::UBIGINT", "UBIGINT", DUCK_CELL_TEXT, "18446744073709551615"},
        {"7::UBIGINT", "UBIGINT", DUCK_CELL_INTEGER, "7"},
        {"sum(1)", "HUGEINT", DUCK_CELL_INTEGER, "1"},
        {"170141183460469231731687303715884105727", "HUGEINT", DUCK_CELL_TEXT,
         "170141183460469231731687303715884105727"},
        {"0.5::DOUBLE", "DOUBLE", DUCK_CELL_DOUBLE, "0.5"},
        {"'nan'::DOUBLE", "DOUBLE", DUCK_CELL_DOUBLE, "nan"},
        {"'-inf'::FLOAT", "FLOAT", DUCK_CELL_DOUBLE, "-inf"},
        {"1e300", "DOUBLE", DUCK_CELL_DOUBLE, "1e+300"},
        {"12.50::DECIMAL(9,2)", "DECIMAL(9,2)", DUCK_CELL_TEXT, "12.50"},
        {"DATE '2026-02-01'", "DATE", DUCK_CELL_TEXT, "2026-02-01"},
        {"TIME '10:11:12.5'", "TIME", DUCK_CELL_TEXT, "10:11:12.5"},
        {"TIMESTAMP '2026-02-01 10:00:00.123456'", "TIMESTAMP", DUCK_CELL_TEXT, "2026-02-01 10:00:00.123456"},
        {"'infinity'::TIMESTAMP", "TIMESTAMP", DUCK_CELL_TEXT, "infinity"},
        {"TIMESTAMPTZ '2026-02-01 10:00:00+02'", "TIMESTAMP WITH TIME ZONE", DUCK_CELL_TEXT, "2026-02-01 08:00:00+00"},
        {"TIMESTAMP_NS '2026-02-01 10:00:00.123456789'", "TIMESTAMP_NS", DUCK_CELL_TEXT,
         "2026-02-01 10:00:00.123456789"},
        {"TIMETZ '10:00:00+01'", "TIME WITH TIME ZONE", DUCK_CELL_TEXT, "10:00:00+01"},
        {"INTERVAL 90 MINUTE", "INTERVAL", DUCK_CELL_TEXT, "01:30:00"},
        {"'\\xAA\\x00b'::BLOB", "BLOB", DUCK_CELL_TEXT, "\\xaa0062"},
        {"'0101'::BIT", "BIT", DUCK_CELL_TEXT, "0101"},
        {"'00000000-0000-0000-0000-000000000001'::UUID", "UUID", DUCK_CELL_TEXT,
         "00000000-0000-0000-0000-000000000001"},
        {"'{\"a\": 1}'::JSON", "JSON", DUCK_CELL_TEXT, "{\"a\": 1}"},
        {"'a'::mood", "ENUM('a', 'b''c')", DUCK_CELL_TEXT, "a"},
        {"[1, NULL]", "INTEGER[]", DUCK_CELL_TEXT, "[1, NULL]"},
        {"[1, 2]::INTEGER[2]", "INTEGER[2]", DUCK_CELL_TEXT, "[1, 2]"},
        {"{'name': 1, 'Ab': 'x, y'}", "STRUCT(\"name\" INTEGER, Ab VARCHAR)", DUCK_CELL_TEXT,
         "{'name': 1, 'Ab': 'x, y'}"},
        {"MAP {'k': DATE '2026-02-01'}", "MAP(VARCHAR, DATE)", DUCK_CELL_TEXT, "{k=2026-02-01}"},
        {"1::UNION(i INTEGER, t VARCHAR)", "UNION(i INTEGER, t VARCHAR)", DUCK_CELL_TEXT, "1"},
        {"'[1]'::JSON::VARIANT", "VARIANT", DUCK_CELL_TEXT, "[1]"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        DuckRows rows;
        Str sql = str_format(f->arena, "SELECT %s AS value, NULL::DATE;", cases[i].value);
        assert_ok(duck_query(f->connection, sql, f->arena, &rows, &f->err), &f->err);
        assert_str(rows.columns.items[0].type, cases[i].type);
        assert_str(rows.columns.items[0].name, "value");
        assert_str(duck_cell(&rows, 0, 0)->text, cases[i].text);
        assert_int_equal(duck_cell(&rows, 0, 0)->kind, cases[i].kind);
        assert_int_equal(duck_cell(&rows, 0, 1)->kind, DUCK_CELL_NULL);
    }
}

static void rows_keep_their_order_and_columns_their_names(void **state) {
    Fixture *f = *state;
    assert_str(
        query_text(
            f, "SELECT i AS a, DATE '2026-01-01' + i::INT AS a FROM range(5000) r(i) ORDER BY i DESC LIMIT 3 -- end"),
        "4999|2039-09-09;4998|2039-09-08;4997|2039-09-07");
}

static void all_kinds_of_reading_statements_give_rows(void **state) {
    Fixture *f = *state;
    run_sql(f, "CREATE TABLE t (a INTEGER, d DATE); INSERT INTO t VALUES (1, '2026-01-01')");
    assert_str(query_text(f, "FROM t"), "1|2026-01-01");
    assert_str(query_text(f, "VALUES (1.5), (2.5)"), "1.5;2.5");
    assert_str(query_text(f, "WITH x AS (TABLE t) SELECT d FROM x"), "2026-01-01");
    assert_str(query_text(f, "SELECT column_name, null_percentage FROM (SUMMARIZE t)"), "a|0.00;d|0.00");
    assert_contains(query_text(f, "DESCRIBE t"), "a|INTEGER");
    assert_contains(query_text(f, "EXPLAIN SELECT 1"), "physical_plan");
    assert_str(query_text(f, "INSERT INTO t VALUES (2, NULL) RETURNING a"), "2");
    assert_int_equal(query_number(f, "SELECT count(*) FROM t"), 2);
}

static void a_returning_of_other_types_says_what_to_do_and_writes_nothing(void **state) {
    Fixture *f = *state;
    DuckRows rows;
    run_sql(f, "CREATE TABLE t (d DATE)");
    assert_failed(
        duck_query(f->connection, STR("INSERT INTO t VALUES ('2026-01-01') RETURNING d"), f->arena, &rows, &f->err));
    assert_contains(f->err.message, "column 'd' has the type DATE");
    assert_int_equal(query_number(f, "SELECT count(*) FROM t"), 0);
}

static void too_many_rows_are_refused(void **state) {
    Fixture *f = *state;
    DuckRows rows;
    Str sql = str_format(f->arena, "SELECT i FROM range(%d) r(i)", DUCK_ROWS_MAX);
    assert_ok(duck_query(f->connection, sql, f->arena, &rows, &f->err), &f->err);
    assert_int_equal(rows.row_count, DUCK_ROWS_MAX);
    /* A result that is never materialised: the refusal comes at once. */
    assert_failed(duck_query(f->connection, STR("SELECT range FROM range(1000000000000)"), f->arena, &rows, &f->err));
    assert_contains(f->err.message, "more than 100000 rows");
    assert_int_equal(query_number(f, "SELECT 1"), 1);
}

static void one_statement_is_expected(void **state) {
    Fixture *f = *state;
    DuckRows rows;
    assert_failed(duck_query(f->connection, STR("SELECT 1; SELECT 2"), f->arena, &rows, &f->err));
    assert_contains(f->err.message, "holds 2");
    assert_failed(duck_query(f->connection, STR("-- nothing"), f->arena, &rows, &f->err));
    assert_contains(f->err.message, "holds 0");
}

static void query_int_takes_one_number(void **state) {
    Fixture *f = *state;
    int64_t number = 0;
    assert_int_equal(query_number(f, "SELECT sum(i) FROM range(4) r(i)"), 6);
    assert_int_equal(query_number(f, "SELECT max(i) FROM range(0) r(i)"), 0);
    static const char *const refused[] = {"SELECT 1 WHERE false", "SELECT 1, 2", "SELECT 'x'", "FROM range(2)"};
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        assert_failed(duck_query_int(f->connection, str_from(refused[i]), &number, &f->err));
    }
}

static void describe_runs_nothing(void **state) {
    Fixture *f = *state;
    DuckColumnVec columns;
    Str sql = STR("SELECT error('not run') AS a, 1.5 AS \"B c\", NULL AS n, {'select': [1]} AS s");
    assert_ok(duck_describe(f->connection, sql, f->arena, &columns, &f->err), &f->err);
    assert_int_equal(columns.count, 4);
    assert_str(columns.items[1].name, "B c");
    assert_str(columns.items[1].type, "DECIMAL(2,1)");
    assert_str(columns.items[2].type, "INTEGER");
    assert_str(columns.items[3].type, "STRUCT(\"select\" INTEGER[])");
    assert_failed(duck_describe(f->connection, STR("SELECT $1 AS a, 2"), f->arena, &columns, &f->err));
    assert_contains(f->err.message, "parameter");
}

/* `@` marks where the error must point; it is not part of the text. */
static void errors_point_at_the_byte(void **state) {
    Fixture *f = *state;
    DuckRows rows;
    run_sql(f, "CREATE TABLE t (amount DOUBLE, s VARCHAR); INSERT INTO t VALUES (1, 'ü')");
    static const struct {
        const char *marked, *message, *hint;
    } cases[] = {
        {"SELECT 'é', @amont FROM t", "Referenced column \"amont\" not found in FROM clause!",
         "Candidate bindings: \"amount\""},
        {"SELECT 'éé', FROM @FROM t", "syntax error at or near \"FROM\"", ""},
        {"SELECT '漢字𝄞' x FROM t WHERE @", "syntax error at end of input", ""},
        {"SELECT 'é' AS a,\n  (SELECT @bla('x')) FROM t", "Scalar Function with name bla does not exist!",
         "Did you mean \"bool_and\"?"},
        {"SELECT 'é' FROM @tt", "Table with name tt does not exist!", "Did you mean \"t\"?"},
        {"SELECT 'é', @CAST(s AS INT) FROM t",
         "Could not convert string 'ü' to INT32 when casting from source column s", ""},
        {"SELECT 'é', DATE '2026-01-01', @CAST(s AS INT) FROM t;",
         "Could not convert string 'ü' to INT32 when casting from source column s", ""},
        {"SELECT 'é', @sum(s) FROM t",
         "No function matches the given name and argument types 'sum(VARCHAR)'. You might need to add explicit type "
         "casts.",
         ""},
        {"SELECT error('é {\"exception_type\": 1}')", "é {\"exception_type\": 1}", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str marked = str_from(cases[i].marked);
        size_t offset = str_find_char(marked, '@');
        Str sql = offset == STR_NOT_FOUND ? marked
                                          : str_format(f->arena, STR_FMT STR_FMT, STR_ARG(str_slice(marked, 0, offset)),
                                                       STR_ARG(str_skip(marked, offset + 1)));
        assert_failed(duck_query(f->connection, sql, f->arena, &rows, &f->err));
        assert_str(f->err.message, cases[i].message);
        assert_str(f->err.hint, cases[i].hint);
        assert_int_equal(f->err.sql_offset, offset);
        assert_true(str_equal(f->err.sql, sql));
        assert_int_equal(f->err.kind, ERROR_EXECUTION);
        assert_int_not_equal(f->err.engine_type, 0);
    }
}

static void errors_of_a_later_statement_point_into_the_whole_text(void **state) {
    Fixture *f = *state;
    Str sql = STR("SELECT 'é'; SELECT 1; SELECT nothing");
    assert_failed(duck_execute(f->connection, sql, NULL, &f->err));
    assert_int_equal(f->err.sql_offset, str_find(sql, STR("nothing")));
}

static void faults_in_a_csv_file_name_file_line_and_value(void **state) {
    Fixture *f = *state;
    DuckRows rows;
    Str folder = fixture_folder(f->arena);
    Str path = path_join(f->arena, folder, STR("x.csv"));
    assert_ok(file_write_atomic(path, STR("a\n1\ntwo\n"), false, &f->err), &f->err);
    Str sql = str_format(f->arena, "SELECT a FROM read_csv('" STR_FMT "', columns = {'a': 'INTEGER'}, header = true)",
                         STR_ARG(path));
    assert_failed(duck_query(f->connection, sql, f->arena, &rows, &f->err));
    assert_contains(f->err.message, "x.csv': CSV Error on Line: 3");
    assert_contains(f->err.message, "Could not convert string \"two\" to 'INTEGER'");
    assert_int_equal(str_find_char(f->err.message, '\n'), STR_NOT_FOUND);
    file_remove_tree(folder);
}

static void errors_stay_readable_when_the_session_turned_json_off(void **state) {
    Fixture *f = *state;
    run_sql(f, "SET errors_as_json = false");
    assert_failed(duck_execute(f->connection, STR("SELECT 1,\n nothing"), NULL, &f->err));
    assert_contains(f->err.message, "Referenced column \"nothing\" was not found");
    assert_int_equal(f->err.sql_offset, STR_NOT_FOUND);
}

int main(void) {
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(plain_columns_have_their_kinds),
        FIXTURE_TEST(other_types_are_the_engines_own_text),
        FIXTURE_TEST(rows_keep_their_order_and_columns_their_names),
        FIXTURE_TEST(all_kinds_of_reading_statements_give_rows),
        FIXTURE_TEST(a_returning_of_other_types_says_what_to_do_and_writes_nothing),
        FIXTURE_TEST(too_many_rows_are_refused),
        FIXTURE_TEST(one_statement_is_expected),
        FIXTURE_TEST(query_int_takes_one_number),
        FIXTURE_TEST(describe_runs_nothing),
        FIXTURE_TEST(errors_point_at_the_byte),
        FIXTURE_TEST(errors_of_a_later_statement_point_into_the_whole_text),
        FIXTURE_TEST(faults_in_a_csv_file_name_file_line_and_value),
        FIXTURE_TEST(errors_stay_readable_when_the_session_turned_json_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
