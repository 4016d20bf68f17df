#include "run/build_rows.h"

#include "run/contract.h"
#include "strategy/strategy.h"

/* `rows_out` gets the rows that the statements wrote. */
static Status run_statements(Build *build, const StrategyStatementVec *statements, int64_t *rows_out, Error *err) {
    int64_t rows = 0;
    for (size_t i = 0; i < statements->count; i++) {
        int64_t changed = 0;
        TRY(engine_execute(build->connection, &statements->items[i].sql, &changed, err));
        rows += changed;
    }
    *rows_out = rows;
    return OK;
}

/* ---- SQL models. */

static Status prepare_sql(Build *build, Error *err) {
    const Model *model = build->task->model;
    TRY(render_model_query(build->context->relations, model, build->arena, &build->query, err));
    DuckColumnVec columns = {0};
    TRY(engine_describe(build->connection, &build->query, build->arena, &columns, err));
    build->columns_json = columns_to_json(&columns, build->arena);
    return contract_check(model, &columns, err);
}

static StrategyInput strategy_input(const Build *build) {
    return (StrategyInput){
        .materialise = build->task->model->materialise,
        .target = build->relation,
        .capabilities = engine_capabilities(build->context->engine),
    };
}

static Status write_sql(Build *build, Error *err) {
    StrategyInput input = strategy_input(build);
    input.source = build->query;
    StrategyStatementVec statements = {0};
    TRY(strategy_write(build->task->model->strategy, &input, build->arena, &statements, NULL, err));
    return run_statements(build, &statements, &build->rows, err);
}

/* ---- Python models: rows come as Arrow batches and go to the appender of the transaction's connection. */

/* A stream of an upstream occupies a connection of its own until it is closed. */
typedef struct OpenInput {
    DuckStream *stream;
    EngineConnection *connection;
} OpenInput;
DEFINE_VEC(OpenInputVec, open_input_vec, OpenInput)

typedef struct PythonBuild {
    Build *build;
    pthread_mutex_t lock;
    Arena *arena;        /* guarded by lock */
    OpenInputVec inputs; /* guarded by lock */
    DuckAppender *appender;
} PythonBuild;

static Status open_stream(PythonBuild *python, const PythonParameter *parameter, EngineConnection *connection,
                          DuckStream **stream_out, Error *err) {
    const RelationMap *relations = python->build->context->relations;
    AUTO(arena) Arena *arena = arena_create();
    SqlText query = {0};
    TRY(render_model_rows(relations, relations->project->models[parameter->model], arena, &query, err));
    return duck_stream_open(engine_connection_duck(connection), query.text, stream_out, err);
}

static Status open_input(void *context, const PythonParameter *parameter, DuckStream **stream_out, Error *err) {
    PythonBuild *python = context;
    AUTO(engine_connection) EngineConnection *connection = NULL;
    TRY(engine_connect(python->build->context->engine, &connection, err));
    TRY(open_stream(python, parameter, connection, stream_out, err));
    pthread_mutex_lock(&python->lock);
    open_input_vec_push(python->arena, &python->inputs, (OpenInput){*stream_out, TAKE(connection)});
    pthread_mutex_unlock(&python->lock);
    return OK;
}

static EngineConnection *take_connection(PythonBuild *python, const DuckStream *stream) {
    EngineConnection *connection = NULL;
    pthread_mutex_lock(&python->lock);
    for (size_t i = 0; i < python->inputs.count; i++) {
        if (python->inputs.items[i].stream == stream) {
            connection = python->inputs.items[i].connection;
            python->inputs.items[i] = python->inputs.items[--python->inputs.count];
            break;
        }
    }
    pthread_mutex_unlock(&python->lock);
    return connection;
}

static void close_input(void *context, const PythonParameter *parameter, DuckStream *stream) {
    (void)parameter;
    EngineConnection *connection = take_connection(context, stream);
    duck_stream_close(stream);
    engine_release(connection);
}

/* The first batch's schema is the table's: contract first, then the table, empty. */
static Status begin_output(void *context, struct ArrowSchema *schema, Error *err) {
    PythonBuild *python = context;
    Build *build = python->build;
    DuckConnection *connection = engine_connection_duck(build->connection);
    DuckColumnVec columns = {0};
    TRY(duck_arrow_columns(connection, schema, build->arena, &columns, err));
    TRY(contract_check(build->task->model, &columns, err));
    build->columns_json = columns_to_json(&columns, build->arena);

    StrategyInput input = strategy_input(build);
    input.columns = &columns;
    StrategyStatementVec statements = {0};
    TRY(strategy_write(build->task->model->strategy, &input, build->arena, &statements, NULL, err));
    TRY(run_statements(build, &statements, &build->rows, err));
    return duck_appender_open(connection, build->relation.schema, build->relation.name, schema, &python->appender, err);
}

static Status append_output(void *context, struct ArrowArray *array, Error *err) {
    PythonBuild *python = context;
    return duck_appender_append(python->appender, array, err);
}

static Status run_function(PythonBuild *python, Error *err) {
    Build *build = python->build;
    BuildContext *context = build->context;
    PythonTask task = {
        .model = build->task->model,
        .environment = context->plan->environment,
        .inputs = {.open = open_input, .close = close_input, .context = python},
        .output = {.begin = begin_output, .append = append_output, .context = python},
        .is_cancelled = context->is_stopping,
        .cancel_context = context->stop_context,
    };
    int64_t sent_rows = 0;
    TRY(python_run_model(context->session->python, &task, &sent_rows, err));
    TRY(duck_appender_finish(python->appender, &build->rows, err));
    if (build->rows != sent_rows) {
        return error_set(err, ERROR_INTERNAL, "%lld rows arrived of %lld", (long long)build->rows,
                         (long long)sent_rows);
    }
    return OK;
}

static Status write_python(Build *build, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    PythonBuild python = {.build = build, .arena = arena};
    pthread_mutex_init(&python.lock, NULL);
    Status status = run_function(&python, err);
    duck_appender_close(python.appender);
    assert(python.inputs.count == 0); /* the runtime closes what it opened */
    pthread_mutex_destroy(&python.lock);
    return status;
}

/* ---- Either kind. */

Status build_prepare(Build *build, Error *err) {
    return build->task->model->kind == MODEL_SQL ? prepare_sql(build, err) : OK;
}

Status build_write_rows(Build *build, Error *err) {
    return build->task->model->kind == MODEL_SQL ? write_sql(build, err) : write_python(build, err);
}
