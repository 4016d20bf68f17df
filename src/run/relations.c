#include "run/relations.h"

#include "plan/delivery.h"
#include "project/graph.h"
#include "project/input_scan.h"
#include "sql/sql_splice.h"

SqlRelation relation_of_snapshot(const Snapshot *snapshot) {
    return (SqlRelation){
        .catalog = snapshot->physical_catalog, .schema = snapshot->physical_schema, .name = snapshot->physical_name};
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name of a revision begins with that of its first one. */
bool view_text_reads(Str text, Str relation_name) {
    for (;;) {
        size_t found = str_find(text, relation_name);
        if (found == STR_NOT_FOUND) {
            return false;
        }
        bool is_begun = found == 0 || !is_name_char(text.ptr[found - 1]);
        text = str_skip(text, found + relation_name.size);
        if (is_begun && (text.size == 0 || !is_name_char(text.ptr[0]))) {
            return true;
        }
    }
}

static SqlRelation relation_of_task(const PlanTask *task, Arena *arena) {
    const Model *model = task->model;
    if (model->materialise == MATERIALISE_TABLE) {
        return delivery_place(model);
    }
    if (!model_has_relation(model)) {
        return (SqlRelation){0};
    }
    if (task->action == TASK_REUSE) {
        return relation_of_snapshot(task->snapshot);
    }
    return (SqlRelation){.schema = physical_schema(arena, model),
                         .name = physical_name(arena, model, model->fingerprint)};
}

RelationMap relation_map_create(const Project *project, Arena *arena) {
    return (RelationMap){
        .project = project,
        .items = ARENA_NEW_ARRAY(arena, SqlRelation, project->model_count),
        .inputs = input_scans(project->config, clock_now_us(), arena),
    };
}

RelationMap relation_map_copy(const RelationMap *map, Arena *arena) {
    size_t count = map->project->model_count;
    RelationMap copy = *map;
    copy.items = ARENA_NEW_ARRAY(arena, SqlRelation, count);
    memcpy(copy.items, map->items, count * sizeof *copy.items);
    return copy;
}

RelationMap relation_map_from_plan(const Plan *plan, Arena *arena) {
    const Project *project = plan->project;
    RelationMap map = relation_map_create(project, arena);
    for (size_t i = 0; i < project->model_count; i++) {
        if (project->models[i]->materialise == MATERIALISE_TABLE) {
            map.items[i] = delivery_place(project->models[i]);
        } else if (plan->current[i] != NULL) {
            map.items[i] = relation_of_snapshot(plan->current[i]);
        }
    }
    for (size_t i = 0; i < plan->tasks.count; i++) {
        const PlanTask *task = &plan->tasks.items[i];
        map.items[task->model->index] = relation_of_task(task, arena);
    }
    return map;
}

/* ---- Inlining. An ephemeral model becomes one CTE, whoever of the others reads it, after those that it reads. */

typedef struct Inlining {
    const RelationMap *relations;
    const Model *reader;          /* the model whose query it is in the end */
    const WindowBinding *binding; /* NULL: none */
    Str file_root; /* of a view: it reads its files when it is read, by whom and from where is not known now */
    Arena *arena;
    Str *cte_names; /* a model each; empty: not inlined. NULL when nothing is */
    IndexVec order; /* inlined models, dependency order */
} Inlining;

/* A name that neither the model's own CTEs nor those of any inlined body use: one of them would hide the other. */
static Str choose_cte_name(const Inlining *inlining, const Model *model, const Model *ephemeral) {
    const Project *project = inlining->relations->project;
    Str wanted = str_format(inlining->arena, "_eph_" STR_FMT, STR_ARG(ephemeral->name));
    wanted = str_replace_char(inlining->arena, wanted, '.', '_');
    for (;;) {
        Str name = sql_unused_cte_name(model->facts, wanted, inlining->arena);
        for (size_t i = 0; i < inlining->order.count; i++) {
            name = sql_unused_cte_name(project->models[inlining->order.items[i]]->facts, name, inlining->arena);
        }
        for (size_t i = 0; i < inlining->order.count; i++) {
            Str other = inlining->cte_names[inlining->order.items[i]];
            if (other.size > 0 && str_equal_fold(other, name)) {
                name = str_format(inlining->arena, STR_FMT "_", STR_ARG(name));
            }
        }
        if (str_equal(name, wanted)) {
            return name;
        }
        wanted = name;
    }
}

static Status missing_relation(const Model *model, const Model *upstream, Error *err) {
    error_set_at(err, ERROR_EXECUTION, model->place,
                 "model '" STR_FMT "' reads '" STR_FMT "', which is not built in this environment",
                 STR_ARG(model->name), STR_ARG(upstream->name));
    error_hint(err, "select it too: --select +" STR_FMT, STR_ARG(model->name));
    return FAILED;
}

static void add_filters(const Inlining *inlining, const Model *model, SqlReplacement *replacements) {
    size_t count = inlining->binding == NULL ? 0 : inlining->binding->filters.count;
    for (size_t i = 0; i < count; i++) {
        const ScanFilter *filter = &inlining->binding->filters.items[i];
        if (filter->owner == model) {
            replacements[filter->table].filter = filter->condition;
        }
    }
}

static Status splice_references(const Inlining *inlining, const Model *model, const SqlInlined *inlined,
                                size_t inlined_count, SqlText *query_out, Error *err) {
    const Project *project = inlining->relations->project;
    size_t count = model->facts->tables.count;
    SqlReplacement *replacements = ARENA_NEW_ARRAY(inlining->arena, SqlReplacement, count);
    for (size_t i = 0; i < count; i++) {
        size_t upstream = model->references[i].model;
        if (model->references[i].input != INPUT_NONE) {
            replacements[i].source = inlining->relations->inputs[model->references[i].input];
        }
        if (upstream == MODEL_NONE) {
            continue;
        }
        if (inlining->cte_names != NULL && inlining->cte_names[upstream].size > 0) {
            replacements[i].relation.name = inlining->cte_names[upstream];
        } else {
            replacements[i].relation = inlining->relations->items[upstream];
        }
        if (replacements[i].relation.name.size == 0) {
            return missing_relation(model, project->models[upstream], err);
        }
    }
    add_filters(inlining, model, replacements);
    SqlSplice splice = {.replacements = replacements,
                        .inlined = inlined,
                        .inlined_count = inlined_count,
                        .clock = inlining->binding == NULL ? NULL : inlining->binding->clock,
                        .clock_columns = model == inlining->reader ? &model->clock_columns : NULL,
                        .file_root = inlining->file_root};
    return sql_splice(&model->query, model->facts, &splice, inlining->arena, query_out, err);
}

Status render_window_query(const RelationMap *relations, const Model *model, const WindowBinding *binding, Arena *arena,
                           SqlText *query_out, Error *err) {
    assert(model->kind == MODEL_SQL);
    const Project *project = relations->project;
    bool is_view = model->materialise == MATERIALISE_VIEW;
    Inlining inlining = {
        .relations = relations,
        .reader = model,
        .binding = binding,
        .file_root = is_view ? project->config->root : STR_EMPTY,
        .arena = arena,
        .order = graph_inlined(project, model, arena),
    };
    if (inlining.order.count == 0) {
        return splice_references(&inlining, model, NULL, 0, query_out, err);
    }
    inlining.cte_names = ARENA_NEW_ARRAY(arena, Str, project->model_count);
    SqlInlined *inlined = ARENA_NEW_ARRAY(arena, SqlInlined, inlining.order.count);
    for (size_t i = 0; i < inlining.order.count; i++) {
        const Model *ephemeral = project->models[inlining.order.items[i]];
        inlining.cte_names[ephemeral->index] = choose_cte_name(&inlining, model, ephemeral);
        inlined[i].cte_name = inlining.cte_names[ephemeral->index];
        TRY(splice_references(&inlining, ephemeral, NULL, 0, &inlined[i].body, err));
    }
    return splice_references(&inlining, model, inlined, inlining.order.count, query_out, err);
}

Status render_model_query(const RelationMap *relations, const Model *model, Arena *arena, SqlText *query_out,
                          Error *err) {
    return render_window_query(relations, model, NULL, arena, query_out, err);
}

Status render_model_rows(const RelationMap *relations, const Model *model, Arena *arena, SqlText *query_out,
                         Error *err) {
    if (model->materialise == MATERIALISE_EPHEMERAL) {
        return render_model_query(relations, model, arena, query_out, err);
    }
    SqlRelation relation = relations->items[model->index];
    if (relation.name.size == 0) {
        return error_set_at(err, ERROR_EXECUTION, model->place, "'" STR_FMT "' is not built in this environment",
                            STR_ARG(model->name));
    }
    *query_out = sql_text_all_rows(arena, relation);
    return OK;
}
