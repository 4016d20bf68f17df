#include "run/change_log.h"

#include "run/change_table.h"
#include "run/notify.h"
#include "run/relations.h"
#include "state/process_identity.h"
#include "strategy/strategy.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- Who. */

static Str user_name(Arena *arena) {
    Str logged_in = str_from(getenv("USER"));
    if (logged_in.size > 0) {
        return logged_in;
    }
    const struct passwd *entry = getpwuid(geteuid());
    return entry != NULL ? str_copy(arena, str_from(entry->pw_name)) : str_format(arena, "uid%u", (unsigned)geteuid());
}

Str change_log_who(Arena *arena) {
    Str given = str_from(getenv("INTERLACE_WHO"));
    if (given.size > 0) {
        return str_copy(arena, given);
    }
    return str_format(arena, STR_FMT "@" STR_FMT, STR_ARG(user_name(arena)),
                      STR_ARG(process_identity_self(arena).host));
}

/* ---- Drafts. */

/* Other rows than before go live. */
static bool is_breaking_for_readers(const Plan *plan, const PlanTask *task) {
    return task->category == CATEGORY_BREAKING && plan->current[task->model->index] != NULL;
}

/* What a task does to readers, if it is told at all: with a note everything is. */
static bool find_kind(const Apply *apply, const PlanTask *task, ChangeKind *kind_out) {
    bool has_note = apply->options->note.size > 0;
    if (apply->options->verb == WINDOW_RESTATE) {
        *kind_out = CHANGED_BY_RESTATE;
        return task->action == TASK_BUILD && task->model->materialise != MATERIALISE_VIEW;
    }
    if (task->category == CATEGORY_FORWARD_ONLY) {
        *kind_out = CHANGED_BY_FORWARD_ONLY;
        return true;
    }
    bool is_routine = apply->options->verb == WINDOW_RUN && !is_breaking_for_readers(apply->result->plan, task);
    *kind_out = is_routine ? CHANGED_BY_RUN : CHANGED_BY_PROMOTION;
    return has_note || is_breaking_for_readers(apply->result->plan, task);
}

static bool is_whole(const BuildTarget *target) {
    return !target->is_windowed || target->work.first_build;
}

/* Readers see what is written as soon as it is committed. */
static bool is_written_in_place(const Model *model, const BuildTarget *target) {
    return target->is_external || model->materialise == MATERIALISE_FILE ||
           (target->is_served && target->seed.name.size == 0);
}

static bool is_table(const Apply *apply, const Snapshot *shown) {
    return snapshot_has_view(shown) && apply->build.catalog != NULL &&
           engine_catalog_kind(apply->build.catalog, relation_of_snapshot(shown)) == RELATION_TABLE;
}

/* An engine counts a whole table from what it keeps of it, without reading a row. */
static Status count_rows(EngineConnection *connection, const Snapshot *shown, Arena *arena, int64_t *rows_out,
                         Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT count(*) FROM ");
    sql_relation(&sql, relation_of_snapshot(shown));
    SqlText query = sql_text_own(arena, strbuf_str(&sql));
    return engine_query_int(connection, &query, rows_out, err);
}

/* What the draft starts from; builds add what they did. Windows start with nothing: their statements tell both. */
static Status start_rows(const Apply *apply, const PlanTask *task, const BuildTarget *target,
                         EngineConnection *connection, ChangeRecord *draft, Error *err) {
    const Snapshot *shown = apply->result->plan->current[task->model->index];
    if (draft->is_begun || task->model->materialise == MATERIALISE_VIEW) {
        draft->rows_before = draft->rows_after = CHANGE_ROWS_UNKNOWN;
    } else if (!is_whole(target)) {
        return OK;
    } else if (is_table(apply, shown)) {
        TRY(count_rows(connection, shown, apply->result->arena, &draft->rows_before, err));
    } else if (shown != NULL) {
        draft->rows_before = CHANGE_ROWS_UNKNOWN;
    }
    draft->rows_after = build_goes_on(task->model, target) ? draft->rows_before : draft->rows_after;
    return OK;
}

static Status make_draft(const Apply *apply, size_t index, EngineConnection *connection, ChangeRecordVec *drafts,
                         Error *err) {
    const PlanTask *task = &apply->result->plan->tasks.items[index];
    const BuildTarget *target = &apply->result->targets[index];
    ChangeKind kind;
    bool is_idle = task->action == TASK_RECORD || target->is_gated || target->is_skipped;
    if (is_idle || !find_kind(apply, task, &kind)) {
        return OK;
    }
    ChangeRecord draft = {
        .id = (int64_t)index, /* of the task, until it is written */
        .kind = kind,
        .environment = apply->result->plan->environment,
        .model = task->model->name,
        .note = apply->options->note,
        .is_in_place = is_written_in_place(task->model, target),
        .is_begun = task->action != TASK_BUILD,
    };
    notify_choose(apply->session->project, draft.environment, draft.model, apply->result->arena, &draft.hooks);
    TRY(start_rows(apply, task, target, connection, &draft, err));
    change_record_vec_push(apply->result->arena, drafts, draft);
    return OK;
}

Status change_log_begin(Apply *apply, EngineConnection *connection, Error *err) {
    ChangeRecordVec drafts = {0};
    for (size_t i = 0; i < apply->model_count; i++) {
        TRY(make_draft(apply, i, connection, &drafts, err));
    }
    if (drafts.count == 0) {
        return OK;
    }
    Str who = change_log_who(apply->result->arena);
    size_t *tasks = ARENA_NEW_ARRAY(apply->result->arena, size_t, drafts.count);
    for (size_t i = 0; i < drafts.count; i++) {
        tasks[i] = (size_t)drafts.items[i].id;
        drafts.items[i].who = who;
    }
    TRY(state_changes_begin(apply->state, apply->lock, &drafts, err));
    for (size_t i = 0; i < drafts.count; i++) {
        apply->result->targets[tasks[i]].change = drafts.items[i].id;
    }
    return OK;
}

/* ---- The end of a command. */

void change_log_finish(Session *session, StateLock *lock) {
    AUTO(error) Error err = {0};
    StateStore *state = NULL;
    if (failed(session_state_for_writing(session, &state, &err)) || failed(state_changes_settle(state, lock, &err))) {
        session_note(session, "what this command changed is not recorded yet: " STR_FMT "; the next command does it",
                     STR_ARG(err.message));
    } else if (failed(change_table_update(session, state, lock, &err))) {
        session_note(session,
                     "the table interlace.changes of the warehouse is not up to date: " STR_FMT
                     "; the next command writes it",
                     STR_ARG(err.message));
    }
    error_clear(&err);
    bool has_notices = false;
    if (state != NULL && failed(state_has_due_notices(state, clock_now_us(), &has_notices, &err))) {
        session_note(session, "webhooks are told by a later command: " STR_FMT, STR_ARG(err.message));
    }
    if (has_notices && session->options.has_notices != NULL) {
        *session->options.has_notices = true;
    }
}
