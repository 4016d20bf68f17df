#include "run/intervals.h"

#include "project/graph.h"
#include "run/apply.h"
#include "run/relations.h"

static Status find_promoted(StateStore *state, Str environment, const Model *model, Arena *arena,
                            const Snapshot **snapshot_out, Error *err) {
    PointerVec pointers = {0};
    SnapshotVec snapshots = {0};
    TRY(state_load_pointers(state, environment, arena, &pointers, err));
    TRY(state_load_snapshots(state, arena, &snapshots, err));
    *snapshot_out = NULL;
    for (size_t p = 0; p < pointers.count; p++) {
        const Pointer *pointer = &pointers.items[p];
        for (size_t i = 0; i < snapshots.count && str_equal_fold(pointer->model, model->name); i++) {
            const Snapshot *snapshot = &snapshots.items[i];
            if (str_equal_fold(snapshot->name, model->name) && str_equal(snapshot->fingerprint, pointer->fingerprint) &&
                snapshot->revision == pointer->revision) {
                *snapshot_out = snapshot;
            }
        }
    }
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
    const Snapshot *snapshot = NULL;
    TRY(environment_check_name(environment, err));
    TRY(grain_parse(model->interval, &intervals.grain, err));
    TRY(recovery_finish_if_needed(session, err));
    TRY(session_state_for_reading(session, &state, err));
    TRY(find_promoted(state, environment, model, arena, &snapshot, err));
    if (snapshot != NULL) {
        LedgerKey key = ledger_key(model, relation_of_snapshot(snapshot));
        TRY(state_ledger_load(state, &key, arena, &intervals.filled, err));
        intervals.gaps = interval_set_gaps(arena, &intervals.filled);
        intervals.is_promoted = true;
    }
    *intervals_out = intervals;
    return OK;
}
