/* SQL on the state's database, for the files of this folder only: the one place that knows sqlite3.h.
 *
 * Statements are constants; what varies is bound as ?1, ?2, …, never written into the text. A failure names the state
 * file and says what to do (the table of state_sql.c). Writes happen inside a StateTransaction:
 *
 *     AUTO(state_transaction) StateTransaction transaction = {0};
 *     TRY(state_transaction_begin(&transaction, store, err));
 *     TRY(state_execute(store, "DELETE FROM … WHERE id = ?1", VALUES(state_int(id)), err));
 *     return state_transaction_commit(&transaction, err);
 */
#ifndef INTERLACE_STATE_STATE_SQL_H
#define INTERLACE_STATE_STATE_SQL_H

#include "state/state_store.h"

#include <sqlite3.h>

struct StateStore {
    sqlite3 *db;
    Arena *arena; /* of `path` */
    Str path;     /* as given; ":memory:" for a store without a file */
};

bool state_is_in_memory(const StateStore *store);

/* ---- Connections (state_store.c). */

StateStore *state_store_create(Str path); /* no connection yet */
/* For writing; the file must be there. */
MUST_CHECK Status state_connect(StateStore *store, Error *err);

/* ---- Values and statements. */

typedef enum StateValueKind { STATE_NULL, STATE_INT, STATE_REAL, STATE_TEXT } StateValueKind;

typedef struct StateValue {
    StateValueKind kind;
    int64_t number;
    double real;
    Str text; /* must live until the statement is done */
} StateValue;

static inline StateValue state_int(int64_t number) {
    return (StateValue){.kind = STATE_INT, .number = number};
}
static inline StateValue state_real(double real) {
    return (StateValue){.kind = STATE_REAL, .real = real};
}
static inline StateValue state_text(Str text) {
    return (StateValue){.kind = STATE_TEXT, .text = text};
}
static inline StateValue state_optional_text(Str text) { /* an empty text is NULL */
    return (StateValue){.kind = text.size == 0 ? STATE_NULL : STATE_TEXT, .text = text};
}

/* The arguments `values, count` of the functions below. */
#define VALUES(...) ((const StateValue[]){__VA_ARGS__}), COUNT_OF(((const StateValue[]){__VA_ARGS__}))
#define NO_VALUES NULL, 0

void statement_finalize(sqlite3_stmt *statement); /* NULL is fine */
DEFINE_AUTO(sqlite3_stmt, statement, statement_finalize)

MUST_CHECK Status state_prepare(StateStore *store, const char *sql, sqlite3_stmt **statement_out, Error *err);

/* Binds, runs to the end and resets: for a statement that changes rows, prepared once and run for many. */
MUST_CHECK Status state_run(StateStore *store, sqlite3_stmt *statement, const StateValue *values, size_t count,
                            Error *err);
/* The same for a statement that runs once. */
MUST_CHECK Status state_execute(StateStore *store, const char *sql, const StateValue *values, size_t count, Error *err);
/* Several statements without parameters, as of a migration. */
MUST_CHECK Status state_script(StateStore *store, const char *sql, Error *err);
/* Rows that the last statement changed. */
int64_t state_changed_count(const StateStore *store);

/* Adds one row to `rows`: memory that it keeps is the arena's. */
typedef void (*StateRowReader)(sqlite3_stmt *row, Arena *arena, void *rows);
MUST_CHECK Status state_query(StateStore *store, const char *sql, const StateValue *values, size_t count,
                              StateRowReader read_row, Arena *arena, void *rows, Error *err);
/* The first column of the first row; 0 when there is no row or it is NULL. */
MUST_CHECK Status state_query_int(StateStore *store, const char *sql, const StateValue *values, size_t count,
                                  int64_t *number_out, Error *err);

Str state_column_text(sqlite3_stmt *row, int column, Arena *arena); /* NULL gives an empty text */
int64_t state_column_int(sqlite3_stmt *row, int column);

/* ---- Transactions. */

typedef struct StateTransaction {
    StateStore *store; /* NULL: none is open */
} StateTransaction;

/* Takes the write lock at once, so that what is read inside stays true until the commit. */
MUST_CHECK Status state_transaction_begin(StateTransaction *transaction, StateStore *store, Error *err);
MUST_CHECK Status state_transaction_commit(StateTransaction *transaction, Error *err);
void state_transaction_abort(StateTransaction *transaction); /* nothing when none is open */
DEFINE_AUTO_VALUE(StateTransaction, state_transaction, state_transaction_abort)

/* ---- Errors. */

/* What the connection's last failure means, with the state file's name. */
Status state_failure(const StateStore *store, Error *err);

/* ---- Format (state_format.c). */

typedef struct StateFormat {
    int64_t version;     /* user_version; 0: no format yet */
    int64_t application; /* application_id */
    int64_t object_count;
} StateFormat;

MUST_CHECK Status state_read_format(StateStore *store, StateFormat *format_out, Error *err);
/* ConfigurationError for a file of something else (state.foreign) and for a newer format (state.newer). */
MUST_CHECK Status state_check_format(const StateStore *store, StateFormat format, Error *err);
/* All steps that are missing, in one transaction. */
MUST_CHECK Status state_migrate(StateStore *store, Error *err);

/* ---- Ledger (state_ledger.c), inside a transaction of the caller. */

MUST_CHECK Status ledger_add(StateStore *store, const LedgerKey *key, Window window, Error *err);
MUST_CHECK Status ledger_remove(StateStore *store, const LedgerKey *key, Window window, Error *err);

/* ---- Lock (state_lock.c). */

/* Begins a transaction that must not happen without the lock: LockError when it was lost. Renews the lease as well. */
MUST_CHECK Status state_fenced_begin(StateTransaction *transaction, StateStore *store, const StateLock *lock,
                                     Error *err);

/* ---- Change records (state_changes.c), inside the caller's transaction. */

/* They are true with this transaction. Sets id and at. */
MUST_CHECK Status state_write_changes(StateStore *store, ChangeRecordVec *records, TimeUs now, Error *err);
MUST_CHECK Status state_write_drafts(StateStore *store, ChangeRecordVec *drafts, Error *err);
MUST_CHECK Status state_write_progress(StateStore *store, const ChangeProgress *progress, Error *err);
/* The drafts of an environment are true with this transaction. */
MUST_CHECK Status state_record_drafts(StateStore *store, Str environment, TimeUs now, Error *err);

/* ---- Promotion (state_promotion.c), inside a transaction of the caller. */

/* The pointers of an intent that was never begun move, with a generation. Nothing when it puts and removes none. */
MUST_CHECK Status state_pointers_move(StateStore *store, Intent *intent, TimeUs now, Error *err);

#endif
