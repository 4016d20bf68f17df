#include "cli/rows_text.h"

#include "cli/model_text.h"
#include "cli/table.h"
#include "engine/rows_json.h"

static bool is_number_type(Str type) {
    static const Str prefixes[] = {
        STR_INIT("TINYINT"),  STR_INIT("SMALLINT"),  STR_INIT("INTEGER"),  STR_INIT("BIGINT"),  STR_INIT("HUGEINT"),
        STR_INIT("UTINYINT"), STR_INIT("USMALLINT"), STR_INIT("UINTEGER"), STR_INIT("UBIGINT"), STR_INIT("UHUGEINT"),
        STR_INIT("FLOAT"),    STR_INIT("DOUBLE"),    STR_INIT("DECIMAL")};
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        if (str_starts_with(type, prefixes[i]) && !str_ends_with(type, STR("]"))) {
            return true;
        }
    }
    return false;
}

/* An empty text is shown as such, not as the dash of an empty cell. */
static TableCell table_cell(const DuckCell *cell) {
    if (cell->kind == DUCK_CELL_NULL) {
        return CELL_STYLED(STR("NULL"), STYLE_DIM);
    }
    return CELL(cell->text.size == 0 ? STR(" ") : cell->text);
}

void rows_print_table(Cli *cli, Str title, const DuckRows *rows, const IndexVec *shown) {
    size_t count = shown == NULL ? rows->columns.count : shown->count;
    TableColumn *columns = ARENA_NEW_ARRAY(cli->arena, TableColumn, count);
    TableCell *cells = ARENA_NEW_ARRAY(cli->arena, TableCell, count);
    for (size_t i = 0; i < count; i++) {
        const DuckColumn *column = &rows->columns.items[shown == NULL ? i : shown->items[i]];
        columns[i] =
            (TableColumn){.title = str_to_c(cli->arena, column->name), .is_number = is_number_type(column->type)};
    }
    Table *table = table_create(cli->arena, title, columns, count);
    for (size_t row = 0; row < rows->row_count; row++) {
        for (size_t i = 0; i < count; i++) {
            cells[i] = table_cell(duck_cell(rows, row, shown == NULL ? i : shown->items[i]));
        }
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

void rows_print_count(Cli *cli, const DuckRows *rows, bool is_truncated) {
    Str count = number_text(cli->arena, (int64_t)rows->row_count);
    Str more = is_truncated ? str_format(cli->arena, " " STR_FMT " truncated; raise --limit for more",
                                         STR_ARG(cli_glyph(cli, GLYPH_DASH)))
                            : STR_EMPTY;
    cli_line(cli, STR_FMT " row(s)" STR_FMT, STR_ARG(count), STR_ARG(more));
}

void rows_write_row(const DuckRows *rows, size_t row, JsonWriter *writer) {
    json_begin_array(writer);
    for (size_t i = 0; i < rows->columns.count; i++) {
        rows_write_cell(duck_cell(rows, row, i), writer);
    }
    json_end_array(writer);
}

void rows_write_object(const DuckRows *rows, size_t row, JsonWriter *writer) {
    json_begin_object(writer);
    for (size_t i = 0; i < rows->columns.count; i++) {
        json_key(writer, rows->columns.items[i].name);
        rows_write_cell(duck_cell(rows, row, i), writer);
    }
    json_end_object(writer);
}

void rows_write_measures(const ModelPreview *preview, size_t column, JsonWriter *writer) {
    static const Str keys[PROFILE_TOTAL] = {STR_INIT("nulls"), STR_INIT("distinct"), STR_INIT("min"), STR_INIT("max")};
    for (size_t k = 0; k < PROFILE_TOTAL; k++) {
        json_key(writer, keys[k]);
        rows_write_cell(model_preview_measure(preview, column, (ProfileMeasure)k), writer);
    }
}
