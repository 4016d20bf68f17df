/* Connections, the transaction guard, and statements without rows. */
#include "duck/duck_connection.h"

#include "base/test_hooks.h"
#include "duck/duck_internal.h"

/* Statements of our own, past the guard and the test hooks. */
static Status send(DuckConnection *connection, const char *sql, Error *err) {
    AUTO(duck_result) duckdb_result result = {0};
    if (duckdb_query(connection->handle, sql, &result) != DuckDBSuccess) {
        return duck_error_set(err, str_from(sql), (int)duckdb_result_error_type(&result), duckdb_result_error(&result));
    }
    return OK;
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

Status duck_connection_open(DuckDatabase *database, DuckConnection **connection_out, Error *err) {
    AUTO(duck_connection) DuckConnection *connection = heap_alloc_zeroed(1, sizeof *connection);

    if (duckdb_connect(database->handle, &connection->handle) != DuckDBSuccess) {
        return error_set(err, ERROR_EXECUTION, "the engine refuses another connection");
    }
    /* Messages then carry the byte they point at; in plain text it is lost in long lines. */
    TRY(send(connection, "SET errors_as_json = true", err));

    *connection_out = TAKE(connection);
    return OK;
}

void duck_connection_close(DuckConnection *connection) {
    if (connection == NULL) {
        return;
    }
    duck_rollback(connection);
    duckdb_destroy_prepare(&connection->type_name);
    if (connection->handle != NULL) {
        duckdb_disconnect(&connection->handle);
    }
    free(connection);
}

/* --- The guard ---------------------------------------------------------------------------------------------------- */

Status duck_statement_check(DuckConnection *connection, Error *err) {
    if (connection->has_stream) {
        return error_set(err, ERROR_INTERNAL, "a statement was sent on a connection whose stream is still open");
    }
    if (connection->transaction == TRANSACTION_FAILED) {
        return error_set(err, ERROR_EXECUTION,
                         "an earlier statement of this transaction failed: it can only be rolled back");
    }
    atomic_store(&connection->interrupted, false);
    return OK;
}

Status duck_statement_done(DuckConnection *connection, Status status) {
    if (failed(status) && connection->transaction == TRANSACTION_OPEN) {
        connection->transaction = TRANSACTION_FAILED;
    }
    return status;
}

void duck_transaction_probe(DuckConnection *connection) {
    if (connection->transaction != TRANSACTION_OPEN) {
        return;
    }
    AUTO(error) Error ignored = {0};
    (void)duck_statement_done(connection, send(connection, "SELECT 1", &ignored));
}

static Status begin(DuckConnection *connection, const char *sql, Error *err) {
    if (duck_in_transaction(connection)) {
        return error_set(err, ERROR_INTERNAL, "a transaction was begun inside another");
    }
    TRY(duck_statement_check(connection, err));
    TRY(send(connection, sql, err));
    connection->transaction = TRANSACTION_OPEN;
    return OK;
}

Status duck_begin(DuckConnection *connection, Error *err) {
    return begin(connection, "BEGIN TRANSACTION", err);
}

Status duck_begin_read_only(DuckConnection *connection, Error *err) {
    return begin(connection, "BEGIN TRANSACTION READ ONLY", err);
}

static Status commit(DuckConnection *connection, Error *err) {
    if (connection->has_stream) {
        return error_set(err, ERROR_INTERNAL, "a transaction was committed while its stream is still open");
    }
    /* The engine's own COMMIT would report success here, and discard or keep the rest as it likes. */
    if (connection->transaction == TRANSACTION_FAILED) {
        return error_set(err, ERROR_EXECUTION, "nothing was committed: an earlier statement of the transaction failed");
    }
    TRY(test_hook("duck.commit", err));
    return send(connection, "COMMIT", err);
}

Status duck_commit(DuckConnection *connection, Error *err) {
    if (!duck_in_transaction(connection)) {
        return error_set(err, ERROR_INTERNAL, "a commit without a transaction");
    }
    Status status = commit(connection, err);
    if (failed(status)) {
        duck_rollback(connection);
    }
    connection->transaction = TRANSACTION_NONE;
    return status;
}

void duck_rollback(DuckConnection *connection) {
    if (!duck_in_transaction(connection)) {
        return;
    }
    /* Its failure means that the engine has rolled back already, or that the database is gone: nothing stays either
     * way. */
    AUTO(error) Error ignored;
    error_init(&ignored);
    (void)send(connection, "ROLLBACK", &ignored);
    connection->transaction = TRANSACTION_NONE;
}

bool duck_transaction_is_lost(const DuckConnection *connection) {
    return connection->transaction == TRANSACTION_FAILED;
}

bool duck_in_transaction(const DuckConnection *connection) {
    return connection->transaction != TRANSACTION_NONE;
}

void duck_interrupt(DuckConnection *connection) {
    atomic_store(&connection->interrupted, true);
    duckdb_interrupt(connection->handle);
}

/* --- Statements --------------------------------------------------------------------------------------------------- */

/* CREATE TABLE … AS tells how many rows it wrote in a result of one column, not as changed rows. */
static int64_t created_rows(duckdb_prepared_statement prepared, duckdb_result *result) {
    bool creates = duckdb_prepared_statement_type(prepared) == DUCKDB_STATEMENT_TYPE_CREATE;
    if (!creates || duckdb_column_count(result) != 1 || duckdb_column_type(result, 0) != DUCKDB_TYPE_BIGINT) {
        return 0;
    }
    AUTO(duck_chunk) duckdb_data_chunk chunk = duckdb_fetch_chunk(*result);
    if (chunk == NULL || duckdb_data_chunk_get_size(chunk) != 1) {
        return 0;
    }
    const int64_t *count = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
    return count[0];
}

static Status execute_one(DuckConnection *connection, duckdb_extracted_statements statements, size_t index, Str sql,
                          int64_t *changed, Error *err) {
    AUTO(duck_prepared) duckdb_prepared_statement prepared = NULL;
    AUTO(duck_result) duckdb_result result = {0};

    TRY(duck_statement_prepare(connection, statements, index, sql, &prepared, err));
    TRY(test_hook("duck.execute", err));
    TRY(duck_statement_run(connection, prepared, sql, &result, err));
    *changed += (int64_t)duckdb_rows_changed(&result) + created_rows(prepared, &result);
    return OK;
}

static Status execute_all(DuckConnection *connection, Str sql, int64_t *changed, Error *err) {
    AUTO(duck_extracted) duckdb_extracted_statements statements = NULL;
    size_t count = 0;

    TRY(duck_statement_extract(connection, sql, &statements, &count, err));
    for (size_t i = 0; i < count; i++) {
        TRY(execute_one(connection, statements, i, sql, changed, err));
    }
    return OK;
}

Status duck_execute(DuckConnection *connection, Str sql, int64_t *changed_out, Error *err) {
    TRY(duck_statement_check(connection, err));

    int64_t changed = 0;
    TRY(duck_statement_done(connection, execute_all(connection, sql, &changed, err)));
    if (changed_out != NULL) {
        *changed_out = changed;
    }
    return OK;
}
