#include "run/run_preview.h"

#include "project/graph.h"
#include "run/apply_steps.h"

#include <stdlib.h>

void run_preview_destroy(RunPreview *preview) {
    if (preview == NULL) {
        return;
    }
    plan_destroy(preview->plan);
    arena_destroy(preview->arena);
    free(preview);
}

static Status preview_tasks(Session *session, const ApplyOptions *options, RunPreview *preview, Error *err) {
    PlanOptions plan_options = {
        .environment = options->environment,
        .select = options->select,
        .exclude = options->exclude,
        .rebuild_all = true,
    };
    WindowRequest windows;
    const Zone *zone = NULL;
    StateStore *state = NULL;
    TRY(environment_check_name(options->environment, err));
    TRY(recovery_finish_if_needed(session, err));
    TRY(session_state_for_reading(session, &state, err));
    TRY(window_request_read(session, options, &zone, &windows, err));
    TRY(plan_from_state(session->project, state, &plan_options, preview->arena, &preview->plan, err));
    TargetRequest request = {.plan = preview->plan, .windows = &windows, .batch = options->batch};
    return targets_decide(state, &request, preview->arena, &preview->targets, err);
}

Status run_preview(Session *session, const ApplyOptions *options, RunPreview **preview_out, ErrorList *faults) {
    TRY(project_check_supported(session->project, faults));
    AUTO(error) Error err = {0};
    AUTO(run_preview) RunPreview *preview = heap_alloc_zeroed(1, sizeof *preview);
    preview->arena = arena_create();
    if (failed(preview_tasks(session, options, preview, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    *preview_out = TAKE(preview);
    return OK;
}

/* ---- What stays behind */

/* What readers of a model see of this command. */
typedef struct Freshness {
    bool has_new_rows; /* it, or what it is made of, has */
    bool has_moved;    /* … in another relation, which a view that is not made anew does not read */
} Freshness;

static Freshness freshness_of_task(const Plan *plan, const Model *model, const BuildTarget *target) {
    const Snapshot *shown = plan->current[model->index]; /* NULL: nothing yet, or it is ephemeral */
    bool is_same_place = shown != NULL && str_equal_fold(shown->physical_schema, target->relation.schema) &&
                         str_equal_fold(shown->physical_name, target->relation.name);
    return (Freshness){.has_new_rows = true,
                       .has_moved = shown == NULL ? plan->is_modified[model->index] : !is_same_place};
}

static Freshness freshness_of_upstreams(const Model *model, const Freshness *all) {
    Freshness freshness = {0};
    for (size_t i = 0; i < model->upstreams.count; i++) {
        const Freshness *upstream = &all[model->upstreams.items[i]];
        freshness.has_new_rows = freshness.has_new_rows || upstream->has_new_rows;
        freshness.has_moved = freshness.has_moved || upstream->has_moved;
    }
    return freshness;
}

/* A view over relations that did not move shows the new rows by itself. */
static bool is_stale(const Model *model, const Freshness *freshness) {
    return model->materialise == MATERIALISE_VIEW ? freshness->has_moved : freshness->has_new_rows;
}

void run_stale_models(const Plan *plan, const BuildTarget *targets, Arena *arena, StrVec *names_out) {
    const Project *project = plan->project;
    Freshness *all = ARENA_NEW_ARRAY(arena, Freshness, project->model_count);
    const BuildTarget **built = ARENA_NEW_ARRAY(arena, const BuildTarget *, project->model_count);
    for (size_t i = 0; i < plan->tasks.count; i++) {
        built[plan->tasks.items[i].model->index] = targets[i].is_skipped ? NULL : &targets[i];
    }
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i];
        if (built[i] != NULL) {
            all[i] = freshness_of_task(plan, model, built[i]);
            continue;
        }
        all[i] = freshness_of_upstreams(model, all);
        all[i].has_moved = all[i].has_moved || (all[i].has_new_rows && plan->is_modified[i]);
        bool is_gated = model_is_terminal(model) && !model_delivers_in(model, plan->environment);
        if (plan->current[i] != NULL && !is_gated && is_stale(model, &all[i])) {
            str_vec_push(arena, names_out, model->name);
        }
    }
}
