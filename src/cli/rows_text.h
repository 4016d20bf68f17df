/* Rows of a query, printed. */
#ifndef INTERLACE_CLI_ROWS_TEXT_H
#define INTERLACE_CLI_ROWS_TEXT_H

#include "cli/cli.h"

#include "duck/duck_connection.h"

/* A table without the count below it. `title` may be empty. */
void rows_print_table(Cli *cli, Str title, const DuckRows *rows);
/* "12 row(s)", "100 row(s) — truncated; raise --limit for more". */
void rows_print_count(Cli *cli, const DuckRows *rows, bool is_truncated);
/* A JSON array of the row's cells. */
void rows_write_row(const DuckRows *rows, size_t row, JsonWriter *writer);

#endif
