/* Rows in: Arrow batches to chunks of the engine, chunks to its appender. */
#include "duck/arrow_text.h"
#include "duck/duck_arrow.h"
#include "duck/duck_internal.h"

struct DuckAppender {
    DuckConnection *connection;
    Arena *arena;
    duckdb_appender handle;
    duckdb_arrow_converted_schema schema;
    const ArrowShape *shape; /* NULL: no text */
    StrVec names;            /* of the columns, for messages */
    int64_t row_count;
    bool finished;
};

static Status appender_error(DuckAppender *appender, Error *err) {
    AUTO(duck_error_data) duckdb_error_data fault = duckdb_appender_error_data(appender->handle);
    return duck_error_set(err, STR_EMPTY, (int)duckdb_error_data_error_type(fault), duckdb_error_data_message(fault));
}

void duck_appender_close(DuckAppender *appender) {
    if (appender == NULL) {
        return;
    }
    /* The engine writes what it holds when it lets go of an appender: without finish that must not be committed. */
    if (!appender->finished) {
        (void)duck_statement_done(appender->connection, FAILED);
    }
    if (appender->handle != NULL) {
        (void)duckdb_appender_destroy(&appender->handle);
    }
    duckdb_destroy_arrow_converted_schema(&appender->schema);
    arena_destroy(appender->arena);
    free(appender);
}

static Status open_appender(DuckAppender *appender, Str table_schema, Str table, struct ArrowSchema *schema,
                            Error *err) {
    AUTO(duck_error_data)
    duckdb_error_data fault = duckdb_schema_from_arrow(appender->connection->handle, schema, &appender->schema);
    if (duckdb_error_data_has_error(fault)) {
        return duck_error_set(err, STR_EMPTY, (int)duckdb_error_data_error_type(fault),
                              duckdb_error_data_message(fault));
    }
    bool is_temporary = table_schema.size == 0;
    duckdb_state state = duckdb_appender_create_ext(appender->connection->handle, is_temporary ? "temp" : NULL,
                                                    is_temporary ? "main" : str_to_c(appender->arena, table_schema),
                                                    str_to_c(appender->arena, table), &appender->handle);
    if (state != DuckDBSuccess) {
        return appender_error(appender, err);
    }

    idx_t column_count = duckdb_appender_column_count(appender->handle);
    if ((int64_t)column_count != schema->n_children) {
        return error_set(err, ERROR_EXECUTION, "table '" STR_FMT "." STR_FMT "' has %llu columns, the rows have %lld",
                         STR_ARG(table_schema), STR_ARG(table), (unsigned long long)column_count,
                         (long long)schema->n_children);
    }
    return OK;
}

Status duck_appender_open(DuckConnection *connection, Str table_schema, Str table, struct ArrowSchema *schema,
                          DuckAppender **appender_out, Error *err) {
    if (!duck_in_transaction(connection)) {
        return error_set(err, ERROR_INTERNAL, "rows are appended outside a transaction");
    }
    TRY(duck_statement_check(connection, err));

    AUTO(duck_appender) DuckAppender *appender = heap_alloc_zeroed(1, sizeof *appender);
    appender->connection = connection;
    appender->arena = arena_create();
    TRY(open_appender(appender, table_schema, table, schema, err));

    appender->shape = arrow_shape_create(schema, appender->arena);
    for (int64_t i = 0; i < schema->n_children; i++) {
        str_vec_push(appender->arena, &appender->names, str_copy(appender->arena, str_from(schema->children[i]->name)));
    }
    *appender_out = TAKE(appender);
    return OK;
}

static Status check_text(const DuckAppender *appender, const struct ArrowArray *array, Error *err) {
    size_t column = 0;
    int64_t row = 0;
    if (appender->shape == NULL || arrow_text_is_sound(appender->shape, array, &column, &row)) {
        return OK;
    }
    int64_t output_row = appender->row_count + row + 1;
    return error_set(err, ERROR_EXECUTION, "column '" STR_FMT "' has text in row %lld that is not UTF-8",
                     STR_ARG(appender->names.items[column]), (long long)output_row);
}

static Status append(DuckAppender *appender, struct ArrowArray *array, Error *err) {
    AUTO(duck_chunk) duckdb_data_chunk chunk = NULL;

    TRY(duck_statement_check(appender->connection, err));
    TRY(check_text(appender, array, err));
    if (array->length == 0) {
        return OK;
    }
    int64_t rows = array->length;
    AUTO(duck_error_data)
    duckdb_error_data fault =
        duckdb_data_chunk_from_arrow(appender->connection->handle, array, appender->schema, &chunk);
    if (duckdb_error_data_has_error(fault)) {
        return duck_error_set(err, STR_EMPTY, (int)duckdb_error_data_error_type(fault),
                              duckdb_error_data_message(fault));
    }
    if (duckdb_append_data_chunk(appender->handle, chunk) != DuckDBSuccess) {
        return appender_error(appender, err);
    }
    appender->row_count += rows;
    return OK;
}

Status duck_appender_append(DuckAppender *appender, struct ArrowArray *array, Error *err) {
    assert(!appender->finished);
    Status status = append(appender, array, err);
    if (array->release != NULL) {
        array->release(array);
    }
    return duck_statement_done(appender->connection, status);
}

Status duck_appender_finish(DuckAppender *appender, int64_t *rows_out, Error *err) {
    assert(!appender->finished);
    TRY(duck_statement_check(appender->connection, err));
    if (duckdb_appender_close(appender->handle) != DuckDBSuccess) {
        return duck_statement_done(appender->connection, appender_error(appender, err));
    }
    appender->finished = true;
    *rows_out = appender->row_count;
    return OK;
}
