#include "cli/text_width.h"

#include "base/testing.h"

static void widths_are_those_of_a_terminal(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t width;
    } cases[] = {
        {"", 0},
        {"abc", 3},
        {"\xC3\xA4", 1},                 /* a with dots */
        {"e\xCC\x81", 1},                /* e and a combining accent */
        {"\xE6\x97\xA5\xE6\x9C\xAC", 4}, /* two wide characters */
        {"\xF0\x9F\x98\x80", 2},         /* an emoji */
        {"\xE2\x80\x94", 1},             /* a dash */
        {"a\xFFz", 3},                   /* a byte that is no UTF-8 */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(text_width(str_from(cases[i].text)), cases[i].width);
    }
}

static void controls_are_shown_escaped(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    static const struct {
        const char *text, *visible;
    } cases[] = {
        {"plain [bold] text", "plain [bold] text"},
        {"\x1b[2J", "\\x1b[2J"},
        {"a\nb\tc\rd", "a\\nb\\tc\\rd"},
        {"\x7f", "\\x7f"},
        {"a\xFFz", "a\\xffz"},
        {"\xC2\x9B"
         "31m",
         "\\u009b31m"}, /* C1: the one-byte CSI */
        {"\xE2\x80\xAE"
         "txt.exe",
         "\\u202etxt.exe"}, /* right-to-left override */
        {"\xC3\xA4\xE6\x97\xA5", "\xC3\xA4\xE6\x97\xA5"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_str(text_visible(arena, str_from(cases[i].text)), cases[i].visible, cases[i].visible);
    }
}

static void cutting_counts_columns(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    static const struct {
        const char *text;
        size_t width;
        const char *cut;
    } cases[] = {
        {"abcdef", 6, "abcdef"},
        {"abcdef", 5, "abcd~"},
        {"abcdef", 1, "~"},
        {"abcdef", 0, ""},
        {"\xE6\x97\xA5\xE6\x9C\xAC", 3, "\xE6\x97\xA5~"}, /* a wide character is not halved */
        {"\xE6\x97\xA5\xE6\x9C\xAC", 2, "~"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_str(text_cut(arena, str_from(cases[i].text), cases[i].width, STR("~")), cases[i].cut, cases[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(widths_are_those_of_a_terminal), TEST(controls_are_shown_escaped),
                                       TEST(cutting_counts_columns)};
    return cmocka_run_group_tests_name("text_width", tests, NULL, NULL);
}
