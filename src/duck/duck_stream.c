/* Rows out: chunks of a result that is made while it is fetched, each handed on as an Arrow array. */
#include "duck/duck_arrow.h"
#include "duck/duck_internal.h"
#include "duck/duck_type.h"

struct DuckStream {
    DuckConnection *connection;
    Arena *arena;
    Str sql; /* in the arena */
    duckdb_result result;
    duckdb_arrow_options options;
    struct ArrowSchema schema;
    bool has_result;
};

void duck_stream_close(DuckStream *stream) {
    if (stream == NULL) {
        return;
    }
    if (stream->schema.release != NULL) {
        stream->schema.release(&stream->schema);
    }
    duckdb_destroy_arrow_options(&stream->options);
    duckdb_destroy_result(&stream->result);
    if (stream->has_result) {
        stream->connection->has_stream = false;
    }
    arena_destroy(stream->arena);
    free(stream);
}

/* Nothing to cast: `*wrapped_out` is empty. */
static Status wrap_if_needed(duckdb_prepared_statement prepared, Str sql, Arena *arena, Str *wrapped_out, Error *err) {
    DuckWrapColumnVec columns = {0};
    bool needed = false;
    idx_t count = duckdb_prepared_statement_column_count(prepared);
    for (idx_t i = 0; i < count; i++) {
        AUTO(duck_logical_type) duckdb_logical_type type = duckdb_prepared_statement_column_logical_type(prepared, i);
        if (type == NULL || duckdb_get_type_id(type) == DUCKDB_TYPE_INVALID) {
            return error_set(err, ERROR_EXECUTION,
                             "the types of the query's columns depend on a parameter without a type");
        }
        const char *name = duckdb_prepared_statement_column_name(prepared, i);
        DuckWrapColumn column = {str_copy(arena, str_from(name)), duck_type_streamable(type, arena)};
        duckdb_free((void *)(uintptr_t)name);
        needed |= column.cast_type.size > 0;
        duck_wrap_column_vec_push(arena, &columns, column);
    }
    *wrapped_out = needed ? duck_wrap_query(arena, sql, &columns) : STR_EMPTY;
    return OK;
}

static Status prepare(DuckStream *stream, duckdb_prepared_statement *prepared_out, Error *err) {
    AUTO(duck_prepared) duckdb_prepared_statement prepared = NULL;
    Str wrapped;

    TRY(duck_statement_prepare_single(stream->connection, stream->sql, &prepared, err));
    TRY(wrap_if_needed(prepared, stream->sql, stream->arena, &wrapped, err));
    if (wrapped.size == 0) {
        *prepared_out = TAKE(prepared);
        return OK;
    }
    return duck_statement_prepare_single(stream->connection, wrapped, prepared_out, err);
}

static Status make_schema(DuckStream *stream, Error *err) {
    idx_t count = duckdb_column_count(&stream->result);
    duckdb_logical_type *types = ARENA_NEW_ARRAY(stream->arena, duckdb_logical_type, count);
    const char **names = ARENA_NEW_ARRAY(stream->arena, const char *, count);
    for (idx_t i = 0; i < count; i++) {
        types[i] = duckdb_column_logical_type(&stream->result, i);
        names[i] = duckdb_column_name(&stream->result, i);
    }

    stream->options = duckdb_result_get_arrow_options(&stream->result);
    AUTO(duck_error_data)
    duckdb_error_data fault = duckdb_to_arrow_schema(stream->options, types, names, count, &stream->schema);
    for (idx_t i = 0; i < count; i++) {
        duckdb_destroy_logical_type(&types[i]);
    }
    if (duckdb_error_data_has_error(fault)) {
        return duck_error_set(err, stream->sql, (int)duckdb_error_data_error_type(fault),
                              duckdb_error_data_message(fault));
    }
    return OK;
}

static Status start(DuckStream *stream, Error *err) {
    AUTO(duck_prepared) duckdb_prepared_statement prepared = NULL;

    TRY(prepare(stream, &prepared, err));
    TRY(duck_statement_run_streaming(stream->connection, prepared, stream->sql, &stream->result, err));
    TRY(make_schema(stream, err));
    return OK;
}

Status duck_stream_open(DuckConnection *connection, Str sql, DuckStream **stream_out, Error *err) {
    TRY(duck_statement_check(connection, err));

    AUTO(duck_stream) DuckStream *stream = heap_alloc_zeroed(1, sizeof *stream);
    stream->connection = connection;
    stream->arena = arena_create();
    stream->sql = str_copy(stream->arena, sql);
    TRY(duck_statement_done(connection, start(stream, err)));

    stream->has_result = true;
    connection->has_stream = true;
    *stream_out = TAKE(stream);
    return OK;
}

const struct ArrowSchema *duck_stream_schema(const DuckStream *stream) {
    return &stream->schema;
}

/* NULL: the end. */
static Status fetch(DuckStream *stream, duckdb_data_chunk *chunk_out, Error *err) {
    *chunk_out = duckdb_fetch_chunk(stream->result);
    const char *reason = *chunk_out == NULL ? duckdb_result_error(&stream->result) : NULL;
    return reason == NULL ? OK
                          : duck_error_set(err, stream->sql, (int)duckdb_result_error_type(&stream->result), reason);
}

static Status drain(DuckStream *stream, Error *err) {
    AUTO(duck_prepared) duckdb_prepared_statement prepared = NULL;
    duckdb_destroy_result(&stream->result);
    TRY(prepare(stream, &prepared, err));
    TRY(duck_statement_run_streaming(stream->connection, prepared, stream->sql, &stream->result, err));
    for (;;) {
        AUTO(duck_chunk) duckdb_data_chunk chunk = NULL;
        TRY(fetch(stream, &chunk, err));
        if (chunk == NULL) {
            return OK;
        }
    }
}

/* A query that fails in one of the engine's threads has its other ones interrupted, and a reader that comes late is
 * told of that in place of the cause. Nobody asked for it, so it is no interrupt; the query is run once more for what
 * it fails of. A failed transaction cannot be asked. */
static Status find_cause(DuckStream *stream, Error *err) {
    bool can_ask = stream->connection->transaction == TRANSACTION_NONE;
    bool is_found = can_ask && failed(drain(stream, err)) && err->kind != ERROR_INTERRUPTED;
    if (is_found || atomic_load(&stream->connection->interrupted)) {
        return FAILED;
    }
    (void)error_set(err, ERROR_EXECUTION, "the engine gave the query up, and does not tell why");
    err->sql = str_copy(err->arena, stream->sql);
    error_hint(err, "run it once more");
    return FAILED;
}

static Status next(DuckStream *stream, struct ArrowArray *array_out, Error *err) {
    AUTO(duck_chunk) duckdb_data_chunk chunk = NULL;
    *array_out = (struct ArrowArray){.release = NULL};
    if (failed(fetch(stream, &chunk, err))) {
        bool is_asked = err->kind != ERROR_INTERRUPTED || atomic_load(&stream->connection->interrupted);
        return is_asked ? FAILED : find_cause(stream, err);
    }
    if (chunk == NULL) {
        return OK;
    }
    AUTO(duck_error_data) duckdb_error_data fault = duckdb_data_chunk_to_arrow(stream->options, chunk, array_out);
    if (duckdb_error_data_has_error(fault)) {
        return duck_error_set(err, stream->sql, (int)duckdb_error_data_error_type(fault),
                              duckdb_error_data_message(fault));
    }
    return OK;
}

Status duck_stream_next(DuckStream *stream, struct ArrowArray *array_out, Error *err) {
    return duck_statement_done(stream->connection, next(stream, array_out, err));
}
