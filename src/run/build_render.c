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

static void add_filter(const Build *build, const WindowScan *scan, Str condition, ScanFilterVec *filters) {
    ScanFilter filter = {.owner = scan->scan.owner, .table = scan->scan.table, .condition = condition};
    scan_filter_vec_push(build->arena, filters, filter);
}

static void cut_to_window(const Build *build, ScanFilterVec *filters) {
    for (size_t i = 0; i < build->scans.count; i++) {
        const WindowScan *scan = &build->scans.items[i];
        add_filter(build, scan, window_scan_condition(scan, *build->window, build->context->zone, build->arena),
                   filters);
    }
}

static const WindowScan *proven_scan(const Build *build) {
    for (size_t i = 0; i < build->scans.count; i++) {
        if (build->scans.items[i].scan.declared == NULL) {
            return &build->scans.items[i];
        }
    }
    return NULL;
}

/* Cutting the scan takes the rows without a time away from the strategy, which would count them. */
static Status count_untimed(const Build *build, const WindowScan *scan, WindowBinding binding, Error *err) {
    SqlText query;
    DuckRows rows;
    add_filter(build, scan, window_scan_condition_untimed(scan, build->arena), &binding.filters);
    TRY(render_window_query(build->context->relations, build->task->model, &binding, build->arena, &query, err));
    AUTO(strbuf) StrBuf where = {0};
    strbuf_text(&where, "\n) AS source WHERE ");
    sql_identifier(&where, build->task->model->time_column);
    strbuf_text(&where, " IS NULL");
    SqlText parts[] = {sql_text_own(build->arena, STR("SELECT count(*) FROM (")), query,
                       sql_text_own(build->arena, strbuf_copy(&where, build->arena))};
    SqlText count = sql_text_concat(build->arena, parts, COUNT_OF(parts));
    TRY(engine_query(build->connection, &count, build->arena, &rows, err));
    build_note_untimed(build, duck_cell(&rows, 0, 0));
    return OK;
}

/* Of a first build with a pinned start. */
static Status cut_to_start(const Build *build, WindowBinding *binding, Error *err) {
    bool has_start = false;
    WallUs start = 0;
    TRY(build_first_start(build, &has_start, &start, err));
    const WindowScan *scan = has_start ? proven_scan(build) : NULL;
    if (scan == NULL) {
        return OK;
    }
    TRY(count_untimed(build, scan, *binding, err));
    add_filter(build, scan, window_scan_condition_from(scan, start, build->context->zone, build->arena),
               &binding->filters);
    return OK;
}

/* A first build covers everything up to now, perhaps from a pinned start on. */
Status build_render(Build *build, Error *err) {
    const BuildContext *context = build->context;
    WindowBinding binding = {0};
    build->query = build->prepared_query;
    if (build->target.binds_clock) {
        WallUs end = build->window == NULL ? context->now : build->window->end;
        binding.clock = window_clock_literals(end, context->zone, build->arena);
    }
    if (build->window != NULL) {
        cut_to_window(build, &binding.filters);
    }
    TRY(cut_to_start(build, &binding, err));
    if (binding.clock == NULL && binding.filters.count == 0) {
        return OK;
    }
    return render_window_query(context->relations, build->task->model, &binding, build->arena, &build->query, err);
}
