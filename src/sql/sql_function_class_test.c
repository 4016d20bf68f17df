/* The table of functions against the engine's own catalog. */
#include "sql/sql_fence_functions.h"
#include "sql/sql_fixture.h"
#include "sql/sql_function_class.h"

static void check_names(SqlFixture *f, const char *query, bool (*is_right)(SqlFunctionClass class)) {
    DuckRows rows = {0};
    DuckConnection *connection = duck_parser_connection(f->parser);
    assert_false(failed(duck_query(connection, str_from(query), f->arena, &rows, &f->err)));
    assert_true(rows.row_count > 10);
    for (size_t i = 0; i < rows.row_count; i++) {
        Str name = duck_cell(&rows, i, 0)->text;
        if (!is_right(sql_function_class(name, f->arena))) {
            fail_msg("%.*s is in the wrong class", STR_ARG(name));
        }
    }
}

static bool is_not_scalar(SqlFunctionClass class) {
    return class != SQL_FUNCTION_SCALAR;
}

static bool is_not_determined(SqlFunctionClass class) {
    return class == SQL_FUNCTION_VOLATILE || class == SQL_FUNCTION_UNKNOWN;
}

static void no_aggregate_passes_for_a_scalar_function(void **state) {
    check_names(*state,
                "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
                " AND function_name NOT IN ('rank', 'rank_dense', 'dense_rank', 'percent_rank', 'cume_dist')",
                is_not_scalar);
}

static void no_volatile_function_passes_for_a_determined_one(void **state) {
    check_names(*state, "SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability <> 'CONSISTENT'",
                is_not_determined);
}

static void macros_over_aggregates_are_no_scalar_functions(void **state) {
    check_names(
        *state,
        "SELECT DISTINCT m.function_name FROM duckdb_functions() m, (VALUES ('string_agg('), ('avg('), ('sum('),"
        " ('json_group_array('), ('unnest('), ('list('), ('max('), ('min('), ('count('), ('first(')) a(call)"
        " WHERE m.function_type = 'macro' AND contains(m.macro_definition, a.call)"
        " AND NOT contains(m.macro_definition, '_' || a.call) AND NOT contains(m.macro_definition, 'SELECT')"
        " UNION SELECT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
        " AND function_name LIKE 'regr%'",
        is_not_scalar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_aggregate_passes_for_a_scalar_function),
        cmocka_unit_test(no_volatile_function_passes_for_a_determined_one),
        cmocka_unit_test(macros_over_aggregates_are_no_scalar_functions),
    };
    return cmocka_run_group_tests_name("sql_function_class", tests, sql_fixture_setup, sql_fixture_teardown);
}
