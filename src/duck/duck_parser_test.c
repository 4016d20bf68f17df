#include "duck/duck_fixture.h"
#include "duck/duck_parser.h"

typedef struct ParserFixture {
    DuckParser *parser;
    Arena *arena;
    Error err;
} ParserFixture;

static int open_parser(void **state) {
    ParserFixture *f = heap_alloc_zeroed(1, sizeof *f);
    f->arena = arena_create();
    error_init(&f->err);
    assert_ok(duck_parser_open(&f->parser, &f->err), &f->err);
    *state = f;
    return 0;
}

static int close_parser(void **state) {
    ParserFixture *f = *state;
    duck_parser_close(f->parser);
    error_deinit(&f->err);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

static void a_query_gives_its_tree(void **state) {
    ParserFixture *f = *state;
    Str json;
    assert_ok(duck_parser_json(f->parser, STR("SELECT a FROM s.t WHERE b = 'é'"), f->arena, &json, &f->err), &f->err);
    assert_contains(json, "\"table_name\":\"t\"");
    assert_contains(json, "\"error\":false");
}

static void a_refusal_is_an_answer(void **state) {
    ParserFixture *f = *state;
    Str json;
    assert_ok(duck_parser_json(f->parser, STR("SELECT FROM FROM"), f->arena, &json, &f->err), &f->err);
    assert_contains(json, "\"error\":true");
    assert_ok(duck_parser_json(f->parser, STR("DROP TABLE t"), f->arena, &json, &f->err), &f->err);
    assert_contains(json, "Only SELECT statements");
}

static void bytes_that_are_no_text_are_refused(void **state) {
    ParserFixture *f = *state;
    Str json;
    assert_failed(duck_parser_json(f->parser, STR("SELECT '\xFF'"), f->arena, &json, &f->err));
    assert_int_equal(f->err.kind, ERROR_COMPILATION);
    assert_int_equal(f->err.sql_offset, 8);
    assert_failed(duck_parser_json(f->parser, STR("SELECT\0 1"), f->arena, &json, &f->err));
}

static void the_parser_reads_no_files(void **state) {
    ParserFixture *f = *state;
    assert_failed(
        duck_execute(duck_parser_connection(f->parser), STR("FROM read_text('/etc/hostname')"), NULL, &f->err));
    assert_contains(f->err.message, "disabled");
}

static void statements_are_counted_and_named(void **state) {
    ParserFixture *f = *state;
    StrVec kinds;
    Str sql = STR("SELECT 1 FROM missing; -- ;\nINSERT INTO missing VALUES (1);");
    assert_ok(duck_parser_statements(f->parser, sql, f->arena, &kinds, &f->err), &f->err);
    assert_str(str_join(f->arena, kinds.items, kinds.count, STR(",")), "SELECT,INSERT");
    assert_ok(duck_parser_statements(f->parser, STR(" -- nothing"), f->arena, &kinds, &f->err), &f->err);
    assert_int_equal(kinds.count, 0);
}

static void a_syntax_error_points_at_the_byte(void **state) {
    ParserFixture *f = *state;
    StrVec kinds;
    Str sql = STR("SELECT 'éé' FROM t WHERE WHERE");
    assert_failed(duck_parser_statements(f->parser, sql, f->arena, &kinds, &f->err));
    assert_int_equal(f->err.kind, ERROR_COMPILATION);
    assert_str(f->err.message, "syntax error at or near \"WHERE\"");
    assert_int_equal(f->err.sql_offset, sql.size - 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_gives_its_tree),
        cmocka_unit_test(a_refusal_is_an_answer),
        cmocka_unit_test(bytes_that_are_no_text_are_refused),
        cmocka_unit_test(the_parser_reads_no_files),
        cmocka_unit_test(statements_are_counted_and_named),
        cmocka_unit_test(a_syntax_error_points_at_the_byte),
    };
    return cmocka_run_group_tests(tests, open_parser, close_parser);
}
