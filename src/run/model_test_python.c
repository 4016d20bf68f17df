/* A selected Python model of a test: its function over the fixtures, its rows into a table. */
#include "run/model_test_parts.h"

#include "run/cancel.h"
#include "run/python_part.h"

/* A stream occupies a connection of its own. One stream of a parameter is open at a time, each touches its own slot. */
typedef struct PythonRun {
    TestBuild *build;
    const Model *model;
    EngineConnection **connections; /* a parameter each */
    DuckAppender *appender;
} PythonRun;

static size_t slot_of(const PythonRun *run, const PythonParameter *parameter) {
    const PythonParameterVec *parameters = &run->model->python->parameters;
    assert(parameter >= parameters->items);
    assert(parameter < parameters->items + parameters->count);
    return (size_t)(parameter - parameters->items);
}

/* `this` and `cursor` have nothing to give: a test is a first build. */
static Status open_input(void *context, const PythonParameter *parameter, const PythonPart *part,
                         DuckStream **stream_out, Error *err) {
    PythonRun *run = context;
    if (parameter->kind != PARAMETER_UPSTREAM) {
        *stream_out = NULL;
        return OK;
    }
    AUTO(arena) Arena *arena = arena_create();
    AUTO(engine_connection) EngineConnection *connection = NULL;
    TRY(engine_connect(run->build->engine, &connection, err));
    SqlText query;
    TRY(render_model_rows(&run->build->relations, run->build->project.models[parameter->model], arena, &query, err));
    TRY(python_part_query(connection, parameter->name, part, arena, &query, err));
    TRY(duck_stream_open(engine_connection_duck(connection), query.text, stream_out, err));
    run->connections[slot_of(run, parameter)] = TAKE(connection);
    return OK;
}

static void close_input(void *context, const PythonParameter *parameter, DuckStream *stream) {
    PythonRun *run = context;
    duck_stream_close(stream);
    if (parameter->kind == PARAMETER_UPSTREAM) {
        engine_release(TAKE(run->connections[slot_of(run, parameter)]));
    }
}

static Status begin_output(void *context, struct ArrowSchema *schema, Error *err) {
    PythonRun *run = context;
    const TestBuild *build = run->build;
    DuckConnection *connection = engine_connection_duck(build->connection);
    DuckColumnVec columns = {0};
    TRY(duck_arrow_columns(connection, schema, build->arena, &columns, err));
    SqlRelation table = build->relations.items[run->model->index];
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CREATE TABLE ");
    sql_relation(&sql, table);
    for (size_t i = 0; i < columns.count; i++) {
        strbuf_text(&sql, i == 0 ? " (" : ", ");
        sql_identifier(&sql, columns.items[i].name);
        strbuf_format(&sql, " " STR_FMT, STR_ARG(columns.items[i].type));
    }
    strbuf_text(&sql, ")");
    TRY(duck_execute(connection, strbuf_str(&sql), NULL, err));
    return duck_appender_open(connection, table.schema, table.name, schema, &run->appender, err);
}

static Status append_output(void *context, struct ArrowArray *array, Error *err) {
    PythonRun *run = context;
    return duck_appender_append(run->appender, array, err);
}

static bool is_cancelled(void *context) {
    (void)context;
    return cancel_requested();
}

static Status call_function(PythonRun *run, Error *err) {
    TestBuild *build = run->build;
    PythonTask task = {
        .model = run->model,
        .environment = STR("test"),
        .run_id = build->session->run_id,
        .now = build->options->has_now ? build->options->now : 0,
        .inputs = {.open = open_input, .close = close_input, .context = run},
        .output = {.begin = begin_output, .append = append_output, .context = run},
        .is_cancelled = is_cancelled,
    };
    int64_t sent_rows = 0, rows = 0;
    TRY(engine_begin(build->connection, err));
    TRY(python_run_model(build->session->python, &task, &sent_rows, err));
    TRY(duck_appender_finish(run->appender, &rows, err));
    return OK;
}

Status test_build_python(TestBuild *build, const Model *model, Error *err) {
    PythonRun run = {.build = build, .model = model};
    run.connections = ARENA_NEW_ARRAY(build->arena, EngineConnection *, model->python->parameters.count + 1);
    Status status = call_function(&run, err);
    duck_appender_close(TAKE(run.appender));
    if (failed(status)) {
        engine_rollback(build->connection);
        return FAILED;
    }
    return engine_commit(build->connection, err);
}
