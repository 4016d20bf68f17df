/* The statements of each strategy by their roles, for each set of what an engine can do, without an engine. */
#include "strategy/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Of those that strategies ask for. */
static const EngineCapabilities duckdb_like = {.create_or_replace = true,
                                               .merge = true,
                                               .merge_actions = true,
                                               .mutation_subquery = true,
                                               .except_in_delete = true};
static const EngineCapabilities ducklake_like = {.create_or_replace = true, .merge = true, .mutation_subquery = true};
static const EngineCapabilities plain_sql = {.mutation_subquery = true};
static const EngineCapabilities no_subqueries = {.merge = true};

static void assert_str(Str actual, const char *expected) {
    if (!str_equal(actual, str_from(expected))) {
        fail_msg("got " STR_FMT ", expected %s", STR_ARG(actual), expected);
    }
}

static void assert_has(Str text, const char *part) {
    if (str_find(text, str_from(part)) == STR_NOT_FOUND) {
        fail_msg("'" STR_FMT "' has no '%s'", STR_ARG(text), part);
    }
}

/* --- Roles -------------------------------------------------------------------------------------------------------- */

static char role_letter(StatementRole role) {
    static const char letters[STATEMENT_ROLE_COUNT] = {
        [STATEMENT_STAGE] = 's',  [STATEMENT_REFUSE] = '?', [STATEMENT_EVOLVE] = 'e', [STATEMENT_CREATE] = 'C',
        [STATEMENT_INSERT] = '+', [STATEMENT_UPDATE] = '~', [STATEMENT_DELETE] = '-', [STATEMENT_RUN] = 'r',
        [STATEMENT_MERGE] = 'm',  [STATEMENT_COUNT] = '#',  [STATEMENT_NOTE] = 'n',   [STATEMENT_DROP] = 'd',
    };
    return letters[role];
}

static DuckColumnVec columns_of(Arena *arena, StrategyKind kind, bool is_target) {
    DuckColumnVec columns = {0};
    duck_column_vec_push(arena, &columns, (DuckColumn){STR("id"), STR("BIGINT")});
    duck_column_vec_push(arena, &columns, (DuckColumn){STR("v"), STR("VARCHAR")});
    duck_column_vec_push(arena, &columns, (DuckColumn){STR("at"), STR("TIMESTAMP")});
    if (is_target && kind == STRATEGY_HASH_MERGE) {
        duck_column_vec_push(arena, &columns, (DuckColumn){STR("_hash"), STR("VARCHAR")});
    }
    if (is_target && kind == STRATEGY_SCD) {
        duck_column_vec_push(arena, &columns, (DuckColumn){STR("_valid_from"), STR("TIMESTAMP")});
        duck_column_vec_push(arena, &columns, (DuckColumn){STR("_valid_to"), STR("TIMESTAMP")});
    }
    return columns;
}

typedef struct RoleCase {
    StrategyKind kind;
    bool is_external, is_keyed, is_timed;
    const EngineCapabilities *capabilities;
    const char *first, *later; /* letters of role_letter */
} RoleCase;

static Status write(Arena *arena, const RoleCase *c, bool is_first, StrategyStatementVec *statements, Error *err) {
    DuckColumnVec source = columns_of(arena, c->kind, false);
    DuckColumnVec target = columns_of(arena, c->kind, true);
    StrVec key = {0};
    if (c->is_keyed) {
        str_vec_push(arena, &key, STR("ID"));
    }
    StrategyInput input = {
        .model = STR("m"),
        .engine = STR("spark_1"),
        .materialise = c->is_external ? MATERIALISE_TABLE : MATERIALISE_VIRTUAL,
        .target = {.schema = STR("s"), .name = STR("t")},
        .source = sql_text_own(arena, STR("SELECT 1")),
        .columns = &source,
        .target_columns = is_first ? NULL : &target,
        .key = &key,
        .time_column = c->is_timed ? STR("at") : STR_EMPTY,
        .now = STR("TIMESTAMP '2026-07-01'"),
        .scratch = {.name = STR("w")},
        .capabilities = c->capabilities,
    };
    return strategy_write(c->kind, &input, arena, statements, NULL, err);
}

static void check_roles(const RoleCase *c, bool is_first) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    StrategyStatementVec statements = {0};
    AUTO(strbuf) StrBuf letters = {0};
    assert_false(failed(write(arena, c, is_first, &statements, &err)));
    for (size_t i = 0; i < statements.count; i++) {
        const StrategyStatement *statement = &statements.items[i];
        strbuf_char(&letters, role_letter(statement->role));
        assert_int_equal(statement->role == STATEMENT_REFUSE, statement->refusal != REFUSAL_NONE);
        assert_true(str_find_char(statement->sql.text, '{') == STR_NOT_FOUND);
    }
    print_message("# %s, %s\n", strategy_name(c->kind), is_first ? "first" : "later");
    assert_str(strbuf_str(&letters), is_first ? c->first : c->later);
}

static void test_02_1_1_roles_of_each_strategy(void **state) {
    (void)state;
    /* clang-format off */
    static const RoleCase cases[] = {
        {STRATEGY_REPLACE, false, false, false, &duckdb_like, "C", "C"},
        {STRATEGY_REPLACE, false, false, false, &plain_sql, "rC", "rC"},
        {STRATEGY_REPLACE, true, false, false, &duckdb_like, "C+", "-+"},
        {STRATEGY_APPEND, true, false, false, &duckdb_like, "C+", "+"},
        {STRATEGY_MERGE, false, true, false, &duckdb_like, "C??", "s??#~#d"},
        {STRATEGY_MERGE, true, true, false, &duckdb_like, "C+??", "s??#~#d"},
        {STRATEGY_MERGE, false, true, false, &plain_sql, "rC??", "ss??~+d"},
        {STRATEGY_FULL_MERGE, false, true, false, &duckdb_like, "C?s?#rrd", "s?s?ssnmdd"},
        {STRATEGY_FULL_MERGE, true, true, false, &duckdb_like, "C+?s?#rrd", "s?s?ssn-#~#dd"},
        {STRATEGY_FULL_MERGE, false, true, false, &ducklake_like, "C?s?#rrd", "s?s?ssns-#~#ddd"},
        {STRATEGY_FULL_MERGE, false, true, false, &plain_sql, "rC?ss?#rrd", "ss?ss?ssnss-~+ddd"},
        {STRATEGY_HASH_MERGE, false, true, false, &duckdb_like, "C??", "s??#~#d"},
        {STRATEGY_HASH_MERGE, false, true, false, &plain_sql, "rC??", "ss??~+d"},
        {STRATEGY_HASH_MERGE, false, true, false, &no_subqueries, "rC??", "ss??#~#d"},
        {STRATEGY_SCD, false, true, false, &duckdb_like, "C?s?#rrd", "s?s?sss~+ddd"},
        {STRATEGY_SCD, false, true, true, &duckdb_like, "s??s?ssCdd", "s??s?sssssss~~+ddddddd"},
        {STRATEGY_INCREMENTAL, false, false, true, &duckdb_like, "Cn#r", "-+"},
        {STRATEGY_INCREMENTAL, false, true, true, &duckdb_like, "Cn#r??", "s??#~#d"},
        {STRATEGY_INCREMENTAL, false, true, true, &plain_sql, "rCn#r??", "ss??~+d"},
    };
    /* clang-format on */
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_roles(&cases[i], true);
        check_roles(&cases[i], false);
    }
}

/* Nothing is written to a table that is there before its source has been looked at. */
static void checks_come_before_the_first_write(void **state) {
    (void)state;
    static const StrategyKind keyed[] = {STRATEGY_MERGE, STRATEGY_FULL_MERGE, STRATEGY_HASH_MERGE, STRATEGY_SCD,
                                         STRATEGY_INCREMENTAL};
    for (size_t i = 0; i < COUNT_OF(keyed); i++) {
        AUTO(arena) Arena *arena = arena_create();
        AUTO(error) Error err = {0};
        StrategyStatementVec statements = {0};
        RoleCase c = {.kind = keyed[i], .is_keyed = true, .is_timed = true, .capabilities = &duckdb_like};
        assert_false(failed(write(arena, &c, false, &statements, &err)));
        bool has_written = false;
        for (size_t j = 0; j < statements.count; j++) {
            StatementRole role = statements.items[j].role;
            assert_false(has_written && role == STATEMENT_REFUSE);
            has_written = has_written || role == STATEMENT_EVOLVE || role == STATEMENT_INSERT ||
                          role == STATEMENT_UPDATE || role == STATEMENT_DELETE || role == STATEMENT_MERGE ||
                          role == STATEMENT_RUN;
        }
        assert_true(has_written);
    }
}

static void engines_without_subqueries_are_told_what_they_can_do(void **state) {
    (void)state;
    static const StrategyKind kinds[] = {STRATEGY_SCD, STRATEGY_FULL_MERGE};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        AUTO(arena) Arena *arena = arena_create();
        AUTO(error) Error err = {0};
        StrategyStatementVec statements = {0};
        RoleCase c = {.kind = kinds[i], .is_keyed = true, .capabilities = &no_subqueries};
        assert_true(failed(write(arena, &c, false, &statements, &err)));
        assert_int_equal(err.kind, ERROR_PLAN);
        assert_has(err.message, "spark_1");
        assert_has(err.message, strategy_name(kinds[i]));
        assert_has(err.hint, "hash_merge");
    }
}

static void accumulating_strategies_are_the_five(void **state) {
    (void)state;
    for (StrategyKind kind = 0; kind < STRATEGY_COUNT; kind++) {
        bool expected = kind != STRATEGY_REPLACE && kind != STRATEGY_APPEND;
        assert_int_equal(strategy_is_accumulating(kind), expected);
    }
}

/* --- Columns ------------------------------------------------------------------------------------------------------ */

static Status write_columns(Arena *arena, const char *const *names, const char *key, const char *time, Error *err) {
    DuckColumnVec columns = {0};
    for (; *names != NULL; names++) {
        duck_column_vec_push(arena, &columns, (DuckColumn){str_from(*names), STR("DATE")});
    }
    StrVec keys = {0};
    str_vec_push(arena, &keys, str_from(key));
    StrategyInput input = {
        .model = STR("m"),
        .target = {.name = STR("t")},
        .source = sql_text_own(arena, STR("SELECT 1")),
        .columns = &columns,
        .key = &keys,
        .time_column = str_from(time),
        .scratch = {.name = STR("w")},
        .capabilities = &duckdb_like,
    };
    StrategyStatementVec statements = {0};
    return strategy_write(STRATEGY_INCREMENTAL, &input, arena, &statements, NULL, err);
}

static void key_and_time_must_be_columns_with_names_of_their_own(void **state) {
    (void)state;
    static const struct {
        const char *names[4], *key, *time, *message;
    } cases[] = {
        {{"id", "at"}, "ID", "At", NULL},
        {{"id", "at"}, "nr", "at", "key column 'nr' is not among the columns of the query: id, at"},
        {{"id", "at"}, "id", "seen", "time column 'seen' is not among the columns of the query: id, at"},
        {{"id", "at", "ID"}, "id", "at", "more than one column named ID"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(arena) Arena *arena = arena_create();
        AUTO(error) Error err = {0};
        Status status = write_columns(arena, cases[i].names, cases[i].key, cases[i].time, &err);
        assert_int_equal(failed(status), cases[i].message != NULL);
        if (cases[i].message != NULL) {
            assert_int_equal(err.kind, ERROR_EXECUTION);
            assert_has(err.message, cases[i].message);
        }
    }
}

/* --- Replace ------------------------------------------------------------------------------------------------------ */

static Str write_one(StrategyInput input, Arena *arena) {
    AUTO(error) Error err = {0};
    StrategyStatementVec statements = {0};
    input.capabilities = &duckdb_like;
    input.target = (SqlRelation){.schema = STR("interlace__main"), .name = STR("a\"b__0123")};
    assert_false(failed(strategy_write(STRATEGY_REPLACE, &input, arena, &statements, NULL, &err)));
    assert_int_equal(statements.count, 1);
    return statements.items[0].sql.text;
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

/* --- Targets on a server ------------------------------------------------------------------------------------------ */

static const EngineCapabilities server_like = {.mutation_subquery = true, .remote_alter = true, .name_limit = 63};

static Status append_to_server(Arena *arena, const DuckColumnVec *columns, const DuckColumnVec *target_columns,
                               StrategyStatementVec *statements, Error *err) {
    StrategyInput input = {
        .model = STR("m"),
        .materialise = MATERIALISE_TABLE,
        .target = {.catalog = STR("pg"), .schema = STR("s"), .name = STR("it's")},
        .source = sql_text_own(arena, STR("SELECT 1")),
        .columns = columns,
        .target_columns = target_columns,
        .scratch = {.name = STR("w")},
        .capabilities = &server_like,
    };
    return strategy_write(STRATEGY_APPEND, &input, arena, statements, NULL, err);
}

static void test_01_12_3_a_server_alters_its_table_and_the_engine_looks_again(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    StrategyStatementVec statements = {0};
    DuckColumnVec columns = {0}, target_columns = {0};
    duck_column_vec_push(arena, &columns, (DuckColumn){STR("n"), STR("DOUBLE")});
    duck_column_vec_push(arena, &columns, (DuckColumn){STR("more"), STR("BLOB[]")});
    duck_column_vec_push(arena, &target_columns, (DuckColumn){STR("N"), STR("INTEGER")});
    assert_false(failed(append_to_server(arena, &columns, &target_columns, &statements, &err)));
    static const char *const expected[] = {
        "CALL postgres_execute('pg', 'ALTER TABLE \"s\".\"it''s\" ALTER COLUMN \"N\" TYPE double precision')",
        "ALTER TABLE \"pg\".\"s\".\"it's\" ADD COLUMN IF NOT EXISTS \"N\" BOOLEAN",
        "CALL postgres_execute('pg', 'ALTER TABLE \"s\".\"it''s\" ADD COLUMN \"more\" bytea[]')",
        "ALTER TABLE \"pg\".\"s\".\"it's\" ADD COLUMN IF NOT EXISTS \"more\" BOOLEAN",
    };
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(statements.items[i].role, STATEMENT_EVOLVE);
        assert_str(statements.items[i].sql.text, expected[i]);
    }
}

static void test_01_12_3_names_that_a_server_would_cut_are_refused(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    StrategyStatementVec statements = {0};
    DuckColumnVec columns = {0};
    Str name = STR("a123456789b123456789c123456789d123456789e123456789f123456789g123");
    duck_column_vec_push(arena, &columns, (DuckColumn){str_slice(name, 0, 63), STR("INTEGER")});
    assert_false(failed(append_to_server(arena, &columns, NULL, &statements, &err)));
    columns.items[0].name = name;
    assert_true(failed(append_to_server(arena, &columns, NULL, &statements, &err)));
    assert_int_equal(err.kind, ERROR_PLAN);
    assert_has(err.message, "g123' has 64 bytes, and the target keeps only 63");
}

/* --- Places ------------------------------------------------------------------------------------------------------- */

static void statements_keep_the_places_of_the_query(void **state) {
    (void)state;
    static const StrategyKind kinds[] = {STRATEGY_REPLACE, STRATEGY_MERGE, STRATEGY_SCD};
    AUTO(arena) Arena *arena = arena_create();
    SourceFile file = {.path = STR("models/a.sql"), .content = STR("SELECT 1 AS id,\n  nothing -- a comment")};
    DuckColumnVec columns = columns_of(arena, STRATEGY_MERGE, false);
    StrVec key = {0};
    str_vec_push(arena, &key, STR("id"));
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        AUTO(error) Error err = {0};
        StrategyInput input = {
            .source = sql_text_from_file(arena, &file, 0, file.content.size),
            .target = {.schema = STR("s"), .name = STR("t")},
            .columns = &columns,
            .key = &key,
            .now = STR("now()"),
            .scratch = {.name = STR("w")},
            .capabilities = &duckdb_like,
        };
        StrategyStatementVec statements = {0};
        assert_false(failed(strategy_write(kinds[i], &input, arena, &statements, NULL, &err)));
        const SqlText *sql = &statements.items[0].sql;
        SourceSpan place = sql_text_place(sql, str_find(sql->text, STR("nothing")), arena);
        assert_int_equal(place.line, 2);
        assert_int_equal(place.column, 3);
        assert_str(place.file, "models/a.sql");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_02_1_1_roles_of_each_strategy),
        cmocka_unit_test(checks_come_before_the_first_write),
        cmocka_unit_test(engines_without_subqueries_are_told_what_they_can_do),
        cmocka_unit_test(accumulating_strategies_are_the_five),
        cmocka_unit_test(key_and_time_must_be_columns_with_names_of_their_own),
        cmocka_unit_test(replace_makes_the_table_anew_from_the_query),
        cmocka_unit_test(replace_of_a_view_model_makes_a_view),
        cmocka_unit_test(replace_makes_an_empty_table_for_an_appender),
        cmocka_unit_test(test_01_12_3_a_server_alters_its_table_and_the_engine_looks_again),
        cmocka_unit_test(test_01_12_3_names_that_a_server_would_cut_are_refused),
        cmocka_unit_test(statements_keep_the_places_of_the_query),
    };
    return cmocka_run_group_tests_name("strategy", tests, NULL, NULL);
}
