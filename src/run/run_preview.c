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

void run_stale_models(const Plan *plan, Arena *arena, StrVec *names_out) {
    const Project *project = plan->project;
    bool *is_behind = ARENA_NEW_ARRAY(arena, bool, project->model_count);
    bool *is_task = ARENA_NEW_ARRAY(arena, bool, project->model_count);
    for (size_t i = 0; i < plan->tasks.count; i++) {
        size_t model = plan->tasks.items[i].model->index;
        is_task[model] = true;
        graph_reach(project, model, GRAPH_DOWNSTREAM, is_behind);
    }
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i];
        bool has_rows = model->materialise != MATERIALISE_VIEW && model->materialise != MATERIALISE_EPHEMERAL;
        if (is_behind[i] && !is_task[i] && has_rows) {
            str_vec_push(arena, names_out, model->name);
        }
    }
}
