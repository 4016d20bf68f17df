#include "run/forward_only.h"

#include "project/graph.h"
#include "run/relations.h"

bool plan_goes_on_from_copies(const Plan *plan) {
    for (size_t i = 0; i < plan->tasks.count; i++) {
        if (plan->tasks.items[i].history != NULL) {
            return true;
        }
    }
    return false;
}

Status forward_only_missing(const Model *model, SqlRelation seed, Error *err) {
    (void)error_set_at(err, ERROR_PLAN, model->place,
                       "model '" STR_FMT "' has no history to go on from: its table " STR_FMT "." STR_FMT
                       " is not in the warehouse",
                       STR_ARG(model->name), STR_ARG(seed.schema), STR_ARG(seed.name));
    error_code(err, STR("forward_only.missing"));
    error_hint(err, "without --forward-only the table is built anew");
    return FAILED;
}

/* ---- New keys over old rows. */

/* "(1, a) x2, (7, NULL) x2" */
static Str sample_text(const DuckRows *rows, size_t key_count, Arena *arena) {
    AUTO(strbuf) StrBuf text = {0};
    for (size_t row = 0; row < rows->row_count; row++) {
        strbuf_text(&text, row > 0 ? ", (" : "(");
        for (size_t i = 0; i < key_count; i++) {
            const DuckCell *cell = duck_cell(rows, row, i);
            strbuf_format(&text, "%s" STR_FMT, i > 0 ? ", " : "",
                          STR_ARG(cell->kind == DUCK_CELL_NULL ? STR("NULL") : cell->text));
        }
        strbuf_char(&text, ')');
        if (rows->columns.count > key_count) {
            strbuf_format(&text, " x" STR_FMT, STR_ARG(duck_cell(rows, row, key_count)->text));
        }
    }
    return strbuf_copy(&text, arena);
}

static Status refuse_key(const Model *model, const char *what, Str sample, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    Str key = str_join(scratch, model->key.items, model->key.count, STR(", "));
    (void)error_set_at(err, ERROR_PLAN, model->place,
                       "model '" STR_FMT "' cannot go on from a copy of its history: the new key (" STR_FMT
                       ") %s in the "
                       "rows that are there, e.g. " STR_FMT,
                       STR_ARG(model->name), STR_ARG(key), what, STR_ARG(sample));
    error_code(err, STR("forward_only.key"));
    error_detail(err, STR("model"), model->name);
    error_detail(err, STR("key"), key);
    error_detail(err, STR("sample"), sample);
    error_hint(err, "keep the old key, or apply without --forward-only, which builds the table anew");
    return FAILED;
}

static Status check_key(const Model *model, SqlRelation table, EngineConnection *connection, Arena *arena, Error *err) {
    DuckRows rows = {0};
    SqlText nulls = history_nulls_query(model, table, arena);
    TRY(engine_query(connection, &nulls, arena, &rows, err));
    if (rows.row_count > 0) {
        return refuse_key(model, "is NULL", sample_text(&rows, model->key.count, arena), err);
    }
    SqlText repeats = history_repeats_query(model, table, arena);
    TRY(engine_query(connection, &repeats, arena, &rows, err));
    if (rows.row_count > 0) {
        return refuse_key(model, "is not unique", sample_text(&rows, model->key.count, arena), err);
    }
    return OK;
}

/* ---- One model. */

static Status check_history(const PlanTask *task, SqlRelation seed, const DuckColumnVec *given,
                            EngineConnection *connection, Arena *arena, DuckColumnVec *stored_out, Error *err) {
    bool exists = false;
    TRY(engine_relation_columns(connection, seed, arena, &exists, stored_out, err));
    if (!exists) {
        return forward_only_missing(task->model, seed, err);
    }
    TRY(history_check_columns(task->history, task->model, stored_out, given, err));
    bool has_other_key = history_has_other_key(task->history, task->model);
    return has_other_key ? check_key(task->model, seed, connection, arena, err) : OK;
}

Status forward_only_check_seed(const PlanTask *task, SqlRelation seed, const DuckColumnVec *given,
                               EngineConnection *connection, Arena *arena, Error *err) {
    DuckColumnVec stored = {0};
    return check_history(task, seed, given, connection, arena, &stored, err);
}

/* ---- All of a plan, before anything is built. A model that a forward-only one reads and that will be built too has no
 * table yet: an empty one of the same columns stands in for it, in a transaction that is rolled back. */

typedef struct Shapes {
    const Plan *plan;
    RelationMap map;
    EngineConnection *connection;
    Arena *arena;
    bool *is_needed; /* a model each: forward-only, or read by one that is needed */
} Shapes;

static void find_needed(Shapes *shapes) {
    const Project *project = shapes->plan->project;
    shapes->is_needed = ARENA_NEW_ARRAY(shapes->arena, bool, project->model_count);
    for (size_t i = 0; i < shapes->plan->tasks.count; i++) {
        const PlanTask *task = &shapes->plan->tasks.items[i];
        shapes->is_needed[task->model->index] = task->history != NULL;
    }
    for (size_t i = project->model_count; i-- > 0;) { /* models are in dependency order */
        const IndexVec *upstreams = &project->models[i]->upstreams;
        for (size_t u = 0; shapes->is_needed[i] && u < upstreams->count; u++) {
            shapes->is_needed[upstreams->items[u]] = true;
        }
    }
}

/* False: not to be known yet. A query that does not bind is told by the build, where the error has its place. */
static bool describe(const Shapes *shapes, const Model *model, DuckColumnVec *columns_out) {
    AUTO(error) Error ignored = {0};
    error_init(&ignored);
    SqlText query;
    return model->kind == MODEL_SQL &&
           !failed(render_model_query(&shapes->map, model, shapes->arena, &query, &ignored)) &&
           !failed(engine_describe(shapes->connection, &query, shapes->arena, columns_out, &ignored));
}

static Status stand_in(Shapes *shapes, const Model *model, const DuckColumnVec *columns, Error *err) {
    Str name = str_format(shapes->arena, "interlace_shape_%zu", model->index);
    return engine_create_temporary(shapes->connection, name, columns, &shapes->map.items[model->index], err);
}

static Status check_task(Shapes *shapes, const PlanTask *task, Error *err) {
    const Model *model = task->model;
    DuckColumnVec given = {0}, stored = {0};
    bool is_known = describe(shapes, model, &given);
    if (task->history != NULL) {
        SqlRelation seed = relation_of_snapshot(shapes->plan->current[model->index]);
        TRY(check_history(task, seed, &given, shapes->connection, shapes->arena, &stored, err));
    }
    for (size_t i = 0; i < stored.count; i++) { /* columns that are gone from the query stay in the table */
        if (duck_column_find(&given, stored.items[i].name) == NULL) {
            duck_column_vec_push(shapes->arena, &given, stored.items[i]);
        }
    }
    if (is_known && given.count > 0) {
        return stand_in(shapes, model, &given, err);
    }
    shapes->map.items[model->index] = (SqlRelation){0};
    return OK;
}

static Status check_tasks(Shapes *shapes, Error *err) {
    for (size_t i = 0; i < shapes->plan->tasks.count; i++) {
        const PlanTask *task = &shapes->plan->tasks.items[i];
        bool is_built = task->action != TASK_REUSE && model_has_relation(task->model);
        if (is_built && shapes->is_needed[task->model->index]) {
            TRY(check_task(shapes, task, err));
        }
    }
    return OK;
}

Status forward_only_check(const Plan *plan, EngineConnection *connection, Error *err) {
    if (!plan_goes_on_from_copies(plan)) {
        return OK;
    }
    AUTO(arena) Arena *arena = arena_create();
    Shapes shapes = {.plan = plan, .connection = connection, .arena = arena};
    shapes.map = relation_map_from_plan(plan, arena);
    find_needed(&shapes);
    TRY(engine_begin(connection, err));
    Status status = check_tasks(&shapes, err);
    engine_rollback(connection);
    return status;
}
