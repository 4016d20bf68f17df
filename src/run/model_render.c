#include "run/model_render.h"

#include "run/run_preview.h"
#include "run/window_clock.h"

typedef struct Render {
    Session *session;
    const RunPreview *preview;
    RelationMap relations;
    const BuildTarget *target; /* of the model */
    const Zone *zone;
    Arena *arena;
    RenderedModel *out;
} Render;

static Status check_model(const Model *model, bool has_window, Error *err) {
    if (model->kind == MODEL_PYTHON) {
        return error_set_at(err, ERROR_PLAN, model->place, "model '" STR_FMT "' is a Python function: it has no query",
                            STR_ARG(model->name));
    }
    if (has_window && model->strategy != STRATEGY_INCREMENTAL) {
        return error_set_at(err, ERROR_PLAN, model->place,
                            "model '" STR_FMT "' has strategy %s: only incremental models have windows",
                            STR_ARG(model->name), strategy_name(model->strategy));
    }
    return OK;
}

/* ---- The window's edges: what they cut depends on the types of columns, which only the warehouse has. */

static Status time_kind(EngineConnection *connection, const Render *render, TimeColumnKind *kind_out, Error *err) {
    SqlText query;
    DuckColumnVec columns = {0};
    *kind_out = TIME_COLUMN_NAIVE;
    TRY(render_model_query(&render->relations, render->out->model, render->arena, &query, err));
    TRY(engine_describe(connection, &query, render->arena, &columns, err));
    const DuckColumn *column = duck_column_find(&columns, render->out->model->time_column);
    (void)(column != NULL && time_column_kind(column->type, kind_out));
    return OK;
}

static Status find_scans(const Render *render, WindowScanVec *scans_out, Error *err) {
    AUTO(engine_connection) EngineConnection *connection = NULL;
    Engine *engine = NULL;
    TimeColumnKind kind;
    TRY(session_engine(render->session, true, &engine, err));
    TRY(engine_connect(engine, &connection, err));
    TRY(time_kind(connection, render, &kind, err));
    return window_scans_find(connection, &render->relations, render->out->model, kind, render->arena, scans_out, err);
}

static void cut_scans(Render *render, ScanFilterVec *filters) {
    AUTO(error) Error err = {0};
    WindowScanVec scans = {0};
    if (failed(find_scans(render, &scans, &err))) {
        str_vec_push(
            render->arena, &render->out->notes,
            str_format(render->arena, "which scans the window cuts is not known: " STR_FMT, STR_ARG(err.message)));
        return;
    }
    for (size_t i = 0; i < scans.count; i++) {
        const WindowScan *scan = &scans.items[i];
        const SqlTableRef *table = &scan->scan.owner->facts->tables.items[scan->scan.table];
        Str condition = window_scan_condition(scan, render->out->window, render->zone, render->arena);
        ScanFilter filter = {.owner = scan->scan.owner, .table = scan->scan.table, .condition = condition};
        scan_filter_vec_push(render->arena, filters, filter);
        str_vec_push(render->arena, &render->out->cuts,
                     str_format(render->arena, STR_FMT "." STR_FMT, STR_ARG(table->name), STR_ARG(scan->scan.column)));
    }
}

/* The whole range as one batch; where the clock is bound to each window, the first of them. */
static Window shown_window(const Render *render, const IntervalSet *due) {
    Window window = {.start = due->items[0].start, .end = due->items[due->count - 1].end};
    WallUs first_end = grain_step(render->target->grain, window.start, 1);
    if (render->target->binds_clock && first_end < window.end) {
        window.end = first_end;
        str_vec_push(render->arena, &render->out->notes,
                     STR("the clock is bound to each window: this is the first of them"));
    }
    return window;
}

static void take_window(Render *render, WindowBinding *binding) {
    const IntervalSet *due = &render->target->work.due;
    if (due->count == 0) {
        return;
    }
    render->out->has_window = true;
    render->out->window = shown_window(render, due);
    if (render->target->binds_clock) {
        binding->clock = window_clock_literals(render->out->window.end, render->zone, render->arena);
    }
    cut_scans(render, &binding->filters);
}

static Status render_query(Render *render, bool has_window, Error *err) {
    SqlText query;
    WindowBinding binding = {0};
    const Plan *plan = render->preview->plan;
    for (size_t i = 0; i < plan->tasks.count; i++) {
        if (plan->tasks.items[i].model == render->out->model) {
            render->target = &render->preview->targets[i];
        }
    }
    assert(render->target != NULL); /* the model was selected */
    TRY(session_zone(render->session, &render->zone, err));
    render->relations = relation_map_from_targets(plan, render->preview->targets, render->arena);
    if (has_window) {
        take_window(render, &binding);
    }
    TRY(render_window_query(&render->relations, render->out->model, &binding, render->arena, &query, err));
    render->out->sql = str_copy(render->arena, str_trim(query.text));
    return OK;
}

static Status render_in(Session *session, const RenderRequest *request, const RunPreview *preview, Arena *arena,
                        RenderedModel *rendered, Error *err) {
    Render render = {.session = session, .preview = preview, .arena = arena, .out = rendered};
    return render_query(&render, request->start.size > 0, err);
}

Status model_render(Session *session, const RenderRequest *request, Arena *arena, RenderedModel *rendered_out,
                    ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(run_preview) RunPreview *preview = NULL;
    RenderedModel rendered = {0};
    if (failed(project_get(session->project, request->model, &rendered.model, &err)) ||
        failed(check_model(rendered.model, request->start.size > 0, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    StrVec select = {0};
    str_vec_push(arena, &select, rendered.model->name);
    ApplyOptions options = {
        .environment = request->environment,
        .select = &select,
        .verb = WINDOW_RESTATE,
        .start = request->start,
        .end = request->end,
    };
    TRY(run_preview(session, &options, &preview, faults));
    if (failed(render_in(session, request, preview, arena, &rendered, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    *rendered_out = rendered;
    return OK;
}
