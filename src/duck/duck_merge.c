/* What a MERGE did, from the one word that it gives for each row. */
#include "duck/duck_internal.h"

static void add_action(duckdb_string_t action, DuckMerged *merged) {
    switch (duckdb_string_t_data(&action)[0]) {
    case 'I':
        merged->inserted++;
        return;
    case 'U':
        merged->updated++;
        return;
    default:
        merged->deleted++;
    }
}

static Status count_actions(duckdb_result *result, Str sql, DuckMerged *merged, Error *err) {
    while (true) {
        AUTO(duck_chunk) duckdb_data_chunk chunk = duckdb_fetch_chunk(*result);
        if (chunk == NULL) {
            break;
        }
        const duckdb_string_t *actions = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
        for (idx_t row = 0; row < duckdb_data_chunk_get_size(chunk); row++) {
            add_action(actions[row], merged);
        }
    }
    const char *reason = duckdb_result_error(result);
    return reason == NULL ? OK : duck_error_set(err, sql, (int)duckdb_result_error_type(result), reason);
}

static Status merge(DuckConnection *connection, Str sql, DuckMerged *merged, Error *err) {
    AUTO(duck_prepared) duckdb_prepared_statement prepared = NULL;
    AUTO(duck_result) duckdb_result result = {0};
    TRY(duck_statement_prepare_single(connection, sql, &prepared, err));
    if (duckdb_prepared_statement_column_count(prepared) != 1 ||
        duckdb_prepared_statement_column_type(prepared, 0) != DUCKDB_TYPE_VARCHAR) {
        return error_set(err, ERROR_INTERNAL, "a MERGE does not end in RETURNING merge_action");
    }
    TRY(duck_statement_run_streaming(connection, prepared, sql, &result, err));
    return count_actions(&result, sql, merged, err);
}

Status duck_merge(DuckConnection *connection, Str sql, DuckMerged *merged_out, Error *err) {
    TRY(duck_statement_check(connection, err));
    *merged_out = (DuckMerged){0};
    return duck_statement_done(connection, merge(connection, sql, merged_out, err));
}
