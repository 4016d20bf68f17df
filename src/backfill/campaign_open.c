/* Who takes part in a campaign, and how: decided from the plan of the selection, from what the environment shows, and
 * from the tables as they are. */
#include "backfill/campaign_change.h"
#include "project/graph.h"
#include "project/model_clock.h"
#include "run/attachments.h"
#include "run/bound_schemas.h"
#include "run/input_access.h"
#include "run/run_preview.h"
#include "strategy/strategy.h"

#include <stdlib.h>

#define MINUTE_US ((int64_t)60 * 1000000)

static const Str part_names[PART_COUNT] = {
    [PART_WINDOWED] = STR_INIT("windowed"), [PART_WHOLE] = STR_INIT("whole"), [PART_HISTORY] = STR_INIT("history"),
    [PART_CURSOR] = STR_INIT("cursor"),     [PART_VIEW] = STR_INIT("view"),   [PART_TERMINAL] = STR_INIT("terminal"),
    [PART_REFUSED] = STR_INIT("refused"),
};

Str campaign_part_name(CampaignPart part) {
    return part_names[part];
}

bool campaign_part_find(Str name, CampaignPart *part_out) {
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (str_equal(name, part_names[i])) {
            *part_out = (CampaignPart)i;
            return true;
        }
    }
    return false;
}

bool campaign_model_has_rows(const CampaignModel *model) {
    return model->part < PART_VIEW;
}

int64_t campaign_grains(const CampaignModel *model, Window window) {
    return model->part == PART_WINDOWED ? grain_count(model->target.grain, window.start, window.end) : 1;
}

CampaignModel *campaign_model_at(const Campaign *campaign, size_t model) {
    return model == MODEL_NONE ? NULL : campaign->by_model[model];
}

CampaignModel *campaign_find_model(const Campaign *campaign, Str name) {
    const Model *model = project_find(campaign->session->project, name);
    return model == NULL ? NULL : campaign_model_at(campaign, model->index);
}

const Pointer *campaign_pointer(const Campaign *campaign, Str model) {
    for (size_t i = 0; i < campaign->pointers.count; i++) {
        if (str_equal_fold(campaign->pointers.items[i].model, model)) {
            return &campaign->pointers.items[i];
        }
    }
    return NULL;
}

/* ---- Refusals. */

void campaign_refuse(CampaignModel *model, SourceSpan place, Str reason, Str hint) {
    model->part = PART_REFUSED;
    model->place = place;
    model->reason = reason;
    model->hint = hint;
}

static bool refuse_what_is_not_shown(const Campaign *campaign, CampaignModel *model) {
    Arena *arena = campaign->arena;
    const Snapshot *shown = campaign->plan->current[model->model->index];
    Str environment = campaign->plan->environment;
    if (shown == NULL) {
        campaign_refuse(model, model->model->place,
                        str_format(arena, "'" STR_FMT "' does not serve it yet", STR_ARG(environment)),
                        STR("`interlace apply` builds what is new, with its past"));
    } else if (!model->target.is_there && model->model->materialise != MATERIALISE_VIEW) {
        campaign_refuse(model, model->model->place, STR("its table is not there"),
                        STR("`interlace apply` builds it again"));
    }
    return model->part == PART_REFUSED;
}

/* A window far back must not see the present, and a repeat of it must give the same rows. */
static bool refuse_clock(const Campaign *campaign, CampaignModel *model) {
    const Model *owner = NULL;
    ClockPolicy policy = model_clock_policy(model->model);
    bool is_open = policy == CLOCK_UNSET || policy == CLOCK_FORBID;
    const SqlClockRead *read =
        is_open ? model_clock_read(campaign->session->project, model->model, true, campaign->arena, &owner) : NULL;
    if (read != NULL) {
        campaign_refuse(
            model, model_clock_place(owner, read, campaign->arena),
            STR("its query reads the clock, and does not say what a window of the past shall get"),
            STR("`clock: window` gives each window its own end, `clock: wall` the present; columns that may come "
                "from the wall clock are named by `clock_columns`"));
    }
    return read != NULL;
}

static Status refuse_unpinned(const Campaign *campaign, CampaignModel *model, Error *err) {
    Str pinned = model->model->backfill;
    WallUs start;
    if (pinned.size == 0 || str_equal(pinned, STR("auto")) || str_equal(pinned, STR("none"))) {
        return OK;
    }
    TRY(wall_parse(pinned, campaign->zone, &start, err));
    Window hull = interval_set_hull(&model->windows);
    if (model->windows.count > 0 && hull.start < grain_floor(model->target.grain, start)) {
        campaign_refuse(model, model->model->place,
                        str_format(campaign->arena,
                                   "the range begins before `backfill: " STR_FMT "`, where the model begins",
                                   STR_ARG(pinned)),
                        STR("begin with --start there, or pin the model to an earlier time"));
    }
    return OK;
}

static bool has_cursor(const Model *model) {
    return model->kind == MODEL_PYTHON && model->cursor.size > 0;
}

/* ---- Who takes part as what. */

static void take_windows(const Campaign *campaign, CampaignModel *model) {
    const BuildTarget *target = &model->target;
    model->windows = interval_set_copy(campaign->arena, &target->work.due);
    if (campaign->options.gaps) {
        model->windows = (IntervalSet){0};
        for (size_t i = 0; i < target->work.due.count; i++) {
            IntervalSet missing =
                interval_set_due(campaign->arena, &target->filled, target->grain, target->work.due.items[i]);
            interval_set_add_all(campaign->arena, &model->windows, &missing);
        }
    }
    int64_t unfilled = 0;
    for (size_t i = 0; i < model->windows.count; i++) {
        IntervalSet missing = interval_set_missing(campaign->arena, &target->filled, model->windows.items[i]);
        unfilled += interval_set_grains(&missing, target->grain);
    }
    model->filled = interval_set_grains(&model->windows, target->grain) - unfilled;
}

static void classify_terminal(const Campaign *campaign, CampaignModel *model) {
    Str environment = campaign->options.environment;
    if (!model_delivers_in(model->model, environment)) {
        campaign_refuse(model, model->model->place,
                        str_format(campaign->arena, "it does not deliver in '" STR_FMT "'", STR_ARG(environment)),
                        STR("leave it out"));
    } else if (!campaign->options.delivers) {
        campaign_refuse(model, model->model->place,
                        STR("it is delivered outside of the warehouse, where nothing can be put in unseen"),
                        STR("--deliver delivers it when the campaign is published"));
    } else {
        model->part = PART_TERMINAL;
        str_vec_push(campaign->arena, &model->notes, STR("delivered when the others are published"));
    }
}

static Status classify(const Campaign *campaign, CampaignModel *model, Error *err) {
    const Model *of = model->model;
    model->place = of->place;
    if (of->materialise == MATERIALISE_EPHEMERAL) {
        model->part = PART_VIEW;
        (void)campaign_refuse_change(campaign, model);
        return OK;
    }
    if (of->strategy == STRATEGY_APPEND) {
        campaign_refuse(model, of->place, STR("strategy append: a repeat doubles its rows"),
                        STR("use incremental, or a strategy with a key"));
        return OK;
    }
    if (model_is_terminal(of)) {
        classify_terminal(campaign, model);
        return OK;
    }
    if (refuse_what_is_not_shown(campaign, model) || campaign_refuse_change(campaign, model)) {
        return OK;
    }
    if (of->materialise == MATERIALISE_VIEW) {
        model->part = PART_VIEW;
    } else if (of->strategy == STRATEGY_SCD) {
        model->part = PART_HISTORY;
        if (of->time_column.size == 0) {
            campaign_refuse(model, of->place,
                            STR("strategy scd without a time_column: the history cannot be told again"),
                            STR("name the column that says when a row became valid as `time_column`"));
        }
    } else if (of->strategy == STRATEGY_INCREMENTAL) {
        model->part = PART_WINDOWED;
        take_windows(campaign, model);
        return refuse_clock(campaign, model) ? OK : refuse_unpinned(campaign, model, err);
    } else {
        model->part = has_cursor(of) ? PART_CURSOR : PART_WHOLE;
    }
    return OK;
}

/* ---- Windows in batches, and what they read. */

static Status add_bounds(const Campaign *campaign, const CampaignModel *model, const WindowScan *scan,
                         CampaignRead *read, Error *err) {
    Str source = window_scan_source(&campaign->shown, scan, campaign->arena);
    if (source.size == 0) {
        return OK;
    }
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT CAST(min(");
    sql_identifier(&sql, scan->scan.column);
    strbuf_text(&sql, ") AS VARCHAR), CAST(max(");
    sql_identifier(&sql, scan->scan.column);
    strbuf_format(&sql, ") AS VARCHAR) FROM " STR_FMT, STR_ARG(source));
    SqlText query = sql_text_own(campaign->arena, strbuf_copy(&sql, campaign->arena));
    DuckRows rows;
    TRY(engine_query(campaign->connection, &query, campaign->arena, &rows, err));
    if (duck_cell(&rows, 0, 0)->kind == DUCK_CELL_NULL) {
        return OK;
    }
    read->min = duck_cell(&rows, 0, 0)->text;
    read->max = duck_cell(&rows, 0, 1)->text;
    WallUs oldest;
    TRY(wall_from_sql(read->min, scan->kind, campaign->zone, &oldest, err));
    WallUs first = grain_floor(model->target.grain, oldest);
    if (model->windows.count > 0 && interval_set_hull(&model->windows).start < first) {
        read->missing_before = wall_format(campaign->arena, first, false);
    }
    return OK;
}

/* An upstream of the campaign is made anew as well: what it has now says nothing. */
static Status add_scan(const Campaign *campaign, CampaignModel *model, const WindowScan *scan, Error *err) {
    const Model *owner = scan->scan.owner;
    size_t upstream = owner->references[scan->scan.table].model;
    const SqlTableRef *table = &owner->facts->tables.items[scan->scan.table];
    const CampaignModel *other = campaign_model_at(campaign, upstream);
    CampaignRead read = {
        .upstream = upstream != MODEL_NONE ? campaign->session->project->models[upstream]->name
                                           : str_slice(owner->query.text, table->start, table->end),
        .time_column = scan->scan.column,
    };
    if (other == NULL || !campaign_model_has_rows(other)) {
        TRY(add_bounds(campaign, model, scan, &read, err));
    }
    if (read.missing_before.size > 0) {
        str_vec_push(campaign->arena, &model->notes,
                     str_format(campaign->arena, "'" STR_FMT "' has no rows before " STR_FMT, STR_ARG(read.upstream),
                                STR_ARG(read.missing_before)));
    }
    campaign_read_vec_push(campaign->arena, &model->reads, read);
    return OK;
}

static void add_uncut(const Campaign *campaign, CampaignModel *model) {
    const Project *project = campaign->session->project;
    for (size_t i = 0; i < model->model->upstreams.count; i++) {
        Str upstream = project->models[model->model->upstreams.items[i]]->name;
        bool is_cut = false;
        for (size_t r = 0; r < model->reads.count; r++) {
            is_cut |= str_equal(model->reads.items[r].upstream, upstream);
        }
        if (!is_cut) {
            campaign_read_vec_push(campaign->arena, &model->reads, (CampaignRead){.upstream = upstream});
            str_vec_push(
                campaign->arena, &model->notes,
                str_format(campaign->arena, "no pruning: every batch reads all of '" STR_FMT "'", STR_ARG(upstream)));
        }
    }
}

static Status read_time_kind(const Campaign *campaign, CampaignModel *model, Error *err) {
    DuckColumnVec columns;
    bool exists = false;
    TRY(engine_relation_columns(campaign->connection, model->target.relation, campaign->arena, &exists, &columns, err));
    const DuckColumn *column = duck_column_find(&columns, model->model->time_column);
    if (column == NULL || !time_column_kind(column->type, &model->time_kind)) {
        return error_set_at(err, ERROR_SCHEMA, model->model->place,
                            "model '" STR_FMT "': its table has no time column '" STR_FMT "'",
                            STR_ARG(model->model->name), STR_ARG(model->model->time_column));
    }
    return OK;
}

static Status look_at_windows(Campaign *campaign, CampaignModel *model, Error *err) {
    BuildOutlook outlook;
    bool is_recorded = campaign->id != 0; /* then its batches are, and nobody asks what they read */
    TRY(read_time_kind(campaign, model, err));
    model->target.work.due = is_recorded ? (IntervalSet){0} : model->windows;
    TRY(build_outlook(&campaign->build, model->task, &model->target, campaign->connection, campaign->arena, &outlook,
                      err));
    model->batches = outlook.batches;
    model->scans = outlook.scans;
    if (is_recorded) {
        return OK;
    }
    for (size_t i = 0; i < outlook.scans.count; i++) {
        TRY(add_scan(campaign, model, &outlook.scans.items[i], err));
    }
    add_uncut(campaign, model);
    return OK;
}

/* What is shown belongs to another environment, and stays as it is. */
static void note_copy(const Campaign *campaign, CampaignModel *model) {
    if (campaign_model_has_rows(model) && model->target.owner.size > 0) {
        str_vec_push(campaign->arena, &model->notes,
                     str_format(campaign->arena, "copy-on-write: owned by " STR_FMT, STR_ARG(model->target.owner)));
    }
}

static Status look_at_models(Campaign *campaign, Error *err) {
    for (size_t i = 0; i < campaign->model_count; i++) {
        CampaignModel *model = &campaign->models[i];
        model->model = campaign->plan->tasks.items[i].model;
        model->task = &campaign->plan->tasks.items[i];
        campaign->by_model[model->model->index] = model;
        campaign_take_target(campaign, model, &campaign->targets[i]);
        TRY(classify(campaign, model, err));
        note_copy(campaign, model);
        TRY(model->is_changed ? campaign_stand_in(campaign, model, err) : OK);
    }
    for (size_t i = 0; i < campaign->model_count; i++) {
        CampaignModel *model = &campaign->models[i];
        if (model->part == PART_WINDOWED && model->windows.count > 0) {
            TRY(look_at_windows(campaign, model, err));
        }
    }
    return OK;
}

/* ---- What it works with. */

static Status make_plan(Campaign *campaign, bool writes, ErrorList *faults, Error *err) {
    Session *session = campaign->session;
    const CampaignOptions *options = &campaign->options;
    PlanOptions plan_options = {
        .environment = options->environment,
        .select = options->select.count > 0 ? &options->select : NULL,
        .exclude = options->exclude.count > 0 ? &options->exclude : NULL,
        .rebuild_all = true,
    };
    TRY(environment_check_name(options->environment, err));
    TRY(recovery_finish_if_needed(session, err));
    TRY(writes ? session_state_for_writing(session, &campaign->state, err)
               : session_state_for_reading(session, &campaign->state, err));
    TRY(plan_from_state(session->project, campaign->state, &plan_options, campaign->arena, &campaign->plan, err));
    TRY(state_load_pointers(campaign->state, options->environment, campaign->arena, &campaign->pointers, err));
    StrVec unused = attachments_unused(campaign->plan, campaign->arena);
    session_use_attachments(session, &(StrVec){0}, &unused);
    return plan_bind(session, campaign->plan, !writes, faults);
}

static Status read_range(Campaign *campaign, WindowRequest *request_out, Error *err) {
    campaign->apply = (ApplyOptions){
        .environment = campaign->options.environment,
        .verb = WINDOW_RESTATE,
        .start = campaign->options.start,
        .end = campaign->options.end,
        .batch = campaign->options.batch,
        .concurrency = campaign->options.concurrency,
        .keep_going = true,
    };
    TRY(window_request_read(campaign->session, &campaign->apply, &campaign->zone, request_out, err));
    WallUs now = request_out->now - request_out->now % MINUTE_US;
    campaign->range = (Window){request_out->start, request_out->has_end ? request_out->end : now};
    if (campaign->range.start >= campaign->range.end) {
        return error_set(err, ERROR_USAGE, "--start lies in the future; got '" STR_FMT "'",
                         STR_ARG(campaign->options.start));
    }
    return OK;
}

static Status open_warehouse(Campaign *campaign, bool writes, EngineCatalog **catalog_out, Error *err) {
    const ProjectConfig *config = campaign->session->project->config;
    Engine *engine = NULL;
    TRY(session_engine(campaign->session, !writes, &engine, err));
    if (!engine_database_exists(engine)) {
        return error_set(err, ERROR_PLAN, "there is no warehouse yet: nothing is built");
    }
    TRY(engine_connect(engine, &campaign->connection, err));
    bool *is_read = input_flags(config, campaign->arena);
    input_flags_add_plan(campaign->plan, is_read);
    TRY(input_access_prepare(campaign->connection, config, is_read, err));
    campaign->build.engine = engine;
    return engine_catalog_load(campaign->connection, campaign->arena, catalog_out, err);
}

static bool is_never_stopping(void *context) {
    (void)context;
    return false;
}

static void prepare_build(Campaign *campaign, WallUs now) {
    campaign->shown = relation_map_from_targets(campaign->plan, campaign->targets, campaign->arena);
    campaign->build.session = campaign->session;
    campaign->build.plan = campaign->plan;
    campaign->build.relations = &campaign->shown;
    campaign->build.targets = campaign->targets;
    campaign->build.options = &campaign->apply;
    campaign->build.zone = campaign->zone;
    campaign->build.now = now;
    campaign->build.state = campaign->state;
    campaign->build.is_stopping = is_never_stopping;
}

static Status open_steps(Campaign *campaign, bool writes, ErrorList *faults, Error *err) {
    WindowRequest windows;
    EngineCatalog *catalog = NULL;
    TRY(make_plan(campaign, writes, faults, err));
    TRY(read_range(campaign, &windows, err));
    TRY(open_warehouse(campaign, writes, &catalog, err));
    TargetRequest request = {
        .plan = campaign->plan,
        .catalog = catalog,
        .connection = campaign->connection,
        .windows = &windows,
        .batch = campaign->options.batch,
        .concurrency = campaign->options.concurrency,
        .keeps_shown = true,
    };
    campaign->build.catalog = catalog;
    campaign_read_histories(campaign);
    TRY(targets_decide(campaign->state, &request, campaign->arena, &campaign->targets, err));
    prepare_build(campaign, windows.now);
    campaign->model_count = campaign->plan->tasks.count;
    campaign->models = ARENA_NEW_ARRAY(campaign->arena, CampaignModel, campaign->model_count);
    campaign->by_model = ARENA_NEW_ARRAY(campaign->arena, CampaignModel *, campaign->session->project->model_count);
    run_stale_models(campaign->plan, campaign->targets, campaign->arena, &campaign->stale);
    TRY(look_at_models(campaign, err));
    return campaign->id != 0 ? OK : campaign_estimate(campaign, err);
}

Status campaign_open_as(Session *session, const CampaignOptions *options, int64_t id, bool writes,
                        Campaign **campaign_out, ErrorList *faults) {
    TRY(project_check_supported(session->project, faults));
    AUTO(error) Error err = {0};
    AUTO(campaign) Campaign *campaign = heap_alloc_zeroed(1, sizeof *campaign);
    campaign->arena = arena_create();
    campaign->session = session;
    campaign->options = *options;
    campaign->id = id;
    pthread_mutex_init(&campaign->build.state_mutex, NULL);
    if (failed(open_steps(campaign, writes, faults, &err))) {
        if (err.message.size > 0) {
            error_list_take(faults, &err);
        }
        return FAILED;
    }
    *campaign_out = TAKE(campaign);
    return OK;
}

Status campaign_open(Session *session, const CampaignOptions *options, bool writes, Campaign **campaign_out,
                     ErrorList *faults) {
    return campaign_open_as(session, options, 0, writes, campaign_out, faults);
}

void campaign_close_warehouse(Campaign *campaign) {
    engine_release(TAKE(campaign->connection));
    session_close_engine(campaign->session);
}

void campaign_close(Campaign *campaign) {
    if (campaign == NULL) {
        return;
    }
    engine_release(campaign->connection);
    plan_destroy(campaign->plan);
    pthread_mutex_destroy(&campaign->build.state_mutex);
    arena_destroy(campaign->arena);
    free(campaign);
}

static void refuse_limit(const char *option, Str expected, ErrorList *faults) {
    AUTO(error) Error err = {0};
    (void)error_set(&err, ERROR_PLAN, "the campaign is expected to take more than %s: " STR_FMT, option,
                    STR_ARG(expected));
    error_code(&err, STR("campaign.limit"));
    error_list_take(faults, &err);
}

static Status check_limits(const Campaign *campaign, ErrorList *faults) {
    const CampaignOptions *options = &campaign->options;
    const CampaignEstimate *estimate = &campaign->estimate;
    int64_t windows = 0;
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        windows += model->part == PART_WINDOWED ? interval_set_grains(&model->windows, model->target.grain) : 0;
    }
    bool is_windows = options->max_windows > 0 && windows > options->max_windows;
    bool is_rows = options->max_rows > 0 && estimate->rows > options->max_rows;
    bool is_time = options->max_us > 0 && estimate->seconds * 1e6 > (double)options->max_us;
    if (is_windows) {
        refuse_limit("--max-windows", str_format(campaign->arena, "%lld windows", (long long)windows), faults);
    }
    if (is_rows) {
        refuse_limit("--max-rows", str_format(campaign->arena, "%lld rows", (long long)estimate->rows), faults);
    }
    if (is_time) {
        refuse_limit("--max-time", str_format(campaign->arena, "%.0f s", estimate->seconds), faults);
    }
    return is_windows || is_rows || is_time ? FAILED : OK;
}

Status campaign_check(const Campaign *campaign, ErrorList *faults) {
    Status status = OK;
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        if (model->part == PART_REFUSED && !campaign->options.allow_refused) {
            AUTO(error) Error err = {0};
            status = error_set_at(&err, ERROR_PLAN, model->place, "model '" STR_FMT "' cannot take part: " STR_FMT,
                                  STR_ARG(model->model->name), STR_ARG(model->reason));
            error_code(&err, STR("campaign.refused"));
            error_hint(&err, STR_FMT, STR_ARG(model->hint));
            error_list_take(faults, &err);
        }
    }
    if (failed(check_limits(campaign, faults))) {
        status = FAILED;
    }
    if (campaign->stale.count > 0 && campaign->options.no_stale) {
        AUTO(error) Error err = {0};
        Str names = str_join(campaign->arena, campaign->stale.items, campaign->stale.count, STR(", "));
        status = error_set(&err, ERROR_PLAN, "left stale: " STR_FMT, STR_ARG(names));
        error_code(&err, STR("campaign.stale"));
        error_hint(&err, "a + behind a selected name takes them in");
        error_list_take(faults, &err);
    }
    return status;
}

void campaign_aside_target(const CampaignModel *model, BuildTarget *target_out) {
    bool is_windowed = model->part == PART_WINDOWED;
    bool goes_on = !is_windowed && model->part != PART_HISTORY && strategy_is_accumulating(model->model->strategy);
    *target_out = (BuildTarget){
        .is_aside = true,
        .relation = model->audit,
        .checked = is_windowed ? model->overlay : model->audit,
        .previous = is_windowed ? model->overlay : model->target.relation,
        .is_there = is_windowed,
        .is_windowed = is_windowed,
        .grain = model->target.grain,
        .batch = BATCH_AUTO,
        .concurrency = 1,
        .binds_clock = model->target.binds_clock,
    };
    if (goes_on) {
        target_out->seed = model->target.relation;
    }
}
