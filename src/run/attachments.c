#include "run/attachments.h"

#include "plan/delivery.h"

StrVec attachments_written(const Plan *plan, Arena *arena) {
    StrVec aliases = {0};
    for (size_t i = 0; i < plan->tasks.count; i++) {
        const Model *model = plan->tasks.items[i].model;
        bool delivers = model->materialise == MATERIALISE_TABLE && model_delivers_in(model, plan->environment);
        if (delivers && !str_vec_contains_fold(&aliases, delivery_place(model).catalog)) {
            str_vec_push(arena, &aliases, delivery_place(model).catalog);
        }
    }
    for (size_t i = 0; i < plan->physical_models.count; i++) {
        const Model *model = project_find(plan->project, plan->physical_models.items[i]);
        if (model->materialise == MATERIALISE_TABLE &&
            !str_vec_contains_fold(&aliases, delivery_place(model).catalog)) {
            str_vec_push(arena, &aliases, delivery_place(model).catalog);
        }
    }
    return aliases;
}

/* ---- Who reads. All models count, whether this plan builds them or not: a view may read through another. */

static bool facts_read(const SqlFacts *facts, Str alias) {
    for (size_t i = 0; facts != NULL && i < facts->tables.count; i++) {
        const SqlTableRef *table = &facts->tables.items[i];
        Str first = table->catalog.size > 0 ? table->catalog : table->schema; /* alias.table has two parts */
        if (str_equal_fold(first, alias)) {
            return true;
        }
    }
    return false;
}

static bool check_reads(const Check *check, Str alias) {
    const CheckSql *parts[] = {check->query_sql, check->expression_sql, check->where_sql};
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (parts[i] != NULL && facts_read(parts[i]->facts, alias)) {
            return true;
        }
    }
    return false;
}

static bool model_reads(const Project *project, const Model *model, Str alias) {
    if (facts_read(model->facts, alias)) {
        return true;
    }
    for (size_t i = 0; i < model->checks.count; i++) {
        if (check_reads(model->checks.items[i], alias)) {
            return true;
        }
    }
    for (size_t i = 0; i < model->upstreams.count; i++) {
        const Model *upstream = project->models[model->upstreams.items[i]];
        if (upstream->materialise == MATERIALISE_TABLE && str_equal_fold(delivery_place(upstream).catalog, alias)) {
            return true;
        }
    }
    return false;
}

static bool is_read(const Project *project, Str alias) {
    for (size_t i = 0; i < project->model_count; i++) {
        if (model_reads(project, project->models[i], alias)) {
            return true;
        }
    }
    return false;
}

StrVec attachments_unused(const Plan *plan, Arena *arena) {
    const Project *project = plan->project;
    StrVec written = attachments_written(plan, arena);
    StrVec unused = {0};
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i];
        if (model->materialise != MATERIALISE_TABLE) {
            continue;
        }
        Str alias = delivery_place(model).catalog;
        if (!str_vec_contains_fold(&written, alias) && !str_vec_contains_fold(&unused, alias) &&
            !is_read(project, alias)) {
            str_vec_push(arena, &unused, alias);
        }
    }
    return unused;
}
