/* Notices: messages to webhooks, written with the change records that they tell (state_changes.c), until they are
 * delivered or given up. Whoever sends one takes it first, so that two commands do not send it at once. */
#include "state/state_sql.h"

Status state_has_due_notices(StateStore *store, TimeUs now, bool *has_out, Error *err) {
    int64_t has_due;
    TRY(state_query_int(store, "SELECT EXISTS (SELECT 1 FROM notices WHERE state = 'pending' AND next_try_at <= ?1)",
                        VALUES(state_int(now)), &has_due, err));
    *has_out = has_due != 0;
    return OK;
}

static void read_notice(sqlite3_stmt *row, Arena *arena, void *rows) {
    int column = 0;
    Notice notice = {0};
    notice.id = state_column_text(row, column++, arena);
    notice.hook = state_column_text(row, column++, arena);
    notice.created_at = state_column_int(row, column++);
    notice.attempts = state_column_int(row, column++);
    notice.next_try_at = state_column_int(row, column++);
    notice.is_dead = state_column_int(row, column++) != 0;
    notice.last_error = state_column_text(row, column++, arena);
    notice.change_count = state_column_int(row, column++);
    notice_vec_push(arena, rows, notice);
}

Status state_load_notices(StateStore *store, TimeUs due_at, Arena *arena, NoticeVec *notices_out, Error *err) {
    NoticeVec notices = {0};
    TRY(state_query(store,
                    "SELECT id, hook, created_at, attempts, next_try_at, state = 'dead', last_error,"
                    " (SELECT count(*) FROM change_hooks WHERE notice = notices.id) FROM notices"
                    " WHERE state <> 'delivered' AND (?1 = 0 OR (state = 'pending' AND next_try_at <= ?1))"
                    " ORDER BY created_at, id",
                    VALUES(state_int(due_at)), read_notice, arena, &notices, err));
    *notices_out = notices;
    return OK;
}

Status state_notice_take(StateStore *store, Str id, TimeUs now, TimeUs until, bool *is_taken_out, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_transaction_begin(&transaction, store, err));
    TRY(state_execute(store,
                      "UPDATE notices SET attempts = attempts + 1, next_try_at = ?3"
                      " WHERE id = ?1 AND state = 'pending' AND next_try_at <= ?2",
                      VALUES(state_text(id), state_int(now), state_int(until)), err));
    *is_taken_out = state_changed_count(store) == 1;
    return state_transaction_commit(&transaction, err);
}

Status state_notice_delivered(StateStore *store, Str id, TimeUs now, Error *err) {
    return state_execute(store,
                         "UPDATE notices SET state = 'delivered', ended_at = ?2, last_error = NULL WHERE id = ?1",
                         VALUES(state_text(id), state_int(now)), err);
}

Status state_notice_failed(StateStore *store, Str id, TimeUs next_try_at, bool is_dead, Str reason, Error *err) {
    return state_execute(store,
                         "UPDATE notices SET state = CASE ?3 WHEN 1 THEN 'dead' ELSE 'pending' END, next_try_at = ?2,"
                         " last_error = ?4 WHERE id = ?1 AND state <> 'delivered'",
                         VALUES(state_text(id), state_int(next_try_at), state_int(is_dead), state_text(reason)), err);
}

Status state_notices_revive(StateStore *store, Str id, TimeUs now, int64_t *count_out, Error *err) {
    TRY(state_execute(store,
                      "UPDATE notices SET state = 'pending', attempts = 0, next_try_at = ?2"
                      " WHERE state <> 'delivered' AND (?1 IS NULL OR id = ?1)",
                      VALUES(state_optional_text(id), state_int(now)), err));
    *count_out = state_changed_count(store);
    return OK;
}
