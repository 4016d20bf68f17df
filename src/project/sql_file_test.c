#include "base/testing.h"
#include "config/json_writer.h"
#include "project/sql_file.h"

/* "header | body", or the error's line. */
static Str split(Arena *arena, const char *text) {
    SourceFile source = {.path = STR("models/a.sql"), .content = str_from(text)};
    AUTO(error) Error err;
    error_init(&err);
    SqlFile file;
    if (failed(sql_file_split(&source, NULL, arena, &file, &err))) {
        assert_int_equal(err.kind, ERROR_CONFIGURATION);
        return error_line(&err, arena);
    }
    AUTO(strbuf) StrBuf out = {0};
    JsonWriter json;
    json_writer_init(&json, &out, JSON_COMPACT);
    if (!file.has_header) {
        strbuf_text(&out, "none");
    } else if (file.header == NULL) {
        strbuf_text(&out, "empty");
    } else {
        json_config(&json, file.header);
    }
    strbuf_format(&out, " | " STR_FMT, STR_ARG(str_trim(file.body.text)));
    return strbuf_copy(&out, arena);
}

typedef struct Case {
    const char *text, *expected;
} Case;

static void check_cases(const Case *cases, size_t count) {
    AUTO(arena) Arena *arena = arena_create();
    for (size_t i = 0; i < count; i++) {
        assert_str(split(arena, cases[i].text), cases[i].expected, cases[i].text);
    }
}

static void a_block_is_taken_off_the_query(void **state) {
    (void)state;
    static const Case cases[] = {
        {"SELECT 1", "none | SELECT 1"},
        {"", "none | "},
        {"/* interlace: {materialise: view} */ SELECT 1", "{\"materialise\":\"view\"} | SELECT 1"},
        {"/* interlace:\n  strategy: merge\n  key: id\n*/\nSELECT 1",
         "{\"key\":\"id\",\"strategy\":\"merge\"} | SELECT 1"},
        {"/*\ninterlace:\n  owner: me\n*/SELECT 1", "{\"owner\":\"me\"} | SELECT 1"},
        {"/* interlace:\r\n  owner: me\r\n*/\r\nSELECT 1\r\n", "{\"owner\":\"me\"} | SELECT 1"},
        {"/* {interlace: {owner: me}} */ SELECT 1", "{\"owner\":\"me\"} | SELECT 1"},
        {"/* \"interlace\": {owner: me} */ SELECT 1", "{\"owner\":\"me\"} | SELECT 1"},
        {"/* interlace: */ SELECT 1", "empty | SELECT 1"},
        {"/* interlace: {} */ SELECT 1", "{} | SELECT 1"},
        {"-- (c) us\n/* licence */ /* interlace: {owner: me} */ SELECT 1", "{\"owner\":\"me\"} | SELECT 1"},
        {"/* # yaml\ninterlace: {owner: me} */ SELECT 1", "{\"owner\":\"me\"} | SELECT 1"},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void test_01_3_2_other_comments_are_plain_sql(void **state) {
    (void)state;
    static const Case cases[] = {
        {"/* just words */ SELECT 1", "none | /* just words */ SELECT 1"},
        {"/* see interlace: it is fine */ SELECT 1", "none | /* see interlace: it is fine */ SELECT 1"},
        {"/* made by interlace */ SELECT 1", "none | /* made by interlace */ SELECT 1"},
        {"/* interlaced: {a: b} */ SELECT 1", "none | /* interlaced: {a: b} */ SELECT 1"},
        {"-- interlace: {a: b}\nSELECT 1", "none | -- interlace: {a: b}\nSELECT 1"},
        {"/* author: me */ SELECT 1 /* see interlace */", "none | /* author: me */ SELECT 1 /* see interlace */"},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void test_01_3_5_a_block_in_a_string_is_a_string(void **state) {
    (void)state;
    static const Case cases[] = {
        {"SELECT '/* interlace: {materialise: view} */'", "none | SELECT '/* interlace: {materialise: view} */'"},
        {"SELECT $$/* interlace: {owner: x} */$$", "none | SELECT $$/* interlace: {owner: x} */$$"},
        {"/* interlace: {owner: x} */ SELECT '/* interlace: {} */'",
         "{\"owner\":\"x\"} | SELECT '/* interlace: {} */'"},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void test_01_3_2_what_does_not_read_is_refused_at_its_line(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    static const Case cases[] = {
        {"/* interlace: : */ SELECT 1", "models/a.sql:1:"},
        {"\n\n/* interlace:\n  strategy: merge\n   key: id\n*/ SELECT 1", "models/a.sql:5:"},
        {"/* interlace: {owner: me */ SELECT 1", "models/a.sql:1:"},
        {"/* interlace:\n\tkey: id\n*/ SELECT 1", "models/a.sql:2:"},
        {"/* interlace:\nstrategy: merge\n*/ SELECT 1", "models/a.sql:2:"},
        {"/*\ninterlace:\nstrategy: merge\n*/ SELECT 1", "'strategy' beside 'interlace:'"},
        {"/* interlace: view */ SELECT 1", "must hold a map of model keys, not "},
        {"/* interlace: [a] */ SELECT 1", "must hold a map of model keys, not a list (models/a.sql:1:15)"},
        {"/* interlace:view */ SELECT 1", "is not a map with the key 'interlace' (models/a.sql:1:1)"},
        {"/* interlace: {a: 1, a: 2} */ SELECT 1", "models/a.sql:1:22"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str line = split(arena, cases[i].text);
        if (str_find(line, str_from(cases[i].expected)) == STR_NOT_FOUND) {
            print_error("%s: " STR_FMT " has no %s\n", cases[i].text, STR_ARG(line), cases[i].expected);
            fail();
        }
    }
}

static void a_second_block_and_a_late_block_are_refused(void **state) {
    (void)state;
    static const Case cases[] = {
        {"/* interlace: {owner: a} */\n/* interlace: {owner: b} */ SELECT 1",
         "a second configuration block: a model has one (models/a.sql:2:1)"},
        {"SELECT 1\n/* interlace: {owner: b} */",
         "a configuration block must stand before the query (models/a.sql:2:1)"},
        {"/* interlace: {owner: a} */ SELECT 1 /* interlace: {owner: b} */",
         "a second configuration block: a model has one (models/a.sql:1:38)"},
        {"SELECT /* interlace: {owner: b} */ 1",
         "a configuration block must stand before the query (models/a.sql:1:8)"},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void places_of_values_are_those_of_the_file(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    SourceFile source = {.path = STR("models/a.sql"),
                         .content = STR("-- c\n/* ä */ /* interlace: {owner: me,\n  tags: [x]} */ SELECT 1")};
    SqlFile file;
    assert_done(sql_file_split(&source, NULL, arena, &file, &err), &err);
    assert_int_equal(file.header_line, 2);
    assert_int_equal(file.header->entries[0].place.line, 2);
    assert_int_equal(file.header->entries[0].place.column, 24);
    assert_int_equal(file.header->entries[0].value->place.column, 31);
    assert_int_equal(file.header->entries[1].place.line, 3);
    assert_int_equal(file.header->entries[1].place.column, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_block_is_taken_off_the_query),
        TEST(test_01_3_2_other_comments_are_plain_sql),
        TEST(test_01_3_5_a_block_in_a_string_is_a_string),
        TEST(test_01_3_2_what_does_not_read_is_refused_at_its_line),
        TEST(a_second_block_and_a_late_block_are_refused),
        TEST(places_of_values_are_those_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
