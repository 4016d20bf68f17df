/* Any bytes as a model's text, a macro file and a list of edits, with NUL between: edits, expansion and concatenation
 * keep the rules of SqlText. The engine is not asked. */
#include "sql/sql_macro.h"
#include "sql/sql_splice.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds) {
        abort();
    }
}

static Str next_part(Str *rest) {
    size_t end = str_find_char(*rest, '\0');
    Str part = str_slice(*rest, 0, end);
    *rest = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(*rest, end + 1);
    return part;
}

/* Segments are in order and not empty; verbatim bytes are those of their file. */
static void check_text(const SqlText *text, Arena *arena) {
    check((text->segment_count == 0) == (text->text.size == 0));
    for (size_t i = 0; i < text->segment_count; i++) {
        const SqlSegment *segment = &text->segments[i];
        size_t end = i + 1 < text->segment_count ? text->segments[i + 1].start : text->text.size;
        check(segment->start < end && (i > 0 || segment->start == 0));
        if (segment->file != NULL && segment->verbatim) {
            Str origin =
                str_slice(segment->file->content, segment->file_offset, segment->file_offset + end - segment->start);
            check(str_equal(origin, str_slice(text->text, segment->start, end)));
        }
        if (i < 16) { /* it counts lines from the start of the file */
            (void)sql_text_place(text, segment->start, arena);
        }
    }
}

/* Four bytes each: start, size, what to put there, how much of it. */
static SqlEditVec edits_of(Str bytes, const SqlText *text, Arena *arena) {
    SqlEditVec edits = {0};
    for (size_t i = 0; i + 4 <= bytes.size && i < 64; i += 4) {
        const uint8_t *numbers = (const uint8_t *)bytes.ptr + i;
        SqlEdit edit = {.start = numbers[0], .end = (size_t)numbers[0] + numbers[1] % 8};
        if (numbers[2] % 2 == 0) {
            edit.replacement = sql_text_own(arena, str_slice(STR("\"phys\".\"name\""), 0, numbers[3] % 14));
        } else if (numbers[2] <= text->text.size) {
            edit.replacement = sql_text_slice(text, numbers[2] / 2, numbers[2], arena);
        }
        sql_edit_vec_push(arena, &edits, edit);
    }
    return edits;
}

static void check_edits(const SqlText *text, Str bytes, Arena *arena, Error *err) {
    SqlEditVec edits = edits_of(bytes, text, arena);
    SqlText edited = {0};
    if (failed(sql_text_edit(text, &edits, arena, &edited, err))) {
        check(err->kind == ERROR_INTERNAL);
        error_clear(err);
        return;
    }
    check_text(&edited, arena);
    const SqlText parts[] = {*text, edited, sql_text_as_body(&edited, arena)};
    SqlText all = sql_text_concat(arena, parts, COUNT_OF(parts));
    check_text(&all, arena);
}

static void check_expansion(const SqlText *text, const SourceFile *macros, Arena *arena, Error *err) {
    static const SqlVar vars[] = {{.name = {"a", 1}, .literal = {"'x'", 3}}, {.name = {"b", 1}, .literal = {"-1", 2}}};
    SqlMacroSet *set = sql_macro_set_create(arena);
    SqlText expanded = {0};
    if (failed(sql_macro_set_read(set, macros, err))) { /* those before the fault are there */
        check(err->kind == ERROR_DEFINITION);
        error_clear(err);
    }
    if (failed(sql_expand(text, set, vars, COUNT_OF(vars), arena, &expanded, err))) {
        check(err->kind == ERROR_DEFINITION);
        error_clear(err);
        return;
    }
    check_text(&expanded, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    if (size > 4096) { /* expansion may grow to megabytes: speed counts more here */
        return 0;
    }
    Str rest = {.ptr = (const char *)data, .size = size};
    SourceFile model = {.path = STR("models/a.sql"), .content = next_part(&rest)};
    SourceFile macros = {.path = STR("macros/m.sql"), .content = next_part(&rest)};
    SqlText text = sql_text_from_file(arena, &model, 0, model.content.size);
    check_text(&text, arena);
    check_edits(&text, rest, arena, &err);
    check_expansion(&text, &macros, arena, &err);
    return 0;
}
