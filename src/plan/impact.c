/* What a column reaches: forwards over the edges of column lineage. */
#include "plan/column_lineage.h"

typedef struct Walk {
    const ColumnLineage *lineage;
    Arena *arena;
    Impact *impact;
    ImpactColumnVec reached; /* the column itself, then what is made of it, in the order it was met */
    bool *opaque, *rows;     /* a flag a model */
} Walk;

static bool names_column(const LineageSource *source, Str model, Str column) {
    return str_equal_fold(source->table, model) &&
           (str_equal_fold(source->column, column) || str_equal(source->column, LINEAGE_ANY));
}

static bool reads_column(const LineageSourceVec *sources, Str model, Str column) {
    for (size_t i = 0; i < sources->count; i++) {
        if (names_column(&sources->items[i], model, column)) {
            return true;
        }
    }
    return false;
}

static bool is_reached(const Walk *walk, const Model *model, Str column) {
    for (size_t i = 0; i < walk->reached.count; i++) {
        if (walk->reached.items[i].model == model && str_equal_fold(walk->reached.items[i].column, column)) {
            return true;
        }
    }
    return false;
}

static void reach(Walk *walk, const Model *model, Str column, const ImpactColumn *from) {
    if (!is_reached(walk, model, column)) {
        LineageSource via = {.table = from->model->name, .column = from->column};
        impact_column_vec_push(walk->arena, &walk->reached,
                               (ImpactColumn){.model = model, .column = column, .via = via});
    }
}

/* A star of a table whose columns are not known hands the column on under its own name. */
static void reach_through_star(Walk *walk, const Model *model, const ModelLineage *lineage, const ImpactColumn *from) {
    bool is_handed = !lineage->is_complete && str_vec_contains_fold(&lineage->query.open_tables, from->model->name) &&
                     !str_vec_contains_fold(&lineage->query.absent, from->column);
    if (is_handed) {
        reach(walk, model, from->column, from);
    }
}

static void visit_consumer(Walk *walk, const Model *model, const ImpactColumn *from) {
    const ModelLineage *lineage = &walk->lineage->models[model->index];
    walk->opaque[model->index] = walk->opaque[model->index] || lineage->is_opaque;
    if (reads_column(&lineage->rows, from->model->name, from->column)) {
        walk->rows[model->index] = true;
    }
    for (size_t i = 0; i < lineage->outputs.count; i++) {
        if (reads_column(&lineage->outputs.items[i].sources, from->model->name, from->column)) {
            reach(walk, model, lineage->outputs.items[i].name, from);
        }
    }
    reach_through_star(walk, model, lineage, from);
}

static int compare_columns(const void *left, const void *right) {
    const ImpactColumn *a = left, *b = right;
    if (a->model->index != b->model->index) {
        return a->model->index < b->model->index ? -1 : 1;
    }
    return str_compare(a->column, b->column);
}

static void walk_forwards(Walk *walk) {
    for (size_t i = 0; i < walk->reached.count; i++) {
        ImpactColumn from = walk->reached.items[i];
        for (size_t d = 0; d < from.model->downstreams.count; d++) {
            visit_consumer(walk, walk->lineage->project->models[from.model->downstreams.items[d]], &from);
        }
    }
    for (size_t i = 1; i < walk->reached.count; i++) {
        impact_column_vec_push(walk->arena, &walk->impact->impacted, walk->reached.items[i]);
    }
    if (walk->impact->impacted.count > 0) {
        qsort(walk->impact->impacted.items, walk->impact->impacted.count, sizeof(ImpactColumn), compare_columns);
    }
}

/* --- What is touched ---------------------------------------------------------------------------------------------- */

static bool has_touched_column(const Walk *walk, const Model *model) {
    for (size_t i = 0; i < walk->reached.count; i++) {
        if (walk->reached.items[i].model == model) {
            return true;
        }
    }
    return false;
}

/* A check whose columns stand in a text (SQL, Python, where) may look at any. */
static bool check_looks_at(const Walk *walk, const Model *model, const Check *check) {
    bool is_whole = walk->rows[model->index] || walk->opaque[model->index];
    if (is_whole || check->columns.count == 0 || check->where.size > 0) {
        return is_whole || has_touched_column(walk, model);
    }
    for (size_t i = 0; i < check->columns.count; i++) {
        if (is_reached(walk, model, check->columns.items[i])) {
            return true;
        }
    }
    return false;
}

static void add_touched(Walk *walk, Model *model) {
    Impact *impact = walk->impact;
    bool is_whole = walk->rows[model->index] || walk->opaque[model->index];
    if (walk->opaque[model->index]) {
        model_vec_push(walk->arena, &impact->opaque_consumers, model);
    }
    if (walk->rows[model->index]) {
        model_vec_push(walk->arena, &impact->row_influence, model);
    }
    if (model_is_terminal(model) && (is_whole || has_touched_column(walk, model))) {
        model_vec_push(walk->arena, &impact->terminals, model);
    }
    for (size_t i = 0; i < model->checks.count; i++) {
        if (check_looks_at(walk, model, model->checks.items[i])) {
            impact_check_vec_push(walk->arena, &impact->checks,
                                  (ImpactCheck){.model = model, .check = model->checks.items[i]});
        }
    }
}

/* --- The question ------------------------------------------------------------------------------------------------- */

static Status refuse_column(const ModelLineage *lineage, const Model *model, Str column, Arena *arena, Error *err) {
    StrVec names = {0};
    for (size_t i = 0; i < lineage->outputs.count; i++) {
        str_vec_push(arena, &names, lineage->outputs.items[i].name);
    }
    const Str *nearest = str_nearest(column, names.items, names.count);
    Str list = str_join(arena, names.items, names.count, STR(", "));
    Status status = error_set(err, ERROR_SELECTION, "model '" STR_FMT "' has no column '" STR_FMT "'; it has " STR_FMT,
                              STR_ARG(model->name), STR_ARG(column), STR_ARG(list));
    if (nearest != NULL) {
        error_hint(err, "did you mean '" STR_FMT "." STR_FMT "'?", STR_ARG(model->name), STR_ARG(*nearest));
    }
    return status;
}

static Status find_column(const ColumnLineage *lineage, Str text, Arena *arena, Impact *impact, Error *err) {
    impact->model = project_split_column(lineage->project, text, &impact->column);
    if (impact->model == NULL) {
        return error_set(err, ERROR_SELECTION, "expected <model>.<column> with a known model; got '" STR_FMT "'",
                         STR_ARG(text));
    }
    const ModelLineage *of = &lineage->models[impact->model->index];
    for (size_t i = 0; i < of->outputs.count; i++) {
        if (str_equal_fold(of->outputs.items[i].name, impact->column)) {
            impact->column = of->outputs.items[i].name;
            return OK;
        }
    }
    return of->is_complete ? refuse_column(of, impact->model, impact->column, arena, err) : OK;
}

Status impact_of(const ColumnLineage *lineage, Str text, Arena *arena, Impact *impact_out, Error *err) {
    Impact impact = {0};
    TRY(find_column(lineage, text, arena, &impact, err));
    Walk walk = {
        .lineage = lineage,
        .arena = arena,
        .impact = &impact,
        .opaque = ARENA_NEW_ARRAY(arena, bool, lineage->project->model_count),
        .rows = ARENA_NEW_ARRAY(arena, bool, lineage->project->model_count),
    };
    impact_column_vec_push(arena, &walk.reached, (ImpactColumn){.model = impact.model, .column = impact.column});
    walk_forwards(&walk);
    for (size_t i = 0; i < lineage->project->model_count; i++) {
        add_touched(&walk, lineage->project->models[i]);
    }
    *impact_out = impact;
    return OK;
}
