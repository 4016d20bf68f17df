#include "run/relations.h"

#include "plan/delivery.h"
#include "project/graph.h"
#include "sql/sql_splice.h"

SqlRelation relation_of_snapshot(const Snapshot *snapshot) {
    return (SqlRelation){.catalog = snapshot->physical_catalog,
                         .schema = snapshot->physical_schema,
                         .name = snapshot->physical_name};
}

SqlRelation relation_of_target(const Model *model) {
    return delivery_place(model);
}

static SqlRelation relation_of_task(const PlanTask *task, Arena *arena) {
    const Model *model = task->model;
    if (model->materialise == MATERIALISE_TABLE) {
        return relation_of_target(model);
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

RelationMap relation_map_from_plan(const Plan *plan, Arena *arena) {
    const Project *project = plan->project;
    RelationMap map = {.project = project, .items = ARENA_NEW_ARRAY(arena, SqlRelation, project->model_count)};
    for (size_t i = 0; i < project->model_count; i++) {
        if (project->models[i]->materialise == MATERIALISE_TABLE) {
            map.items[i] = relation_of_target(project->models[i]);
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
    Str file_root; /* of a view: it reads its files when it is read, by whom and from where is not known now */
    Arena *arena;
    Str *cte_names; /* a model each; empty: not inlined. NULL when nothing is */
    IndexVec order; /* inlined models, dependency order */
} Inlining;

static bool is_ephemeral(const Project *project, size_t model) {
    return model != MODEL_NONE && project->models[model]->materialise == MATERIALISE_EPHEMERAL;
}

static bool reads_ephemeral(const Project *project, const Model *model) {
    for (size_t i = 0; i < model->facts->tables.count; i++) {
        if (is_ephemeral(project, model->references[i].model)) {
            return true;
        }
    }
    return false;
}

/* Marks the ephemeral models that `model` reaches through ephemeral ones only. Models are in dependency order, so one
 * walk from `model` down to the first finds chains of any length without recursion. */
static void collect_ephemerals(Inlining *inlining, const Model *model) {
    const Project *project = inlining->relations->project;
    bool *needed = ARENA_NEW_ARRAY(inlining->arena, bool, project->model_count);
    needed[model->index] = true;
    for (size_t i = model->index + 1; i-- > 0;) {
        const Model *reader = project->models[i];
        if (!needed[i] || (reader != model && reader->materialise != MATERIALISE_EPHEMERAL)) {
            continue;
        }
        for (size_t u = 0; u < reader->upstreams.count; u++) {
            needed[reader->upstreams.items[u]] = true;
        }
    }
    for (size_t i = 0; i < model->index; i++) {
        if (needed[i] && is_ephemeral(project, i)) {
            index_vec_push(inlining->arena, &inlining->order, i);
        }
    }
}

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

static Status splice_references(const Inlining *inlining, const Model *model, const SqlInlined *inlined,
                                size_t inlined_count, SqlText *query_out, Error *err) {
    const Project *project = inlining->relations->project;
    size_t count = model->facts->tables.count;
    SqlReplacement *replacements = ARENA_NEW_ARRAY(inlining->arena, SqlReplacement, count);
    for (size_t i = 0; i < count; i++) {
        size_t upstream = model->references[i].model;
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
    SqlSplice splice = {.replacements = replacements,
                        .inlined = inlined,
                        .inlined_count = inlined_count,
                        .file_root = inlining->file_root};
    return sql_splice(&model->query, model->facts, &splice, inlining->arena, query_out, err);
}

Status render_model_query(const RelationMap *relations, const Model *model, Arena *arena, SqlText *query_out,
                          Error *err) {
    assert(model->kind == MODEL_SQL);
    const Project *project = relations->project;
    bool is_view = model->materialise == MATERIALISE_VIEW;
    Inlining inlining = {
        .relations = relations, .file_root = is_view ? project->config->root : STR_EMPTY, .arena = arena};
    if (!reads_ephemeral(project, model)) {
        return splice_references(&inlining, model, NULL, 0, query_out, err);
    }
    inlining.cte_names = ARENA_NEW_ARRAY(arena, Str, project->model_count);
    collect_ephemerals(&inlining, model);

    SqlInlined *inlined = ARENA_NEW_ARRAY(arena, SqlInlined, inlining.order.count);
    for (size_t i = 0; i < inlining.order.count; i++) {
        const Model *ephemeral = project->models[inlining.order.items[i]];
        inlining.cte_names[ephemeral->index] = choose_cte_name(&inlining, model, ephemeral);
        inlined[i].cte_name = inlining.cte_names[ephemeral->index];
        TRY(splice_references(&inlining, ephemeral, NULL, 0, &inlined[i].body, err));
    }
    return splice_references(&inlining, model, inlined, inlining.order.count, query_out, err);
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
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT * FROM ");
    sql_relation(&sql, relation);
    *query_out = sql_text_own(arena, strbuf_copy(&sql, arena));
    return OK;
}
