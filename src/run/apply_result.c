#include "run/apply_steps.h"

#include <stdlib.h>

ApplyResult *apply_result_create(Str environment) {
    ApplyResult *result = heap_alloc_zeroed(1, sizeof *result);
    result->arena = arena_create();
    result->summary.environment = environment;
    return result;
}

void apply_result_destroy(ApplyResult *result) {
    if (result == NULL) {
        return;
    }
    apply_result_destroy(result->follow_up);
    for (size_t i = 0; i < result->model_count; i++) {
        error_deinit(&result->models[i].error);
        arena_destroy(result->models[i].arena);
    }
    plan_destroy(result->plan);
    arena_destroy(result->arena);
    free(result);
}

void apply_result_add(ApplyResult *result, ApplyResult *next) {
    RunSummary *summary = &result->summary;
    const RunSummary *added = &next->summary;
    ModelResult *models = ARENA_NEW_ARRAY(result->arena, ModelResult, summary->model_count + added->model_count);
    for (size_t i = 0; i < summary->model_count; i++) {
        models[i] = summary->models[i];
    }
    for (size_t i = 0; i < added->model_count; i++) {
        models[summary->model_count + i] = added->models[i];
    }
    summary->models = models;
    summary->model_count += added->model_count;
    summary->built += added->built;
    summary->reused += added->reused;
    summary->cancelled += added->cancelled;
    summary->not_started += added->not_started;
    summary->failed += added->failed;
    summary->tasks += added->tasks;
    summary->promoted += added->promoted;
    summary->checks_passed += added->checks_passed;
    summary->checks_total += added->checks_total;
    summary->generation = added->generation > 0 ? added->generation : summary->generation;
    for (size_t i = 0; i < next->registered.count; i++) {
        if (!str_vec_contains(&result->registered, next->registered.items[i])) {
            str_vec_push(result->arena, &result->registered, next->registered.items[i]);
        }
    }
    result->follow_up = next;
}
