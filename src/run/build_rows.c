#include "plan/delivery.h"
#include "run/build_step.h"
#include "run/contract.h"
#include "run/python_part.h"

/* ---- The columns, before a row is written. */

/* The same version may drift: what becomes of its columns then is the strategy's matter. */
static Status accept_delivery(Build *build, Error *err) {
    const Model *model = build->task->model;
    const Snapshot *last = build->target.last_delivery;
    if (last == NULL || str_equal(last->fingerprint, model->fingerprint)) {
        return OK;
    }
    ChangeCategory category;
    Str reason;
    TRY(delivery_classify(model, &build->columns, last, build->arena, &category, &reason, err));
    return category == CATEGORY_BREAKING ? delivery_refuse(model, reason, err) : OK;
}

static Status accept_columns(Build *build, Error *err) {
    const Model *model = build->task->model;
    TRY(contract_check(model, &build->columns, err));
    if (!model_is_terminal(model)) {
        build->columns_json = columns_to_json(&build->columns, build->arena);
        return OK;
    }
    build->columns_json = delivery_columns_json(model, &build->columns, build->arena);
    return accept_delivery(build, err);
}

/* ---- SQL models. */

static Status prepare_sql(Build *build, Error *err) {
    const Model *model = build->task->model;
    TRY(render_model_query(build->context->relations, model, build->arena, &build->query, err));
    TRY(engine_describe(build->connection, &build->query, build->arena, &build->columns, err));
    TRY(engine_check_columns(build->context->engine, &build->columns, err));
    build->prepared_query = build->query;
    TRY(accept_columns(build, err));
    return build_prepare_render(build, err);
}

static Status write_sql(Build *build, Error *err) {
    if (build->staged == NULL) {
        TRY(build_render(build, err));
    }
    return build_run_strategy(build, build->staged, err);
}

static Str stage_name(const Build *build) {
    const Model *model = build->task->model;
    return str_format(build->arena, STR_FMT "__" STR_FMT "__stage", STR_ARG(model->base), STR_ARG(model->fingerprint));
}

static Status stage_sql(Build *build, SqlRelation *stage_out, Error *err) {
    Str condition;
    SqlRelation stage = {.catalog = STR("temp"), .schema = STR("main"), .name = stage_name(build)};
    TRY(build_render(build, err));
    TRY(build_window_condition(build, &condition, err));
    AUTO(strbuf) StrBuf head = {0};
    strbuf_text(&head, "CREATE OR REPLACE TEMP TABLE ");
    sql_relation(&head, stage);
    strbuf_text(&head, " AS SELECT * FROM (");
    const SqlText parts[] = {
        sql_text_own(build->arena, strbuf_copy(&head, build->arena)), build->query,
        sql_text_own(build->arena, str_format(build->arena, "\n) AS source WHERE " STR_FMT, STR_ARG(condition)))};
    SqlText create = sql_text_concat(build->arena, parts, COUNT_OF(parts));
    TRY(engine_execute(build->connection, &create, NULL, err));
    *stage_out = stage;
    return OK;
}

/* ---- Python models: rows come as Arrow batches and go to the appender of the transaction's connection: straight into
 * the relation, or into a stage from which the strategy reads. */

/* A stream of an upstream occupies a connection of its own until it is closed. */
typedef struct OpenInput {
    const PythonParameter *parameter;
    DuckStream *stream; /* NULL while it opens */
    EngineConnection *connection;
} OpenInput;
DEFINE_VEC(OpenInputVec, open_input_vec, OpenInput)

typedef struct PythonBuild {
    Build *build;
    pthread_mutex_t lock;
    Arena *arena;        /* guarded by lock */
    OpenInputVec inputs; /* guarded by lock */
    DuckAppender *appender;
    bool has_output; /* the function gave a table, be it an empty one */
    bool is_staged;
    int64_t rows;
    SqlRelation stage;
} PythonBuild;

static Status upstream_query(const Build *build, EngineConnection *connection, const Model *upstream, Arena *arena,
                             SqlText *query_out, Error *err) {
    TRY(render_model_rows(build->context->relations, upstream, arena, query_out, err));
    if (build->window == NULL) {
        return OK;
    }
    return window_scan_cut_rows(connection, build->task->model, upstream, *build->window, build->context->zone, arena,
                                query_out, err);
}

/* What a parameter reads; an empty text: there is nothing yet. */
static Status input_query(const PythonBuild *python, EngineConnection *connection, const PythonParameter *parameter,
                          Arena *arena, SqlText *query_out, Error *err) {
    const Build *build = python->build;
    const Project *project = build->context->relations->project;
    if (parameter->kind == PARAMETER_UPSTREAM) {
        return upstream_query(build, connection, project->models[parameter->model], arena, query_out, err);
    }
    SqlRelation previous = build->target.previous;
    bool is_asked_anew = parameter->kind == PARAMETER_CURSOR && build->context->options->verb == WINDOW_RESTATE;
    if (previous.name.size == 0 || is_asked_anew) {
        *query_out = (SqlText){0};
        return OK;
    }
    if (parameter->kind == PARAMETER_THIS) {
        *query_out = sql_text_all_rows(arena, previous);
        return OK;
    }
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT max(");
    sql_identifier(&sql, build->task->model->cursor);
    strbuf_text(&sql, ") FROM ");
    sql_relation(&sql, previous);
    *query_out = sql_text_own(arena, strbuf_copy(&sql, arena));
    return OK;
}

static void add_input(PythonBuild *python, const PythonParameter *parameter, EngineConnection *connection) {
    pthread_mutex_lock(&python->lock);
    open_input_vec_push(python->arena, &python->inputs, (OpenInput){.parameter = parameter, .connection = connection});
    pthread_mutex_unlock(&python->lock);
}

static void set_stream(PythonBuild *python, const PythonParameter *parameter, DuckStream *stream) {
    pthread_mutex_lock(&python->lock);
    for (size_t i = 0; i < python->inputs.count; i++) {
        if (python->inputs.items[i].parameter == parameter) {
            python->inputs.items[i].stream = stream;
        }
    }
    pthread_mutex_unlock(&python->lock);
}

static EngineConnection *take_input(PythonBuild *python, const PythonParameter *parameter) {
    EngineConnection *connection = NULL;
    pthread_mutex_lock(&python->lock);
    for (size_t i = 0; i < python->inputs.count; i++) {
        if (python->inputs.items[i].parameter == parameter) {
            connection = python->inputs.items[i].connection;
            python->inputs.items[i] = python->inputs.items[--python->inputs.count];
            break;
        }
    }
    pthread_mutex_unlock(&python->lock);
    return connection;
}

static Status name_cursor(const Build *build, const PythonParameter *parameter, Error *err) {
    if (parameter->kind == PARAMETER_CURSOR && err->kind != ERROR_INTERRUPTED) {
        return error_wrap(err, "reading the cursor column '" STR_FMT "' of what was built before",
                          STR_ARG(build->task->model->cursor));
    }
    return FAILED;
}

static Status open_input(void *context, const PythonParameter *parameter, const PythonPart *part,
                         DuckStream **stream_out, Error *err) {
    PythonBuild *python = context;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(engine_connection) EngineConnection *connection = NULL;
    TRY(engine_connect(python->build->context->engine, &connection, err));
    SqlText query;
    TRY(input_query(python, connection, parameter, arena, &query, err));
    if (query.text.size == 0) {
        *stream_out = NULL;
        return OK;
    }
    TRY(python_part_query(connection, parameter->name, part, arena, &query, err));
    add_input(python, parameter, connection);
    if (failed(duck_stream_open(engine_connection_duck(connection), query.text, stream_out, err))) {
        (void)take_input(python, parameter);
        return name_cursor(python->build, parameter, err);
    }
    set_stream(python, parameter, *stream_out);
    (void)TAKE(connection);
    return OK;
}

static void close_input(void *context, const PythonParameter *parameter, DuckStream *stream) {
    duck_stream_close(stream);
    engine_release(take_input(context, parameter));
}

static void interrupt_input(void *context, const PythonParameter *parameter, DuckStream *stream) {
    PythonBuild *python = context;
    (void)stream;
    pthread_mutex_lock(&python->lock);
    for (size_t i = 0; i < python->inputs.count; i++) {
        if (python->inputs.items[i].parameter == parameter) {
            duck_interrupt(engine_connection_duck(python->inputs.items[i].connection));
        }
    }
    pthread_mutex_unlock(&python->lock);
}

/* The first batch's schema is the table's: contract first, then the table, empty. */
static Status begin_output(void *context, struct ArrowSchema *schema, Error *err) {
    PythonBuild *python = context;
    Build *build = python->build;
    const Model *model = build->task->model;
    DuckConnection *connection = engine_connection_duck(build->connection);
    build->columns = (DuckColumnVec){0};
    TRY(duck_arrow_columns(connection, schema, build->arena, &build->columns, err));
    TRY(engine_check_columns(build->context->engine, &build->columns, err));
    TRY(accept_columns(build, err));

    python->is_staged = model->strategy != STRATEGY_REPLACE || !model_has_relation(model);
    if (python->is_staged) {
        TRY(engine_create_temporary(build->connection, stage_name(build), &build->columns, &python->stage, err));
        return duck_appender_open(connection, STR_EMPTY, python->stage.name, schema, &python->appender, err);
    }
    TRY(build_create_for_appender(build, err));
    SqlRelation relation = build->target.relation;
    return duck_appender_open(connection, relation.schema, relation.name, schema, &python->appender, err);
}

static Status append_output(void *context, struct ArrowArray *array, Error *err) {
    PythonBuild *python = context;
    return duck_appender_append(python->appender, array, err);
}

/* Nothing fetched means nothing new, where what is there stays (spec 01 §8.4). */
static bool may_yield_nothing(const Build *build) {
    StrategyKind strategy = build->task->model->strategy;
    bool keeps_rows = strategy == STRATEGY_MERGE || strategy == STRATEGY_HASH_MERGE || strategy == STRATEGY_INCREMENTAL;
    return keeps_rows && (build->target.is_there || build->target.seed.name.size > 0);
}

static Status call_function(PythonBuild *python, Error *err) {
    Build *build = python->build;
    BuildContext *context = build->context;
    PythonWindow window = {.grain = build->task->model->interval};
    if (build->window != NULL) {
        window.start = build->window->start;
        window.end = build->window->end;
    }
    PythonRegistrations registrations = {.arena = build->arena};
    PythonTask task = {
        .model = build->task->model,
        .environment = context->plan->environment,
        .run_id = context->session->run_id,
        .attempt = build->result->attempts,
        .registrations = &registrations,
        .now = build->now,
        .window = build->window == NULL ? NULL : &window,
        .may_yield_nothing = may_yield_nothing(build),
        .inputs = {.open = open_input, .close = close_input, .interrupt = interrupt_input, .context = python},
        .output = {.begin = begin_output, .append = append_output, .context = python},
        .is_cancelled = context->is_stopping,
        .cancel_context = context->stop_context,
    };
    int64_t sent_rows = 0;
    TRY(python_run_model(context->session->python, &task, &sent_rows, err));
    if (registrations.models != NULL) {
        registration_vec_push(build->arena, &build->result->registrations, registrations.models);
    }
    python->has_output = python->appender != NULL;
    if (!python->has_output) {
        return OK;
    }
    TRY(duck_appender_finish(python->appender, &python->rows, err));
    if (python->rows != sent_rows) {
        return error_set(err, ERROR_INTERNAL, "%lld rows arrived of %lld", (long long)python->rows,
                         (long long)sent_rows);
    }
    return OK;
}

static Status run_function(PythonBuild *python, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    python->arena = arena;
    pthread_mutex_init(&python->lock, NULL);
    Status status = call_function(python, err);
    duck_appender_close(TAKE(python->appender));
    assert(python->inputs.count == 0); /* the runtime closes what it opened */
    pthread_mutex_destroy(&python->lock);
    return status;
}

/* Nothing new, and the strategy has nothing to do. */
static Status write_nothing(Build *build, Error *err) {
    build->rows = (RowCounts){0};
    return build->target.seed.name.size > 0 ? build_copy_seed(build, err) : OK;
}

static Status write_staged_python(Build *build, Error *err) {
    if (build->staged->name.size == 0) {
        return write_nothing(build, err);
    }
    SqlText rows = sql_text_all_rows(build->arena, *build->staged);
    TRY(engine_describe(build->connection, &rows, build->arena, &build->columns, err));
    TRY(accept_columns(build, err));
    return build_run_strategy(build, build->staged, err);
}

static Status write_python(Build *build, Error *err) {
    if (build->staged != NULL) {
        return write_staged_python(build, err);
    }
    PythonBuild python = {.build = build};
    TRY(run_function(&python, err));
    if (!python.has_output) {
        return write_nothing(build, err);
    }
    if (python.is_staged) {
        TRY(build_run_strategy(build, &python.stage, err));
        return engine_drop_temporary(build->connection, python.stage, err);
    }
    build->rows.inserted = python.rows;
    return OK;
}

static Status stage_python(Build *build, SqlRelation *stage_out, Error *err) {
    PythonBuild python = {.build = build};
    TRY(run_function(&python, err));
    assert(!python.has_output || python.is_staged);
    *stage_out = python.stage;
    return OK;
}

/* ---- Either kind. */

Status build_prepare(Build *build, Error *err) {
    return build->task->model->kind == MODEL_SQL ? prepare_sql(build, err) : OK;
}

Status build_write_rows(Build *build, Error *err) {
    return build->task->model->kind == MODEL_SQL ? write_sql(build, err) : write_python(build, err);
}

Status build_stage_rows(Build *build, SqlRelation *stage_out, Error *err) {
    assert(build->window != NULL);
    return build->task->model->kind == MODEL_SQL ? stage_sql(build, stage_out, err)
                                                 : stage_python(build, stage_out, err);
}
