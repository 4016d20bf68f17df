/* A build's indexes and constraints: when they are made, and what is on record of them. */
#include "run/build_step.h"

static bool is_same_relation(const Snapshot *snapshot, SqlRelation relation) {
    SqlRelation other = relation_of_snapshot(snapshot);
    return str_equal_fold(other.catalog, relation.catalog) && str_equal_fold(other.schema, relation.schema) &&
           str_equal_fold(other.name, relation.name);
}

/* Of the target as it stands: what is promoted, or the snapshot that is reused. */
static Str recorded_objects(const Build *build) {
    const Snapshot *snapshots[] = {build->context->plan->current[build->task->model->index], build->task->snapshot};
    for (size_t i = 0; i < COUNT_OF(snapshots); i++) {
        if (snapshots[i] != NULL && is_same_relation(snapshots[i], build->target.relation)) {
            return snapshots[i]->physical_objects;
        }
    }
    return STR_EMPTY;
}

void build_read_physical(Build *build) {
    if (build->target.is_aside) {
        return;
    }
    build->physical = physical_work(build->context->session->project, build->task->model, build->target.relation,
                                    recorded_objects(build), build->arena);
}

/* `replace` makes an owned table anew, and one that begins as a copy is still to be made. */
static Status is_gone_on_with(const Build *build, bool *goes_on_out, Error *err) {
    bool is_kept = build->target.is_there && build->target.seed.name.size == 0;
    *goes_on_out = is_kept && build->task->model->strategy != STRATEGY_REPLACE;
    if (build->target.is_external) {
        DuckColumnVec columns;
        TRY(engine_relation_columns(build->connection, build->target.relation, build->arena, goes_on_out, &columns,
                                    err));
    }
    return OK;
}

Status build_reconcile_physical(Build *build, Error *err) {
    bool goes_on = false;
    if (build->physical.wanted.count + build->physical.recorded.count == 0) {
        return OK;
    }
    TRY(is_gone_on_with(build, &goes_on, err));
    return goes_on ? physical_reconcile(&build->physical, build->connection, build->arena, err) : OK;
}

Status build_create_physical(Build *build, Error *err) {
    return physical_create(&build->physical, build->connection, build->arena, err);
}
