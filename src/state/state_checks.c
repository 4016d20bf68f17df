#include "state/state_sql.h"

static Status record_check(StateStore *store, sqlite3_stmt *insert, const CheckResult *result, Error *err) {
    return state_run(store, insert,
                     VALUES(state_text(result->environment), state_text(result->model), state_text(result->fingerprint),
                            state_text(result->check_name), state_text(result->check_type),
                            state_text(result->severity), state_text(result->status), state_int(result->failures),
                            state_optional_text(result->message), state_int(result->executed_at),
                            state_real(result->seconds), state_text(result->trigger),
                            state_optional_text(result->sample_json), state_optional_text(result->run_id)),
                     err);
}

Status state_record_checks(StateStore *store, const CheckResultVec *results, Error *err) {
    if (results->count == 0) {
        return OK;
    }
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_transaction_begin(&transaction, store, err));
    AUTO(statement) sqlite3_stmt *insert = NULL;
    TRY(state_prepare(store,
                      "INSERT INTO check_results (environment, model, fingerprint, check_name, check_type, severity,"
                      " status, failures, message, executed_at, seconds, trigger_kind, sample_json, run_id)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                      &insert, err));
    for (size_t i = 0; i < results->count; i++) {
        TRY(record_check(store, insert, &results->items[i], err));
    }
    return state_transaction_commit(&transaction, err);
}

static void read_check(sqlite3_stmt *row, Arena *arena, void *rows) {
    int column = 0;
    CheckResult result = {0};
    result.id = state_column_int(row, column++);
    result.environment = state_column_text(row, column++, arena);
    result.model = state_column_text(row, column++, arena);
    result.fingerprint = state_column_text(row, column++, arena);
    result.check_name = state_column_text(row, column++, arena);
    result.check_type = state_column_text(row, column++, arena);
    result.severity = state_column_text(row, column++, arena);
    result.status = state_column_text(row, column++, arena);
    result.failures = state_column_int(row, column++);
    result.message = state_column_text(row, column++, arena);
    result.executed_at = state_column_int(row, column++);
    result.seconds = sqlite3_column_double(row, column++);
    result.trigger = state_column_text(row, column++, arena);
    result.sample_json = state_column_text(row, column++, arena);
    result.run_id = state_column_text(row, column++, arena);
    check_result_vec_push(arena, rows, result);
}

Status state_load_checks(StateStore *store, const CheckResultFilter *filter, Arena *arena, CheckResultVec *results_out,
                         Error *err) {
    int64_t limit = filter->limit > 0 ? filter->limit : INT64_MAX;
    CheckResultVec results = {0};
    TRY(state_query(store,
                    "SELECT id, environment, model, fingerprint, check_name, check_type, severity, status, failures,"
                    " message, executed_at, seconds, trigger_kind, sample_json, run_id FROM check_results"
                    " WHERE (?1 IS NULL OR model = ?1) AND (?2 IS NULL OR environment = ?2)"
                    " AND (?3 IS NULL OR status = ?3) AND executed_at >= ?4 AND (?6 IS NULL OR check_name = ?6)"
                    " ORDER BY id DESC LIMIT ?5",
                    VALUES(state_optional_text(filter->model), state_optional_text(filter->environment),
                           state_optional_text(filter->status), state_int(filter->since), state_int(limit),
                           state_optional_text(filter->check)),
                    read_check, arena, &results, err));
    *results_out = results;
    return OK;
}
