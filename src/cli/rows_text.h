/* Rows of a query, printed. */
#ifndef INTERLACE_CLI_ROWS_TEXT_H
#define INTERLACE_CLI_ROWS_TEXT_H

#include "cli/cli.h"

#include "run/model_preview.h"

/* A table without the count below it. `title` may be empty; `shown` numbers its columns, NULL: all. */
void rows_print_table(Cli *cli, Str title, const DuckRows *rows, const IndexVec *shown);
/* "12 row(s)", "100 row(s) — truncated; raise --limit for more". */
void rows_print_count(Cli *cli, const DuckRows *rows, bool is_truncated);
/* A JSON array of the row's cells. */
void rows_write_row(const DuckRows *rows, size_t row, JsonWriter *writer);
/* A JSON object of them, by the names of their columns. */
void rows_write_object(const DuckRows *rows, size_t row, JsonWriter *writer);
/* The fields of a column's profile, into the open object. */
void rows_write_measures(const ModelPreview *preview, size_t column, JsonWriter *writer);

#endif
