#include "run/apply_steps.h"

#include "plan/delivery.h"
#include "run/cancel.h"
#include "run/schedule.h"

/* ---- Step 6: building. */

/* A task waits for the tasks of its direct upstreams. An ephemeral or reused one has a task of its own, so the order
 * looks through them. */
static void need_upstreams(const Plan *plan, const size_t *task_of_model, Arena *arena, IndexVec *needs) {
    for (size_t i = 0; i < plan->tasks.count; i++) {
        const Model *model = plan->tasks.items[i].model;
        for (size_t u = 0; u < model->upstreams.count; u++) {
            size_t task = task_of_model[model->upstreams.items[u]];
            if (task != MODEL_NONE) {
                index_vec_push(arena, &needs[i], task);
            }
        }
    }
}

/* Does `from` wait for `target`, directly or not? */
static bool waits_for(const IndexVec *needs, size_t task_count, size_t from, size_t target) {
    AUTO(arena) Arena *arena = arena_create();
    bool *seen = ARENA_NEW_ARRAY(arena, bool, task_count);
    IndexVec open = {0};
    index_vec_push(arena, &open, from);
    while (open.count > 0) {
        size_t task = open.items[--open.count];
        if (task == target) {
            return true;
        }
        for (size_t i = 0; i < needs[task].count; i++) {
            size_t next = needs[task].items[i];
            if (!seen[next]) {
                seen[next] = true;
                index_vec_push(arena, &open, next);
            }
        }
    }
    return false;
}

static void need_model_of_check(const Plan *plan, size_t reader, size_t read, Arena *arena, IndexVec *needs) {
    bool is_known = read == MODEL_NONE || read == reader || index_vec_contains(&needs[reader], read);
    if (!is_known && !waits_for(needs, plan->tasks.count, read, reader)) {
        index_vec_push(arena, &needs[reader], read);
    }
}

/* A model whose check reads another one waits for it, unless that one waits for the model itself: the check then sees
 * what is there. */
static void need_models_of_checks(const Plan *plan, const size_t *task_of_model, Arena *arena, IndexVec *needs) {
    for (size_t i = 0; i < plan->tasks.count; i++) {
        const Model *model = plan->tasks.items[i].model;
        for (size_t c = 0; c < model->checks.count; c++) {
            const IndexVec *reads = &model->checks.items[c]->reads;
            for (size_t r = 0; r < reads->count; r++) {
                need_model_of_check(plan, i, task_of_model[reads->items[r]], arena, needs);
            }
        }
    }
}

/* A delivery cannot be taken back, so it waits until everything owned is built and checked; but for what reads it. */
static void need_owned_models(const Plan *plan, size_t terminal, Arena *arena, IndexVec *needs) {
    for (size_t i = 0; i < plan->tasks.count; i++) {
        bool is_owned = !model_is_terminal(plan->tasks.items[i].model);
        bool is_known = index_vec_contains(&needs[terminal], i);
        if (is_owned && !is_known && !waits_for(needs, plan->tasks.count, i, terminal)) {
            index_vec_push(arena, &needs[terminal], i);
        }
    }
}

/* Several models may add to one table (spec 01 §12.2), but one after the other: their transactions would conflict. */
static void need_sharers(const Plan *plan, size_t terminal, Arena *arena, IndexVec *needs) {
    const Model *model = plan->tasks.items[terminal].model;
    for (size_t i = 0; i < terminal; i++) {
        const Model *other = plan->tasks.items[i].model;
        bool is_shared = other->materialise == MATERIALISE_TABLE && model->materialise == MATERIALISE_TABLE &&
                         delivery_is_shared(other, model);
        if (is_shared && !index_vec_contains(&needs[terminal], i) &&
            !waits_for(needs, plan->tasks.count, i, terminal)) {
            index_vec_push(arena, &needs[terminal], i);
        }
    }
}

static IndexVec *task_needs(const Plan *plan, Arena *arena) {
    size_t *task_of_model = ARENA_NEW_ARRAY(arena, size_t, plan->project->model_count);
    for (size_t i = 0; i < plan->project->model_count; i++) {
        task_of_model[i] = MODEL_NONE;
    }
    for (size_t i = 0; i < plan->tasks.count; i++) {
        task_of_model[plan->tasks.items[i].model->index] = i;
    }
    IndexVec *needs = ARENA_NEW_ARRAY(arena, IndexVec, plan->tasks.count);
    need_upstreams(plan, task_of_model, arena, needs);
    need_models_of_checks(plan, task_of_model, arena, needs);
    for (size_t i = 0; i < plan->tasks.count; i++) {
        if (model_is_terminal(plan->tasks.items[i].model)) {
            need_owned_models(plan, i, arena, needs);
            need_sharers(plan, i, arena, needs);
        }
    }
    return needs;
}

static bool is_build_stopping(void *context) {
    Apply *apply = context;
    return atomic_load(&apply->is_stopping) || cancel_requested();
}

static bool is_command_cancelled(void *context) {
    (void)context;
    return cancel_requested();
}

static void stop_builders(void *context) {
    Apply *apply = context;
    atomic_store(&apply->is_stopping, true);
    if (apply->build.engine != NULL) { /* only ephemeral models need none */
        engine_interrupt_all(apply->build.engine);
    }
}

static bool is_shown(const PlanTask *task) {
    return task->action == TASK_BUILD;
}

static TaskVerdict verdict_of_failure(Apply *apply, ModelResult *result, bool is_alone) {
    if (result->error.kind == ERROR_INTERRUPTED || (is_build_stopping(apply) && result->error.kind != ERROR_CHECK)) {
        result->outcome = OUTCOME_CANCELLED;
        return VERDICT_TASK_CANCELLED;
    }
    bool wants_to_be_alone = engine_error_is_out_of_memory(&result->error) || build_must_be_alone(&result->error);
    if (wants_to_be_alone && !is_alone) {
        return VERDICT_TASK_AGAIN_ALONE;
    }
    result->outcome = OUTCOME_FAILED;
    return VERDICT_TASK_FAILED;
}

static void emit_end(Apply *apply, const PlanTask *task, const ModelResult *result, TaskVerdict verdict) {
    Event event = {.model = task->model, .seconds = result->seconds, .rows = result->rows, .error = &result->error};
    switch (verdict) {
    case VERDICT_TASK_DONE:
        if (result->outcome != OUTCOME_BUILT) {
            return;
        }
        event.type = EVENT_MODEL_DONE;
        break;
    case VERDICT_TASK_FAILED:
        event.type = EVENT_MODEL_FAILED;
        break;
    case VERDICT_TASK_CANCELLED:
        event.type = EVENT_MODEL_CANCELLED;
        break;
    case VERDICT_TASK_AGAIN_ALONE:
        return;
    }
    session_emit(apply->session, event);
}

static TaskVerdict run_task(void *context, size_t index, bool is_alone) {
    Apply *apply = context;
    const PlanTask *task = &apply->result->plan->tasks.items[index];
    ModelResult *result = &apply->models[index];
    if (is_shown(task) && !is_alone) {
        session_emit(apply->session, (Event){.type = EVENT_MODEL_START, .model = task->model});
    }
    int64_t started_us = clock_monotonic_us();
    error_clear(&result->error);
    result->attempts++;
    arena_destroy(result->arena);  /* of an attempt before */
    Arena *arena = arena_create(); /* of this task: arenas do not cross threads while they grow */
    Status status = build_task(&apply->build, task, arena, result, &result->error);
    result->seconds = (double)(clock_monotonic_us() - started_us) / 1e6;
    result->arena = arena;

    TaskVerdict verdict = failed(status) ? verdict_of_failure(apply, result, is_alone) : VERDICT_TASK_DONE;
    emit_end(apply, task, result, verdict);
    return verdict;
}

static size_t count_helpers(const Apply *apply) {
    size_t helpers = 0;
    for (size_t i = 0; i < apply->model_count; i++) {
        helpers += build_helpers(&apply->result->targets[i]);
    }
    return helpers;
}

Status apply_build_models(Apply *apply, Error *err) {
    const Plan *plan = apply->result->plan;
    Arena *arena = apply->result->arena;
    size_t parallelism = apply->options->parallelism > 0 ? apply->options->parallelism
                                                         : (size_t)apply->session->project->config->parallelism;
    ScheduleOptions options = {
        .task_count = plan->tasks.count,
        .needs = task_needs(plan, arena),
        .thread_count = parallelism,
        .helpers = count_helpers(apply),
        .handle = &apply->build.schedule,
        .keep_going = apply->options->keep_going,
        .run = run_task,
        .interrupt = stop_builders,
        .is_cancelled = is_command_cancelled,
        .context = apply,
    };
    apply->build.is_stopping = is_build_stopping;
    apply->build.stop_context = apply;
    TaskState *states = ARENA_NEW_ARRAY(arena, TaskState, plan->tasks.count);
    if (!schedule_run(&options, states)) {
        return error_set(err, ERROR_EXECUTION, "no thread could be started to build models");
    }
    if (apply->build.engine != NULL) {
        engine_resume(apply->build.engine);
    }
    return OK;
}
