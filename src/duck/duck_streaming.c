/* The one call that the engine's header hides as deprecated: a result that is made while it is fetched. */
#define DUCK_API_WITH_STREAMING
#include "duck/duck_internal.h"

DEFINE_AUTO_VALUE(duckdb_pending_result, duck_pending, duckdb_destroy_pending)

Status duck_statement_run_streaming(DuckConnection *connection, duckdb_prepared_statement prepared, Str sql,
                                    duckdb_result *result_out, Error *err) {
    AUTO(duck_pending) duckdb_pending_result pending = NULL;
    AUTO(duck_result) duckdb_result result = {0};

    TRY(duck_statement_check_interrupt(connection, sql, err));
    if (duckdb_pending_prepared_streaming(prepared, &pending) != DuckDBSuccess) {
        return duck_error_set(err, sql, DUCK_ERROR_TYPE_IN_TEXT, duckdb_pending_error(pending));
    }
    if (duckdb_execute_pending(pending, &result) != DuckDBSuccess) {
        return duck_error_set(err, sql, (int)duckdb_result_error_type(&result), duckdb_result_error(&result));
    }
    *result_out = result;
    result = (duckdb_result){0};
    return OK;
}
