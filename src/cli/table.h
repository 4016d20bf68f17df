/* Table: rows of text in columns, as the command line shows results: title, header, thin rule, two-space gaps, no grid.
 * Cells are data: control characters in them are shown escaped. Lives in an arena; the caller's texts are kept.
 *
 * On a terminal that is too narrow the widest dim column shrinks first, then the other columns, names last. Elsewhere
 * the width has no limit and nothing is cut. */
#ifndef INTERLACE_CLI_TABLE_H
#define INTERLACE_CLI_TABLE_H

#include "cli/terminal.h"

typedef struct TableColumn {
    const char *title;
    bool is_number; /* right aligned */
    bool is_dim;    /* secondary: shrinks first */
    bool is_name;   /* shrinks last */
} TableColumn;

typedef struct TableCell {
    Str text; /* empty: shown as a dash */
    Style style;
} TableCell;

#define CELL(value) ((TableCell){.text = (value)})
#define CELL_STYLED(value, cell_style) ((TableCell){.text = (value), .style = (cell_style)})

typedef struct Table Table;

/* `title` may be empty. Keeps `columns`. */
Table *table_create(Arena *arena, Str title, const TableColumn *columns, size_t column_count);
/* `cells`: one a column; copied. */
void table_add(Table *table, const TableCell *cells);
/* Ends with a line break. A table without rows shows its header. */
void table_write(const Table *table, const Terminal *terminal, StrBuf *out);

#endif
