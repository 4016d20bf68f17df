/* Rows in and out as Arrow. Out: a query streamed in bounded memory. In: batches appended to a table inside the
 * connection's transaction. See facts: the appender obeys BEGIN/ROLLBACK; an open stream occupies its connection. */
#ifndef INTERLACE_DUCK_DUCK_ARROW_H
#define INTERLACE_DUCK_DUCK_ARROW_H

#include "base/arrow_abi.h"
#include "duck/duck_connection.h"

/* Closed before its connection. */
typedef struct DuckStream DuckStream;

/* Columns whose types Arrow IPC cannot carry (ENUM, BIT, TIMETZ, VARIANT) are cast to VARCHAR in the query that is
 * sent. */
MUST_CHECK Status duck_stream_open(DuckConnection *connection, Str sql, DuckStream **stream_out, Error *err);
/* Borrowed until the stream is closed. */
const struct ArrowSchema *duck_stream_schema(const DuckStream *stream);
/* The next chunk; `array_out->release` is NULL at the end. A run-time error of the query appears here. */
MUST_CHECK Status duck_stream_next(DuckStream *stream, struct ArrowArray *array_out, Error *err);
void duck_stream_close(DuckStream *stream); /* NULL is fine */
DEFINE_AUTO(DuckStream, duck_stream, duck_stream_close)

/* Names and SQL types that the engine gives an Arrow schema (a null type gives VARCHAR). ExecutionError names a column
 * whose type has no counterpart, and duplicate names. */
MUST_CHECK Status duck_arrow_columns(DuckConnection *connection, struct ArrowSchema *schema, Arena *arena,
                                     DuckColumnVec *columns_out, Error *err);

typedef struct DuckAppender DuckAppender;

/* Appends to schema.table (an empty schema: a TEMP table), whose columns are those of `schema`, in order. Keeps nothing
 * of `schema`. Needs an open transaction; closed before its connection. */
MUST_CHECK Status duck_appender_open(DuckConnection *connection, Str table_schema, Str table,
                                     struct ArrowSchema *schema, DuckAppender **appender_out, Error *err);
/* Takes the array (released in every case). Text that is not UTF-8 is an ExecutionError naming column and row. */
MUST_CHECK Status duck_appender_append(DuckAppender *appender, struct ArrowArray *array, Error *err);
/* Flushes; without it the rows are not there, and the transaction can only be rolled back. */
MUST_CHECK Status duck_appender_finish(DuckAppender *appender, int64_t *rows_out, Error *err);
void duck_appender_close(DuckAppender *appender); /* NULL is fine */
DEFINE_AUTO(DuckAppender, duck_appender, duck_appender_close)

#endif
