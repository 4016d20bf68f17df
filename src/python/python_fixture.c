#include "python/python_fixture.h"

#include "python/process_spawn.h"

#include <poll.h>
#include <stdio.h>

/* ---- Callbacks of the runtime */

static void take_log(void *context, Str model, Str level, Str message) {
    PythonFixture *f = context;
    (void)model;
    pthread_mutex_lock(&f->lock);
    strbuf_format(&f->log, STR_FMT ": " STR_FMT "\n", STR_ARG(level), STR_ARG(message));
    pthread_mutex_unlock(&f->lock);
}

static FixtureInput *find_input(PythonFixture *f, const PythonParameter *parameter) {
    for (size_t i = 0; i < f->input_count; i++) {
        if (str_equal(str_from(f->inputs[i].name), parameter->name)) {
            return &f->inputs[i];
        }
    }
    return NULL;
}

/* interrupt_input may come from another thread meanwhile. */
static void set_connection(PythonFixture *f, FixtureInput *input, DuckConnection *connection) {
    pthread_mutex_lock(&f->lock);
    input->connection = connection;
    pthread_mutex_unlock(&f->lock);
}

static Status open_input(void *context, const PythonParameter *parameter, const PythonPart *part,
                         DuckStream **stream_out, Error *err) {
    (void)part;
    PythonFixture *f = context;
    FixtureInput *input = find_input(f, parameter);
    if (input == NULL || input->sql == NULL) {
        *stream_out = NULL;
        return OK;
    }
    DuckConnection *connection;
    TRY(duck_connection_open(f->database, &connection, err));
    set_connection(f, input, connection);
    Status status = duck_stream_open(connection, str_from(input->sql), stream_out, err);
    if (failed(status)) {
        set_connection(f, input, NULL);
        duck_connection_close(connection);
    }
    return status;
}

static void close_input(void *context, const PythonParameter *parameter, DuckStream *stream) {
    FixtureInput *input = find_input(context, parameter);
    DuckConnection *connection = input->connection;
    set_connection(context, input, NULL);
    duck_stream_close(stream);
    duck_connection_close(connection);
}

static void interrupt_input(void *context, const PythonParameter *parameter, DuckStream *stream) {
    (void)stream;
    PythonFixture *f = context;
    FixtureInput *input = find_input(f, parameter);
    pthread_mutex_lock(&f->lock);
    if (input->connection != NULL) {
        duck_interrupt(input->connection);
    }
    pthread_mutex_unlock(&f->lock);
}

static Status create_output(PythonFixture *f, struct ArrowSchema *schema, Error *err) {
    DuckColumnVec columns = {0};
    TRY(duck_arrow_columns(f->connection, schema, f->arena, &columns, err));
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CREATE OR REPLACE TABLE output (");
    for (size_t i = 0; i < columns.count; i++) {
        strbuf_format(&sql, "%s\"" STR_FMT "\" " STR_FMT, i == 0 ? "" : ", ", STR_ARG(columns.items[i].name),
                      STR_ARG(columns.items[i].type));
    }
    strbuf_text(&sql, ")");
    TRY(duck_execute(f->connection, strbuf_str(&sql), NULL, err));
    return duck_appender_open(f->connection, STR("main"), STR("output"), schema, &f->appender, err);
}

static Status begin_output(void *context, struct ArrowSchema *schema, Error *err) {
    PythonFixture *f = context;
    f->begin_count++;
    return f->only_counts ? OK : create_output(f, schema, err);
}

static Status append_output(void *context, struct ArrowArray *array, Error *err) {
    PythonFixture *f = context;
    f->batch_count++;
    f->row_count += array->length;
    if (!f->only_counts && !f->append_fails) {
        return duck_appender_append(f->appender, array, err);
    }
    array->release(array);
    if (f->append_fails && f->batch_count == 3) {
        f->failed_us = clock_monotonic_us();
        return error_set(err, ERROR_EXECUTION, "the disk is full");
    }
    return OK;
}

static bool is_cancelled(void *context) {
    PythonFixture *f = context;
    if (f->cancel_at == NULL || str_find(strbuf_str(&f->log), str_from(f->cancel_at)) == STR_NOT_FOUND) {
        return false;
    }
    f->cancelled_us = f->cancelled_us == 0 ? clock_monotonic_us() : f->cancelled_us;
    return true;
}

/* ---- Life */

static void open_runtime(PythonFixture *f, size_t workers_max, bool no_cache) {
    PythonOptions options = {.config = &f->config,
                             .workers_max = workers_max,
                             .no_cache = no_cache,
                             .log = {.write = take_log, .context = f}};
    assert_done(python_runtime_create(&options, &f->runtime, &f->err), &f->err);
}

int python_fixture_open(void **state) {
    PythonFixture *f = heap_alloc_zeroed(1, sizeof *f);
    f->arena = arena_create();
    error_init(&f->err);
    pthread_mutex_init(&f->lock, NULL);
    f->root = test_directory(f->arena);
    const char *python = getenv("INTERLACE_TEST_PYTHON");
    f->config = (ProjectConfig){
        .root = f->root,
        .name = STR("test"),
        .cache_path = path_join(f->arena, f->root, STR(".interlace/cache")),
        .python_interpreter = path_absolute(f->arena, str_from(python != NULL ? python : ".deps/venv/bin/python")),
    };
    if (getenv("INTERLACE_SDK_PATH") == NULL) {
        setenv("INTERLACE_SDK_PATH", path_absolute(f->arena, STR("python")).ptr, 1);
    }
    open_runtime(f, 1, false);
    *state = f;
    return 0;
}

int python_fixture_close(void **state) {
    PythonFixture *f = *state;
    python_runtime_destroy(f->runtime);
    duck_appender_close(f->appender);
    duck_connection_close(f->connection);
    duck_database_close(f->database);
    test_directory_remove(f->arena, f->root);
    strbuf_deinit(&f->log);
    error_deinit(&f->err);
    pthread_mutex_destroy(&f->lock);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

void fixture_restart(PythonFixture *f, size_t workers_max, bool no_cache) {
    python_runtime_destroy(f->runtime);
    open_runtime(f, workers_max, no_cache);
}

/* ---- Project */

void fixture_write(PythonFixture *f, const char *path, const char *text) {
    Str absolute = path_join(f->arena, f->root, str_from(path));
    assert_done(directory_create_all(path_directory(absolute), &f->err), &f->err);
    assert_done(file_write_atomic(absolute, str_from(text), false, &f->err), &f->err);
}

void fixture_input(PythonFixture *f, const char *name, const char *sql) {
    assert_true(f->input_count < FIXTURE_INPUTS_MAX);
    f->inputs[f->input_count++] = (FixtureInput){.name = name, .sql = sql};
}

static void need_database(PythonFixture *f) {
    if (f->database == NULL) {
        DuckOpenOptions options = {.path = STR(":memory:"), .root = f->root};
        assert_done(duck_database_open(&options, &f->database, &f->err), &f->err);
        assert_done(duck_connection_open(f->database, &f->connection, &f->err), &f->err);
    }
}

void fixture_sql(PythonFixture *f, const char *sql) {
    need_database(f);
    assert_done(duck_execute(f->connection, str_from(sql), NULL, &f->err), &f->err);
}

Str fixture_query(PythonFixture *f, const char *sql) {
    need_database(f);
    DuckRows rows;
    assert_done(duck_query(f->connection, str_from(sql), f->arena, &rows, &f->err), &f->err);
    AUTO(strbuf) StrBuf text = {0};
    for (size_t row = 0; row < rows.row_count; row++) {
        for (size_t column = 0; column < rows.columns.count; column++) {
            const DuckCell *cell = duck_cell(&rows, row, column);
            strbuf_text(&text, column == 0 ? (row == 0 ? "" : ";") : "|");
            strbuf_append(&text, cell->kind == DUCK_CELL_NULL ? STR("NULL") : cell->text);
        }
    }
    return strbuf_copy(&text, f->arena);
}

/* ---- Running */

static ParameterKind kind_of(const char *name) {
    static const struct {
        const char *name;
        ParameterKind kind;
    } reserved[] = {{"this", PARAMETER_THIS}, {"cursor", PARAMETER_CURSOR}, {"ctx", PARAMETER_CTX}};
    for (size_t i = 0; i < COUNT_OF(reserved); i++) {
        if (strcmp(reserved[i].name, name) == 0) {
            return reserved[i].kind;
        }
    }
    return PARAMETER_UPSTREAM;
}

/* A file of its own for each source, so that a warm worker serves them all; an edited one would need another worker. */
static Str write_source(PythonFixture *f, const char *source) {
    f->source_count += f->edits_one_file ? 0 : 1;
    Str path = f->source_count <= 1 ? STR("models/m.py") : str_format(f->arena, "models/m%zu.py", f->source_count);
    fixture_write(f, path.ptr, source);
    return path;
}

Model *fixture_model(PythonFixture *f, const char *source) {
    PythonDefinition *python = ARENA_NEW(f->arena, PythonDefinition);
    python->module_path = write_source(f, source);
    python->function = STR("m");
    for (size_t i = 0; i < f->input_count; i++) {
        PythonParameter parameter = {.name = str_from(f->inputs[i].name), .kind = kind_of(f->inputs[i].name)};
        python_parameter_vec_push(f->arena, &python->parameters, parameter);
    }
    Model *model = ARENA_NEW(f->arena, Model);
    *model = (Model){.name = STR("m"), .kind = MODEL_PYTHON, .python = python};
    return model;
}

PythonTask fixture_task(PythonFixture *f, const Model *model) {
    return (PythonTask){
        .model = model,
        .environment = STR("prod"),
        .run_id = STR("run-1"),
        .inputs = {.open = open_input, .close = close_input, .interrupt = interrupt_input, .context = f},
        .output = {.begin = begin_output, .append = append_output, .context = f},
        .is_cancelled = is_cancelled,
        .cancel_context = f,
    };
}

static Status store_output(PythonFixture *f, Error *err) {
    int64_t stored = 0;
    TRY(duck_appender_finish(f->appender, &stored, err));
    assert_int_equal(stored, f->rows);
    return duck_commit(f->connection, err);
}

Status fixture_run_task(PythonFixture *f, const PythonTask *task) {
    need_database(f);
    error_clear(&f->err);
    f->begin_count = f->batch_count = f->row_count = 0;
    Error begin_err;
    error_init(&begin_err);
    assert_done(duck_begin(f->connection, &begin_err), &begin_err);
    Status status = python_run_model(f->runtime, task, &f->rows, &f->err);
    if (!failed(status) && f->appender != NULL) {
        status = store_output(f, &f->err);
    }
    duck_appender_close(f->appender);
    f->appender = NULL;
    duck_rollback(f->connection);
    return status;
}

Status fixture_run(PythonFixture *f, const char *source) {
    PythonTask task = fixture_task(f, fixture_model(f, source));
    return fixture_run_task(f, &task);
}

PythonVerdict fixture_check(PythonFixture *f, const char *source) {
    need_database(f);
    Model *model = fixture_model(f, source);
    Check check = {
        .type = CHECK_PYTHON, .name = STR("c"), .module_path = model->python->module_path, .function = STR("c")};
    PythonTask task = fixture_task(f, model);
    PythonVerdict verdict = {0};
    error_clear(&f->err);
    assert_done(python_run_check(f->runtime, &check, &task, f->arena, &verdict, &f->err), &f->err);
    return verdict;
}

void expect_contains(Str text, const char *part, const char *file, int line) {
    if (str_find(text, str_from(part)) == STR_NOT_FOUND) {
        (void)fprintf(stderr, "  expected to hold: %s\n  text:             " STR_FMT "\n", part, STR_ARG(text));
        _fail(file, line);
    }
}

/* A process that was killed a moment ago may need one more to be gone. */
static bool is_alive(pid_t pid, int wait_ms) {
    AUTO(error) Error err;
    error_init(&err);
    AUTO(fd) int watch = -1;
    if (failed(process_watch(pid, &watch, &err))) {
        return false;
    }
    struct pollfd wait = {.fd = watch, .events = POLLIN};
    return poll(&wait, 1, wait_ms) == 0;
}

size_t fixture_living_processes(PythonFixture *f, int wait_ms) {
    size_t count = 0;
    Str left = strbuf_str(&f->log);
    for (size_t at; (at = str_find(left, STR("pid "))) != STR_NOT_FOUND;) {
        left = str_skip(left, at + 4);
        int64_t pid;
        if (str_to_int64(str_slice(left, 0, str_find_char(left, '\n')), &pid) && is_alive((pid_t)pid, wait_ms)) {
            count++;
        }
    }
    return count;
}
