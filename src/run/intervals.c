#include "run/intervals.h"

#include "plan/snapshot_index.h"
#include "project/graph.h"
#include "run/apply.h"
#include "run/relations.h"

static const Snapshot *find_promoted(const PointerVec *pointers, const SnapshotIndex *index, const Model *model) {
    for (size_t i = 0; i < pointers->count; i++) {
        const Pointer *pointer = &pointers->items[i];
        if (str_equal_fold(pointer->model, model->name)) {
            return snapshot_index_find(index, pointer->model, pointer->fingerprint, pointer->revision);
        }
    }
    return NULL;
}

/* What a command that failed before its promotion has filled, and the next one goes on from. */
static const Snapshot *find_newest(const SnapshotIndex *index, const Model *model) {
    const Snapshot *newest = NULL;
    for (const SnapshotNode *node = snapshot_index_list(index, model->name); node != NULL; node = node->next) {
        const Snapshot *snapshot = node->snapshot;
        if (snapshot->verified_at != 0 && (newest == NULL || snapshot->created_at > newest->created_at)) {
            newest = snapshot;
        }
    }
    return newest;
}

static Status load_ledger(StateStore *state, Str environment, Arena *arena, ModelIntervals *intervals, Error *err) {
    PointerVec pointers = {0};
    SnapshotVec snapshots = {0};
    TRY(state_load_pointers(state, environment, arena, &pointers, err));
    TRY(state_load_snapshots(state, arena, &snapshots, err));
    SnapshotIndex index = snapshot_index_create(&snapshots, arena);
    const Snapshot *promoted = find_promoted(&pointers, &index, intervals->model);
    const Snapshot *snapshot = promoted != NULL ? promoted : find_newest(&index, intervals->model);
    if (snapshot == NULL) {
        return OK;
    }
    LedgerKey key = ledger_key(intervals->model, relation_of_snapshot(snapshot));
    TRY(state_ledger_load(state, &key, arena, &intervals->filled, err));
    intervals->gaps = interval_set_gaps(arena, &intervals->filled);
    intervals->is_promoted = promoted != NULL;
    return OK;
}

Status intervals_read(Session *session, Str environment, Str name, Arena *arena, ModelIntervals *intervals_out,
                      Error *err) {
    const Model *model = NULL;
    TRY(project_get(session->project, name, &model, err));
    if (model->strategy != STRATEGY_INCREMENTAL) {
        error_set_at(err, ERROR_PLAN, model->place,
                     "model '" STR_FMT "' has strategy %s: only incremental models have windows", STR_ARG(model->name),
                     strategy_name(model->strategy));
        return FAILED;
    }
    ModelIntervals intervals = {.model = model};
    StateStore *state = NULL;
    TRY(environment_check_name(environment, err));
    TRY(grain_parse(model->interval, &intervals.grain, err));
    TRY(recovery_finish_if_needed(session, err));
    TRY(session_state_for_reading(session, &state, err));
    TRY(load_ledger(state, environment, arena, &intervals, err));
    *intervals_out = intervals;
    return OK;
}
