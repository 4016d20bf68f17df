#include "cli/table.h"

#include "base/vec.h"
#include "cli/text_width.h"

#define GAP_WIDTH ((size_t)2)
/* A column is not cut below this while another one can still give. */
#define COLUMN_WIDTH_MIN ((size_t)6)

DEFINE_VEC(TableCellVec, table_cell_vec, TableCell)

struct Table {
    Arena *arena;
    Str title;
    const TableColumn *columns;
    size_t column_count;
    TableCellVec cells; /* row by row */
};

Table *table_create(Arena *arena, Str title, const TableColumn *columns, size_t column_count) {
    Table *table = ARENA_NEW(arena, Table);
    *table = (Table){.arena = arena, .title = title, .columns = columns, .column_count = column_count};
    return table;
}

void table_add(Table *table, const TableCell *cells) {
    for (size_t i = 0; i < table->column_count; i++) {
        TableCell cell = cells[i];
        cell.text = text_visible(table->arena, cell.text);
        table_cell_vec_push(table->arena, &table->cells, cell);
    }
}

/* --- Widths ----------------------------------------------------------------------------------------------------------
 */

static void measure(const Table *table, const Terminal *terminal, size_t *widths) {
    assert(table->column_count > 0);
    size_t dash_width = text_width(glyph(terminal, GLYPH_DASH));
    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = text_width(str_from(table->columns[i].title));
    }
    for (size_t i = 0; i < table->cells.count; i++) {
        Str text = table->cells.items[i].text;
        size_t width = text.size == 0 ? dash_width : text_width(text);
        size_t *widest = &widths[i % table->column_count];
        *widest = width > *widest ? width : *widest;
    }
}

static size_t total_width(const Table *table, const size_t *widths) {
    size_t total = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        total += widths[i] + (i > 0 ? GAP_WIDTH : 0);
    }
    return total;
}

/* In which round a column gives way: dim ones, others, names. */
static size_t shrink_round(const TableColumn *column) {
    return column->is_name ? 2 : column->is_dim ? 0 : 1;
}

/* The widest column of the round that is still wider than the minimum; column_count when there is none. */
static size_t widest_of_round(const Table *table, const size_t *widths, size_t round) {
    size_t widest = table->column_count;
    for (size_t i = 0; i < table->column_count; i++) {
        bool can_give = shrink_round(&table->columns[i]) == round && widths[i] > COLUMN_WIDTH_MIN;
        if (can_give && (widest == table->column_count || widths[i] > widths[widest])) {
            widest = i;
        }
    }
    return widest;
}

static void shrink(const Table *table, size_t *widths, size_t limit) {
    size_t total = total_width(table, widths);
    for (size_t round = 0; round <= 2; round++) {
        size_t column;
        while (total > limit && (column = widest_of_round(table, widths, round)) < table->column_count) {
            widths[column]--;
            total--;
        }
    }
}

/* --- Lines -----------------------------------------------------------------------------------------------------------
 */

static void append_repeated(StrBuf *out, Str text, size_t count) {
    for (size_t i = 0; i < count; i++) {
        strbuf_append(out, text);
    }
}

typedef struct LineWriter {
    const Table *table;
    const Terminal *terminal;
    const size_t *widths;
    StrBuf *out;
    size_t pending_blanks; /* written only when something follows: lines have no blanks at their ends */
} LineWriter;

static void write_cell(LineWriter *writer, size_t column, Str text, Style style) {
    text = text_cut(writer->table->arena, text, writer->widths[column], glyph(writer->terminal, GLYPH_ELLIPSIS));
    size_t padding = writer->widths[column] - text_width(text);
    bool is_number = writer->table->columns[column].is_number;
    writer->pending_blanks += (column > 0 ? GAP_WIDTH : 0) + (is_number ? padding : 0);
    if (text.size > 0) {
        append_repeated(writer->out, STR(" "), writer->pending_blanks);
        style_append(writer->out, writer->terminal, style, text);
        writer->pending_blanks = 0;
    }
    writer->pending_blanks += is_number ? 0 : padding;
}

static void end_line(LineWriter *writer) {
    strbuf_char(writer->out, '\n');
    writer->pending_blanks = 0;
}

static void write_header(LineWriter *writer) {
    const Table *table = writer->table;
    for (size_t i = 0; i < table->column_count; i++) {
        write_cell(writer, i, str_from(table->columns[i].title), STYLE_TITLE);
    }
    end_line(writer);
    AUTO(strbuf) StrBuf rule = {0};
    append_repeated(&rule, glyph(writer->terminal, GLYPH_RULE), total_width(table, writer->widths));
    style_append(writer->out, writer->terminal, STYLE_DIM, strbuf_str(&rule));
    end_line(writer);
}

static void write_row(LineWriter *writer, const TableCell *cells) {
    for (size_t i = 0; i < writer->table->column_count; i++) {
        bool is_empty = cells[i].text.size == 0;
        Str text = is_empty ? glyph(writer->terminal, GLYPH_DASH) : cells[i].text;
        bool is_dim = is_empty || (writer->table->columns[i].is_dim && cells[i].style == STYLE_PLAIN);
        write_cell(writer, i, text, is_dim ? STYLE_DIM : cells[i].style);
    }
    end_line(writer);
}

void table_write(const Table *table, const Terminal *terminal, StrBuf *out) {
    size_t *widths = ARENA_NEW_ARRAY(table->arena, size_t, table->column_count);
    measure(table, terminal, widths);
    shrink(table, widths, terminal_size(terminal).columns);

    if (table->title.size > 0) {
        style_append(out, terminal, STYLE_TITLE, text_visible(table->arena, table->title));
        strbuf_char(out, '\n');
    }
    LineWriter writer = {.table = table, .terminal = terminal, .widths = widths, .out = out};
    write_header(&writer);
    for (size_t i = 0; i < table->cells.count; i += table->column_count) {
        write_row(&writer, &table->cells.items[i]);
    }
}
