/* Parts of a build for campaigns: what it would do, and its last step over rows that lie ready. */
#include "run/build_step.h"
#include "run/contract.h"

Status build_outlook(BuildContext *context, const PlanTask *task, const BuildTarget *target,
                     EngineConnection *connection, Arena *arena, BuildOutlook *outlook_out, Error *err) {
    ModelResult result = {.model = task->model};
    Build build = build_begin(context, task, target, connection, arena, &result);
    *outlook_out = (BuildOutlook){0};
    TRY(build_prepare(&build, err));
    if (target->is_windowed) {
        TRY(build_batches(&build, &outlook_out->batches, err));
    }
    outlook_out->scans = build.scans;
    outlook_out->columns = build.columns;
    outlook_out->query = build.prepared_query;
    return OK;
}

static Status put_windows(Build *build, const SqlRelation *rows, const IntervalSet *windows, Error *err) {
    for (size_t i = 0; i < windows->count; i++) {
        build->window = &windows->items[i];
        TRY(build_run_strategy(build, rows, err));
    }
    return OK;
}

static Status copy_first(Build *build, Error *err) {
    build_read_physical(build);
    TRY(build_copy_seed(build, err));
    TRY(build_create_physical(build, err)); /* no index can be made once the strategy has updated rows */
    build->target.seed = (SqlRelation){0};
    return OK;
}

Status build_put_rows(BuildContext *context, const PlanTask *task, const BuildTarget *target,
                      EngineConnection *connection, SqlRelation rows, const IntervalSet *windows, Arena *arena,
                      Error *err) {
    ModelResult result = {.model = task->model};
    Build build = build_begin(context, task, target, connection, arena, &result);
    build.query = sql_text_all_rows(arena, rows);
    build.now = clock_now_us();
    TRY(engine_describe(connection, &build.query, arena, &build.columns, err));
    TRY(target->is_windowed && target->seed.name.size > 0 ? copy_first(&build, err) : OK);
    return target->is_windowed ? put_windows(&build, &rows, windows, err) : build_run_strategy(&build, &rows, err);
}

Status build_announce(BuildContext *context, const PlanTask *task, const BuildTarget *target,
                      const DuckColumnVec *columns, Arena *arena, Error *err) {
    ModelResult result = {.model = task->model};
    Build build = build_begin(context, task, target, NULL, arena, &result);
    build.columns_json = columns_to_json(columns, arena);
    build_read_physical(&build);
    return build_record_snapshot(&build, false, err);
}
