#include "sql/sql_fixture.h"

#include "sql/engine_json.h"

static void append_node(StrBuf *form, const EngineJson *node) {
    static const char *const words[] = {"null", "false", "true"};
    if (node->kind <= ENGINE_JSON_TRUE) {
        strbuf_text(form, words[node->kind]);
    } else if (node->kind == ENGINE_JSON_NUMBER) {
        strbuf_append(form, node->text);
    } else if (node->kind == ENGINE_JSON_STRING) {
        strbuf_format(form, "<" STR_FMT ">", STR_ARG(node->text));
    } else {
        strbuf_char(form, node->kind == ENGINE_JSON_ARRAY ? '[' : '{');
        for (const EngineJson *item = node->first; item != NULL; item = item->next) {
            strbuf_text(form, item == node->first ? "" : " ");
            if (node->kind == ENGINE_JSON_OBJECT) {
                strbuf_format(form, STR_FMT ":", STR_ARG(item->key));
            }
            append_node(form, item);
        }
        strbuf_char(form, node->kind == ENGINE_JSON_ARRAY ? ']' : '}');
    }
}

static void values_are_read(void **state) {
    (void)state;
    static const struct {
        const char *json, *form;
    } cases[] = {
        {"null", "null"},
        {" [ 1 , -2.5e3, true,false , \"a\" ] ", "[1 -2.5e3 true false <a>]"},
        {"{\"a\":{},\"b\":[[],[{}]],\"c\":\"\"}", "{a:{} b:[[] [{}]] c:<>}"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "<\"\\/\b\f\n\r\t>"},
        {"\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"", "<A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80>"},
        {"{\"k\\n\":1}", "{k\n:1}"},
    };
    AUTO(error) Error err;
    error_init(&err);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(arena) Arena *arena = arena_create();
        AUTO(strbuf) StrBuf form = {0};
        EngineJsonDocument document = {0};
        assert_false(failed(engine_json_parse(str_from(cases[i].json), arena, &document, &err)));
        append_node(&form, document.nodes);
        check_text(cases[i].json, strbuf_str(&form), cases[i].form);
    }
}

static void faults_are_errors(void **state) {
    (void)state;
    static const char *const cases[] = {
        "",
        "[",
        "{",
        "[1",
        "[1,",
        "[1 2]",
        "[,1]",
        "{\"a\"}",
        "{\"a\":",
        "{1:2}",
        "\"a",
        "\"a\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud83d\"",
        "\"\\ud83dx\"",
        "tru",
        "[1]]",
        "{\"a\":1,}",
        "nul",
        "]",
        "\"\\u12g4\"",
        "[1]x",
        "{\"a\":1 \"b\":2}",
        ":",
        "\"\\ud83d\\u0041\"",
    };
    AUTO(error) Error err;
    error_init(&err);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(arena) Arena *arena = arena_create();
        EngineJsonDocument document = {0};
        if (!failed(engine_json_parse(str_from(cases[i]), arena, &document, &err))) {
            fail_msg("accepted: %s", cases[i]);
        }
        error_clear(&err);
    }
}

static void nesting_is_limited(void **state) {
    (void)state;
    AUTO(error) Error err;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(strbuf) StrBuf json = {0};
    EngineJsonDocument document = {0};
    error_init(&err);
    for (size_t i = 0; i <= ENGINE_JSON_DEPTH_MAX; i++) {
        strbuf_char(&json, '[');
    }
    assert_true(failed(engine_json_parse(strbuf_str(&json), arena, &document, &err)));
    assert_int_equal(err.kind, ERROR_COMPILATION);
}

static void members_are_found(void **state) {
    (void)state;
    AUTO(error) Error err;
    AUTO(arena) Arena *arena = arena_create();
    EngineJsonDocument document = {0};
    error_init(&err);
    Str json = STR("{\"t\":\"x\",\"n\":7,\"big\":18446744073709551615,\"neg\":-1,\"yes\":true,\"l\":[1]}");
    assert_false(failed(engine_json_parse(json, arena, &document, &err)));
    const EngineJson *root = document.nodes;
    check_text("text", engine_json_text(root, STR("t")), "x");
    check_text("no text", engine_json_text(root, STR("n")), "");
    assert_int_equal(engine_json_size(root, STR("n"), 1), 7);
    assert_int_equal(engine_json_size(root, STR("big"), 1), 1);
    assert_int_equal(engine_json_size(root, STR("neg"), 1), 1);
    assert_true(engine_json_true(root, STR("yes")));
    assert_null(engine_json_find(root, STR("absent")));
    assert_null(engine_json_find(engine_json_find(root, STR("l")), STR("t")));
    assert_null(engine_json_find(NULL, STR("t")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(faults_are_errors),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(members_are_found),
    };
    return cmocka_run_group_tests_name("engine json", tests, NULL, NULL);
}
