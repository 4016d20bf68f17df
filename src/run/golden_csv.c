#include "run/golden_csv.h"

#define NULL_CELL STR("\\N")

typedef struct CsvReader {
    Str text;
    size_t at, line;
    Arena *arena;
} CsvReader;

static bool is_at(const CsvReader *reader, char c) {
    return reader->at < reader->text.size && reader->text.ptr[reader->at] == c;
}

static bool is_at_end(const CsvReader *reader) {
    return reader->at == reader->text.size;
}

static bool is_at_line_end(const CsvReader *reader) {
    Str rest = str_skip(reader->text, reader->at);
    return rest.size == 0 || rest.ptr[0] == '\n' || str_starts_with(rest, STR("\r\n")) || str_equal(rest, STR("\r"));
}

static Status read_quoted(CsvReader *reader, CsvCell *cell_out, Error *err) {
    AUTO(strbuf) StrBuf text = {0};
    size_t first_line = reader->line;
    reader->at++;
    for (;;) {
        if (is_at_end(reader)) {
            return error_set(err, ERROR_PLAN, "line %zu: a quote is not closed", first_line);
        }
        char c = reader->text.ptr[reader->at++];
        if (c == '"' && !is_at(reader, '"')) {
            break;
        }
        reader->at += c == '"';
        reader->line += c == '\n';
        strbuf_char(&text, c);
    }
    if (!is_at(reader, ',') && !is_at_line_end(reader)) {
        return error_set(err, ERROR_PLAN, "line %zu: expected a comma behind the closing quote", reader->line);
    }
    *cell_out = (CsvCell){.text = strbuf_copy(&text, reader->arena)};
    return OK;
}

static CsvCell read_plain(CsvReader *reader) {
    size_t start = reader->at;
    while (!is_at(reader, ',') && !is_at_line_end(reader)) {
        reader->at++;
    }
    Str text = str_slice(reader->text, start, reader->at);
    return str_equal(text, NULL_CELL) ? (CsvCell){.is_null = true} : (CsvCell){.text = text};
}

static Status read_row(CsvReader *reader, CsvRow *row_out, Error *err) {
    CsvRow row = {0};
    for (;;) {
        CsvCell cell = {0};
        if (is_at(reader, '"')) {
            TRY(read_quoted(reader, &cell, err));
        } else {
            cell = read_plain(reader);
        }
        csv_row_push(reader->arena, &row, cell);
        if (!is_at(reader, ',')) {
            break;
        }
        reader->at++;
    }
    reader->at += is_at(reader, '\r');
    reader->at += is_at(reader, '\n');
    reader->line++;
    *row_out = row;
    return OK;
}

/* A row of one empty text is an empty line, too: only where rows have several cells is it no row. */
static bool is_blank(const CsvRow *row, const CsvRowVec *before) {
    bool is_empty = row->count == 1 && row->items[0].text.size == 0 && !row->items[0].is_null;
    return is_empty && (before->count == 0 || before->items[0].count > 1);
}

Status csv_read(Str text, Arena *arena, CsvRowVec *rows_out, Error *err) {
    CsvReader reader = {.text = text, .line = 1, .arena = arena};
    CsvRowVec rows = {0};
    if (str_starts_with(text, STR("\xEF\xBB\xBF"))) {
        reader.at = 3;
    }
    while (!is_at_end(&reader)) {
        CsvRow row;
        TRY(read_row(&reader, &row, err));
        if (!is_blank(&row, &rows)) {
            csv_row_vec_push(arena, &rows, row);
        }
    }
    *rows_out = rows;
    return OK;
}

static bool needs_quotes(Str text) {
    for (size_t i = 0; i < text.size; i++) {
        char c = text.ptr[i];
        if (c == ',' || c == '"' || c == '\n' || c == '\r') {
            return true;
        }
    }
    return str_equal(text, NULL_CELL);
}

static void write_quoted(Str text, StrBuf *out) {
    strbuf_char(out, '"');
    for (size_t i = 0; i < text.size; i++) {
        strbuf_text(out, text.ptr[i] == '"' ? "\"" : "");
        strbuf_char(out, text.ptr[i]);
    }
    strbuf_char(out, '"');
}

void csv_write_row(const CsvRow *row, StrBuf *out) {
    for (size_t i = 0; i < row->count; i++) {
        const CsvCell *cell = &row->items[i];
        strbuf_text(out, i > 0 ? "," : "");
        if (cell->is_null) {
            strbuf_append(out, NULL_CELL);
        } else if (needs_quotes(cell->text)) {
            write_quoted(cell->text, out);
        } else {
            strbuf_append(out, cell->text);
        }
    }
}
