#include "sql/sql_fixture.h"

#include "sql/sql_buf.h"

static int setup(void **state) {
    SqlFixture *fixture = heap_alloc_zeroed(1, sizeof *fixture);
    fixture->arena = arena_create();
    error_init(&fixture->err);
    *state = fixture;
    return 0;
}

/* "abc" of the file at 3 and own text: "abc@3 +xyz", a replaced one: "+xyz@3". */
static Str segments_form(Arena *arena, const SqlText *text) {
    AUTO(strbuf) StrBuf form = {0};
    for (size_t i = 0; i < text->segment_count; i++) {
        const SqlSegment *segment = &text->segments[i];
        size_t end = i + 1 < text->segment_count ? text->segments[i + 1].start : text->text.size;
        strbuf_text(&form, i > 0 ? " | " : "");
        strbuf_text(&form, segment->verbatim ? "" : "+");
        strbuf_append(&form, str_slice(text->text, segment->start, end));
        if (segment->file != NULL) {
            strbuf_format(&form, "@%zu", segment->file_offset);
        }
    }
    return strbuf_copy(&form, arena);
}

static SqlEdit edit(Arena *arena, size_t start, size_t end, const char *text) {
    return (SqlEdit){.start = start, .end = end, .replacement = sql_text_own(arena, str_from(text))};
}

static SqlText edited(SqlFixture *f, const SqlText *text, const SqlEdit *edits, size_t count) {
    SqlEditVec vec = {0};
    SqlText result = {0};
    for (size_t i = 0; i < count; i++) {
        sql_edit_vec_push(f->arena, &vec, edits[i]);
    }
    assert_false(failed(sql_text_edit(text, &vec, f->arena, &result, &f->err)));
    return result;
}

static void edits_keep_the_places_of_what_stays(void **state) {
    SqlFixture *f = *state;
    SourceFile *file = source_file(f->arena, "a.sql", STR("0123456789"));
    SqlText text = sql_text_from_file(f->arena, file, 2, 9);
    const SqlEdit edits[] = {edit(f->arena, 5, 6, "Z"), edit(f->arena, 1, 3, "XY"), edit(f->arena, 0, 0, "A"),
                             edit(f->arena, 7, 7, "E")};
    SqlText result = edited(f, &text, edits, COUNT_OF(edits));
    check_text("text", result.text, "A2XY56Z8E");
    check_text("places", segments_form(f->arena, &result), "+A@2 | 2@2 | +XY@3 | 56@5 | +Z@7 | 8@8 | +E@9");
}

static void insertions_at_one_place_keep_their_order(void **state) {
    SqlFixture *f = *state;
    SqlText text = sql_text_own(f->arena, STR("ab"));
    const SqlEdit edits[] = {edit(f->arena, 1, 2, "X"), edit(f->arena, 1, 1, "1"), edit(f->arena, 1, 1, "2"),
                             edit(f->arena, 1, 1, "3")};
    SqlText result = edited(f, &text, edits, COUNT_OF(edits));
    check_text("text", result.text, "a123X");
}

static void overlapping_edits_are_refused(void **state) {
    SqlFixture *f = *state;
    static const struct {
        size_t start, end, other_start, other_end;
    } cases[] = {{0, 2, 1, 3}, {1, 3, 1, 2}, {0, 3, 1, 1}, {2, 1, 3, 3}, {0, 9, 0, 0}};
    SqlText text = sql_text_own(f->arena, STR("abcd"));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SqlEditVec edits = {0};
        SqlText result = {0};
        sql_edit_vec_push(f->arena, &edits, edit(f->arena, cases[i].start, cases[i].end, "x"));
        sql_edit_vec_push(f->arena, &edits, edit(f->arena, cases[i].other_start, cases[i].other_end, "y"));
        assert_true(failed(sql_text_edit(&text, &edits, f->arena, &result, &f->err)));
        assert_int_equal(f->err.kind, ERROR_INTERNAL);
        error_clear(&f->err);
    }
}

static void replacement_from_a_file_keeps_its_place(void **state) {
    SqlFixture *f = *state;
    SourceFile *model = source_file(f->arena, "model.sql", STR("select f(1)"));
    SourceFile *macros = source_file(f->arena, "macros.sql", STR("0123 x + 1"));
    SqlText text = whole_file(f->arena, model);
    const SqlText parts[] = {sql_text_own(f->arena, STR("(")), sql_text_from_file(f->arena, macros, 5, 10),
                             sql_text_own(f->arena, STR(")"))};
    SqlEdit call = {.start = 7, .end = 11, .replacement = sql_text_concat(f->arena, parts, 3)};
    SqlText result = edited(f, &text, &call, 1);
    check_text("text", result.text, "select (x + 1)");
    check_text("places", segments_form(f->arena, &result), "select @0 | +(@7 | x + 1@5 | +)@7");
    SourceSpan place = sql_text_place(&result, 8, f->arena);
    check_text("file", place.file, "macros.sql");
    assert_int_equal(place.column, 6);
}

static void empty_texts_have_no_segments(void **state) {
    SqlFixture *f = *state;
    SqlText empty = sql_text_own(f->arena, STR_EMPTY);
    SqlText parts[] = {empty, sql_text_own(f->arena, STR("a")), empty};
    assert_int_equal(empty.segment_count, 0);
    assert_int_equal(sql_text_concat(f->arena, parts, 3).segment_count, 1);
    const SqlEdit insert = edit(f->arena, 0, 0, "x");
    check_text("into empty", edited(f, &empty, &insert, 1).text, "x");
    const SqlEdit cut = edit(f->arena, 0, 1, "");
    assert_int_equal(edited(f, &parts[1], &cut, 1).segment_count, 0);
}

static void places_count_characters(void **state) {
    SqlFixture *f = *state;
    SourceFile *file = source_file(f->arena, "ä.sql", STR("-- größe\n  名前, größe"));
    SqlText text = whole_file(f->arena, file);
    SourceSpan place = sql_text_place(&text, str_find(text.text, STR(", ")) + 2, f->arena);
    assert_int_equal(place.line, 2);
    assert_int_equal(place.column, 7);
    place = sql_text_place(&text, 1000, f->arena);
    assert_int_equal(place.column, 12);
    SqlText own = sql_text_own(f->arena, STR("x"));
    assert_int_equal(sql_text_place(&own, 0, f->arena).file.size, 0);
}

static void errors_get_a_place_once(void **state) {
    SqlFixture *f = *state;
    SourceFile *file = source_file(f->arena, "a.sql", STR("a\nbc"));
    SqlText text = whole_file(f->arena, file);
    (void)error_set(&f->err, ERROR_COMPILATION, "x");
    sql_text_locate_error(&text, &f->err);
    assert_int_equal(f->err.place.file.size, 0);
    f->err.sql_offset = 3;
    sql_text_locate_error(&text, &f->err);
    assert_int_equal(f->err.place.line, 2);
    assert_int_equal(f->err.place.column, 2);
    f->err.sql_offset = 0;
    sql_text_locate_error(&text, &f->err);
    assert_int_equal(f->err.place.line, 2);
}

static void random_edits_map_each_byte_back(void **state) {
    SqlFixture *f = *state;
    Random random = {.state = 2463534242};
    Str content = STR("select a, b from raw.orders where größe > 1");
    SourceFile *file = source_file(f->arena, "a.sql", content);
    for (size_t round = 0; round < 2000; round++) {
        AUTO(arena) Arena *scratch = arena_create();
        SqlText text = whole_file(scratch, file);
        for (size_t step = 0; step < 4; step++) {
            size_t start = random_below(&random, text.text.size + 1);
            size_t end = start + random_below(&random, text.text.size - start + 1);
            SqlEditVec edits = {0};
            SqlText result = {0};
            sql_edit_vec_push(scratch, &edits, edit(scratch, start, end, "####"));
            assert_false(failed(sql_text_edit(&text, &edits, scratch, &result, &f->err)));
            text = result;
        }
        for (size_t i = 0; i < text.segment_count; i++) {
            const SqlSegment *segment = &text.segments[i];
            size_t next = i + 1 < text.segment_count ? text.segments[i + 1].start : text.text.size;
            assert_true(segment->start < next);
            for (size_t at = segment->start; segment->verbatim && at < next; at++) {
                assert_int_equal(text.text.ptr[at], content.ptr[segment->file_offset + at - segment->start]);
            }
        }
    }
}

static void identifiers_and_literals_are_quoted(void **state) {
    SqlFixture *f = *state;
    AUTO(strbuf) StrBuf sql = {0};
    const Str names[] = {STR("a"), STR("b\"c"), STR("größe")};
    sql_identifier_list(&sql, names, 3);
    strbuf_text(&sql, " ");
    sql_literal(&sql, STR("O'Brien; DROP TABLE x"));
    strbuf_text(&sql, " ");
    sql_relation(&sql, (SqlRelation){.schema = STR("s.t"), .name = STR("x")});
    strbuf_text(&sql, " ");
    sql_relation(&sql, (SqlRelation){.catalog = STR("c"), .schema = STR("s"), .name = STR("x")});
    check_text("sql", strbuf_copy(&sql, f->arena),
               "\"a\", \"b\"\"c\", \"größe\" 'O''Brien; DROP TABLE x' \"s.t\".\"x\" \"c\".\"s\".\"x\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_keep_the_places_of_what_stays),
        cmocka_unit_test(insertions_at_one_place_keep_their_order),
        cmocka_unit_test(overlapping_edits_are_refused),
        cmocka_unit_test(replacement_from_a_file_keeps_its_place),
        cmocka_unit_test(empty_texts_have_no_segments),
        cmocka_unit_test(places_count_characters),
        cmocka_unit_test(errors_get_a_place_once),
        cmocka_unit_test(random_edits_map_each_byte_back),
        cmocka_unit_test(identifiers_and_literals_are_quoted),
    };
    return cmocka_run_group_tests_name("sql text", tests, setup, sql_fixture_teardown);
}
