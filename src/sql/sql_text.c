#include "sql/sql_text.h"

#include <stdlib.h>
#include <string.h>

DEFINE_VEC(SegmentVec, segment_vec, SqlSegment)

/* --- Building a text from pieces of others ------------------------------------------------------------------------ */

/* The bytes' final size is known before, so they are written once. */
typedef struct TextBuilder {
    Arena *arena;
    char *bytes;
    size_t size;
    SegmentVec segments;
} TextBuilder;

static TextBuilder builder_of_size(Arena *arena, size_t size) {
    return (TextBuilder){.arena = arena, .bytes = (char *)arena_alloc(arena, size)};
}

static SqlText builder_text(const TextBuilder *builder) {
    return (SqlText){.text = {.ptr = builder->bytes, .size = builder->size},
                     .segments = builder->segments.items,
                     .segment_count = builder->segments.count};
}

static bool continues(const SqlSegment *last, const SqlSegment *next) {
    bool is_same = last->file == next->file && last->verbatim == next->verbatim;
    size_t expected = last->verbatim ? last->file_offset + (next->start - last->start) : last->file_offset;
    return is_same && (last->file == NULL || next->file_offset == expected);
}

static void builder_segment(TextBuilder *builder, SqlSegment segment) {
    segment.start = builder->size;
    SegmentVec *segments = &builder->segments;
    if (segments->count == 0 || !continues(&segments->items[segments->count - 1], &segment)) {
        segment_vec_push(builder->arena, segments, segment);
    }
}

static void builder_bytes(TextBuilder *builder, Str bytes) {
    if (bytes.size > 0) {
        memcpy(builder->bytes + builder->size, bytes.ptr, bytes.size);
        builder->size += bytes.size;
    }
}

static size_t segment_end(const SqlText *text, size_t index) {
    return index + 1 < text->segment_count ? text->segments[index + 1].start : text->text.size;
}

/* The segment that holds byte `offset`; the last one for the end of the text. The text is not empty. */
static size_t segment_index(const SqlText *text, size_t offset) {
    size_t low = 0, high = text->segment_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (text->segments[middle].start <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A segment of one byte or more that says where byte `offset` came from. */
static SqlSegment segment_at(const SqlText *text, size_t offset) {
    if (text->segment_count == 0) {
        return (SqlSegment){.file = NULL};
    }
    SqlSegment segment = text->segments[segment_index(text, offset)];
    if (segment.verbatim) {
        segment.file_offset += offset - segment.start;
    }
    segment.start = offset;
    return segment;
}

/* Bytes [start, end) of `text`; those without a place of their own get `fallback`. */
static void builder_slice(TextBuilder *builder, const SqlText *text, size_t start, size_t end, SqlSegment fallback) {
    assert(text->segment_count > 0 || text->text.size == 0);
    fallback.verbatim = false;
    for (size_t i = start < end ? segment_index(text, start) : text->segment_count; i < text->segment_count; i++) {
        size_t from = text->segments[i].start > start ? text->segments[i].start : start;
        size_t to = segment_end(text, i) < end ? segment_end(text, i) : end;
        if (from >= end) {
            return;
        }
        SqlSegment segment = segment_at(text, from);
        builder_segment(builder, segment.file == NULL ? fallback : segment);
        builder_bytes(builder, str_slice(text->text, from, to));
    }
}

/* --- Making ------------------------------------------------------------------------------------------------------- */

static SqlText text_of_one_segment(Arena *arena, Str text, SqlSegment segment) {
    if (text.size == 0) {
        return (SqlText){.text = STR_EMPTY};
    }
    SqlSegment *segments = ARENA_NEW(arena, SqlSegment);
    *segments = segment;
    return (SqlText){.text = text, .segments = segments, .segment_count = 1};
}

SqlText sql_text_from_file(Arena *arena, const SourceFile *file, size_t start, size_t end) {
    SqlSegment segment = {.file = file, .file_offset = start, .verbatim = true};
    return text_of_one_segment(arena, str_slice(file->content, start, end), segment);
}

SqlText sql_text_own(Arena *arena, Str text) {
    return text_of_one_segment(arena, text, (SqlSegment){.file = NULL});
}

SqlText sql_text_all_rows(Arena *arena, SqlRelation relation) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT * FROM ");
    sql_relation(&sql, relation);
    return sql_text_own(arena, strbuf_copy(&sql, arena));
}

SqlText sql_text_slice(const SqlText *text, size_t start, size_t end, Arena *arena) {
    TextBuilder builder = builder_of_size(arena, end - start);
    builder_slice(&builder, text, start, end, (SqlSegment){.file = NULL});
    return builder_text(&builder);
}

SqlText sql_text_copy(const SqlText *text, Arena *arena) {
    return sql_text_slice(text, 0, text->text.size, arena);
}

SqlText sql_text_concat(Arena *arena, const SqlText *parts, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += parts[i].text.size;
    }
    TextBuilder builder = builder_of_size(arena, size);
    for (size_t i = 0; i < count; i++) {
        builder_slice(&builder, &parts[i], 0, parts[i].text.size, (SqlSegment){.file = NULL});
    }
    return builder_text(&builder);
}

/* --- Editing ------------------------------------------------------------------------------------------------------ */

typedef struct OrderedEdit {
    const SqlEdit *edit;
    size_t index; /* in the order given */
} OrderedEdit;

/* By start; an insertion comes before a replacement that starts there; else in the order given. */
static int compare_edits(const void *left, const void *right) {
    const OrderedEdit *a = left, *b = right;
    if (a->edit->start != b->edit->start) {
        return a->edit->start < b->edit->start ? -1 : 1;
    }
    bool a_replaces = a->edit->end > a->edit->start, b_replaces = b->edit->end > b->edit->start;
    if (a_replaces != b_replaces) {
        return a_replaces ? 1 : -1;
    }
    return a->index < b->index ? -1 : 1;
}

static OrderedEdit *ordered_edits(const SqlEditVec *edits, Arena *arena) {
    OrderedEdit *ordered = ARENA_NEW_ARRAY(arena, OrderedEdit, edits->count);
    for (size_t i = 0; i < edits->count; i++) {
        ordered[i] = (OrderedEdit){.edit = &edits->items[i], .index = i};
    }
    if (edits->count > 1) {
        qsort(ordered, edits->count, sizeof *ordered, compare_edits);
    }
    return ordered;
}

static Status check_edits(const OrderedEdit *ordered, size_t count, size_t text_size, size_t *edited_size_out,
                          Error *err) {
    size_t done = 0, size = text_size;
    for (size_t i = 0; i < count; i++) {
        const SqlEdit *edit = ordered[i].edit;
        if (edit->start < done || edit->end < edit->start || edit->end > text_size) {
            return error_set(err, ERROR_INTERNAL,
                             "edit [%zu, %zu) of a text of %zu bytes overlaps another one or its end", edit->start,
                             edit->end, text_size);
        }
        size += edit->replacement.text.size - (edit->end - edit->start);
        done = edit->end;
    }
    *edited_size_out = size;
    return OK;
}

Status sql_text_edit(const SqlText *text, const SqlEditVec *edits, Arena *arena, SqlText *edited_out, Error *err) {
    OrderedEdit *ordered = ordered_edits(edits, arena);
    size_t size = 0, done = 0;
    TRY(check_edits(ordered, edits->count, text->text.size, &size, err));

    TextBuilder builder = builder_of_size(arena, size);
    SqlSegment no_place = {.file = NULL};
    for (size_t i = 0; i < edits->count; i++) {
        const SqlEdit *edit = ordered[i].edit;
        builder_slice(&builder, text, done, edit->start, no_place);
        builder_slice(&builder, &edit->replacement, 0, edit->replacement.text.size, segment_at(text, edit->start));
        done = edit->end;
    }
    builder_slice(&builder, text, done, text->text.size, no_place);
    *edited_out = builder_text(&builder);
    return OK;
}

/* --- Places ------------------------------------------------------------------------------------------------------- */

SourceSpan sql_text_place(const SqlText *text, size_t offset, Arena *arena) {
    size_t end = text->text.size;
    SqlSegment segment = segment_at(text, offset < end ? offset : end);
    if (segment.file == NULL) {
        return (SourceSpan){.file = STR_EMPTY};
    }
    TextPosition position = str_position(segment.file->content, segment.file_offset);
    return (SourceSpan){.file = str_copy(arena, segment.file->path), .line = position.line, .column = position.column};
}

void sql_text_locate_error(const SqlText *text, Error *err) {
    bool has_place = err->place.file.size > 0;
    if (!has_place && err->sql_offset != STR_NOT_FOUND && err->arena != NULL) {
        error_place(err, sql_text_place(text, err->sql_offset, err->arena));
    }
}
