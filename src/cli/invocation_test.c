#include "cli/invocation.h"

#include "base/testing.h"

/* A command line of at most seven words, after the program's name. */
typedef struct Line {
    const char *words[8];
} Line;

static Status parse(const Line *line, Arena *arena, Invocation *invocation, Error *err) {
    char *argv[10] = {(char *)(uintptr_t) "interlace"};
    int argc = 1;
    for (size_t i = 0; line->words[i] != NULL; i++) {
        argv[argc++] = (char *)(uintptr_t)line->words[i];
    }
    return invocation_parse(argc, argv, arena, invocation, err);
}

static void options_stand_anywhere_and_in_any_form(void **state) {
    (void)state;
    static const Line lines[] = {
        {{"plan", "-s", "a", "-e", "dev"}},
        {{"plan", "-sa", "-edev"}},
        {{"plan", "--select", "a", "--env", "dev"}},
        {{"plan", "--select=a", "--env=dev"}},
        {{"-e", "dev", "plan", "-s=a"}},
        {{"--env=dev", "-s", "a", "plan", "--"}},
        {{"-qe", "dev", "-sa", "plan"}},
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        AUTO(arena) Arena *arena = arena_create();
        AUTO(error) Error err = {0};
        Invocation invocation;
        assert_done(parse(&lines[i], arena, &invocation, &err), &err);
        assert_string_equal(invocation.command->name, "plan");
        assert_str(invocation_text(&invocation, OPTION_ENV), "dev", "env");
        assert_int_equal(invocation_list(&invocation, OPTION_SELECT)->count, 1);
        assert_str(invocation_list(&invocation, OPTION_SELECT)->items[0], "a", "select");
    }
}

static void bad_lines_are_refused_with_the_reason(void **state) {
    (void)state;
    static const struct {
        Line line;
        const char *message;
    } cases[] = {
        {{{"nosuch"}}, "unknown command 'nosuch'"},
        {{{"plna"}}, "unknown command 'plna'; did you mean 'plan'?"},
        {{{"env", "lst"}}, "unknown command 'env lst'; did you mean 'list'?"},
        {{{"plan", "--nosuch"}}, "no such option for 'plan': --nosuch"},
        {{{"plan", "--explan"}}, "no such option for 'plan': --explan; did you mean --explain?"},
        {{{"plan", "--forc"}}, "no such option for 'plan': --forc"}, /* no abbreviations, and not another command's */
        {{{"plan", "--force"}}, "no such option for 'plan': --force"},
        {{{"--nosuch", "x", "plan"}}, "no such option: --nosuch"},
        {{{"plan", "-Z"}}, "no such option for 'plan': -Z"},
        {{{"plan", "--env"}}, "--env needs a value (NAME)"},
        {{{"plan", "-e", "a b"}},
         "environment name 'a b' must be a letter followed by letters, digits and underscores"},
        {{{"plan", "--env="}}, "--env must not be empty"},
        {{{"plan", "--json=yes"}}, "--json takes no value; got 'yes'"},
        {{{"plan", "extra"}}, "unexpected argument 'extra'"},
        {{{"query"}}, "missing argument SQL"},
        {{{"apply", "--parallelism", "-1"}}, "--parallelism must be a whole number, at least 0; got '-1'"},
        {{{"apply", "--parallelism=two"}}, "--parallelism must be a whole number, at least 0; got 'two'"},
        {{{"apply", "--json=xml"}}, "--json must be one of document, lines; got 'xml'"},
        {{{"lineage", "-f", "xml"}}, "-f must be one of text, json, dot, mermaid; got 'xml'"},
        {{{"apply", "--lock-timeout", "soon"}}, "--lock-timeout must be a duration (90s, 5m, 1h) or 0; got 'soon'"},
        {{{"checks", "list", "--since", "2026-13-01"}},
         "--since must be an ISO timestamp (e.g. 2026-07-01T00:00:00); got '2026-13-01'"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(arena) Arena *arena = arena_create();
        AUTO(error) Error err = {0};
        Invocation invocation;
        assert_true(failed(parse(&cases[i].line, arena, &invocation, &err)));
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_str(err.message, cases[i].message, cases[i].message);
    }
}

static void what_only_looks_like_an_option_is_an_argument(void **state) {
    (void)state;
    static const struct {
        Line line;
        const char *argument;
    } cases[] = {
        {{{"query", "-"}}, "-"},
        {{{"query", "-1"}}, "-1"},
        {{{"query", "-- only a comment"}}, "-- only a comment"},
        {{{"query", "--", "--help"}}, "--help"},
        {{{"query", "--", "-e"}}, "-e"},
        {{{"query", ""}}, ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(arena) Arena *arena = arena_create();
        AUTO(error) Error err = {0};
        Invocation invocation;
        assert_done(parse(&cases[i].line, arena, &invocation, &err), &err);
        assert_str(invocation_argument(&invocation, 0), cases[i].argument, cases[i].argument);
    }
}

static void help_and_version_win_over_everything(void **state) {
    (void)state;
    static const Line lines[] = {{{"--help"}},           {{"plan", "--help"}}, {{"plan", "--nosuch", "--help"}},
                                 {{"nosuch", "--help"}}, {{"env", "--help"}},  {{"--env", "1", "--help"}}};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        AUTO(arena) Arena *arena = arena_create();
        AUTO(error) Error err = {0};
        Invocation invocation;
        assert_done(parse(&lines[i], arena, &invocation, &err), &err);
        assert_true(invocation.wants_help);
    }
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    Invocation invocation;
    assert_done(parse(&(Line){{"plan", "-v"}}, arena, &invocation, &err), &err);
    assert_true(invocation.wants_version);
}

static void defaults_twins_and_the_command_line_rank_in_this_order(void **state) {
    (void)state;
    static const struct {
        const char *twin;
        Line line;
        const char *environment;
    } cases[] = {
        {NULL, {{"plan"}}, "prod"},
        {"", {{"plan"}}, "prod"},
        {"dev", {{"plan"}}, "dev"},
        {"dev", {{"plan", "-e", "stage"}}, "stage"},
        {"dev", {{"plan", "-e", "stage", "-e", "last"}}, "last"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(arena) Arena *arena = arena_create();
        AUTO(error) Error err = {0};
        Invocation invocation;
        unsetenv("INTERLACE_ENV");
        if (cases[i].twin != NULL) {
            setenv("INTERLACE_ENV", cases[i].twin, 1);
        }
        assert_done(parse(&cases[i].line, arena, &invocation, &err), &err);
        assert_str(invocation_text(&invocation, OPTION_ENV), cases[i].environment, cases[i].environment);
    }
    unsetenv("INTERLACE_ENV");
}

static void twins_of_flags_are_true_or_false(void **state) {
    (void)state;
    static const struct {
        const char *twin;
        bool is_valid, is_on;
    } cases[] = {
        {"1", true, true}, {"TRUE", true, true}, {"no", true, false}, {"0", true, false}, {"maybe", false, false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(arena) Arena *arena = arena_create();
        AUTO(error) Error err = {0};
        Invocation invocation;
        setenv("INTERLACE_NO_CACHE", cases[i].twin, 1);
        Status status = parse(&(Line){{"plan"}}, arena, &invocation, &err);
        assert_int_equal(failed(status), !cases[i].is_valid);
        if (cases[i].is_valid) {
            assert_int_equal(invocation_flag(&invocation, OPTION_NO_CACHE), cases[i].is_on);
        }
    }
    unsetenv("INTERLACE_NO_CACHE");
}

static void json_of_apply_has_two_forms(void **state) {
    (void)state;
    static const struct {
        Line line;
        const char *form;
    } cases[] = {{{{"apply"}}, ""}, {{{"apply", "--json"}}, "document"}, {{{"apply", "--json=lines"}}, "lines"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(arena) Arena *arena = arena_create();
        AUTO(error) Error err = {0};
        Invocation invocation;
        assert_done(parse(&cases[i].line, arena, &invocation, &err), &err);
        assert_str(invocation_text(&invocation, OPTION_JSON_OR_LINES), cases[i].form, cases[i].form);
    }
}

/* A word behind an option is its value or not, whatever the command: it may stand before the command's name. */
static void rows_of_one_name_take_values_alike(void **state) {
    (void)state;
    for (size_t a = 0; a < OPTION_COUNT; a++) {
        for (size_t b = 0; b < OPTION_COUNT; b++) {
            bool same_name = strcmp(option_table[a].name, option_table[b].name) == 0;
            bool same_letter = option_table[a].letter != 0 && option_table[a].letter == option_table[b].letter;
            if (same_name || same_letter) {
                assert_int_equal(option_type_takes_value(option_table[a].type),
                                 option_type_takes_value(option_table[b].type));
            }
        }
    }
}

static void no_command_has_an_option_twice(void **state) {
    (void)state;
    for (size_t i = 0; i < command_count; i++) {
        OptionSet set = command_table[i].options | global_options;
        for (size_t id = 0; id < OPTION_COUNT; id++) {
            if ((set & OPTION_BIT(id)) == 0) {
                continue;
            }
            assert_int_equal(option_find_name(set, str_from(option_table[id].name)), id);
            if (option_table[id].letter != 0) {
                assert_int_equal(option_find_letter(set, option_table[id].letter), id);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(options_stand_anywhere_and_in_any_form),
        TEST(bad_lines_are_refused_with_the_reason),
        TEST(what_only_looks_like_an_option_is_an_argument),
        TEST(help_and_version_win_over_everything),
        TEST(defaults_twins_and_the_command_line_rank_in_this_order),
        TEST(twins_of_flags_are_true_or_false),
        TEST(json_of_apply_has_two_forms),
        TEST(rows_of_one_name_take_values_alike),
        TEST(no_command_has_an_option_twice),
    };
    return cmocka_run_group_tests_name("invocation", tests, NULL, NULL);
}
