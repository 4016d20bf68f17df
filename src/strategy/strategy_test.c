#include "strategy/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const EngineCapabilities duckdb_like = {.create_or_replace = true, .transactions = true};

static Str write_one(StrategyInput input, Arena *arena) {
    AUTO(error) Error err = {0};
    StrategyStatementVec statements = {0};
    input.capabilities = &duckdb_like;
    input.target = (SqlRelation){.schema = STR("interlace__main"), .name = STR("a\"b__0123")};
    assert_false(failed(strategy_write(STRATEGY_REPLACE, &input, arena, &statements, NULL, &err)));
    assert_int_equal(statements.count, 1);
    return statements.items[0].sql.text;
}

static void assert_str(Str actual, const char *expected) {
    if (!str_equal(actual, str_from(expected))) {
        fail_msg("got " STR_FMT ", expected %s", STR_ARG(actual), expected);
    }
}

static void replace_makes_the_table_anew_from_the_query(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    StrategyInput input = {.materialise = MATERIALISE_VIRTUAL, .source = sql_text_own(arena, STR("SELECT 1 AS id"))};
    assert_str(write_one(input, arena),
               "CREATE OR REPLACE TABLE \"interlace__main\".\"a\"\"b__0123\" AS SELECT 1 AS id");
}

static void replace_of_a_view_model_makes_a_view(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    StrategyInput input = {.materialise = MATERIALISE_VIEW, .source = sql_text_own(arena, STR("SELECT 1 AS id"))};
    assert_str(write_one(input, arena),
               "CREATE OR REPLACE VIEW \"interlace__main\".\"a\"\"b__0123\" AS SELECT 1 AS id");
}

static void replace_makes_an_empty_table_for_an_appender(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    DuckColumnVec columns = {0};
    duck_column_vec_push(arena, &columns, (DuckColumn){STR("id"), STR("BIGINT")});
    duck_column_vec_push(arena, &columns, (DuckColumn){STR("a b"), STR("STRUCT(x INTEGER)")});
    StrategyInput input = {.materialise = MATERIALISE_VIRTUAL, .columns = &columns};
    assert_str(write_one(input, arena), "CREATE OR REPLACE TABLE \"interlace__main\".\"a\"\"b__0123\" "
                                        "(\"id\" BIGINT, \"a b\" STRUCT(x INTEGER))");
}

static void statements_keep_the_places_of_the_query(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    SourceFile file = {.path = STR("models/a.sql"), .content = STR("SELECT 1 AS id,\n  nothing")};
    StrategyInput input = {.materialise = MATERIALISE_VIRTUAL,
                           .source = sql_text_from_file(arena, &file, 0, file.content.size),
                           .target = {.schema = STR("s"), .name = STR("t")},
                           .capabilities = &duckdb_like};
    StrategyStatementVec statements = {0};
    assert_false(failed(strategy_write(STRATEGY_REPLACE, &input, arena, &statements, NULL, &err)));
    const SqlText *sql = &statements.items[0].sql;
    SourceSpan place = sql_text_place(sql, str_find(sql->text, STR("nothing")), arena);
    assert_int_equal(place.line, 2);
    assert_int_equal(place.column, 3);
}

static void an_engine_without_create_or_replace_is_refused(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    EngineCapabilities none = {0};
    StrategyInput input = {.capabilities = &none};
    StrategyStatementVec statements = {0};
    assert_true(failed(strategy_write(STRATEGY_REPLACE, &input, arena, &statements, NULL, &err)));
    assert_int_equal(err.kind, ERROR_PLAN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replace_makes_the_table_anew_from_the_query),
        cmocka_unit_test(replace_of_a_view_model_makes_a_view),
        cmocka_unit_test(replace_makes_an_empty_table_for_an_appender),
        cmocka_unit_test(statements_keep_the_places_of_the_query),
        cmocka_unit_test(an_engine_without_create_or_replace_is_refused),
    };
    return cmocka_run_group_tests_name("strategy", tests, NULL, NULL);
}
