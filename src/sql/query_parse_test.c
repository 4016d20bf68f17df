#include "sql/sql_fixture.h"

#include "sql/query_engine.h"

static void what_is_no_query_is_refused(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql, *error;
    } cases[] = {
        {"", "there is no query: the text is empty or holds only comments"},
        {" -- x\n /* y */ ;; ", "there is no query: the text is empty or holds only comments"},
        {"select 1; select 2", "exactly one query is expected, but there are 2 statements @10"},
        {"select ';' ; -- ;\n insert into t values (1)",
         "exactly one query is expected, but there are 2 statements @19"},
        {"/* x */ insert into t values (1)", "a query is expected, but this is a statement of kind INSERT @8"},
        {"delete from t", "a query is expected, but this is a statement of kind DELETE @0"},
        {"with a as (select 1) update t set x = 1", "a query is expected, but this is a statement of kind UPDATE @0"},
        {"create table t as select 1", "a query is expected, but this is a statement of kind CREATE @0"},
        {"explain select 1", "a query is expected, but this is a statement of kind EXPLAIN @0"},
        {"call f()", "a query is expected, but this is a statement of kind CALL @0"},
        {"pragma version", "a query is expected, but this is a statement of kind PRAGMA @0"},
        {"attach 'x'", "a query is expected, but this is a statement of kind ATTACH @0"},
        {"copy t to 'x'", "a query is expected, but this is a statement of kind COPY @0"},
        {"begin", "a query is expected, but this is a statement of kind BEGIN @0"},
        {"select 'größe' frm t", "syntax error at or near \"t\" @21"},
        {"select größe, , b", "syntax error at or near \",\" @16"},
        {"select\xC2\xA0ä,\xE2\x80\x83, b", "syntax error at or near \",\" @14"},
        {"select 'abc", "unterminated quoted string at or near \"'abc\" @7"},
        {"select 1 from", "syntax error at end of input @13"},
        {"select a from t for update", "SELECT locking clause is not supported!"},
        {"select 1 into x", "SELECT INTO not supported!"},
        {"with d as (delete from t returning *) select 1", "A CTE needs a SELECT"},
        {"select \xFF", "the query is not valid UTF-8 @7"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_text(cases[i].sql, analysis_error(f, str_from(cases[i].sql)), cases[i].error);
    }
    check_text("NUL", analysis_error(f, (Str){.ptr = "select\0 1", .size = 9}), "the query holds a NUL byte @6");
}

static void pivot_without_values_gets_a_hint(void **state) {
    SqlFixture *f = *state;
    static const struct {
        const char *sql;
        size_t offset;
    } cases[] = {
        {"pivot t on k", 0},
        {"from (pivot t on k using sum(x))", 6},
        {"with p as (PIVOT t on k) select * from p", 11},
        {"pivot t on k in (select k from u)", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SqlAnalysis analysis = {0};
        Status status = sql_analyze(f->analyzer, str_from(cases[i].sql), f->arena, &analysis, &f->err);
        if (!failed(status) || f->err.sql_offset != cases[i].offset ||
            str_find(f->err.hint, STR("IN (")) == STR_NOT_FOUND) {
            fail_msg("%s: " STR_FMT " @%zu", cases[i].sql, STR_ARG(f->err.message), f->err.sql_offset);
        }
        error_clear(&f->err);
    }
}

static Str repeated(SqlFixture *f, const char *before, const char *part, const char *middle, const char *end,
                    size_t count) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, before);
    for (size_t i = 0; i < count; i++) {
        strbuf_text(&sql, part);
    }
    strbuf_text(&sql, middle);
    for (size_t i = 0; i < count; i++) {
        strbuf_text(&sql, end);
    }
    return strbuf_copy(&sql, f->arena);
}

static void large_and_deep_queries_work(void **state) {
    SqlFixture *f = *state;
    const Str cases[] = {
        repeated(f, "select ", "(", "1", ")", 5000),
        repeated(f, "select 1", " union all select 1", "", "", 5000),
        repeated(f, "select 1", " union select 1", "", "", 5000),
        repeated(f, "select a = 1", " or a = 1", "", "", 3000),
        repeated(f, "select * from ", "(select * from ", "t", ")", 300),
        repeated(f, "select ", "case when 1 then ", "1", " end", 300),
        repeated(f, "select ", "f(", "1", ")", 900),
        repeated(f, "select 1", ", 1", "", "", 20000),
        repeated(f, "select * from t0", ", t", "", "", 900),
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SqlAnalysis analysis = {0};
        if (failed(sql_analyze(f->analyzer, cases[i], f->arena, &analysis, &f->err))) {
            fail_msg("case %zu: " STR_FMT, i, STR_ARG(f->err.message));
        }
    }
}

/* The engine does not give trees as deep as our limit, so this one is made up. */
static void the_depth_of_the_tree_is_limited(void **state) {
    SqlFixture *f = *state;
    const char *open = "{\"class\":\"OPERATOR\",\"type\":\"OPERATOR_NOT\",\"children\":[", *close = "]}";
    Str deep = repeated(f, "", open, "", close, QUERY_DEPTH_MAX);
    Str json =
        str_format(f->arena,
                   "{\"error\":false,\"statements\":[{\"node\":{\"type\":\"SELECT_NODE\",\"select_list\":[" STR_FMT
                   "],\"from_table\":{\"type\":\"EMPTY\"}}}]}",
                   STR_ARG(deep));
    EngineReply reply = {0};
    assert_true(failed(query_read_reply(STR(""), json, f->arena, &reply, &f->err)));
    check_text("deep", f->err.message, "the query is nested more than 2000 levels deep");
    assert_int_equal(f->err.kind, ERROR_COMPILATION);
    error_clear(&f->err);
}

static void unknown_nodes_are_refused(void **state) {
    SqlFixture *f = *state;
    static const char *const cases[] = {
        "{\"type\":\"NEW_NODE\",\"select_list\":[],\"from_table\":{\"type\":\"EMPTY\"}}",
        "{\"type\":\"SELECT_NODE\",\"select_list\":[],\"from_table\":{\"type\":\"NEW_SOURCE\"}}",
        "{\"type\":\"SELECT_NODE\",\"select_list\":[{\"class\":\"NEW\"}],\"from_table\":{\"type\":\"EMPTY\"}}",
        "{\"type\":\"SELECT_NODE\",\"select_list\":[{\"class\":\"CASE\",\"new\":1}],\"from_table\":{\"type\":\"EMPTY\"}"
        "}",
        "{\"type\":\"SELECT_NODE\",\"select_list\":[{\"class\":\"CASE\",\"case_checks\":[{\"new\":1}]}],"
        "\"from_table\":{\"type\":\"EMPTY\"}}",
        "{\"type\":\"SELECT_NODE\",\"select_list\":[],\"from_table\":{\"type\":\"EMPTY\",\"new\":1}}",
        "{\"type\":\"SELECT_NODE\",\"select_list\":[],\"from_table\":{\"type\":\"EMPTY\"},\"new\":1}",
        "{\"type\":\"SELECT_NODE\",\"select_list\":[],\"from_table\":{\"type\":\"EMPTY\"},\"modifiers\":[{\"type\":"
        "\"NEW\"}]}",
        "{\"type\":\"SELECT_NODE\",\"select_list\":[],\"from_table\":{\"type\":\"EMPTY\"},\"cte_map\":{\"map\":[{"
        "\"key\":\"a\","
        "\"value\":{\"new\":1,\"query\":{\"node\":{\"type\":\"SELECT_NODE\"}}}}]}}",
        "{\"type\":\"SELECT_NODE\",\"select_list\":[]}",
        "{}",
        "null",
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str json = str_format(f->arena, "{\"error\":false,\"statements\":[{\"node\":%s}]}", cases[i]);
        EngineReply reply = {0};
        if (!failed(query_read_reply(STR(""), json, f->arena, &reply, &f->err)) ||
            str_find(f->err.message, STR("does not know")) == STR_NOT_FOUND) {
            fail_msg("%s: " STR_FMT, cases[i], STR_ARG(f->err.message));
        }
        error_clear(&f->err);
    }
}

static void what_the_engine_finds_too_deep_is_a_clean_error(void **state) {
    SqlFixture *f = *state;
    const Str cases[] = {
        repeated(f, "select 1", " - 1", "", "", 1500),
        repeated(f, "select 1", " except select 1", "", "", 5000),
        repeated(f, "select ", "[", "", "]", 20000),
        repeated(f, "select * from ", "(select * from ", "t", ")", 9000),
        repeated(f, "select ", "not ", "1", "", 50000),
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_true(analysis_error(f, cases[i]).size > 0);
    }
}

static void a_text_over_the_limit_is_refused(void **state) {
    SqlFixture *f = *state;
    Str sql = repeated(f, "select 1 -- ", "0123456789", "", "", SQL_TEXT_MAX / 10);
    assert_true(str_starts_with(analysis_error(f, sql), STR("the query has 4194")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_query_is_refused),
        cmocka_unit_test(pivot_without_values_gets_a_hint),
        cmocka_unit_test(large_and_deep_queries_work),
        cmocka_unit_test(the_depth_of_the_tree_is_limited),
        cmocka_unit_test(unknown_nodes_are_refused),
        cmocka_unit_test(what_the_engine_finds_too_deep_is_a_clean_error),
        cmocka_unit_test(a_text_over_the_limit_is_refused),
    };
    return cmocka_run_group_tests_name("query parse", tests, sql_fixture_setup, sql_fixture_teardown);
}
