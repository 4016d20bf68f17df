#include "base/testing.h"
#include "config/config_value.h"

typedef struct Fixture {
    Arena *arena;
    Error err;
} Fixture;

static int set_up(void **state) {
    Fixture *f = heap_alloc_zeroed(1, sizeof *f);
    f->arena = arena_create();
    error_init(&f->err);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    error_deinit(&f->err);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

static const ConfigValue *value_of(Fixture *f, const char *yaml) {
    ConfigValue *value;
    assert_done(yaml_read(str_from(yaml), STR("f.yaml"), 1, f->arena, &value, &f->err), &f->err);
    return value;
}

static const char *line(Fixture *f, Status status) {
    return failed(status) ? error_line(&f->err, f->arena).ptr : "done";
}

static void keys_are_found(void **state) {
    Fixture *f = *state;
    const ConfigValue *map = value_of(f, "a: 1\nb: {a: 2}");
    assert_str(config_find(map, STR("a"))->text, "1", "a");
    assert_null(config_find(map, STR("c")));
    assert_null(config_find(NULL, STR("a")));
    assert_null(config_find(config_find(map, STR("a")), STR("a")));
}

static void whole_numbers_are_checked(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *yaml, *expected;
        int64_t number;
    } cases[] = {
        {"8", "done", 8},
        {"'8'", "done", 8},
        {"1_000", "done", 1000},
        {"0x10", "done", 16},
        {"0", "slots must be a whole number of at least 1, not '0' (f.yaml:1:1)", 0},
        {"many", "slots must be a whole number of at least 1, not 'many' (f.yaml:1:1)", 0},
        {"1.5", "slots must be a whole number of at least 1, not '1.5' (f.yaml:1:1)", 0},
        {"true", "slots must be a whole number of at least 1, not 'true' (f.yaml:1:1)", 0},
        {"99999999999999999999", "slots must be a whole number of at least 1, not '99999999999999999999' (f.yaml:1:1)",
         0},
        {"[1]", "slots must be a whole number of at least 1, not a list (f.yaml:1:1)", 0},
        {"{}", "slots must be a whole number of at least 1, not a map (f.yaml:1:1)", 0},
        {"~", "slots must be a whole number of at least 1, not null (f.yaml:1:1)", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t number = 0;
        Status status = config_as_int(value_of(f, cases[i].yaml), "slots", 1, &number, &f->err);
        assert_string_equal(line(f, status), cases[i].expected);
        assert_int_equal(number, cases[i].number);
    }
    int64_t number;
    assert_string_equal(line(f, config_as_int(value_of(f, "x"), "n", INT64_MIN, &number, &f->err)),
                        "n must be a whole number, not 'x' (f.yaml:1:1)");
    assert_done(config_as_int(value_of(f, "-9223372036854775808"), "n", INT64_MIN, &number, &f->err), &f->err);
    assert_true(number == INT64_MIN);
}

static void booleans_are_the_words_of_yaml(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *yaml;
        int expected; /* -1: refused */
    } cases[] = {{"true", 1}, {"Yes", 1}, {"ON", 1}, {"'true'", 1}, {"false", 0}, {"no", 0},
                 {"Off", 0},  {"1", -1},  {"y", -1}, {"tRue", -1},  {"[]", -1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bool flag = false;
        Status status = config_as_bool(value_of(f, cases[i].yaml), "watch", &flag, &f->err);
        assert_int_equal(failed(status) ? -1 : flag, cases[i].expected);
    }
}

static void lists_of_text_may_be_a_single_text(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *yaml, *expected;
    } cases[] = {
        {"[a, 1, 'b']", "a,1,b"},
        {"a", "a"},
        {"[]", ""},
        {"~", ""},
        {"{a: 1}", "key must be a list of texts, not a map (f.yaml:1:1)"},
        {"[a, [b]]", "key must be a list of texts, not a list (f.yaml:1:5)"},
        {"[a, ~]", "key must be a list of texts, not null (f.yaml:1:5)"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        StrVec list = {0};
        Status status = config_as_text_list(value_of(f, cases[i].yaml), "key", f->arena, &list, &f->err);
        Str joined =
            failed(status) ? error_line(&f->err, f->arena) : str_join(f->arena, list.items, list.count, STR(","));
        assert_str(joined, cases[i].expected, cases[i].yaml);
    }
}

static void text_is_what_was_written(void **state) {
    Fixture *f = *state;
    Str text;
    assert_done(config_as_text(value_of(f, "2026-01-01"), "backfill", &text, &f->err), &f->err);
    assert_str(text, "2026-01-01", "date");
    assert_done(config_as_text(value_of(f, "'1d'"), "interval", &text, &f->err), &f->err);
    assert_str(text, "1d", "grain");
    assert_string_equal(line(f, config_as_text(value_of(f, "[x]"), "name", &text, &f->err)),
                        "name must be text, not a list (f.yaml:1:1)");
}

static void unknown_keys_are_refused_with_the_nearest(void **state) {
    Fixture *f = *state;
    const Str known[] = {STR("strategy"), STR("key"), STR("name")};
    static const struct {
        const char *yaml, *expected;
    } cases[] = {
        {"strategy: x\nx-mine: 1", "done"},
        {"name: a\nstratgy: x", "unknown key 'stratgy' in m.sql: did you mean strategy? (f.yaml:2:1)"},
        {"colour: red", "unknown key 'colour' in m.sql (f.yaml:1:1)"},
        {"KEY: red", "unknown key 'KEY' in m.sql: did you mean key? (f.yaml:1:1)"},
        {"[a]", "done"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Status status =
            config_check_keys(value_of(f, cases[i].yaml), known, COUNT_OF(known), "m.sql", ERROR_DEFINITION, &f->err);
        assert_string_equal(line(f, status), cases[i].expected);
    }
    assert_int_equal(f->err.kind, ERROR_DEFINITION);
    assert_str(error_detail_find(&f->err, STR("code")), "key.unknown", "code");
    assert_str(error_detail_find(&f->err, STR("key")), "KEY", "key");
    assert_str(error_detail_find(&f->err, STR("nearest")), "key", "nearest");
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(keys_are_found),
        FIXTURE_TEST(whole_numbers_are_checked),
        FIXTURE_TEST(booleans_are_the_words_of_yaml),
        FIXTURE_TEST(lists_of_text_may_be_a_single_text),
        FIXTURE_TEST(text_is_what_was_written),
        FIXTURE_TEST(unknown_keys_are_refused_with_the_nearest),
    };
    return cmocka_run_group_tests_name("config_value", tests, NULL, NULL);
}
