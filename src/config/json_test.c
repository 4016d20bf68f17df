#include "base/testing.h"
#include "config/config_value.h"
#include "config/json_writer.h"

#include <math.h>

static Str read_text(Arena *arena, Str text, JsonStyle style) {
    AUTO(error) Error err;
    error_init(&err);
    ConfigValue *value;
    if (failed(json_read(text, STR("m.py"), arena, &value, &err))) {
        assert_int_equal(err.kind, ERROR_CONFIGURATION);
        return error_line(&err, arena);
    }
    AUTO(strbuf) StrBuf out = {0};
    JsonWriter writer;
    json_writer_init(&writer, &out, style);
    json_config(&writer, value);
    return strbuf_copy(&out, arena);
}

static void json_reads_back_as_it_was_with_sorted_keys(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    static const struct {
        const char *json, *expected;
    } cases[] = {
        {"{\"b\": [1, -2.5, true, false, null, \"x\"], \"a\": {}}", "{\"a\":{},\"b\":[1,-2.5,true,false,null,\"x\"]}"},
        {"0.1", "0.1"},
        {"1.0", "1.0"},
        {"0.30000000000000004", "0.30000000000000004"},
        {"1e400", "invalid JSON: real number overflow near '1e400' (m.py:1:5)"},
        {"9223372036854775807", "9223372036854775807"},
        {"\"\\u00e4\\ud83d\\ude00\"", "\"\xC3\xA4\xF0\x9F\x98\x80\""},
        {"\"true\"", "\"true\""},
        {"\"1\"", "\"1\""},
        {"{\"a\":1,\"a\":2}", "invalid JSON: duplicate object key near '\"a\"' (m.py:1:10)"},
        {"", "invalid JSON: unexpected token near end of file (m.py:1)"},
        {"[1,\n]", "invalid JSON: unexpected token near ']' (m.py:2:1)"},
        {"NaN", "invalid JSON: invalid token near 'NaN' (m.py:1:3)"},
        {"{} x", "invalid JSON: end of file expected near 'x' (m.py:1:4)"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_str(read_text(arena, str_from(cases[i].json), JSON_COMPACT), cases[i].expected, cases[i].json);
    }
}

static void json_scalars_say_what_they_are(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    ConfigValue *list;
    assert_done(json_read(STR("[1, 1.5, true, \"1\", null]"), STR("m.py"), arena, &list, &err), &err);
    assert_true(list->items[0]->is_number);
    assert_true(list->items[1]->is_number);
    assert_true(list->items[2]->is_boolean);
    assert_true(list->items[3]->quoted);
    assert_int_equal(list->items[4]->kind, CONFIG_NULL);
    assert_str(list->items[1]->text, "1.5", "text of a real");
    assert_str(list->items[2]->text, "true", "text of a boolean");
    assert_int_equal(list->items[0]->place.line, 0);
    assert_str(list->items[0]->place.file, "m.py", "file");
}

static void json_nesting_is_limited(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(strbuf) StrBuf text = {0};
    for (int i = 0; i < 200; i++) {
        strbuf_char(&text, '[');
    }
    for (int i = 0; i < 200; i++) {
        strbuf_char(&text, ']');
    }
    assert_str(read_text(arena, strbuf_str(&text), JSON_COMPACT), strbuf_c(&text), "200 levels");
    Str deeper = str_format(arena, "[" STR_FMT "]", STR_ARG(strbuf_str(&text)));
    assert_str(read_text(arena, deeper, JSON_COMPACT), "JSON is nested more than 200 levels deep (m.py)", "201 levels");
}

static void writer_keeps_commas_and_indentation(void **state) {
    (void)state;
    static const struct {
        JsonStyle style;
        const char *expected;
    } cases[] = {
        {JSON_COMPACT,
         "{\"a\":[1,{\"b\":null}],\"empty\":{},\"none\":[],\"names\":[\"x\",\"y\"],\"t\":true,\"o\":null}"},
        {JSON_PRETTY,
         "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n  \"empty\": {},\n  \"none\": [],\n"
         "  \"names\": [\n    \"x\",\n    \"y\"\n  ],\n  \"t\": true,\n  \"o\": null\n}"},
    };
    const Str names[] = {STR("x"), STR("y")};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(strbuf) StrBuf out = {0};
        JsonWriter writer;
        json_writer_init(&writer, &out, cases[i].style);
        json_begin_object(&writer);
        json_key(&writer, STR("a"));
        json_begin_array(&writer);
        json_int(&writer, 1);
        json_begin_object(&writer);
        json_null_field(&writer, STR("b"));
        json_end_object(&writer);
        json_end_array(&writer);
        json_key(&writer, STR("empty"));
        json_begin_object(&writer);
        json_end_object(&writer);
        json_text_list_field(&writer, STR("none"), NULL, 0);
        json_text_list_field(&writer, STR("names"), names, 2);
        json_bool_field(&writer, STR("t"), true);
        json_optional_text_field(&writer, STR("o"), STR_EMPTY);
        json_end_object(&writer);
        assert_str(strbuf_str(&out), cases[i].expected, "style");
    }
}

static void texts_are_escaped_and_made_sound(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", "\"\""},
        {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
        {"eight by\"eight b\\ight by\nx", "\"eight by\\\"eight b\\\\ight by\\nx\""},
        {"\x1F \xFF\x7F~!#[]", "\"\\u001f \xEF\xBF\xBD\x7F~!#[]\""},
        {"\b\f\n\r\t\x01\x1F\x7F", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7F\""},
        {"\xC3\xA4\xF0\x9F\x98\x80", "\"\xC3\xA4\xF0\x9F\x98\x80\""},
        {"a\xFFz\xC3", "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(strbuf) StrBuf out = {0};
        JsonWriter writer;
        json_writer_init(&writer, &out, JSON_COMPACT);
        json_text(&writer, str_from(cases[i].text));
        assert_str(strbuf_str(&out), cases[i].expected, cases[i].text);
    }
}

static void numbers_are_short_and_exact(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *expected;
    } cases[] = {{0.1, "0.1"},   {1, "1.0"},       {1e300, "1e+300"},          {1.0 / 3, "0.3333333333333333"},
                 {-0.0, "-0.0"}, {NAN, "\"NaN\""}, {INFINITY, "\"Infinity\""}, {-INFINITY, "\"-Infinity\""}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(strbuf) StrBuf out = {0};
        JsonWriter writer;
        json_writer_init(&writer, &out, JSON_COMPACT);
        json_double(&writer, cases[i].number);
        assert_str(strbuf_str(&out), cases[i].expected, cases[i].expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(json_reads_back_as_it_was_with_sorted_keys),
        TEST(json_scalars_say_what_they_are),
        TEST(json_nesting_is_limited),
        TEST(writer_keeps_commas_and_indentation),
        TEST(texts_are_escaped_and_made_sound),
        TEST(numbers_are_short_and_exact),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
