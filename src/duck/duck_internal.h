/* What the files of this folder share: the objects behind the opaque types, and the steps of a statement:
 *
 *     duck_statement_check  →  extract, prepare  →  run  →  result  →  duck_statement_done
 *
 * check refuses work on a connection that cannot do it; done records a failure in the transaction guard. Every public
 * function that sends something to the engine goes through both. */
#ifndef INTERLACE_DUCK_DUCK_INTERNAL_H
#define INTERLACE_DUCK_DUCK_INTERNAL_H

#include "duck/duck_api.h"
#include "duck/duck_connection.h"
#include "duck/duck_error.h"

#include <stdatomic.h>

struct DuckDatabase {
    duckdb_database handle;
};

typedef enum TransactionState {
    TRANSACTION_NONE,
    TRANSACTION_OPEN,
    TRANSACTION_FAILED, /* a statement failed: only a rollback is left */
} TransactionState;

struct DuckConnection {
    duckdb_connection handle;
    TransactionState transaction;
    bool has_stream;                     /* an open stream would be closed by any other statement */
    atomic_bool interrupted;             /* set by duck_interrupt; cleared when work begins */
    duckdb_prepared_statement type_name; /* SELECT typeof($1), made on first need */
};

/* After a query that did not bind: nothing ran, so the transaction goes on. Whether it really does is asked here, since
 * the engine's COMMIT would not tell. */
void duck_transaction_probe(DuckConnection *connection);

/* ERROR_EXECUTION in a failed transaction, ERROR_INTERNAL beside an open stream. */
MUST_CHECK Status duck_statement_check(DuckConnection *connection, Error *err);
/* Gives `status` back, after the guard has taken note of it. */
Status duck_statement_done(DuckConnection *connection, Status status);

/* Splits `sql`; a syntax error fails. A text without a statement gives 0. */
MUST_CHECK Status duck_statement_extract(DuckConnection *connection, Str sql,
                                         duckdb_extracted_statements *statements_out, size_t *count_out, Error *err);
/* Binds one of them. Transaction statements are refused. */
MUST_CHECK Status duck_statement_prepare(DuckConnection *connection, duckdb_extracted_statements statements,
                                         size_t index, Str sql, duckdb_prepared_statement *prepared_out, Error *err);
/* Both, for a text that must hold one statement. */
MUST_CHECK Status duck_statement_prepare_single(DuckConnection *connection, Str sql,
                                                duckdb_prepared_statement *prepared_out, Error *err);
/* The whole result, in memory. `sql` is for the error. */
MUST_CHECK Status duck_statement_run(DuckConnection *connection, duckdb_prepared_statement prepared, Str sql,
                                     duckdb_result *result_out, Error *err);
/* A result that is made while it is fetched. */
MUST_CHECK Status duck_statement_run_streaming(DuckConnection *connection, duckdb_prepared_statement prepared, Str sql,
                                               duckdb_result *result_out, Error *err);
/* ERROR_INTERRUPTED once duck_interrupt was called since the work began. */
MUST_CHECK Status duck_statement_check_interrupt(DuckConnection *connection, Str sql, Error *err);

/* What a column is cast to when a query is sent through duck_wrap_query; an empty type leaves it as it is. */
typedef struct DuckWrapColumn {
    Str name, cast_type;
} DuckWrapColumn;
DEFINE_VEC(DuckWrapColumnVec, duck_wrap_column_vec, DuckWrapColumn)

/* SELECT CAST(#1 AS VARCHAR) AS "a", #2 AS "b" FROM query('…'): the query itself stays as it was written, with its
 * trailing `;` and comments, and so do the positions in the engine's errors. */
Str duck_wrap_query(Arena *arena, Str sql, const DuckWrapColumnVec *columns);

/* NUL-terminated copy; text with a NUL byte in it would be cut by the engine and is refused. */
MUST_CHECK Status duck_sql_to_c(Arena *arena, Str sql, const char **text_out, Error *err);

/* Appends `text` between quotes, doubling those within: '…' for literals, "…" for names. */
void duck_append_quoted(StrBuf *sql, Str text, char quote);

#endif
