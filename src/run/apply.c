/* The steps of spec 03 §6 in their order; what a failure of each leaves stands in run/README.md. */
#include "run/apply.h"

#include "base/test_hooks.h"
#include "project/graph.h"
#include "run/apply_steps.h"
#include "run/attachments.h"
#include "run/bound_schemas.h"
#include "run/cancel.h"
#include "run/change_log.h"
#include "run/check_runner.h"
#include "run/command_lock.h"
#include "run/delivery_record.h"
#include "run/dynamic.h"
#include "run/forward_only.h"
#include "run/input_access.h"
#include "run/metadata_checks.h"
#include "run/physical_changes.h"
#include "run/promotion.h"
#include "run/run_preview.h"

/* ---- Steps 2 and 3: lock, recovery, plan. */

static bool plan_has_work(const Plan *plan) {
    return !plan->is_empty || plan->tasks.count + plan->adopted.count > 0;
}

static void start_results(Apply *apply) {
    const Plan *plan = apply->result->plan;
    apply->model_count = plan->tasks.count;
    apply->models = ARENA_NEW_ARRAY(apply->result->arena, ModelResult, plan->tasks.count);
    for (size_t i = 0; i < plan->tasks.count; i++) {
        apply->models[i].model = plan->tasks.items[i].model;
        apply->models[i].project = plan->project;
    }
    apply->result->models = apply->models;
    apply->result->model_count = apply->model_count;
    apply->result->summary.models = apply->models;
    apply->result->summary.model_count = apply->model_count;
    apply->result->summary.is_empty = !plan_has_work(plan);
}

/* `run` and `restate` have no gate: they build what they select as it is written now. */
static void note_breaking(Apply *apply) {
    const PlanChangeVec *changes = &apply->result->plan->changes;
    for (size_t i = 0; i < changes->count; i++) {
        if (changes->items[i].category == CATEGORY_BREAKING) {
            session_note(apply->session, "the change of '" STR_FMT "' is breaking and goes live with this command",
                         STR_ARG(changes->items[i].name));
        }
    }
}

static Status compile(Apply *apply, Plan *plan, ErrorList *faults) {
    StrVec written = attachments_written(plan, apply->result->arena);
    StrVec unused = attachments_unused(plan, apply->result->arena);
    session_use_attachments(apply->session, &written, &unused);
    return plan_bind(apply->session, plan, false, faults);
}

/* `from` starts an environment, once: an existing one has models of its own, and lacks some on purpose. */
static void note_start(Apply *apply) {
    const Plan *plan = apply->result->plan;
    if (apply->options->from.size == 0 || apply->depth > 0) {
        return;
    }
    if (str_equal(plan->compared_with, plan->environment)) {
        session_note(apply->session, "environment '" STR_FMT "' exists: --from starts new ones only",
                     STR_ARG(plan->environment));
    } else {
        session_note(apply->session, "environment '" STR_FMT "' starts with what '" STR_FMT "' serves",
                     STR_ARG(plan->environment), STR_ARG(plan->compared_with));
    }
}

static Status make_plan(Apply *apply, ErrorList *faults, Error *err) {
    PlanOptions options = {
        .environment = apply->options->environment,
        .select = apply->options->select,
        .exclude = apply->options->exclude,
        .rebuild_all = apply->options->verb != WINDOW_APPLY,
        .forward_only = apply->options->forward_only,
        .from = apply->options->from,
    };
    AUTO(plan) Plan *plan = NULL;
    TRY(plan_from_state(apply->session->project, apply->state, &options, apply->result->arena, &plan, err));
    TRY(compile(apply, plan, faults));
    apply->result->plan = TAKE(plan);
    note_start(apply);
    start_results(apply);
    session_emit(apply->session, (Event){.type = EVENT_PLAN, .plan = apply->result->plan});
    if (apply->options->verb != WINDOW_APPLY) {
        note_breaking(apply);
        return OK;
    }
    return plan_check_gate(apply->result->plan, apply->options->force, err);
}

/* ---- Step 4: where each task's rows go, and the windows of this command. */

static bool needs_warehouse(const Plan *plan) {
    if (plan->adopted.count > 0) {
        return true;
    }
    for (size_t i = 0; i < plan->changes.count; i++) {
        if (plan->changes.items[i].type == CHANGE_REMOVED) {
            return true;
        }
    }
    for (size_t i = 0; i < plan->tasks.count; i++) {
        const Model *model = plan->tasks.items[i].model;
        if (model->materialise != MATERIALISE_EPHEMERAL || plan->current[model->index] != NULL) {
            return true;
        }
    }
    return plan->physical_models.count > 0;
}

static Status prepare_inputs(const Apply *apply, EngineConnection *connection, Error *err) {
    const ProjectConfig *config = apply->session->project->config;
    bool *is_read = input_flags(config, apply->result->arena);
    input_flags_add_plan(apply->result->plan, is_read);
    return input_access_prepare(connection, config, is_read, err);
}

static Status open_warehouse(Apply *apply, EngineConnection **connection_out, Error *err) {
    TRY(session_engine(apply->session, false, &apply->build.engine, err));
    TRY(engine_connect(apply->build.engine, connection_out, err));
    EngineCatalog *catalog = NULL;
    if (failed(prepare_inputs(apply, *connection_out, err)) ||
        failed(engine_catalog_load(*connection_out, apply->result->arena, &catalog, err))) {
        engine_release(TAKE(*connection_out));
        return FAILED;
    }
    apply->build.catalog = catalog;
    return OK;
}

static void tell_target(Apply *apply, const PlanTask *task, const BuildTarget *target) {
    for (size_t i = 0; i < target->work.notes.count; i++) {
        session_note(apply->session, STR_FMT, STR_ARG(target->work.notes.items[i]));
    }
    for (size_t i = 0; i < target->work.warnings.count; i++) {
        session_note(apply->session, STR_FMT, STR_ARG(target->work.warnings.items[i]));
    }
    if (target->owner.size > 0) {
        session_note(apply->session, "model '" STR_FMT "': copy-on-write: owned by " STR_FMT,
                     STR_ARG(task->model->name), STR_ARG(target->owner));
    }
}

/* Batches ahead are read while one is written: of no use where one statement runs at a time. */
static void limit_concurrency(Apply *apply) {
    bool is_told = false;
    bool is_parallel = apply->build.engine == NULL || engine_capabilities(apply->build.engine)->parallel_writers;
    for (size_t i = 0; i < apply->model_count && !is_parallel; i++) {
        BuildTarget *target = &apply->result->targets[i];
        if (build_helpers(target) > 0 && !is_told) {
            is_told = true;
            Str engine = engine_name(apply->build.engine);
            session_note(apply->session,
                         "engine '" STR_FMT "' does one thing at a time: batches of a model run one after the other",
                         STR_ARG(engine));
        }
        target->concurrency = 1;
    }
}

static void tell_stale(Apply *apply) {
    StrVec stale = {0};
    if (apply->options->verb != WINDOW_APPLY) {
        run_stale_models(apply->result->plan, apply->result->targets, apply->result->arena, &stale);
    }
    if (stale.count > 0) {
        Str names = str_join(apply->result->arena, stale.items, stale.count, STR(", "));
        session_note(apply->session, "left stale: " STR_FMT " (a + behind a selected name takes them along)",
                     STR_ARG(names));
    }
}

static Status decide_targets(Apply *apply, EngineConnection *connection, Error *err) {
    TargetRequest request = {
        .plan = apply->result->plan,
        .catalog = apply->build.catalog,
        .connection = connection,
        .windows = &apply->windows,
        .batch = apply->options->batch,
        .concurrency = apply->options->concurrency,
    };
    TRY(targets_decide(apply->state, &request, apply->result->arena, &apply->result->targets, err));
    limit_concurrency(apply);
    for (size_t i = 0; i < apply->model_count; i++) {
        tell_target(apply, &apply->result->plan->tasks.items[i], &apply->result->targets[i]);
    }
    tell_stale(apply);
    return OK;
}

/* ---- Step 5: what would fail later is found before anything is built. */

static Status create_physical_schemas(Apply *apply, EngineConnection *connection, Error *err) {
    const Plan *plan = apply->result->plan;
    StrVec schemas = {0};
    for (size_t i = 0; i < plan->tasks.count; i++) {
        const PlanTask *task = &plan->tasks.items[i];
        Str schema = physical_schema(apply->result->arena, task->model);
        bool has_relation = model_has_relation(task->model);
        if (has_relation && !str_vec_contains(&schemas, schema)) {
            str_vec_push(apply->result->arena, &schemas, schema);
        }
    }
    return engine_create_schemas(connection, &schemas, err);
}

static Status prepare_deliveries(Apply *apply, EngineConnection *connection, Error *err) {
    for (size_t i = 0; i < apply->model_count; i++) {
        const Model *model = apply->result->plan->tasks.items[i].model;
        const BuildTarget *target = &apply->result->targets[i];
        if (model->materialise == MATERIALISE_TABLE && !target->is_gated && !target->is_skipped) {
            TRY(delivery_prepare(connection, model, err));
        }
    }
    return OK;
}

static Status prepare_warehouse(Apply *apply, Intent *intent_out, Error *err) {
    const Plan *plan = apply->result->plan;
    AUTO(engine_connection) EngineConnection *connection = NULL;
    if (needs_warehouse(plan)) {
        TRY(open_warehouse(apply, &connection, err));
    }
    TRY(decide_targets(apply, connection, err));
    if (connection != NULL) {
        TRY(forward_only_check(plan, connection, err));
    }
    promotion_intent(plan, apply->result->targets, apply->result->arena, intent_out);
    intent_out->command = str_from(window_verb_name(apply->options->verb));
    if (connection == NULL) {
        return OK; /* only ephemeral models */
    }
    TRY(promotion_preflight(connection, apply->build.catalog, intent_out, err));
    TRY(create_physical_schemas(apply, connection, err));
    TRY(prepare_deliveries(apply, connection, err));
    return change_log_begin(apply, connection, err);
}

/* ---- Step 6: what became of the models. */

static void count_outcomes(Apply *apply) {
    RunSummary *summary = &apply->result->summary;
    for (size_t i = 0; i < apply->model_count; i++) {
        const ModelResult *model = &apply->models[i];
        summary->built += model->outcome == OUTCOME_BUILT;
        summary->reused += model->outcome == OUTCOME_REUSED;
        summary->tasks += model->tasks;
        summary->cancelled += model->outcome == OUTCOME_CANCELLED;
        summary->failed += model->outcome == OUTCOME_FAILED;
        summary->not_started += model->outcome == OUTCOME_NOT_STARTED;
        summary->checks_total += model->checks.count;
        for (size_t c = 0; c < model->checks.count; c++) {
            summary->checks_passed += str_equal(model->checks.items[c].status, STR("passed"));
        }
    }
}

static Status list_failures(const Apply *apply, ErrorList *faults) {
    for (size_t i = 0; i < apply->model_count; i++) {
        if (apply->models[i].outcome == OUTCOME_FAILED) {
            AUTO(error) Error copy = {0};
            error_copy(&copy, &apply->models[i].error);
            error_list_take(faults, &copy);
        }
    }
    return apply->result->summary.failed > 0 ? FAILED : OK;
}

static Status refuse_interrupted(const Apply *apply, Error *err) {
    const RunSummary *summary = &apply->result->summary;
    return error_set(err, ERROR_INTERRUPTED, "interrupted: %zu built, %zu cancelled, %zu not started; nothing promoted",
                     summary->built, summary->cancelled, summary->not_started);
}

static Status build_all(Apply *apply, ErrorList *faults, Error *err) {
    apply->relations = relation_map_from_targets(apply->result->plan, apply->result->targets, apply->result->arena);
    apply->build.session = apply->session;
    apply->build.plan = apply->result->plan;
    apply->build.relations = &apply->relations;
    apply->build.state = apply->state;
    apply->build.lock = apply->lock;
    apply->build.options = apply->options;
    apply->build.targets = apply->result->targets;
    apply->build.zone = apply->zone;
    apply->build.now = apply->windows.now;
    pthread_mutex_init(&apply->build.state_mutex, NULL);
    Status status = apply_build_models(apply, err);
    pthread_mutex_destroy(&apply->build.state_mutex);
    TRY(status);

    count_outcomes(apply);
    TRY(list_failures(apply, faults));
    return cancel_requested() ? refuse_interrupted(apply, err) : OK;
}

/* ---- Steps 9 and 10. A Ctrl-C that comes now finishes the promotion. */

static Status promote(Apply *apply, Intent *intent, Error *err) {
    TRY(state_lock_check(apply->lock, err));
    TRY(test_hook("apply.before_promotion", err));
    RunSummary *summary = &apply->result->summary;
    StrVec kept_schemas = {0}; /* none is dropped */
    TRY(promotion_carry_out(apply->session, apply->lock, intent, &summary->generation, &kept_schemas, err));
    summary->promoted = intent->put.count;
    session_emit(apply->session,
                 (Event){.type = EVENT_PROMOTED, .promoted = summary->promoted, .generation = summary->generation});
    return OK;
}

/* ---- All steps. */

static Status record_start(Apply *apply, Error *err) {
    AUTO(strbuf) StrBuf payload = {0};
    JsonWriter writer;
    json_writer_init(&writer, &payload, JSON_COMPACT);
    json_begin_object(&writer);
    json_key(&writer, STR("models"));
    json_begin_array(&writer);
    for (size_t i = 0; i < apply->model_count; i++) {
        json_text(&writer, apply->models[i].model->name);
    }
    json_end_array(&writer);
    json_end_object(&writer);
    return state_record_event(apply->state, STR("apply.started"), apply->options->environment, strbuf_str(&payload),
                              err);
}

static Status record_end(Apply *apply, Error *err) {
    const RunSummary *summary = &apply->result->summary;
    AUTO(arena) Arena *arena = arena_create();
    Str payload = str_format(arena, "{\"built\":%zu,\"reused\":%zu,\"promoted\":%zu}", summary->built, summary->reused,
                             summary->promoted);
    return state_record_event(apply->state, STR("apply.finished"), apply->options->environment, payload, err);
}

static Status carry_out(Apply *apply, ErrorList *faults, Error *err) {
    const Plan *plan = apply->result->plan;
    Intent intent = {0};
    TRY(record_start(apply, err));
    TRY(prepare_warehouse(apply, &intent, err));
    if (plan->tasks.count > 0) {
        TRY(build_all(apply, faults, err));
    }
    TRY(dynamic_save(apply, err));
    TRY(dynamic_prepare(apply, faults, err));
    if (intent.put.count + intent.removed.count > 0) {
        TRY(promote(apply, &intent, err));
    }
    TRY(physical_changes_run(apply, err));
    TRY(metadata_checks_run(apply, err));
    return record_end(apply, err);
}

static Status follow_up(Apply *apply, ErrorList *faults, Error *err);

static Status run_plan(Apply *apply, ErrorList *faults, Error *err) {
    TRY(make_plan(apply, faults, err));
    bool is_nothing = !plan_has_work(apply->result->plan);
    TRY(is_nothing ? dynamic_save(apply, err) : carry_out(apply, faults, err));
    return follow_up(apply, faults, err);
}

/* At most DYNAMIC_DEPTH_MAX deep. */
static Status follow_up(Apply *apply, ErrorList *faults, Error *err) {
    if (apply->next_project == NULL) {
        return OK;
    }
    ApplyOptions options = dynamic_options(apply, apply->result->arena);
    AUTO(apply_result) ApplyResult *result = apply_result_create(options.environment);
    Apply next = {
        .session = apply->session,
        .options = &options,
        .result = result,
        .state = apply->state,
        .lock = apply->lock,
        .zone = apply->zone,
        .windows = apply->windows,
        .started_us = apply->started_us,
        .depth = apply->depth + 1,
        .planned = apply->registered,
    };
    next.windows.verb = options.verb;
    next.windows.has_start = next.windows.has_end = next.windows.catch_up = false;
    apply->session->project = apply->next_project;
    bool is_nothing = options.select != NULL && options.select->count == 0; /* retired only, under a selection */
    Status status = is_nothing ? dynamic_save(&next, err) : run_plan(&next, faults, err);
    if (failed(status)) {
        dynamic_note_lost(apply);
    }
    apply_result_add(apply->result, TAKE(result));
    return status;
}

static Status run_steps(Apply *apply, ErrorList *faults, Error *err) {
    TRY(environment_check_name(apply->options->environment, err));
    TRY(command_lock(apply->session, str_from(window_verb_name(apply->options->verb)), apply->options->lock_timeout_us,
                     &apply->state, &apply->lock, err));
    TRY(window_request_read(apply->session, apply->options, &apply->zone, &apply->windows, err));
    return run_plan(apply, faults, err);
}

static void emit_summary(Apply *apply) {
    RunSummary *summary = &apply->result->summary;
    summary->seconds = (double)(clock_monotonic_us() - apply->started_us) / 1e6;
    session_emit(apply->session, (Event){.type = EVENT_SUMMARY, .summary = summary, .seconds = summary->seconds});
}

Status apply(Session *session, const ApplyOptions *options, ApplyResult **result_out, ErrorList *faults) {
    TRY(project_check_supported(session->project, faults));

    AUTO(error) Error err = {0};
    AUTO(apply_result) ApplyResult *result = apply_result_create(options->environment);
    Apply steps = {.session = session, .options = options, .result = result, .started_us = clock_monotonic_us()};

    Status status = run_steps(&steps, faults, &err);
    if (failed(status) && err.message.size > 0) {
        error_list_take(faults, &err);
    }
    command_release(session, steps.lock);
    emit_summary(&steps);
    if (result->plan != NULL) {
        *result_out = TAKE(result);
    }
    return status;
}
