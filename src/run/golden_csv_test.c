#include "run/golden_csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* What is read and written again, line by line. */
static Str again(const char *text, Arena *arena) {
    AUTO(error) Error err = {0};
    AUTO(strbuf) StrBuf out = {0};
    CsvRowVec rows = {0};
    if (failed(csv_read(str_from(text), arena, &rows, &err))) {
        return str_copy(arena, err.message);
    }
    for (size_t i = 0; i < rows.count; i++) {
        csv_write_row(&rows.items[i], &out);
        strbuf_char(&out, '\n');
    }
    return strbuf_copy(&out, arena);
}

static void rows_have_one_spelling(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"a,b\n1,2\n", "a,b\n1,2\n"},
        {"a,b\r\n1,2", "a,b\n1,2\n"},
        {"\xEF\xBB\xBF\"a\",b\n", "a,b\n"},
        {"a\n\\N\n\"\\N\"\n", "a\n\\N\n\"\\N\"\n"},
        {"a\n\nx\n", "a\n\nx\n"},
        {"a,b\n\n1,\"\"\n", "a,b\n1,\n"},
        {"a\n\"x,y\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\n", "a\n\"x,y\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\n"},
        {"a\n1\n\"open\n", "line 3: a quote is not closed"},
        {"a\n\"x\"y\n", "line 2: expected a comma behind the closing quote"},
        {"", ""},
    };
    AUTO(arena) Arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_string_equal(str_to_c(arena, again(cases[i].text, arena)), cases[i].expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_have_one_spelling)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
