#include "run/bound_schemas.h"

#include "base/files.h"
#include "plan/plan_history.h"
#include "project/input_scan.h"
#include "project/model_refusal.h"
#include "run/contract.h"
#include "run/relations.h"
#include "run/source_columns.h"
#include "sql/query_engine.h"
#include "sql/sql_binder.h"
#include "sql/sql_cache.h"
#include "sql/sql_splice.h"
#include "strategy/strategy.h"

#define INLINED_TEXT_MAX ((size_t)1 << 20) /* views upon views grow without bound */

typedef enum SchemaKnowledge {
    SCHEMA_OPAQUE, /* nothing is known */
    SCHEMA_PART,   /* it has these columns, and perhaps others */
    SCHEMA_EXACT
} SchemaKnowledge;

typedef struct BoundSchema {
    SchemaKnowledge knowledge;
    DuckColumnVec columns; /* as readers of the model see them, those of its strategy among them */
} BoundSchema;

typedef struct Binding {
    Session *session;
    Plan *plan;
    Arena *arena;
    BoundSchema *schemas;   /* a model each */
    bool *is_known;         /* a flag each: its schema is found */
    const PlanTask **tasks; /* a model each; NULL: the plan leaves it alone */
    const Str *inputs;      /* an input each: project/input_scan.h */
    SqlBinder *binder;      /* NULL until a text that the cache does not know; of queries over tables */
    SqlBinder *file_binder; /* of those that may read files */
    SourceColumns *sources;
    SqlCache *cache; /* text and the columns of its tables → its columns */
    ErrorList *faults;
} Binding;

/* ---- Which models */

/* A changed model whose text is not known to be sound: no build of this very version has passed. */
static bool is_bound(const Binding *binding, const Model *model) {
    const PlanTask *task = binding->tasks[model->index];
    return model->kind == MODEL_SQL && task != NULL && task->action != TASK_REUSE &&
           binding->plan->is_modified[model->index];
}

static const Snapshot *snapshot_of(const Binding *binding, const Model *model) {
    const PlanTask *task = binding->tasks[model->index];
    if (task != NULL && task->action == TASK_REUSE) {
        return task->snapshot;
    }
    return binding->plan->is_modified[model->index] ? NULL : binding->plan->current[model->index];
}

/* The lineage that it declares is held against the columns of what it reads; an edit of it is no change of the model.
 */
static bool declares_lineage(const Model *model) {
    return model->declared_sources.count > 0;
}

/* What bound models read, and has no record of its columns, is prepared for their sake. */
static bool *find_needed(const Binding *binding) {
    const Project *project = binding->plan->project;
    bool *needed = ARENA_NEW_ARRAY(binding->arena, bool, project->model_count);
    for (size_t i = project->model_count; i-- > 0;) {
        const Model *model = project->models[i];
        needed[i] = needed[i] || is_bound(binding, model) || declares_lineage(model);
        for (size_t u = 0; needed[i] && u < model->upstreams.count; u++) {
            const Model *upstream = project->models[model->upstreams.items[u]];
            if (snapshot_of(binding, upstream) == NULL) {
                needed[upstream->index] = true;
            }
        }
    }
    return needed;
}

static bool any_bound(const Binding *binding) {
    const Project *project = binding->plan->project;
    for (size_t i = 0; i < project->model_count; i++) {
        if (is_bound(binding, project->models[i]) || declares_lineage(project->models[i])) {
            return true;
        }
    }
    return false;
}

/* ---- Columns of models that are not prepared */

static DuckColumnVec with_bookkeeping(const Binding *binding, const Model *model, const DuckColumnVec *given) {
    DuckColumnVec columns = {0};
    for (size_t i = 0; i < given->count; i++) {
        duck_column_vec_push(binding->arena, &columns, given->items[i]);
    }
    const DuckColumn *own = strategy_bookkeeping(model->strategy);
    for (; model->materialise == MATERIALISE_VIRTUAL && own != NULL && own->name.size > 0; own++) {
        duck_column_vec_push(binding->arena, &columns, *own);
    }
    return columns;
}

/* Columns that its query gave once and gives no more are still in a table that is never made anew, and a table of
 * others may have more. */
static BoundSchema recorded_schema(const Binding *binding, const Model *model, const Snapshot *snapshot) {
    AUTO(error) Error ignored = {0};
    DuckColumnVec given = {0};
    if (snapshot->columns_json.size == 0 ||
        failed(plan_recorded_columns(snapshot, binding->arena, &given, NULL, &ignored))) {
        return (BoundSchema){0};
    }
    bool keeps_columns = model_is_terminal(model) || model->strategy != STRATEGY_REPLACE;
    return (BoundSchema){.knowledge = keeps_columns ? SCHEMA_PART : SCHEMA_EXACT,
                         .columns = with_bookkeeping(binding, model, &given)};
}

/* A contract demands columns, and allows others. */
static BoundSchema contracted_schema(const Binding *binding, const Model *model) {
    DuckColumnVec columns = {0};
    for (size_t i = 0; i < model->contract.count; i++) {
        const ContractColumn *column = &model->contract.items[i];
        if (column->type.size == 0) {
            return (BoundSchema){0};
        }
        duck_column_vec_push(binding->arena, &columns, (DuckColumn){.name = column->name, .type = column->type});
    }
    return (BoundSchema){.knowledge = columns.count > 0 ? SCHEMA_PART : SCHEMA_OPAQUE,
                         .columns = with_bookkeeping(binding, model, &columns)};
}

/* ---- The tables of one query */

typedef struct QueryTables {
    SqlBoundTable *items;      /* a table of the query each */
    SchemaKnowledge knowledge; /* of the least known one */
    bool is_lasting;           /* no file is read: the same text has the same columns tomorrow */
} QueryTables;

static BoundSchema live_schema(Binding *binding, SqlRelation relation, SourceColumnsAge age) {
    const DuckColumnVec *columns = source_columns_find(binding->sources, relation, age);
    return columns == NULL ? (BoundSchema){0} : (BoundSchema){.knowledge = SCHEMA_EXACT, .columns = *columns};
}

static const BoundSchema *known_schema(Binding *binding, const Model *model);

static BoundSchema upstream_schema(Binding *binding, const Model *upstream, SourceColumnsAge age) {
    const BoundSchema *known = known_schema(binding, upstream);
    const Snapshot *snapshot = snapshot_of(binding, upstream);
    bool may_ask = age == SOURCE_LIVE && known->knowledge == SCHEMA_PART && snapshot != NULL;
    if (!may_ask) {
        return *known;
    }
    BoundSchema live = live_schema(binding, relation_of_snapshot(snapshot), age);
    return live.knowledge == SCHEMA_EXACT ? live : *known;
}

static void take_table(Binding *binding, const Model *model, size_t index, SourceColumnsAge age, QueryTables *tables) {
    const SqlTableRef *table = &model->facts->tables.items[index];
    ModelReference reference = model->references[index];
    SqlBoundTable *bound = &tables->items[index];
    if (reference.input != INPUT_NONE) {
        bound->query = binding->inputs[reference.input];
        tables->is_lasting = false;
        return;
    }
    if (table->is_file) {
        tables->is_lasting = false;
        return;
    }
    BoundSchema *schema = ARENA_NEW(binding->arena, BoundSchema);
    *schema = reference.model == MODEL_NONE
                  ? live_schema(binding, sql_table_relation(table), age)
                  : upstream_schema(binding, binding->plan->project->models[reference.model], age);
    bound->columns = &schema->columns;
    if (schema->knowledge < tables->knowledge) {
        tables->knowledge = schema->knowledge;
    }
}

static QueryTables take_tables(Binding *binding, const Model *model, SourceColumnsAge age) {
    const SqlFacts *facts = model->facts;
    QueryTables tables = {
        .items = ARENA_NEW_ARRAY(binding->arena, SqlBoundTable, facts->tables.count),
        .knowledge = SCHEMA_EXACT,
        .is_lasting = facts->file_readers.count == 0,
    };
    for (size_t i = 0; i < facts->tables.count; i++) {
        take_table(binding, model, i, age, &tables);
    }
    return tables;
}

/* ---- Preparing */

static Status open_binder(const Binding *binding, bool reads_files, SqlBinder **binder_out, Error *err) {
    const Project *project = binding->plan->project;
    if (reads_files) {
        return sql_binder_open(project->config->root, binder_out, err);
    }
    DuckParser *parser = NULL;
    TRY(query_reader_parser(project->queries, &parser, err));
    return sql_binder_open_beside(parser, binder_out, err);
}

static Status find_binder(Binding *binding, bool reads_files, SqlBinder **binder_out, Error *err) {
    SqlBinder **binder = reads_files ? &binding->file_binder : &binding->binder;
    if (*binder == NULL) {
        TRY(open_binder(binding, reads_files, binder, err));
        const ProjectConfig *config = binding->plan->project->config;
        const EngineConfig *engine = project_config_engine(config, config->default_engine);
        for (size_t i = 0; i < engine->settings.count; i++) {
            sql_binder_set(*binder, engine->settings.items[i].name, engine->settings.items[i].value);
        }
    }
    *binder_out = *binder;
    return OK;
}

static Status describe(Binding *binding, const Model *model, const QueryTables *tables, DuckColumnVec *columns_out,
                       Error *err) {
    SqlText spliced;
    SqlBinder *binder = NULL;
    TRY(find_binder(binding, !tables->is_lasting, &binder, err));
    TRY(sql_binder_splice(binder, &model->query, model->facts, tables->items, binding->arena, &spliced, err));
    return sql_binder_describe(binder, &spliced, binding->arena, columns_out, err);
}

static ContentHash cache_key(const Binding *binding, const Model *model, const QueryTables *tables) {
    StrVec parts = {0};
    str_vec_push(binding->arena, &parts, model->query.text);
    for (size_t i = 0; i < model->facts->tables.count; i++) {
        str_vec_push(binding->arena, &parts, columns_to_json(tables->items[i].columns, binding->arena));
    }
    return content_hash_parts(parts.items, parts.count);
}

static bool recall(Binding *binding, ContentHash key, DuckColumnVec *columns_out) {
    AUTO(error) Error ignored = {0};
    Str bytes = sql_cache_find(binding->cache, key);
    return bytes.size > 0 && !failed(columns_from_json(bytes, binding->arena, columns_out, &ignored));
}

static Status describe_cached(Binding *binding, const Model *model, const QueryTables *tables,
                              DuckColumnVec *columns_out, Error *err) {
    if (!tables->is_lasting) {
        return describe(binding, model, tables, columns_out, err);
    }
    ContentHash key = cache_key(binding, model, tables);
    if (!recall(binding, key, columns_out)) {
        TRY(describe(binding, model, tables, columns_out, err));
        sql_cache_put(binding->cache, key, columns_to_json(columns_out, binding->arena));
    }
    return OK;
}

/* ---- A failure, looked at again */

static bool is_query_only(const Model *model) {
    return model->kind == MODEL_SQL &&
           (model->materialise == MATERIALISE_EPHEMERAL || model->materialise == MATERIALISE_VIEW);
}

/* A NULL of a view has no type yet, and an empty table of the view's columns gives it one. So queries of views stand
 * here themselves. Empty: too long. */
static Status inline_views(Binding *binding, const Model *model, QueryTables *tables, Error *err) {
    for (size_t i = 0; i < model->facts->tables.count; i++) {
        size_t index = model->references[i].model;
        const Model *upstream = index == MODEL_NONE ? NULL : binding->plan->project->models[index];
        if (upstream == NULL || !is_query_only(upstream)) {
            continue;
        }
        SqlText spliced;
        SqlBinder *binder = NULL;
        QueryTables own = take_tables(binding, upstream, SOURCE_LIVE);
        TRY(inline_views(binding, upstream, &own, err));
        TRY(find_binder(binding, true, &binder, err));
        TRY(sql_binder_splice(binder, &upstream->query, upstream->facts, own.items, binding->arena, &spliced, err));
        SqlText body = sql_text_as_body(&spliced, binding->arena);
        if (body.text.size > INLINED_TEXT_MAX) {
            return error_set(err, ERROR_EXECUTION, "views upon views grow beyond what is looked at");
        }
        tables->items[i] = (SqlBoundTable){.query = str_format(binding->arena, "(" STR_FMT "\n)", STR_ARG(body.text))};
        tables->is_lasting = false;
    }
    return OK;
}

/* `err` is of an attempt with what was remembered; OK: it holds no more. */
static Status describe_again(Binding *binding, const Model *model, QueryTables *tables, DuckColumnVec *columns_out,
                             Error *err) {
    error_clear(err);
    *tables = take_tables(binding, model, SOURCE_LIVE);
    TRY(inline_views(binding, model, tables, err));
    return describe(binding, model, tables, columns_out, err);
}

static bool is_proven(Binding *binding, const QueryTables *tables, const Error *err) {
    SqlBindVerdict verdict = sql_bind_verdict(err);
    if (tables->knowledge != SCHEMA_EXACT || source_columns_closed_reason(binding->sources).size > 0) {
        return false;
    }
    if (verdict == SQL_BIND_UNKNOWN_FUNCTION) {
        return source_columns_has_function(binding->sources, sql_bind_subject(err)) == FUNCTION_ABSENT;
    }
    return verdict == SQL_BIND_WRONG;
}

/* Of the columns of the query's tables; else what the engine would take, which knows those of CTEs and views too. */
static Str nearest_column(const Binding *binding, const QueryTables *tables, size_t count, Str name, Str advice) {
    StrVec names = {0};
    for (size_t i = 0; i < count; i++) {
        const DuckColumnVec *columns = tables->items[i].columns;
        for (size_t c = 0; columns != NULL && c < columns->count; c++) {
            str_vec_push(binding->arena, &names, columns->items[c].name);
        }
    }
    const Str *nearest = str_nearest(name, names.items, names.count);
    return nearest != NULL ? *nearest : sql_bind_candidate(advice);
}

static void report(Binding *binding, const Model *model, const QueryTables *tables, const Error *engine_error) {
    AUTO(error) Error err = {0};
    Str subject = sql_bind_verdict(engine_error) == SQL_BIND_WRONG ? sql_bind_subject(engine_error) : STR_EMPTY;
    Str nearest = STR_EMPTY;
    if (subject.size > 0) {
        nearest = nearest_column(binding, tables, model->facts->tables.count, subject, engine_error->hint);
    }
    SourceSpan place = engine_error->place.file.size > 0 ? engine_error->place : model->place;
    if (nearest.size > 0) {
        (void)error_set_at(&err, ERROR_COMPILATION, place,
                           "model '" STR_FMT "': there is no column \"" STR_FMT "\"; did you mean \"" STR_FMT "\"?",
                           STR_ARG(model->name), STR_ARG(subject), STR_ARG(nearest));
    } else {
        (void)error_set_at(&err, ERROR_COMPILATION, place, "model '" STR_FMT "': " STR_FMT, STR_ARG(model->name),
                           STR_ARG(engine_error->message));
        if (engine_error->hint.size > 0) {
            error_hint(&err, STR_FMT, STR_ARG(engine_error->hint));
        }
    }
    error_code(&err, STR("query.unbound"));
    error_list_take(binding->faults, &err);
}

/* ---- One model */

static BoundSchema schema_of_query(const Binding *binding, const Model *model, SchemaKnowledge knowledge,
                                   const DuckColumnVec *given) {
    const PlanTask *task = binding->tasks[model->index];
    bool keeps_columns = model_is_terminal(model) || (task != NULL && task->category == CATEGORY_FORWARD_ONLY);
    return (BoundSchema){.knowledge = keeps_columns ? SCHEMA_PART : knowledge,
                         .columns = with_bookkeeping(binding, model, given)};
}

static bool keeps_contract(Binding *binding, const Model *model, const DuckColumnVec *given) {
    AUTO(error) Error err = {0};
    if (!model->has_contract || !failed(contract_check(model, given, &err))) {
        return true;
    }
    error_list_take(binding->faults, &err);
    return false;
}

/* Looking at /dev/stdin would take from it what the build is to read. */
static bool reads_device(const Model *model) {
    return str_find(model->query.text, STR("/dev/")) != STR_NOT_FOUND;
}

static BoundSchema bind_query(Binding *binding, const Model *model) {
    AUTO(error) Error err = {0};
    DuckColumnVec given = {0};
    bool is_told = is_bound(binding, model);
    QueryTables tables = take_tables(binding, model, SOURCE_REMEMBERED);
    if (tables.knowledge == SCHEMA_OPAQUE || reads_device(model)) {
        return (BoundSchema){0};
    }
    Status status = describe_cached(binding, model, &tables, &given, &err);
    if (failed(status) && sql_bind_verdict(&err) != SQL_BIND_UNDECIDED) {
        status = describe_again(binding, model, &tables, &given, &err);
    }
    if (failed(status)) {
        if (is_told && is_proven(binding, &tables, &err)) {
            report(binding, model, &tables, &err);
        }
        return (BoundSchema){0};
    }
    if (is_told && tables.knowledge == SCHEMA_EXACT && !keeps_contract(binding, model, &given)) {
        return (BoundSchema){0};
    }
    return schema_of_query(binding, model, tables.knowledge, &given);
}

/* In dependency order, so that a chain of models takes no more of the stack than one. */
static const BoundSchema *known_schema(Binding *binding, const Model *model) {
    BoundSchema *schema = &binding->schemas[model->index];
    if (binding->is_known[model->index]) {
        return schema;
    }
    binding->is_known[model->index] = true;
    const Snapshot *snapshot = snapshot_of(binding, model);
    if (snapshot != NULL) {
        *schema = recorded_schema(binding, model, snapshot);
    } else {
        *schema = model->kind == MODEL_PYTHON ? contracted_schema(binding, model) : bind_query(binding, model);
    }
    return schema;
}

/* ---- Declared lineage */

static void refuse_declared(Binding *binding, const Model *model, const DeclaredSource *source, const Model *upstream,
                            const DuckColumnVec *columns) {
    AUTO(error) Error err = {0};
    StrVec names = {0};
    for (size_t i = 0; i < columns->count; i++) {
        str_vec_push(binding->arena, &names, columns->items[i].name);
    }
    Str list = str_join(binding->arena, names.items, names.count, STR(", "));
    const Str *nearest = str_nearest(source->column, names.items, names.count);
    (void)error_set_at(&err, ERROR_COMPILATION, model_key_place(model, STR("lineage")),
                       "model '" STR_FMT "': lineage of '" STR_FMT "' names '" STR_FMT "." STR_FMT
                       "', which is no column; it has " STR_FMT,
                       STR_ARG(model->name), STR_ARG(source->output), STR_ARG(upstream->name), STR_ARG(source->column),
                       STR_ARG(list));
    if (nearest != NULL) {
        error_hint(&err, "did you mean '" STR_FMT "." STR_FMT "'?", STR_ARG(upstream->name), STR_ARG(*nearest));
    }
    error_code(&err, STR("lineage.unknown_column"));
    error_list_take(binding->faults, &err);
}

/* What was remembered may be old, so live columns are asked for before a refusal. */
static void check_declared_source(Binding *binding, const Model *model, const DeclaredSource *source) {
    const Model *upstream = binding->plan->project->models[source->model];
    BoundSchema schema = upstream_schema(binding, upstream, SOURCE_REMEMBERED);
    if (duck_column_find(&schema.columns, source->column) == NULL) {
        schema = upstream_schema(binding, upstream, SOURCE_LIVE);
    }
    if (schema.knowledge == SCHEMA_EXACT && duck_column_find(&schema.columns, source->column) == NULL) {
        refuse_declared(binding, model, source, upstream, &schema.columns);
    }
}

static void check_declared(Binding *binding, const Model *model) {
    for (size_t i = 0; i < model->declared_sources.count; i++) {
        check_declared_source(binding, model, &model->declared_sources.items[i]);
    }
}

/* ---- All */

static void bind_all(Binding *binding) {
    const Project *project = binding->plan->project;
    const bool *needed = find_needed(binding);
    for (size_t i = 0; i < project->model_count; i++) {
        if (needed[i]) {
            (void)known_schema(binding, project->models[i]);
            check_declared(binding, project->models[i]);
        }
    }
}

static void warn_closed(const Binding *binding) {
    Str reason = source_columns_closed_reason(binding->sources);
    if (reason.size > 0) {
        str_vec_push(binding->plan->arena, &binding->plan->warnings,
                     str_format(binding->plan->arena,
                                "columns of tables outside of the project were not looked at: " STR_FMT,
                                STR_ARG(reason)));
    }
}

static const PlanTask **tasks_of_models(const Plan *plan, Arena *arena) {
    const PlanTask **tasks = ARENA_NEW_ARRAY(arena, const PlanTask *, plan->project->model_count);
    for (size_t i = 0; i < plan->tasks.count; i++) {
        tasks[plan->tasks.items[i].model->index] = &plan->tasks.items[i];
    }
    return tasks;
}

Status plan_bind(Session *session, Plan *plan, bool read_only, ErrorList *faults) {
    Arena *arena = plan->arena;
    const ProjectConfig *config = plan->project->config;
    Binding binding = {
        .session = session,
        .plan = plan,
        .arena = arena,
        .schemas = ARENA_NEW_ARRAY(arena, BoundSchema, plan->project->model_count),
        .is_known = ARENA_NEW_ARRAY(arena, bool, plan->project->model_count),
        .tasks = tasks_of_models(plan, arena),
        .faults = faults,
    };
    if (!any_bound(&binding)) {
        return OK;
    }
    size_t faults_before = faults->count;
    AUTO(arena) Arena *scratch = arena_create();
    Str path = session->options.no_cache ? STR_EMPTY : path_join(scratch, config->cache_path, STR("schemas.bin"));
    binding.inputs = input_scans(config, clock_now_us(), arena);
    binding.sources = source_columns_open(session, read_only);
    binding.cache = sql_cache_open(path, STR(QUERY_READER_VERSION ", comparisons"));
    bind_all(&binding);
    warn_closed(&binding);
    sql_binder_close(binding.binder);
    sql_binder_close(binding.file_binder);
    sql_cache_close(binding.cache);
    source_columns_close(binding.sources);
    return faults->count > faults_before ? FAILED : OK;
}
