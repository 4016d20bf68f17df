#include "base/str.h"
#include "base/testing.h"
#include "base/vec.h"

static void comparing_is_by_bytes(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        int order;
    } cases[] = {{"", "", 0},     {"a", "", 1},   {"", "a", -1},       {"a", "b", -1},
                 {"a", "aa", -1}, {"Z", "a", -1}, {"\xC3\xA4", "z", 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int order = str_compare(str_from(cases[i].a), str_from(cases[i].b));
        assert_int_equal((order > 0) - (order < 0), cases[i].order);
        assert_int_equal(str_equal(str_from(cases[i].a), str_from(cases[i].b)), cases[i].order == 0);
    }
}

static void folding_concerns_ascii_letters_only(void **state) {
    (void)state;
    assert_true(str_equal_fold(STR("SELECT"), STR("select")));
    assert_false(str_equal_fold(STR("@"), STR("`")));
    assert_false(str_equal_fold(STR("\xC3\x84"), STR("\xC3\xA4")));
    assert_true(str_starts_with_fold(STR("SELECT 1"), STR("select")));
    assert_false(str_starts_with_fold(STR("SEL"), STR("select")));
}

static void starts_and_ends_are_found(void **state) {
    (void)state;
    assert_true(str_starts_with(STR("orders.sql"), STR("orders")));
    assert_false(str_starts_with(STR("or"), STR("orders")));
    assert_true(str_ends_with(STR("orders.sql"), STR(".sql")));
    assert_false(str_ends_with(STR("sql"), STR(".sql")));
    assert_true(str_ends_with(STR("x"), STR_EMPTY));
    assert_true(str_starts_with((Str){0}, (Str){0}));
}

static void identifiers_are_letters_digits_and_underscores(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_identifier;
    } cases[] = {{"a", true},    {"_", true},    {"A1_z", true},      {"", false},   {"1a", false},
                 {"a-b", false}, {"a b", false}, {"\xC3\xA4", false}, {"a.b", false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(str_is_identifier(str_from(cases[i].text)), cases[i].is_identifier);
    }
}

static void slices_are_clamped(void **state) {
    (void)state;
    Str text = STR("hello");
    assert_str(str_slice(text, 1, 3), "el", "inside");
    assert_str(str_slice(text, 3, 99), "lo", "past the end");
    assert_str(str_slice(text, 9, 99), "", "outside");
    assert_str(str_slice(text, 3, 1), "", "turned around");
    assert_str(str_skip(text, 2), "llo", "skip");
    assert_str(str_skip(text, 99), "", "skip all");
    assert_str(str_slice((Str){0}, 0, 5), "", "of nothing");
}

static void trimming_takes_ascii_white_space(void **state) {
    (void)state;
    assert_str(str_trim(STR(" \t\r\n a b \v\f")), "a b", "both ends");
    assert_str(str_trim(STR("  \n")), "", "nothing else");
    assert_str(str_trim(STR("\xC2\xA0x")), "\xC2\xA0x", "a no-break space stays");
}

static void searching_gives_offsets(void **state) {
    (void)state;
    static const struct {
        const char *text, *needle;
        size_t offset;
    } cases[] = {{"aaab", "ab", 2},    {"abc", "", 0},  {"", "a", STR_NOT_FOUND}, {"abc", "abcd", STR_NOT_FOUND},
                 {"abcabd", "abd", 3}, {"abc", "c", 2}, {"xaxax", "xax", 0},      {"abab", "ba", 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(str_find(str_from(cases[i].text), str_from(cases[i].needle)), cases[i].offset);
    }
    assert_int_equal(str_find_char(STR("a.b.c"), '.'), 1);
    assert_int_equal(str_find_last_char(STR("a.b.c"), '.'), 3);
    assert_int_equal(str_find_char((Str){0}, '.'), STR_NOT_FOUND);
    assert_int_equal(str_find_last_char(STR("abc"), '.'), STR_NOT_FOUND);
}

static void made_texts_end_with_a_nul(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    const Str items[] = {STR("a"), STR("bc"), STR("")};
    Str made[] = {
        str_copy(arena, STR("x")),
        str_lower(arena, STR("A\xC3\x84z")),
        str_join(arena, items, 3, STR(", ")),
        str_join(arena, items, 0, STR(", ")),
        str_replace_char(arena, STR("a/b/c"), '/', '.'),
        str_format(arena, "%d " STR_FMT, 7, STR_ARG(STR("x"))),
    };
    static const char *const expected[] = {"x", "a\xC3\x84z", "a, bc, ", "", "a.b.c", "7 x"};
    for (size_t i = 0; i < COUNT_OF(made); i++) {
        assert_str(made[i], expected[i], expected[i]);
        assert_int_equal(made[i].ptr[made[i].size], 0);
    }
}

static void long_texts_are_formatted_whole(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    Str text = str_format(arena, "%05000d", 1);
    assert_int_equal(text.size, 5000);
    assert_int_equal(text.ptr[4999], '1');
}

static void whole_numbers_are_read_to_their_limits(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_number;
        int64_t number;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"007", true, 7},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t number = -1;
        assert_int_equal(str_to_int64(str_from(cases[i].text), &number), cases[i].is_number);
        assert_int_equal(number, cases[i].is_number ? cases[i].number : -1);
    }
}

static void decimal_numbers_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_number;
        double number;
    } cases[] = {
        {"1.5", true, 1.5},  {"-2", true, -2},    {".5", true, 0.5},   {"5.", true, 5},   {"1e3", true, 1000},
        {"1E-2", true, .01}, {"1e+2", true, 100}, {"1e999", false, 0}, {"inf", false, 0}, {"nan", false, 0},
        {"0x10", false, 0},  {"", false, 0},      {".", false, 0},     {"1e", false, 0},  {"1e+", false, 0},
        {"+1", false, 0},    {"1 ", false, 0},    {"1.2.3", false, 0}, {"--1", false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double number = -1;
        assert_int_equal(str_to_double(str_from(cases[i].text), &number), cases[i].is_number);
        assert_true(number == (cases[i].is_number ? cases[i].number : -1));
    }
}

static void invalid_utf8_is_found_at_its_first_byte(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t offset;
    } cases[] = {
        {"plain", STR_NOT_FOUND},
        {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", STR_NOT_FOUND},
        {"ab\xFF", 2},
        {"a\xC3", 1},            /* cut off */
        {"\xC0\x80", 0},         /* overlong NUL */
        {"\xE0\x80\x80", 0},     /* overlong */
        {"\xED\xA0\x80", 0},     /* surrogate */
        {"\xF4\x90\x80\x80", 0}, /* above U+10FFFF */
        {"\xF0\x9F\x98", 0},
        {"\x80", 0},
        {"\xEF\xBF\xBF", STR_NOT_FOUND},
        {"eight by\xFF", 8}, /* eight bytes are looked at together */
        {"seven b\xC3\xA4tes and more\x80", 21},
        {"eight byeight by\xC3\xA4", STR_NOT_FOUND},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(str_find_invalid_utf8(str_from(cases[i].text)), cases[i].offset);
    }
}

static void positions_count_code_points(void **state) {
    (void)state;
    Str text = STR("a\xC3\xA4"
                   "b\r\ncd\n");
    static const struct {
        size_t offset, line, column;
    } cases[] = {{0, 1, 1}, {1, 1, 2}, {3, 1, 3}, {4, 1, 4}, {6, 2, 1}, {7, 2, 2}, {9, 3, 1}, {99, 3, 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TextPosition position = str_position(text, cases[i].offset);
        assert_int_equal(position.line, cases[i].line);
        assert_int_equal(position.column, cases[i].column);
    }
    assert_int_equal(str_position(STR("\xEF\xBB\xBFx"), 3).column, 1);
}

static void nearest_is_the_likely_meant_word(void **state) {
    (void)state;
    const Str words[] = {STR("database"), STR("strategy"), STR("key"), STR("name"), STR("time_column"), STR("id")};
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        {"databse", "database"},
        {"stratgy", "strategy"},
        {"startegy", "strategy"},
        {"KEY", "key"},
        {"kye", "key"},
        {"nane", "name"},
        {"timecolumn", "time_column"},
        {"amount", NULL},
        {"xy", NULL},
        {"", NULL},
        {"i", "id"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const Str *nearest = str_nearest(str_from(cases[i].word), words, COUNT_OF(words));
        assert_str(nearest == NULL ? STR_EMPTY : *nearest, cases[i].nearest == NULL ? "" : cases[i].nearest,
                   cases[i].word);
    }
}

static void nearest_of_very_long_words_is_none(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    const Str word = str_format(arena, "%0300d", 0);
    assert_null(str_nearest(word, &word, 1));
    assert_null(str_nearest(STR("x"), &word, 1));
}

static void vectors_find_and_sort(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    StrVec names = {0};
    IndexVec numbers = {0};
    assert_false(str_vec_contains(&names, STR("a")));
    str_vec_sort(&names);
    for (size_t i = 0; i < 100; i++) {
        str_vec_push(arena, &names, str_format(arena, "%02zu", (i * 37) % 100));
        index_vec_push(arena, &numbers, i * 2);
    }
    str_vec_sort(&names);
    for (size_t i = 0; i < 100; i++) {
        assert_str(names.items[i], str_format(arena, "%02zu", i).ptr, "sorted");
    }
    assert_true(str_vec_contains(&names, STR("42")));
    assert_false(str_vec_contains(&names, STR("100")));
    assert_true(index_vec_contains(&numbers, 198));
    assert_false(index_vec_contains(&numbers, 199));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(comparing_is_by_bytes),
        TEST(folding_concerns_ascii_letters_only),
        TEST(starts_and_ends_are_found),
        TEST(identifiers_are_letters_digits_and_underscores),
        TEST(slices_are_clamped),
        TEST(trimming_takes_ascii_white_space),
        TEST(searching_gives_offsets),
        TEST(made_texts_end_with_a_nul),
        TEST(long_texts_are_formatted_whole),
        TEST(whole_numbers_are_read_to_their_limits),
        TEST(decimal_numbers_are_read),
        TEST(invalid_utf8_is_found_at_its_first_byte),
        TEST(positions_count_code_points),
        TEST(nearest_is_the_likely_meant_word),
        TEST(nearest_of_very_long_words_is_none),
        TEST(vectors_find_and_sort),
    };
    return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
