#include "project/graph.h"
#include "project/project_fixture.h"
#include "project/selector.h"

/* a → b → c, and d apart. */
static int open_chain(void **state) {
    (void)fixture_open(state);
    Fixture *f = *state;
    fixture_write(f, "models/a.sql", "SELECT 1 AS id");
    fixture_write(f, "models/b.sql", "/* interlace: {tags: [x, slow]} */ SELECT * FROM a");
    fixture_write(f, "models/c.sql", "SELECT * FROM b");
    fixture_write(f, "models/silver/d.sql", "/* interlace: {tags: [x]} */ SELECT 1 AS id");
    assert_loads(f);
    return 0;
}

/* Names of the selection, or "error: " and its message with hint. */
static Str select_names(Fixture *f, const StrVec *select, const StrVec *exclude, const bool *is_modified, bool grow) {
    AUTO(error) Error err;
    error_init(&err);
    Selection selection;
    SelectionOptions options = {.select = select, .exclude = exclude, .is_modified = is_modified};
    if (failed(selection_resolve(f->project, &options, f->arena, &selection, &err))) {
        assert_int_equal(err.kind, ERROR_SELECTION);
        return str_format(f->arena, "error: " STR_FMT " | " STR_FMT, STR_ARG(err.message), STR_ARG(err.hint));
    }
    if (grow) {
        selection_grow(f->project, is_modified, &selection);
    }
    AUTO(strbuf) StrBuf names = {0};
    strbuf_text(&names, selection.is_all ? "all" : "");
    for (size_t i = 0; i < selection.count && !selection.is_all; i++) {
        if (selection.contains[i]) {
            strbuf_format(&names, "%s" STR_FMT, names.size == 0 ? "" : " ", STR_ARG(f->project->models[i]->name));
        }
    }
    return strbuf_copy(&names, f->arena);
}

static StrVec options_of(Fixture *f, const char *text) {
    StrVec options = {0};
    for (Str rest = str_from(text); rest.size > 0;) {
        size_t end = str_find_char(rest, '|');
        str_vec_push(f->arena, &options, str_slice(rest, 0, end));
        rest = str_skip(rest, end == STR_NOT_FOUND ? rest.size : end + 1);
    }
    return options;
}

typedef struct Case {
    const char *select, *exclude, *expected; /* options joined by | */
} Case;

static void check_cases(Fixture *f, const Case *cases, size_t count) {
    static const bool is_modified[] = {false, true, false, false}; /* a b c silver.d */
    for (size_t i = 0; i < count; i++) {
        StrVec select = options_of(f, cases[i].select);
        StrVec exclude = options_of(f, cases[i].exclude);
        assert_str(select_names(f, &select, &exclude, is_modified, false), cases[i].expected, cases[i].select);
    }
}

static void test_03_4_1_selectors_give_their_sets(void **state) {
    static const Case cases[] = {
        {"", "", "all"},
        {"", "b", "a c silver.d"},
        {"a", "", "a"},
        {"+c", "", "a b c"},
        {"a+", "", "a b c"},
        {"+b+", "", "a b c"},
        {"+b", "", "a b"},
        {"b+", "", "b c"},
        {"a,c", "", "a c"},
        {"a c", "", "a c"},
        {" a ,, c\t", "", "a c"},
        {"a|c", "", "a c"},
        {"tag:x", "", "b silver.d"},
        {"tag:x+", "", "b c silver.d"},
        {"+tag:slow", "", "a b"},
        {"silver.*", "", "silver.d"},
        {"?", "", "a b c"},
        {"*b*+", "", "b c"},
        {"path:models/silver/", "", "silver.d"},
        {"path:models/silver", "", "silver.d"},
        {"path:./models/a.sql", "", "a"},
        {"+c", "a", "b c"},
        {"+c", "+b", "c"},
        {"state:modified", "", "b"},
        {"state:modified+", "", "b c"},
        {"+state:modified", "tag:slow", "a"},
    };
    check_cases(*state, cases, COUNT_OF(cases));
}

static void test_03_4_3_selectors_that_match_nothing_are_refused(void **state) {
    static const Case cases[] = {
        {"nosuch", "", "error: unknown model in selector: 'nosuch' | "},
        {"silver.e", "", "error: unknown model in selector: 'silver.e' | did you mean 'silver.d'?"},
        {"A", "", "error: unknown model in selector: 'A' | did you mean 'a'?"},
        {"tag:none", "", "error: no model has the tag 'none'; known tags: slow, x | "},
        {"gold.*", "", "error: no model's name matches 'gold.*' | "},
        {"path:models/gold/", "", "error: no model is defined under 'models/gold/' | "},
        {"path:models/silv", "", "error: no model is defined under 'models/silv' | "},
        {"state:new", "", "error: unknown selector 'state:new'; there is state:modified | "},
        {"owner:me", "", "error: unknown kind of selector 'owner:me'; there are tag:, path: and state: | "},
        {"+", "", "error: selector '+' names no model | "},
        {"a", "nosuch", "error: unknown model in selector: 'nosuch' | "},
    };
    check_cases(*state, cases, COUNT_OF(cases));
}

static void test_03_4_3_nothing_modified_is_an_empty_selection(void **state) {
    Fixture *f = *state;
    static const bool is_modified[4];
    StrVec select = options_of(f, "state:modified");
    assert_str(select_names(f, &select, NULL, is_modified, false), "", "clean project");
    assert_contains(select_names(f, &select, NULL, NULL, false), "error: this command compares with no environment");
}

static void test_03_4_2_a_selection_grows_by_modified_ancestors(void **state) {
    Fixture *f = *state;
    StrVec select = options_of(f, "c");
    static const bool near[] = {false, true, false, true};
    static const bool both[] = {true, true, false, false};
    static const bool far[] = {true, false, false, false};
    assert_str(select_names(f, &select, NULL, near, true), "b c", "one up");
    assert_str(select_names(f, &select, NULL, both, true), "a b c", "two up");
    assert_str(select_names(f, &select, NULL, far, true), "c", "an unmodified one stops the walk");
}

static void test_03_2_4_names_of_environments(void **state) {
    (void)state;
    static const char *const good[] = {"prod", "dev", "pr_12", "A", "a2345678901234567890123456789012"};
    static const char *const bad[] = {
        "", "interlace", "Streams", "main", "a b", "a__b", "_a", "1a", "a-b", "ä", "a23456789012345678901234567890123"};
    AUTO(error) Error err;
    error_init(&err);
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_done(environment_check_name(str_from(good[i]), &err), &err);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_true(failed(environment_check_name(str_from(bad[i]), &err)));
        assert_int_equal(err.kind, ERROR_USAGE);
    }
}

static void physical_names(void **state) {
    Fixture *f = *state;
    const Model *d = fixture_model(f, "silver.d");
    assert_str(physical_schema(f->arena, d), "interlace__silver", "schema");
    assert_str(physical_name(f->arena, d, STR("0123456789abcdef")), "d__0123456789abcdef", "name");
    assert_str(physical_schema(f->arena, fixture_model(f, "a")), "interlace__main", "main");
    assert_str(environment_view_schema(f->arena, STR("prod"), d->schema), "silver", "prod");
    assert_str(environment_view_schema(f->arena, STR("dev"), d->schema), "dev__silver", "dev");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CHAIN_TEST(name) cmocka_unit_test_setup_teardown(name, open_chain, fixture_close)
        CHAIN_TEST(test_03_4_1_selectors_give_their_sets),
        CHAIN_TEST(test_03_4_3_selectors_that_match_nothing_are_refused),
        CHAIN_TEST(test_03_4_3_nothing_modified_is_an_empty_selection),
        CHAIN_TEST(test_03_4_2_a_selection_grows_by_modified_ancestors),
        CHAIN_TEST(physical_names),
        TEST(test_03_2_4_names_of_environments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
