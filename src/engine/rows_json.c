#include "engine/rows_json.h"

#include <math.h>

#define SAFE_INTEGER_MAX ((int64_t)9007199254740991) /* 2^53 − 1: what a JSON reader with doubles keeps exactly */

static void write_integer(const DuckCell *cell, JsonWriter *writer) {
    int64_t number;
    bool is_safe = str_to_int64(cell->text, &number) && number >= -SAFE_INTEGER_MAX && number <= SAFE_INTEGER_MAX;
    if (is_safe) {
        json_int(writer, number);
    } else {
        json_text(writer, cell->text);
    }
}

static void write_double(const DuckCell *cell, JsonWriter *writer) {
    double number;
    if (str_to_double(cell->text, &number) && isfinite(number)) {
        json_double(writer, number);
    } else {
        json_text(writer, cell->text);
    }
}

void rows_write_cell(const DuckCell *cell, JsonWriter *writer) {
    switch (cell->kind) {
    case DUCK_CELL_NULL:
        json_null(writer);
        return;
    case DUCK_CELL_BOOLEAN:
        json_bool(writer, str_equal(cell->text, STR("true")));
        return;
    case DUCK_CELL_INTEGER:
        write_integer(cell, writer);
        return;
    case DUCK_CELL_DOUBLE:
        write_double(cell, writer);
        return;
    case DUCK_CELL_TEXT:
        json_text(writer, cell->text);
        return;
    }
}

Str rows_to_json(const DuckRows *rows, Arena *arena) {
    AUTO(strbuf) StrBuf out = {0};
    JsonWriter writer;
    json_writer_init(&writer, &out, JSON_COMPACT);
    json_begin_object(&writer);
    json_key(&writer, STR("columns"));
    json_begin_array(&writer);
    for (size_t i = 0; i < rows->columns.count; i++) {
        json_text(&writer, rows->columns.items[i].name);
    }
    json_end_array(&writer);
    json_key(&writer, STR("rows"));
    json_begin_array(&writer);
    for (size_t row = 0; row < rows->row_count; row++) {
        json_begin_array(&writer);
        for (size_t column = 0; column < rows->columns.count; column++) {
            rows_write_cell(duck_cell(rows, row, column), &writer);
        }
        json_end_array(&writer);
    }
    json_end_array(&writer);
    json_end_object(&writer);
    return strbuf_copy(&out, arena);
}
