#include "base/testing.h"
#include "project/check_regex.h"

static void sound_expressions_pass(void **state) {
    (void)state;
    static const char *const sound[] = {
        "",
        ".+@.+",
        "^[a-z]+$",
        "a|b|",
        "(a|b)*c",
        "(?:a)(?i)b(?i:c)",
        "(?P<n>x)(?<m>y)",
        "[]a]",
        "[^]a]",
        "[a-]",
        "[-a]",
        "[[:alpha:]_]",
        "\\d{3}-\\d{2,}",
        "a{2,3}?",
        "a+?",
        "a{,5}",
        "{",
        "x{a}",
        "\\(\\)",
        "\\Q(*\\E",
        "\\p{Greek}\\pN",
        "\\x{10FFFF}",
        "[\\]]",
        "[(]",
        "ä+",
        "\\b\\B\\A\\z",
        "a{1000}",
        "()",
        "\\.",
    };
    for (size_t i = 0; i < COUNT_OF(sound); i++) {
        const char *fault = regex_find_fault(str_from(sound[i]));
        if (fault != NULL) {
            print_error("%s: %s\n", sound[i], fault);
            fail();
        }
    }
}

static void what_the_engine_would_refuse_is_found(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"(", "an unclosed ("},
        {"(a", "an unclosed ("},
        {"a)", "a ) without ("},
        {"[a", "an unclosed ["},
        {"[]", "an unclosed ["},
        {"a\\", "a backslash"},
        {"*a", "repetition of nothing"},
        {"(*a)", "repetition of nothing"},
        {"a|+", "repetition of nothing"},
        {"a**", "repetition of a repetition"},
        {"a{2}{3}", "repetition of a repetition"},
        {"a{1001}", "bounds"},
        {"a{3,2}", "bounds"},
        {"[z-a]", "wrong order"},
        {"(?=a)", "look-around"},
        {"(?<!a)", "look-around"},
        {"(a)\\1", "reference to a group"},
        {"\\Z", "unknown escape"},
        {"(?P<n", "unclosed group name"},
        {"(?#x)", "unknown kind of group"},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const char *fault = regex_find_fault(str_from(wrong[i][0]));
        if (fault == NULL || strstr(fault, wrong[i][1]) == NULL) {
            print_error("%s: %s, not %s\n", wrong[i][0], fault == NULL ? "nothing" : fault, wrong[i][1]);
            fail();
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(sound_expressions_pass), TEST(what_the_engine_would_refuse_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
