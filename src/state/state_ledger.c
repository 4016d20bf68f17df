/* The ledger: which windows of a relation are filled (spec 02 §11). The rows of a relation are always normalised: no
 * two of them overlap or touch. So a change reads and writes only the rows that it meets. */
#include "state/state_sql.h"

#define OF_RELATION "engine = ?1 AND catalog = ?2 AND schema = ?3 AND name = ?4"
#define RELATION(key)                                                                                                  \
    state_text((key)->engine), state_text((key)->catalog), state_text((key)->schema), state_text((key)->name)

static void read_interval(sqlite3_stmt *row, Arena *arena, void *rows) {
    interval_set_add(arena, rows, (Window){state_column_int(row, 0), state_column_int(row, 1)});
}

Status state_ledger_load(StateStore *store, const LedgerKey *key, Arena *arena, IntervalSet *filled_out, Error *err) {
    IntervalSet filled = {0};
    TRY(state_query(store, "SELECT start_us, end_us FROM ledger WHERE " OF_RELATION " ORDER BY start_us",
                    VALUES(RELATION(key)), read_interval, arena, &filled, err));
    *filled_out = filled;
    return OK;
}

static void read_hull(sqlite3_stmt *row, Arena *arena, void *rows) {
    (void)arena;
    *(Window *)rows = (Window){state_column_int(row, 0), state_column_int(row, 1)};
}

/* Removes the rows that overlap [start, end) or touch it, and gives their hull: empty when there is none. */
static Status take_touched(StateStore *store, const LedgerKey *key, Window window, Window *hull_out, Error *err) {
    Window hull = {0};
    TRY(state_query(
        store,
        "SELECT min(start_us), max(end_us) FROM ledger WHERE " OF_RELATION " AND start_us <= ?6 AND end_us >= ?5",
        VALUES(RELATION(key), state_int(window.start), state_int(window.end)), read_hull, NULL, &hull, err));
    TRY(state_execute(store, "DELETE FROM ledger WHERE " OF_RELATION " AND start_us <= ?6 AND end_us >= ?5",
                      VALUES(RELATION(key), state_int(window.start), state_int(window.end)), err));
    *hull_out = hull;
    return OK;
}

static Status insert(StateStore *store, const LedgerKey *key, Window window, Error *err) {
    return window.start >= window.end
               ? OK
               : state_execute(store,
                               "INSERT INTO ledger (engine, catalog, schema, name, start_us, end_us)"
                               " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                               VALUES(RELATION(key), state_int(window.start), state_int(window.end)), err);
}

Status ledger_add(StateStore *store, const LedgerKey *key, Window window, Error *err) {
    assert(window.start < window.end);
    Window hull;
    TRY(take_touched(store, key, window, &hull, err));
    if (hull.start < hull.end) {
        window.start = hull.start < window.start ? hull.start : window.start;
        window.end = hull.end > window.end ? hull.end : window.end;
    }
    return insert(store, key, window, err);
}

Status state_ledger_add(StateStore *store, StateLock *lock, const LedgerKey *key, Window window, Error *err) {
    return state_ledger_add_change(store, lock, key, window, &(ChangeProgress){0}, err);
}

Status state_ledger_add_change(StateStore *store, StateLock *lock, const LedgerKey *key, Window window,
                               const ChangeProgress *change, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(ledger_add(store, key, window, err));
    TRY(state_write_progress(store, change, err));
    return state_transaction_commit(&transaction, err);
}

Status ledger_remove(StateStore *store, const LedgerKey *key, Window window, Error *err) {
    assert(window.start < window.end);
    Window overlapped = {window.start + 1, window.end - 1}; /* a row that only touches stays as it is */
    Window hull;
    TRY(take_touched(store, key, overlapped, &hull, err));
    if (hull.start < hull.end) {
        TRY(insert(store, key, (Window){hull.start, window.start}, err));
        TRY(insert(store, key, (Window){window.end, hull.end}, err));
    }
    return OK;
}

Status state_ledger_remove(StateStore *store, StateLock *lock, const LedgerKey *key, Window window, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(ledger_remove(store, key, window, err));
    return state_transaction_commit(&transaction, err);
}

static Status delete_all(StateStore *store, const LedgerKey *key, Error *err) {
    return state_execute(store, "DELETE FROM ledger WHERE " OF_RELATION, VALUES(RELATION(key)), err);
}

Status state_ledger_clear(StateStore *store, StateLock *lock, const LedgerKey *key, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(delete_all(store, key, err));
    return state_transaction_commit(&transaction, err);
}

/* As the table compares them. */
static bool is_same_relation(const LedgerKey *a, const LedgerKey *b) {
    return str_equal(a->engine, b->engine) && str_equal_fold(a->catalog, b->catalog) &&
           str_equal_fold(a->schema, b->schema) && str_equal_fold(a->name, b->name);
}

Status state_ledger_copy(StateStore *store, StateLock *lock, const LedgerKey *from, const LedgerKey *to, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    if (!is_same_relation(from, to)) {
        TRY(delete_all(store, to, err));
        TRY(state_execute(store,
                          "INSERT INTO ledger (engine, catalog, schema, name, start_us, end_us)"
                          " SELECT ?5, ?6, ?7, ?8, start_us, end_us FROM ledger WHERE " OF_RELATION,
                          VALUES(RELATION(from), RELATION(to)), err));
    }
    return state_transaction_commit(&transaction, err);
}
