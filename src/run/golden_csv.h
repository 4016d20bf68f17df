/* The CSV of model tests: rows of cells that are a text or NULL. NULL is a bare \N; a text is quoted only when it has
 * to be, so that one table has one spelling. Pure. */
#ifndef INTERLACE_RUN_GOLDEN_CSV_H
#define INTERLACE_RUN_GOLDEN_CSV_H

#include "base/error.h"

typedef struct CsvCell {
    Str text;
    bool is_null;
} CsvCell;
DEFINE_VEC(CsvRow, csv_row, CsvCell)
DEFINE_VEC(CsvRowVec, csv_row_vec, CsvRow)

/* All rows, the header among them; lines may end in \r\n. Empty lines between rows of several cells are skipped.
 * PlanError: a quote that is not closed, or text behind a closing one; names the line, not the file. */
MUST_CHECK Status csv_read(Str text, Arena *arena, CsvRowVec *rows_out, Error *err);

/* One row as a line, without its end. */
void csv_write_row(const CsvRow *row, StrBuf *out);

#endif
