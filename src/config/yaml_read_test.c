#include "base/testing.h"
#include "config/config_value.h"
#include "config/json_writer.h"

/* The value as compact JSON, or the error's line. */
static Str read_text(Arena *arena, Str text, size_t first_line) {
    AUTO(error) Error err;
    error_init(&err);
    ConfigValue *value;
    if (failed(yaml_read(text, STR("f.yaml"), first_line, arena, &value, &err))) {
        assert_int_equal(err.kind, ERROR_CONFIGURATION);
        assert_true(error_detail_find(&err, STR("code")).size > 0);
        return error_line(&err, arena);
    }
    AUTO(strbuf) StrBuf out = {0};
    JsonWriter writer;
    json_writer_init(&writer, &out, JSON_COMPACT);
    json_config(&writer, value);
    return strbuf_copy(&out, arena);
}

typedef struct Case {
    const char *yaml, *expected;
} Case;

static void check_cases(const Case *cases, size_t count) {
    AUTO(arena) Arena *arena = arena_create();
    for (size_t i = 0; i < count; i++) {
        assert_str(read_text(arena, str_from(cases[i].yaml), 1), cases[i].expected, cases[i].yaml);
    }
}

static void documents_become_values(void **state) {
    (void)state;
    static const Case cases[] = {
        {"a: 1\nb: [x, 'y', \"z\"]\n", "{\"a\":1,\"b\":[\"x\",\"y\",\"z\"]}"},
        {"z: 1\na: {c: 2, b: 1}", "{\"a\":{\"b\":1,\"c\":2},\"z\":1}"},
        {"", "null"},
        {"# only a comment\n", "null"},
        {"---\na: 1\n...\n", "{\"a\":1}"},
        {"just text", "\"just text\""},
        {"- 1\n- {a: b}\n", "[1,{\"a\":\"b\"}]"},
        {"a: |\n  x\n  y\nb: >\n  x\n  y\n", "{\"a\":\"x\\ny\\n\",\"b\":\"x y\\n\"}"},
        {"a: 'it''s'\nb: \"\\u00e4\\n\"", "{\"a\":\"it's\",\"b\":\"\xC3\xA4\\n\"}"},
        {"\xEF\xBB\xBF"
         "a: 1\r\nb: 2\r\n",
         "{\"a\":1,\"b\":2}"},
        {"%YAML 1.1\n---\na: 1\n", "{\"a\":1}"},
        {"a:\n- 1\n- 2\n", "{\"a\":[1,2]}"},
        {"1: a\ntrue: b\n", "{\"1\":\"a\",\"true\":\"b\"}"},
        {"'<<': a", "{\"<<\":\"a\"}"},
        {"a: []\nb: {}\n", "{\"a\":[],\"b\":{}}"},
        {"a: http://x/#y # comment", "{\"a\":\"http://x/#y\"}"},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void plain_scalars_are_typed_and_quoted_ones_are_text(void **state) {
    (void)state;
    static const Case cases[] = {
        {"[null, ~, Null, '', 'null', ]", "[null,null,null,\"\",\"null\"]"},
        {"[true, False, 'true', yes, tRUE]", "[true,false,\"true\",\"yes\",\"tRUE\"]"},
        {"[1, -2, +3, 007, 0x1F, 0o17, '1']", "[1,-2,3,7,31,15,\"1\"]"},
        {"[1.5, 1., .5, 1e3, -1.0, 1.50]", "[1.5,1.0,0.5,1000.0,-1.0,1.5]"},
        {"[.inf, .nan, 1_000, 10:30, 2026-01-01, 1.2.3]",
         "[\".inf\",\".nan\",\"1_000\",\"10:30\",\"2026-01-01\",\"1.2.3\"]"},
        {"[12345678901234567890, 9223372036854775807]", "[12345678901234567890,9223372036854775807]"},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void faults_name_line_and_column(void **state) {
    (void)state;
    static const Case cases[] = {
        {"a: 1\nb: 2\na: 3", "key 'a' is written twice, on line 1 and on line 3 (f.yaml:3:1)"},
        {"a: {b: 1,\n b: 2}", "key 'b' is written twice, on line 1 and on line 2 (f.yaml:2:2)"},
        {"a:\n\tb: 1",
         "invalid YAML: the line begins with a tab, and YAML does not allow tabs for indentation (f.yaml:2:1)"},
        {"a:\n  b: 1\n  \tc: 1",
         "invalid YAML: the line begins with a tab, and YAML does not allow tabs for indentation "
         "(f.yaml:3:3)"},
        {"a: &x 1", "YAML anchors (&name) are not supported: write the value out (f.yaml:1:4)"},
        {"a: *x", "YAML aliases (*name) are not supported: write the value out (f.yaml:1:4)"},
        {"a: !!str 1", "YAML tags (!name) are not supported: write a plain or quoted value (f.yaml:1:4)"},
        {"a: !!map {}", "YAML tags (!name) are not supported: write a plain or quoted value (f.yaml:1:4)"},
        {"a: &x [1]", "YAML anchors (&name) are not supported: write the value out (f.yaml:1:4)"},
        {"a: 1\n<<: {b: 2}", "YAML merge keys (<<) are not supported: write the keys out (f.yaml:2:1)"},
        {"a: 1\n---\nb: 1", "a second YAML document (---) begins here: only one is read (f.yaml:2:1)"},
        {"? [x]\n: y", "a key must be a single word or text (f.yaml:1:3)"},
        {"'': y", "a key is empty (f.yaml:1:1)"},
        {"a: [1, 2\n", "invalid YAML: did not find expected ',' or ']' while parsing a flow sequence (f.yaml:1:4)"},
        {"a: \"x", "invalid YAML: found unexpected end of stream while scanning a quoted scalar (f.yaml:1:4)"},
        {"\xC3\xA4: 1\n \xC3\xBC: 3: 4", "invalid YAML: mapping values are not allowed in this context (f.yaml:2:3)"},
        {"a: \xFF", "'f.yaml' is not UTF-8 text (byte 3) (f.yaml:1:4)"},
        {"a: 1\nb: \x01", "invalid YAML: control characters are not allowed (f.yaml:2:4)"},
        {"a: {b: ${X:-8}}", "invalid YAML: did not find expected ',' or '}' while parsing a flow mapping (f.yaml:1:9)"},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void variable_in_flow_style_gets_a_hint(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    ConfigValue *value;
    assert_true(failed(yaml_read(STR("a: {b: ${X}}"), STR("f"), 1, arena, &value, &err)));
    assert_true(str_find(err.hint, STR("\"${NAME}\" in quotes")) != STR_NOT_FOUND);
}

static void nesting_is_limited(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(strbuf) StrBuf text = {0};
    for (int i = 0; i < 64; i++) {
        strbuf_char(&text, '[');
    }
    strbuf_char(&text, '1');
    for (int i = 0; i < 64; i++) {
        strbuf_char(&text, ']');
    }
    assert_str(read_text(arena, strbuf_str(&text), 1), strbuf_c(&text), "64 levels");
    Str deeper = str_format(arena, "[" STR_FMT "]", STR_ARG(strbuf_str(&text)));
    assert_str(read_text(arena, deeper, 1), "YAML is nested more than 64 levels deep (f.yaml:1:65)", "65 levels");
    assert_true(str_find(read_text(arena, str_replace_char(arena, str_format(arena, "%020000d", 0), '0', '['), 1),
                         STR("more than 64")) != STR_NOT_FOUND);
}

static void places_count_from_the_given_first_line(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    ConfigValue *map;
    assert_done(yaml_read(STR("\xC3\xA4: 1\nkey:\n  - x\n"), STR("m.sql"), 5, arena, &map, &err), &err);
    assert_int_equal(map->place.line, 5);
    assert_int_equal(map->entries[0].value->place.column, 4); /* code points, not bytes */
    assert_int_equal(map->entries[1].place.line, 6);
    assert_int_equal(map->entries[1].value->items[0]->place.line, 7);
    assert_int_equal(map->entries[1].value->items[0]->place.column, 5);
    assert_str(map->place.file, "m.sql", "file");
    assert_str(read_text(arena, STR("a: 1\na: 2"), 9),
               "key 'a' is written twice, on line 9 and on line 10 (f.yaml:10:1)", "both lines");
}

static void scalars_keep_their_text(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    static const struct {
        const char *yaml, *text;
        ConfigKind kind;
        bool quoted, is_number, is_boolean;
    } cases[] = {
        {"1_000", "1_000", CONFIG_SCALAR, false, true, false},
        {"010", "010", CONFIG_SCALAR, false, true, false},
        {"yes", "yes", CONFIG_SCALAR, false, false, true},
        {"OFF", "OFF", CONFIG_SCALAR, false, false, true},
        {"'yes'", "yes", CONFIG_SCALAR, true, false, false},
        {"\"1\"", "1", CONFIG_SCALAR, true, false, false},
        {"2026-01-01", "2026-01-01", CONFIG_SCALAR, false, false, false},
        {"~", "~", CONFIG_NULL, false, false, false},
        {"1.50", "1.50", CONFIG_SCALAR, false, true, false},
        {"-", "", CONFIG_LIST, false, false, false},
        {"y", "y", CONFIG_SCALAR, false, false, false},
        {"0b11", "0b11", CONFIG_SCALAR, false, true, false},
        {"08", "08", CONFIG_SCALAR, false, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        ConfigValue *value;
        assert_done(yaml_read(str_from(cases[i].yaml), STR("f"), 1, arena, &value, &err), &err);
        assert_str(value->text, cases[i].text, cases[i].yaml);
        assert_int_equal(value->kind, cases[i].kind);
        assert_int_equal(value->quoted, cases[i].quoted);
        assert_int_equal(value->is_number, cases[i].is_number);
        assert_int_equal(value->is_boolean, cases[i].is_boolean);
    }
}

static void large_maps_are_read_in_linear_time(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(strbuf) StrBuf text = {0};
    for (int i = 0; i < 50000; i++) {
        strbuf_format(&text, "key%d: %d\n", i, i);
    }
    strbuf_text(&text, "key77: 1\n");
    assert_str(read_text(arena, strbuf_str(&text), 1),
               "key 'key77' is written twice, on line 78 and on line 50001 (f.yaml:50001:1)", "many keys");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(documents_become_values),     TEST(plain_scalars_are_typed_and_quoted_ones_are_text),
        TEST(faults_name_line_and_column), TEST(variable_in_flow_style_gets_a_hint),
        TEST(nesting_is_limited),          TEST(places_count_from_the_given_first_line),
        TEST(scalars_keep_their_text),     TEST(large_maps_are_read_in_linear_time),
    };
    return cmocka_run_group_tests_name("yaml_read", tests, NULL, NULL);
}
