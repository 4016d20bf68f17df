/* What a model gave, against its golden file. Both are texts of the same spelling, so rows are compared as lines. */
#include "run/model_test_parts.h"

#include "base/files.h"
#include "run/arrow_type_name.h"
#include "run/golden_csv.h"

#include <stdlib.h>

#define GOLDEN_SIZE_MAX ((size_t)256 << 20)
#define DIFFERING_ROWS_MAX 5
#define FLOAT_FORMAT "%.12g" /* sums differ in the last digits with the order of their rows */

/* A row and where it stands: its number in the file or the result, from 1. */
typedef struct GoldenLine {
    Str text;
    size_t number;
} GoldenLine;
DEFINE_VEC(GoldenLineVec, golden_line_vec, GoldenLine)

typedef struct GoldenTable {
    Str header;
    GoldenLineVec lines;
} GoldenTable;

/* ---- The result as golden text. */

static CsvCell cell_of(const DuckCell *cell, Str type, Arena *arena) {
    if (cell->kind == DUCK_CELL_NULL) {
        return (CsvCell){.is_null = true};
    }
    double number;
    bool is_float = str_equal(type, STR("DOUBLE")) || str_equal(type, STR("FLOAT"));
    if (is_float && str_to_double(cell->text, &number)) {
        return (CsvCell){.text = str_format(arena, FLOAT_FORMAT, number)};
    }
    return (CsvCell){.text = cell->text};
}

static Str line_of(const CsvRow *row, Arena *arena) {
    AUTO(strbuf) StrBuf line = {0};
    csv_write_row(row, &line);
    return strbuf_copy(&line, arena);
}

static Str header_of(const DuckColumnVec *columns, Arena *arena) {
    CsvRow header = {0};
    for (size_t i = 0; i < columns->count; i++) {
        const DuckColumn *column = &columns->items[i];
        Str text = str_format(arena, STR_FMT ":" STR_FMT, STR_ARG(column->name),
                              STR_ARG(arrow_type_name(column->type, arena)));
        csv_row_push(arena, &header, (CsvCell){.text = text});
    }
    return line_of(&header, arena);
}

static Status read_result(const TestBuild *build, const Model *model, GoldenTable *table_out, Error *err) {
    Arena *arena = build->arena;
    SqlText query = sql_text_all_rows(arena, build->relations.items[model->index]);
    DuckRows rows;
    TRY(engine_query(build->connection, &query, arena, &rows, err));
    GoldenTable table = {.header = header_of(&rows.columns, arena)};
    for (size_t row = 0; row < rows.row_count; row++) {
        CsvRow cells = {0};
        for (size_t i = 0; i < rows.columns.count; i++) {
            csv_row_push(arena, &cells, cell_of(duck_cell(&rows, row, i), rows.columns.items[i].type, arena));
        }
        golden_line_vec_push(arena, &table.lines, (GoldenLine){line_of(&cells, arena), row + 1});
    }
    *table_out = table;
    return OK;
}

static Status read_golden(const TestBuild *build, Str path, GoldenTable *table_out, Error *err) {
    Arena *arena = build->arena;
    Str text;
    CsvRowVec rows;
    TRY(file_read(path_join(arena, build->project.config->root, path), GOLDEN_SIZE_MAX, arena, &text, err));
    if (failed(csv_read(text, arena, &rows, err))) {
        return error_wrap(err, "reading the golden file " STR_FMT, STR_ARG(path));
    }
    GoldenTable table = {.header = rows.count == 0 ? STR_EMPTY : line_of(&rows.items[0], arena)};
    for (size_t i = 1; i < rows.count; i++) {
        golden_line_vec_push(arena, &table.lines, (GoldenLine){line_of(&rows.items[i], arena), i});
    }
    *table_out = table;
    return OK;
}

/* ---- Comparing. */

static int compare_lines(const void *a, const void *b) {
    const GoldenLine *left = a, *right = b;
    int order = str_compare(left->text, right->text);
    return order != 0 ? order : (left->number > right->number) - (left->number < right->number);
}

static void sort_lines(GoldenLineVec *lines) {
    if (lines->count > 1) {
        qsort(lines->items, lines->count, sizeof *lines->items, compare_lines);
    }
}

/* Rows that only one side has. */
typedef struct GoldenDifference {
    GoldenLineVec expected, actual;
} GoldenDifference;

static GoldenDifference compare_in_order(const GoldenLineVec *expected, const GoldenLineVec *actual, Arena *arena) {
    GoldenDifference difference = {0};
    for (size_t i = 0; i < expected->count || i < actual->count; i++) {
        bool has_both = i < expected->count && i < actual->count;
        if (has_both && str_equal(expected->items[i].text, actual->items[i].text)) {
            continue;
        }
        if (i < expected->count) {
            golden_line_vec_push(arena, &difference.expected, expected->items[i]);
        }
        if (i < actual->count) {
            golden_line_vec_push(arena, &difference.actual, actual->items[i]);
        }
    }
    return difference;
}

/* Both are sorted. */
static GoldenDifference compare_multisets(const GoldenLineVec *expected, const GoldenLineVec *actual, Arena *arena) {
    GoldenDifference difference = {0};
    size_t e = 0, a = 0;
    while (e < expected->count || a < actual->count) {
        int order = e == expected->count ? 1
                    : a == actual->count ? -1
                                         : str_compare(expected->items[e].text, actual->items[a].text);
        if (order < 0) {
            golden_line_vec_push(arena, &difference.expected, expected->items[e]);
        }
        if (order > 0) {
            golden_line_vec_push(arena, &difference.actual, actual->items[a]);
        }
        e += order <= 0;
        a += order >= 0;
    }
    return difference;
}

/* Only an order that the query asks for is one. */
static bool is_ordered(const Model *model) {
    return model->kind == MODEL_SQL && model->facts->has_top_order_by;
}

static GoldenDifference compare(const Model *model, GoldenTable *expected, GoldenTable *actual, Arena *arena) {
    if (is_ordered(model)) {
        return compare_in_order(&expected->lines, &actual->lines, arena);
    }
    sort_lines(&expected->lines);
    sort_lines(&actual->lines);
    return compare_multisets(&expected->lines, &actual->lines, arena);
}

/* The number is the golden file's: in a result without an order it would say nothing. */
static void describe_rows(const Model *model, const GoldenDifference *difference, StrBuf *text) {
    size_t count =
        difference->expected.count > difference->actual.count ? difference->expected.count : difference->actual.count;
    for (size_t i = 0; i < count && i < DIFFERING_ROWS_MAX; i++) {
        if (i < difference->expected.count) {
            const GoldenLine *line = &difference->expected.items[i];
            strbuf_format(text, "\n  expected: " STR_FMT "   (row %zu)", STR_ARG(line->text), line->number);
        }
        if (i < difference->actual.count) {
            const GoldenLine *line = &difference->actual.items[i];
            strbuf_format(text, "\n  actual:   " STR_FMT, STR_ARG(line->text));
            if (is_ordered(model)) {
                strbuf_format(text, "   (row %zu)", line->number);
            }
        }
    }
    if (count > DIFFERING_ROWS_MAX) {
        strbuf_format(text, "\n  and %zu more", count - DIFFERING_ROWS_MAX);
    }
}

static Str describe(const Model *model, GoldenTable *expected, GoldenTable *actual, Arena *arena) {
    AUTO(strbuf) StrBuf text = {0};
    if (!str_equal(expected->header, actual->header)) {
        strbuf_format(&text, "columns differ\n  expected: " STR_FMT "\n  actual:   " STR_FMT, STR_ARG(expected->header),
                      STR_ARG(actual->header));
        return strbuf_copy(&text, arena);
    }
    size_t expected_count = expected->lines.count, actual_count = actual->lines.count;
    GoldenDifference difference = compare(model, expected, actual, arena);
    if (difference.expected.count == 0 && difference.actual.count == 0) {
        return STR_EMPTY;
    }
    if (expected_count == actual_count) {
        strbuf_format(&text, "%zu of %zu row(s) differ", difference.expected.count, expected_count);
    } else {
        strbuf_format(&text, "row count differs: expected %zu, actual %zu", expected_count, actual_count);
    }
    describe_rows(model, &difference, &text);
    return strbuf_copy(&text, arena);
}

/* ---- Writing. */

/* Rows without an order are sorted, so that the file changes only with what is in it. */
static Status write_golden(const TestBuild *build, const Model *model, Str path, GoldenTable *table, Error *err) {
    Str absolute = path_join(build->arena, build->project.config->root, path);
    AUTO(strbuf) StrBuf text = {0};
    if (!is_ordered(model)) {
        sort_lines(&table->lines);
    }
    strbuf_append(&text, table->header);
    strbuf_char(&text, '\n');
    for (size_t i = 0; i < table->lines.count; i++) {
        strbuf_append(&text, table->lines.items[i].text);
        strbuf_char(&text, '\n');
    }
    TRY(directory_create_all(path_directory(absolute), err));
    return file_write_atomic(absolute, strbuf_str(&text), false, err);
}

Status test_golden(const TestBuild *build, const Model *model, ModelTestResult *result, Error *err) {
    Str path = test_golden_path(build->test_case, model, build->arena);
    GoldenTable actual = {0}, expected = {0};
    TRY(read_result(build, model, &actual, err));
    if (build->options->updates_golden) {
        TRY(write_golden(build, model, path, &actual, err));
        result->status = MODEL_TEST_UPDATED;
        result->message = path;
        return OK;
    }
    TRY(read_golden(build, path, &expected, err));
    result->message = describe(model, &expected, &actual, build->arena);
    result->status = result->message.size == 0 ? MODEL_TEST_PASSED : MODEL_TEST_FAILED;
    return OK;
}
