/* Change records, from their drafts on, and the notices that tell webhooks of them. See state/change_record.h. */
#include "state/state_sql.h"

#include "base/hash.h"

static const char *const kind_names[] = {
    [CHANGED_BY_PUBLICATION] = "publication",
    [CHANGED_BY_RESTATE] = "restate",
    [CHANGED_BY_FORWARD_ONLY] = "forward_only",
    [CHANGED_BY_ROLLBACK] = "rollback",
    [CHANGED_BY_REVERT] = "revert",
    [CHANGED_BY_PROMOTION] = "promotion",
    [CHANGED_BY_RUN] = "run",
};
static_assert(COUNT_OF(kind_names) == CHANGE_KIND_COUNT, "one name per ChangeKind");

const char *change_kind_name(ChangeKind kind) {
    return kind_names[kind];
}

static ChangeKind kind_of_name(Str name) {
    ChangeKind kind = 0;
    while (kind + 1 < CHANGE_KIND_COUNT && !str_equal(name, str_from(kind_names[kind]))) {
        kind++;
    }
    return kind;
}

/* ---- Writing. */

static StateValue rows_value(int64_t rows) {
    return rows == CHANGE_ROWS_UNKNOWN ? (StateValue){.kind = STATE_NULL} : state_int(rows);
}

static StateValue measured(const ChangeRecord *record, double value) {
    return record->measure.size == 0 ? (StateValue){.kind = STATE_NULL} : state_real(value);
}

static Status insert_windows(StateStore *store, int64_t change, const IntervalSet *windows, Error *err) {
    AUTO(statement) sqlite3_stmt *insert = NULL;
    if (windows->count == 0) {
        return OK;
    }
    TRY(state_prepare(store, "INSERT INTO change_windows (change, start_us, end_us) VALUES (?1, ?2, ?3)", &insert,
                      err));
    for (size_t i = 0; i < windows->count; i++) {
        TRY(state_run(store, insert,
                      VALUES(state_int(change), state_int(windows->items[i].start), state_int(windows->items[i].end)),
                      err));
    }
    return OK;
}

static Status insert_hooks(StateStore *store, int64_t change, const StrVec *hooks, Error *err) {
    for (size_t i = 0; i < hooks->count; i++) {
        TRY(state_execute(store, "INSERT OR IGNORE INTO change_hooks (change, hook) VALUES (?1, ?2)",
                          VALUES(state_int(change), state_text(hooks->items[i])), err));
    }
    return OK;
}

static Status insert_draft(StateStore *store, sqlite3_stmt *insert, ChangeRecord *draft, Error *err) {
    Str kind = str_from(change_kind_name(draft->kind));
    Str stage = draft->is_in_place ? STR("in place") : STR("draft");
    TRY(state_run(store, insert,
                  VALUES(state_text(stage), state_int(draft->is_begun), state_text(kind),
                         state_text(draft->environment), state_text(draft->model), rows_value(draft->rows_before),
                         rows_value(draft->rows_after), state_optional_text(draft->measure),
                         measured(draft, draft->measure_before), measured(draft, draft->measure_after),
                         state_optional_text(draft->note), state_text(draft->who),
                         draft->campaign == 0 ? (StateValue){.kind = STATE_NULL} : state_int(draft->campaign)),
                  err));
    draft->id = sqlite3_last_insert_rowid(store->db);
    TRY(insert_windows(store, draft->id, &draft->windows, err));
    return insert_hooks(store, draft->id, &draft->hooks, err);
}

Status state_write_drafts(StateStore *store, ChangeRecordVec *drafts, Error *err) {
    AUTO(statement) sqlite3_stmt *insert = NULL;
    if (drafts->count == 0) {
        return OK;
    }
    TRY(state_prepare(store,
                      "INSERT INTO changes (stage, is_begun, kind, environment, model, rows_before, rows_after,"
                      " measure, measure_before, measure_after, note, who, campaign, happened_at, is_published)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, 0)",
                      &insert, err));
    for (size_t i = 0; i < drafts->count; i++) {
        TRY(insert_draft(store, insert, &drafts->items[i], err));
    }
    return OK;
}

Status state_write_progress(StateStore *store, const ChangeProgress *progress, Error *err) {
    if (progress->draft == 0) {
        return OK;
    }
    TRY(state_execute(
        store,
        "UPDATE changes SET is_begun = 1, rows_before = rows_before + ?2, rows_after = rows_after + ?3"
        " WHERE id = ?1",
        VALUES(state_int(progress->draft), rows_value(progress->rows_before), rows_value(progress->rows_after)), err));
    bool is_whole = progress->window.start >= progress->window.end;
    return is_whole ? OK
                    : state_execute(store,
                                    "INSERT OR REPLACE INTO change_windows (change, start_us, end_us)"
                                    " VALUES (?1, ?2, ?3)",
                                    VALUES(state_int(progress->draft), state_int(progress->window.start),
                                           state_int(progress->window.end)),
                                    err);
}

static void read_text(sqlite3_stmt *row, Arena *arena, void *rows) {
    str_vec_push(arena, rows, state_column_text(row, 0, arena));
}

/* One message to each webhook tells of all that became true together. */
#define DRAFTS_OF "SELECT id FROM changes WHERE stage <> 'recorded' AND environment = ?1"
static Status write_notices(StateStore *store, Str environment, TimeUs now, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    StrVec hooks = {0};
    TRY(state_query(store, "SELECT DISTINCT hook FROM change_hooks WHERE change IN (" DRAFTS_OF ") ORDER BY hook",
                    VALUES(state_text(environment)), read_text, scratch, &hooks, err));
    for (size_t i = 0; i < hooks.count; i++) {
        StateValue id = state_text(random_hex(scratch, 16));
        StateValue hook = state_text(hooks.items[i]);
        TRY(state_execute(store,
                          "INSERT INTO notices (id, hook, created_at, attempts, next_try_at, state, ended_at)"
                          " VALUES (?1, ?2, ?3, 0, ?3, 'pending', 0)",
                          VALUES(id, hook, state_int(now)), err));
        TRY(state_execute(store, "UPDATE change_hooks SET notice = ?2 WHERE hook = ?3 AND change IN (" DRAFTS_OF ")",
                          VALUES(state_text(environment), id, hook), err));
    }
    return OK;
}

Status state_record_drafts(StateStore *store, Str environment, TimeUs now, Error *err) {
    StateValue of = state_text(environment);
    TRY(state_execute(store, "DELETE FROM changes WHERE stage <> 'recorded' AND environment = ?1 AND is_begun = 0",
                      VALUES(of), err));
    TRY(write_notices(store, environment, now, err));
    return state_execute(store,
                         "UPDATE changes SET stage = 'recorded', happened_at = ?2"
                         " WHERE stage <> 'recorded' AND environment = ?1",
                         VALUES(of, state_int(now)), err);
}

Status state_write_changes(StateStore *store, ChangeRecordVec *records, TimeUs now, Error *err) {
    for (size_t i = 0; i < records->count; i++) {
        assert(str_equal_fold(records->items[i].environment, records->items[0].environment));
        records->items[i].is_begun = true;
        records->items[i].at = now;
    }
    TRY(state_write_drafts(store, records, err));
    return records->count == 0 ? OK : state_record_drafts(store, records->items[0].environment, now, err);
}

/* ---- Drafts of a command that builds. */

Status state_changes_begin(StateStore *store, StateLock *lock, ChangeRecordVec *drafts, Error *err) {
    if (drafts->count == 0) {
        return OK;
    }
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(state_write_drafts(store, drafts, err));
    return state_transaction_commit(&transaction, err);
}

Status state_change_add(StateStore *store, StateLock *lock, const ChangeProgress *change, Error *err) {
    if (change->draft == 0) {
        return OK;
    }
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(state_write_progress(store, change, err));
    return state_transaction_commit(&transaction, err);
}

Status state_has_drafts(StateStore *store, bool *has_out, Error *err) {
    int64_t has_drafts;
    TRY(state_query_int(store, "SELECT EXISTS (SELECT 1 FROM changes WHERE stage <> 'recorded')", NO_VALUES,
                        &has_drafts, err));
    *has_out = has_drafts != 0;
    return OK;
}

Status state_changes_settle(StateStore *store, StateLock *lock, Error *err) {
    bool has_drafts;
    TRY(state_has_drafts(store, &has_drafts, err));
    if (!has_drafts) {
        return OK;
    }
    AUTO(arena) Arena *scratch = arena_create();
    StrVec environments = {0};
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(state_execute(store, "DELETE FROM changes WHERE stage = 'draft'", NO_VALUES, err));
    TRY(state_query(store, "SELECT DISTINCT environment FROM changes WHERE stage = 'in place'", NO_VALUES, read_text,
                    scratch, &environments, err));
    for (size_t i = 0; i < environments.count; i++) {
        TRY(state_record_drafts(store, environments.items[i], clock_now_us(), err));
    }
    return state_transaction_commit(&transaction, err);
}

/* ---- Reading. */

static int64_t column_rows(sqlite3_stmt *row, int column) {
    bool is_known = sqlite3_column_type(row, column) != SQLITE_NULL;
    return is_known ? state_column_int(row, column) : CHANGE_ROWS_UNKNOWN;
}

static void read_change(sqlite3_stmt *row, Arena *arena, void *rows) {
    int column = 0;
    ChangeRecord change = {0};
    change.id = state_column_int(row, column++);
    change.kind = kind_of_name(state_column_text(row, column++, arena));
    change.environment = state_column_text(row, column++, arena);
    change.model = state_column_text(row, column++, arena);
    change.rows_before = column_rows(row, column++);
    change.rows_after = column_rows(row, column++);
    change.measure = state_column_text(row, column++, arena);
    change.measure_before = sqlite3_column_double(row, column++);
    change.measure_after = sqlite3_column_double(row, column++);
    change.note = state_column_text(row, column++, arena);
    change.who = state_column_text(row, column++, arena);
    change.at = state_column_int(row, column++);
    change.campaign = state_column_int(row, column++);
    change_record_vec_push(arena, rows, change);
}

static void read_window(sqlite3_stmt *row, Arena *arena, void *rows) {
    interval_set_add(arena, rows, (Window){state_column_int(row, 0), state_column_int(row, 1)});
}

Status state_load_changes(StateStore *store, const ChangeFilter *filter, Arena *arena, ChangeRecordVec *changes_out,
                          Error *err) {
    int64_t limit = filter->limit > 0 ? filter->limit : INT64_MAX;
    ChangeRecordVec changes = {0};
    TRY(state_query(store,
                    "SELECT id, kind, environment, model, rows_before, rows_after, measure, measure_before,"
                    " measure_after, note, who, happened_at, campaign FROM changes WHERE stage = 'recorded'"
                    " AND (?1 IS NULL OR model = ?1) AND (?2 IS NULL OR environment = ?2) AND happened_at >= ?3"
                    " AND (?5 = 0 OR is_published = 0)"
                    " AND (?6 IS NULL OR id IN (SELECT change FROM change_hooks WHERE notice = ?6))"
                    " ORDER BY id * ?7 LIMIT ?4",
                    VALUES(state_optional_text(filter->model), state_optional_text(filter->environment),
                           state_int(filter->since), state_int(limit), state_int(filter->unpublished),
                           state_optional_text(filter->notice), state_int(filter->oldest_first ? 1 : -1)),
                    read_change, arena, &changes, err));
    for (size_t i = 0; i < changes.count; i++) {
        TRY(state_query(store, "SELECT start_us, end_us FROM change_windows WHERE change = ?1 ORDER BY start_us",
                        VALUES(state_int(changes.items[i].id)), read_window, arena, &changes.items[i].windows, err));
    }
    *changes_out = changes;
    return OK;
}

/* ---- The warehouse's table. */

Status state_count_changes(StateStore *store, int64_t *count_out, int64_t *unpublished_out, Error *err) {
    TRY(state_query_int(store, "SELECT count(*) FROM changes WHERE stage = 'recorded' AND is_published = 0", NO_VALUES,
                        unpublished_out, err));
    return state_query_int(store, "SELECT count(*) FROM changes WHERE stage = 'recorded'", NO_VALUES, count_out, err);
}

Status state_changes_published(StateStore *store, StateLock *lock, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(state_execute(store, "UPDATE changes SET is_published = 1 WHERE stage = 'recorded' AND is_published = 0",
                      NO_VALUES, err));
    return state_transaction_commit(&transaction, err);
}
