/* Longest common subsequence of lines, on what is left between the common beginning and the common end. */
#include "cli/text_diff.h"

#include "base/vec.h"
#include "cli/text_width.h"

#include <stdint.h>

#define CONTEXT_LINES ((size_t)3)
#define PAIRS_MAX ((size_t)4000000)

typedef struct DiffLine {
    char mark; /* ' ', '-' or '+' */
    Str text;
    size_t before, after; /* index of the line in each text; where it would be for the one it is not in */
} DiffLine;
DEFINE_VEC(DiffLineVec, diff_line_vec, DiffLine)

static StrVec split_lines(Str text, Arena *arena) {
    StrVec lines = {0};
    while (text.size > 0) {
        Str line = str_slice(text, 0, str_find_char(text, '\n'));
        str_vec_push(arena, &lines, line);
        text = str_skip(text, line.size + 1);
    }
    return lines;
}

/* --- Which lines stay ------------------------------------------------------------------------------------------------
 */

typedef struct Diff {
    Arena *arena;
    StrVec before, after;
    DiffLineVec lines;
} Diff;

static void push(Diff *diff, char mark, size_t before, size_t after) {
    Str text = mark == '+' ? diff->after.items[after] : diff->before.items[before];
    diff_line_vec_push(diff->arena, &diff->lines, (DiffLine){mark, text, before, after});
}

static void push_replaced(Diff *diff, size_t before, size_t before_end, size_t after, size_t after_end) {
    for (size_t i = before; i < before_end; i++) {
        push(diff, '-', i, after);
    }
    for (size_t i = after; i < after_end; i++) {
        push(diff, '+', before_end, i);
    }
}

/* lengths[i][j]: how many lines before[i…] and after[j…] have in common, in order. */
static uint32_t *common_lengths(const Diff *diff, size_t before, size_t before_end, size_t after, size_t after_end) {
    size_t rows = before_end - before, columns = after_end - after;
    uint32_t *lengths = ARENA_NEW_ARRAY(diff->arena, uint32_t, (rows + 1) * (columns + 1));
    for (size_t i = rows; i-- > 0;) {
        for (size_t j = columns; j-- > 0;) {
            uint32_t *cell = &lengths[i * (columns + 1) + j];
            uint32_t below = cell[columns + 1], right = cell[1];
            bool same = str_equal(diff->before.items[before + i], diff->after.items[after + j]);
            *cell = same ? cell[columns + 2] + 1 : below > right ? below : right;
        }
    }
    return lengths;
}

static void push_compared(Diff *diff, size_t before, size_t before_end, size_t after, size_t after_end) {
    size_t columns = after_end - after;
    const uint32_t *lengths = common_lengths(diff, before, before_end, after, after_end);
    size_t i = before, j = after;
    while (i < before_end && j < after_end) {
        const uint32_t *cell = &lengths[(i - before) * (columns + 1) + (j - after)];
        if (str_equal(diff->before.items[i], diff->after.items[j])) {
            push(diff, ' ', i++, j++);
        } else if (cell[columns + 1] >= cell[1]) {
            push(diff, '-', i++, j);
        } else {
            push(diff, '+', i, j++);
        }
    }
    push_replaced(diff, i, before_end, j, after_end);
}

static void compare(Diff *diff) {
    size_t before_end = diff->before.count, after_end = diff->after.count, start = 0;
    while (start < before_end && start < after_end && str_equal(diff->before.items[start], diff->after.items[start])) {
        start++;
    }
    while (before_end > start && after_end > start &&
           str_equal(diff->before.items[before_end - 1], diff->after.items[after_end - 1])) {
        before_end--;
        after_end--;
    }
    for (size_t i = 0; i < start; i++) {
        push(diff, ' ', i, i);
    }
    bool is_small = (before_end - start) == 0 || (after_end - start) < PAIRS_MAX / (before_end - start);
    if (is_small) {
        push_compared(diff, start, before_end, start, after_end);
    } else {
        push_replaced(diff, start, before_end, start, after_end);
    }
    for (size_t i = 0; before_end + i < diff->before.count; i++) {
        push(diff, ' ', before_end + i, after_end + i);
    }
}

/* --- Hunks -----------------------------------------------------------------------------------------------------------
 */

/* The end of the hunk that begins with the change at `first`: changes with at most twice the context between them. */
static size_t hunk_end(const DiffLineVec *lines, size_t first) {
    size_t last = first;
    for (size_t i = first; i < lines->count && i - last <= 2 * CONTEXT_LINES; i++) {
        last = lines->items[i].mark == ' ' ? last : i;
    }
    size_t end = last + 1 + CONTEXT_LINES;
    return end < lines->count ? end : lines->count;
}

static const Style mark_styles[] = {[' '] = STYLE_PLAIN, ['-'] = STYLE_BAD, ['+'] = STYLE_GOOD};

/* An empty range names the line before it, as other tools do. */
static void append_range(StrBuf *out, char sign, size_t start, size_t count) {
    strbuf_format(out, "%c%zu,%zu ", sign, count == 0 ? start : start + 1, count);
}

static void append_hunk(const DiffLineVec *lines, size_t start, size_t end, const Terminal *terminal, StrBuf *out) {
    size_t before_count = 0, after_count = 0;
    for (size_t i = start; i < end; i++) {
        before_count += lines->items[i].mark != '+';
        after_count += lines->items[i].mark != '-';
    }
    AUTO(strbuf) StrBuf line = {0};
    strbuf_text(&line, "@@ ");
    append_range(&line, '-', lines->items[start].before, before_count);
    append_range(&line, '+', lines->items[start].after, after_count);
    strbuf_text(&line, "@@");
    style_append(out, terminal, STYLE_CALM, strbuf_str(&line));
    strbuf_char(out, '\n');
    for (size_t i = start; i < end; i++) {
        const DiffLine *diff_line = &lines->items[i];
        strbuf_clear(&line);
        strbuf_char(&line, diff_line->mark);
        text_append_visible(&line, diff_line->text);
        style_append(out, terminal, mark_styles[(unsigned char)diff_line->mark], strbuf_str(&line));
        strbuf_char(out, '\n');
    }
}

void text_diff_append(Str before, Str after, const Terminal *terminal, StrBuf *out) {
    AUTO(arena) Arena *arena = arena_create();
    Diff diff = {.arena = arena, .before = split_lines(before, arena), .after = split_lines(after, arena)};
    compare(&diff);
    for (size_t i = 0; i < diff.lines.count; i++) {
        if (diff.lines.items[i].mark == ' ') {
            continue;
        }
        size_t end = hunk_end(&diff.lines, i);
        append_hunk(&diff.lines, i > CONTEXT_LINES ? i - CONTEXT_LINES : 0, end, terminal, out);
        i = end - 1;
    }
}
