#include "cli/text_diff.h"

#include "base/testing.h"

static const Terminal plain = {.descriptor = -1, .is_unicode = true};

static void differences_are_in_the_unified_form(void **state) {
    (void)state;
    static const struct {
        const char *before, *after, *diff;
    } cases[] = {
        {"a\nb\n", "a\nb\n", ""},
        {"", "a\n", "@@ -0,0 +1,1 @@\n+a\n"},
        {"a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
        {"a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
        {"a\nb", "a\nb\nc", "@@ -1,2 +1,3 @@\n a\n b\n+c\n"},
        /* only three lines of context */
        {"1\n2\n3\n4\n5\n", "1\n2\n3\n4\nx\n", "@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+x\n"},
        /* changes that are far apart stand in hunks of their own */
        {"x\n1\n2\n3\n4\n5\n6\n7\ny\n", "X\n1\n2\n3\n4\n5\n6\n7\nY\n",
         "@@ -1,4 +1,4 @@\n-x\n+X\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-y\n+Y\n"},
        {"a\x1b[2J\n", "", "@@ -1,1 +0,0 @@\n-a\\x1b[2J\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(strbuf) StrBuf out = {0};
        text_diff_append(str_from(cases[i].before), str_from(cases[i].after), &plain, &out);
        assert_str(strbuf_str(&out), cases[i].diff, cases[i].before);
    }
}

static void long_texts_that_share_nothing_are_replaced_whole(void **state) {
    (void)state;
    AUTO(strbuf) StrBuf before = {0};
    AUTO(strbuf) StrBuf after = {0};
    AUTO(strbuf) StrBuf out = {0};
    for (int i = 0; i < 3000; i++) {
        strbuf_format(&before, "a%d\n", i);
        strbuf_format(&after, "b%d\n", i);
    }
    text_diff_append(strbuf_str(&before), strbuf_str(&after), &plain, &out);
    assert_true(str_starts_with(strbuf_str(&out), STR("@@ -1,3000 +1,3000 @@\n-a0\n")));
    assert_true(str_ends_with(strbuf_str(&out), STR("\n+b2999\n")));
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(differences_are_in_the_unified_form),
                                       TEST(long_texts_that_share_nothing_are_replaced_whole)};
    return cmocka_run_group_tests_name("text_diff", tests, NULL, NULL);
}
