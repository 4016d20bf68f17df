#include "state/state_sql.h"

#include "base/test_hooks.h"

#include <errno.h>

/* What a result of SQLite means to a person. Results that are not listed are faults of ours. */
typedef struct StateFault {
    int result;
    ErrorKind kind;
    const char *code;
    const char *problem; /* behind "state file '…' " */
    const char *hint;
} StateFault;

#define HINT_DAMAGED                                                                                                   \
    "put a copy back, or move the file away together with its -wal and -shm files: the next apply then builds "        \
    "everything anew"
#define HINT_ROOM "make room and run the command again; what was recorded before is kept"
#define HINT_RIGHTS "check the rights of the file and of its folder (SQLite keeps a -wal and a -shm file beside it)"

/* clang-format off */
static const StateFault faults[] = {
    {SQLITE_NOTADB,   ERROR_CONFIGURATION, "state.corrupt",    "is damaged",                         HINT_DAMAGED},
    {SQLITE_CORRUPT,  ERROR_CONFIGURATION, "state.corrupt",    "is damaged",                         HINT_DAMAGED},
    {SQLITE_FULL,     ERROR_EXECUTION,     "state.full",       "cannot grow",                        HINT_ROOM},
    {SQLITE_READONLY, ERROR_CONFIGURATION, "state.unwritable", "cannot be written",                  HINT_RIGHTS},
    {SQLITE_CANTOPEN, ERROR_CONFIGURATION, "state.unreadable", "cannot be opened",                   HINT_RIGHTS},
    {SQLITE_PERM,     ERROR_CONFIGURATION, "state.unreadable", "cannot be opened",                   HINT_RIGHTS},
    {SQLITE_IOERR,    ERROR_EXECUTION,     "state.io",         "cannot be read or written",          NULL},
    {SQLITE_BUSY,     ERROR_LOCK,          "state.busy",       "is kept busy by another process",    "try again"},
};
/* clang-format on */

/* errno of the failed call. The connection does not learn it from every commit; the -wal file always knows. */
static int system_error(const StateStore *store) {
    int number = sqlite3_system_errno(store->db);
    sqlite3_file *wal = NULL;
    if (number == 0 && sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal) == SQLITE_OK &&
        wal != NULL && wal->pMethods != NULL) {
        wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &number);
    }
    return number;
}

/* SQLite calls only ENOSPC a full disk; a quota and a size limit are the same thing to whoever must make room. */
static int result_of_failure(const StateStore *store) {
    int result = sqlite3_errcode(store->db) & 0xff;
    int number = result == SQLITE_IOERR ? system_error(store) : 0;
    bool has_no_room = number == ENOSPC || number == EDQUOT || number == EFBIG;
    return has_no_room ? SQLITE_FULL : result;
}

static const StateFault *find_fault(int result) {
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        if (faults[i].result == result) {
            return &faults[i];
        }
    }
    return NULL;
}

static bool has_system_error(int result) {
    return result == SQLITE_FULL || result == SQLITE_CANTOPEN || result == SQLITE_IOERR;
}

Status state_failure(const StateStore *store, Error *err) {
    int result = result_of_failure(store);
    int number = has_system_error(result) ? system_error(store) : 0;
    const char *reason = number != 0 ? strerror(number) : sqlite3_errmsg(store->db);
    const StateFault *fault = find_fault(result);
    if (fault == NULL) {
        return error_set(err, ERROR_INTERNAL, "state file '" STR_FMT "': %s (SQLite result %d)", STR_ARG(store->path),
                         reason, sqlite3_extended_errcode(store->db));
    }
    error_set(err, fault->kind, "state file '" STR_FMT "' %s: %s", STR_ARG(store->path), fault->problem, reason);
    error_code(err, str_from(fault->code));
    if (fault->hint != NULL) {
        error_hint(err, "%s", fault->hint);
    }
    return FAILED;
}

void statement_finalize(sqlite3_stmt *statement) {
    sqlite3_finalize(statement); /* its result repeats an error that was reported already */
}

Status state_prepare(StateStore *store, const char *sql, sqlite3_stmt **statement_out, Error *err) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK) {
        return state_failure(store, err);
    }
    *statement_out = statement;
    return OK;
}

/* SQLITE_STATIC: the caller's text outlives the statement's run. */
static int bind_value(sqlite3_stmt *statement, int index, const StateValue *value) {
    switch (value->kind) {
    case STATE_NULL:
        return sqlite3_bind_null(statement, index);
    case STATE_INT:
        return sqlite3_bind_int64(statement, index, value->number);
    case STATE_REAL:
        return sqlite3_bind_double(statement, index, value->real);
    case STATE_TEXT:
        return sqlite3_bind_text64(statement, index, value->text.size == 0 ? "" : value->text.ptr, value->text.size,
                                   SQLITE_STATIC, SQLITE_UTF8);
    }
    return SQLITE_MISUSE;
}

static Status bind_values(StateStore *store, sqlite3_stmt *statement, const StateValue *values, size_t count,
                          Error *err) {
    assert(sqlite3_bind_parameter_count(statement) == (int)count);
    for (size_t i = 0; i < count; i++) {
        if (bind_value(statement, (int)i + 1, &values[i]) != SQLITE_OK) {
            return state_failure(store, err);
        }
    }
    return OK;
}

/* Reads the failure before the reset, which would put the statement's own result in its place. */
static Status step(StateStore *store, sqlite3_stmt *statement, bool *has_row_out, Error *err) {
    int result = sqlite3_step(statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE) {
        return state_failure(store, err);
    }
    *has_row_out = result == SQLITE_ROW;
    return OK;
}

Status state_run(StateStore *store, sqlite3_stmt *statement, const StateValue *values, size_t count, Error *err) {
    TRY(bind_values(store, statement, values, count, err));
    bool has_row = true;
    while (has_row) {
        TRY(step(store, statement, &has_row, err));
    }
    sqlite3_reset(statement);
    return OK;
}

Status state_execute(StateStore *store, const char *sql, const StateValue *values, size_t count, Error *err) {
    AUTO(statement) sqlite3_stmt *statement = NULL;
    TRY(state_prepare(store, sql, &statement, err));
    return state_run(store, statement, values, count, err);
}

Status state_script(StateStore *store, const char *sql, Error *err) {
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? OK : state_failure(store, err);
}

int64_t state_changed_count(const StateStore *store) {
    return sqlite3_changes64(store->db);
}

Status state_query(StateStore *store, const char *sql, const StateValue *values, size_t count, StateRowReader read_row,
                   Arena *arena, void *rows, Error *err) {
    AUTO(statement) sqlite3_stmt *statement = NULL;
    TRY(state_prepare(store, sql, &statement, err));
    TRY(bind_values(store, statement, values, count, err));
    bool has_row = false;
    TRY(step(store, statement, &has_row, err));
    while (has_row) {
        read_row(statement, arena, rows);
        TRY(step(store, statement, &has_row, err));
    }
    return OK;
}

static void read_int(sqlite3_stmt *row, Arena *arena, void *rows) {
    (void)arena;
    *(int64_t *)rows = state_column_int(row, 0);
}

Status state_query_int(StateStore *store, const char *sql, const StateValue *values, size_t count, int64_t *number_out,
                       Error *err) {
    int64_t number = 0;
    TRY(state_query(store, sql, values, count, read_int, NULL, &number, err));
    *number_out = number;
    return OK;
}

Str state_column_text(sqlite3_stmt *row, int column, Arena *arena) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text == NULL ? STR_EMPTY
                        : str_copy(arena, (Str){.ptr = text, .size = (size_t)sqlite3_column_bytes(row, column)});
}

int64_t state_column_int(sqlite3_stmt *row, int column) {
    return sqlite3_column_int64(row, column);
}

Status state_transaction_begin(StateTransaction *transaction, StateStore *store, Error *err) {
    TRY(state_script(store, "BEGIN IMMEDIATE", err));
    transaction->store = store;
    return OK;
}

Status state_transaction_commit(StateTransaction *transaction, Error *err) {
    TRY(test_hook("state.commit", err));
    TRY(state_script(transaction->store, "COMMIT", err));
    transaction->store = NULL;
    return OK;
}

/* A full disk makes SQLite roll back by itself: then no transaction is open any more. */
void state_transaction_abort(StateTransaction *transaction) {
    StateStore *store = transaction->store;
    transaction->store = NULL;
    if (store != NULL && sqlite3_get_autocommit(store->db) == 0) {
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    }
}
