#include "base/str.h"
#include "base/testing.h"

static void empty_buffer_is_an_empty_text(void **state) {
    (void)state;
    AUTO(strbuf) StrBuf buf = {0};
    assert_str(strbuf_str(&buf), "", "zeroed");
    strbuf_append(&buf, (Str){0});
    assert_null(buf.data);
    assert_string_equal(strbuf_c(&buf), "");
}

static void parts_are_joined_as_they_come(void **state) {
    (void)state;
    AUTO(strbuf) StrBuf buf = {0};
    strbuf_text(&buf, "a");
    strbuf_char(&buf, '-');
    strbuf_append(&buf, STR("b"));
    strbuf_format(&buf, "%d%%", 5);
    assert_str(strbuf_str(&buf), "a-b5%", "joined");
    strbuf_clear(&buf);
    strbuf_text(&buf, "z");
    assert_string_equal(strbuf_c(&buf), "z");
}

static void buffer_grows_to_any_size(void **state) {
    (void)state;
    AUTO(strbuf) StrBuf buf = {0};
    for (int i = 0; i < 10000; i++) {
        strbuf_format(&buf, "%d,", i % 10);
    }
    assert_int_equal(buf.size, 20000);
    for (size_t i = 0; i < 10000; i++) {
        assert_int_equal(buf.data[i * 2], '0' + (int)(i % 10));
    }
}

static void format_that_fits_exactly_is_whole(void **state) {
    (void)state;
    for (int width = 60; width < 70; width++) { /* around the first capacity */
        AUTO(strbuf) StrBuf buf = {0};
        strbuf_format(&buf, "%0*d", width, 7);
        assert_int_equal(buf.size, (size_t)width);
        assert_int_equal(strlen(strbuf_c(&buf)), (size_t)width);
    }
}

static void copy_outlives_the_buffer(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    StrBuf buf;
    strbuf_init(&buf);
    strbuf_text(&buf, "kept");
    Str copy = strbuf_copy(&buf, arena);
    strbuf_deinit(&buf);
    assert_str(copy, "kept", "copy");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(empty_buffer_is_an_empty_text),     TEST(parts_are_joined_as_they_come), TEST(buffer_grows_to_any_size),
        TEST(format_that_fits_exactly_is_whole), TEST(copy_outlives_the_buffer),
    };
    return cmocka_run_group_tests_name("strbuf", tests, NULL, NULL);
}
