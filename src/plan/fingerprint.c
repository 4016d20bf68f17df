#include "plan/fingerprint.h"

#include "base/hash.h"

/* What was written: the parts that the model's own text gives. */
static void push_source_parts(Arena *arena, const Model *model, StrVec *parts) {
    if (model->kind == MODEL_SQL) {
        str_vec_push(arena, parts, model->canonical_digest);
        return;
    }
    str_vec_push(arena, parts, model->python->canonical);
    str_vec_push(arena, parts, model->python->captured);
}

static StrVec upstream_fingerprints(Arena *arena, const Project *project, const Model *model) {
    StrVec fingerprints = {0};
    for (size_t i = 0; i < model->upstreams.count; i++) {
        str_vec_push(arena, &fingerprints, project->models[model->upstreams.items[i]]->fingerprint);
    }
    str_vec_sort(&fingerprints);
    return fingerprints;
}

static void fingerprint_model(const Project *project, Model *model, Arena *scratch) {
    StrVec parts = {0};
    push_source_parts(scratch, model, &parts);
    str_vec_push(scratch, &parts, model->config_json);
    model->local_fingerprint = fingerprint_of_parts(project->arena, parts.items, parts.count);

    StrVec upstreams = upstream_fingerprints(scratch, project, model);
    for (size_t i = 0; i < upstreams.count; i++) {
        str_vec_push(scratch, &parts, upstreams.items[i]);
    }
    model->fingerprint = fingerprint_of_parts(project->arena, parts.items, parts.count);

    model->metadata_hash = fingerprint_of_parts(project->arena, &model->metadata_json, 1);
    model->physical_hash =
        model->physical_json.size == 0 ? STR_EMPTY : fingerprint_of_parts(project->arena, &model->physical_json, 1);
}

/* Models stand in dependency order: those above are done when one is reached. */
void fingerprint_project(Project *project) {
    AUTO(arena) Arena *scratch = arena_create();
    for (size_t i = 0; i < project->model_count; i++) {
        fingerprint_model(project, project->models[i], scratch);
    }
}
