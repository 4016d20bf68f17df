/* What a window puts into the query of an incremental model: its edges at the scans that they provably cut, and its end
 * in place of the clock. */
#include "run/build_step.h"

#include "project/model_clock.h"
#include "run/window_clock.h"

static bool has_windows(const Build *build) {
    const Model *model = build->task->model;
    return model->kind == MODEL_SQL && build->target.is_windowed && model->time_column.size > 0;
}

/* An apply has no window of its own: it is a run that is repeated for a period whose result the clock changes. */
static void note_clock(const Build *build) {
    const Model *model = build->task->model, *owner;
    const BuildContext *context = build->context;
    if (context->options->verb == WINDOW_APPLY || model_clock_policy(model) != CLOCK_UNSET) {
        return;
    }
    const SqlClockRead *read = model_clock_read(context->relations->project, model, true, build->arena, &owner);
    if (read == NULL) {
        return;
    }
    SourceSpan place = model_clock_place(owner, read, build->arena);
    session_note(context->session,
                 "model '" STR_FMT "' reads the clock by " STR_FMT " (" STR_FMT ":%d:%d), so that a window gives other "
                 "rows when it is run later; say `clock: window` (the end of the window), `wall` or `forbid`",
                 STR_ARG(model->name), STR_ARG(read->name), STR_ARG(place.file), (int)place.line, (int)place.column);
}

Status build_prepare_render(Build *build, Error *err) {
    if (!has_windows(build)) {
        return OK;
    }
    const RelationMap *relations = build->context->relations;
    const Model *model = build->task->model;
    note_clock(build);
    return window_scans_find(build->connection, relations, model, build_time_kind(build), build->arena, &build->scans,
                             err);
}

static void add_filters(const Build *build, ScanFilterVec *filters) {
    for (size_t i = 0; i < build->scans.count; i++) {
        const WindowScan *scan = &build->scans.items[i];
        Str condition = window_scan_condition(scan, *build->window, build->context->zone, build->arena);
        scan_filter_vec_push(
            build->arena, filters,
            (ScanFilter){.owner = scan->scan.owner, .table = scan->scan.table, .condition = condition});
    }
}

/* A first build covers everything up to now. */
Status build_render(Build *build, Error *err) {
    const BuildContext *context = build->context;
    WindowBinding binding = {0};
    build->query = build->prepared_query;
    if (build->window != NULL) {
        add_filters(build, &binding.filters);
    }
    if (build->target.binds_clock) {
        WallUs end = build->window == NULL ? context->now : build->window->end;
        binding.clock = window_clock_literals(end, context->zone, build->arena);
    }
    if (binding.clock == NULL && binding.filters.count == 0) {
        return OK;
    }
    return render_window_query(context->relations, build->task->model, &binding, build->arena, &build->query, err);
}
