/* DuckConnection: one connection with its transaction guard. One thread at a time; duck_interrupt from any thread.
 *
 * The guard: after any failed statement inside a transaction the transaction can only be rolled back. duck_commit then
 * rolls back and fails (the engine itself would report success and discard: facts/duckdb.md §5). SQL text that is
 * BEGIN, COMMIT or ROLLBACK is refused by duck_execute: transactions have functions.
 *
 * Errors: kind ERROR_EXECUTION; message is the engine's first line without its "Binder Error: " prefix … kept readable;
 * err->sql, err->sql_offset (byte, when known) and err->engine_type are filled. An interrupted statement gives
 * ERROR_INTERRUPTED. */
#ifndef INTERLACE_DUCK_DUCK_CONNECTION_H
#define INTERLACE_DUCK_DUCK_CONNECTION_H

#include "duck/duck_database.h"

typedef struct DuckConnection DuckConnection;

MUST_CHECK Status duck_connection_open(DuckDatabase *database, DuckConnection **connection_out, Error *err);
void duck_connection_close(DuckConnection *connection); /* rolls back what is open; NULL is fine */
DEFINE_AUTO(DuckConnection, duck_connection, duck_connection_close)

/* Runs all statements of `sql`; `changed_out` (may be NULL) gets the sum of changed rows, those of CREATE TABLE … AS
 * among them. */
MUST_CHECK Status duck_execute(DuckConnection *connection, Str sql, int64_t *changed_out, Error *err);

typedef struct DuckMerged {
    int64_t inserted, updated, deleted;
} DuckMerged;
/* Runs a MERGE that ends in RETURNING merge_action; what it did to each row is counted, not kept. */
MUST_CHECK Status duck_merge(DuckConnection *connection, Str sql, DuckMerged *merged_out, Error *err);

MUST_CHECK Status duck_begin(DuckConnection *connection, Error *err);
MUST_CHECK Status duck_begin_read_only(DuckConnection *connection, Error *err);
MUST_CHECK Status duck_commit(DuckConnection *connection, Error *err);
void duck_rollback(DuckConnection *connection); /* nothing when no transaction is open */
bool duck_in_transaction(const DuckConnection *connection);
bool duck_transaction_is_lost(const DuckConnection *connection); /* only a rollback is left */

/* Any thread: ends the running statement of this connection within milliseconds; nothing when none runs. */
void duck_interrupt(DuckConnection *connection);

typedef enum DuckCellKind {
    DUCK_CELL_NULL,
    DUCK_CELL_BOOLEAN,
    DUCK_CELL_INTEGER,
    DUCK_CELL_DOUBLE,
    DUCK_CELL_TEXT
} DuckCellKind;

typedef struct DuckCell {
    DuckCellKind kind; /* INTEGER: up to 64 bits signed; wider integers and decimals are TEXT */
    Str text;          /* the engine's text of the value; "true"/"false"; empty for NULL */
} DuckCell;

typedef struct DuckColumn {
    Str name, type; /* type as the engine spells it: BIGINT, DECIMAL(18,2), STRUCT(a INTEGER) … */
} DuckColumn;
DEFINE_VEC(DuckColumnVec, duck_column_vec, DuckColumn)
/* In any letter case, as the engine finds it; NULL when absent. */
const DuckColumn *duck_column_find(const DuckColumnVec *columns, Str name);

typedef struct DuckRows {
    DuckColumnVec columns;
    size_t row_count;
    const DuckCell *cells; /* row_count × columns.count, row by row */
} DuckRows;

#define DUCK_ROWS_MAX 100000 /* a query that gives more fails: results of this size are streamed */
MUST_CHECK Status duck_query(DuckConnection *connection, Str sql, Arena *arena, DuckRows *rows_out, Error *err);
static inline const DuckCell *duck_cell(const DuckRows *rows, size_t row, size_t column) {
    return &rows->cells[row * rows->columns.count + column];
}
/* The single integer of a single row; NULL counts as 0. */
MUST_CHECK Status duck_rows_int(const DuckRows *rows, int64_t *number_out, Error *err);
MUST_CHECK Status duck_query_int(DuckConnection *connection, Str sql, int64_t *number_out, Error *err);

/* Column names and types of a query, without running it. A query that does not bind leaves an open
 * transaction alive, unless the engine itself gave it up (a file that is not there): ask duck_transaction_is_lost. */
MUST_CHECK Status duck_describe(DuckConnection *connection, Str sql, Arena *arena, DuckColumnVec *columns_out,
                                Error *err);

#endif
