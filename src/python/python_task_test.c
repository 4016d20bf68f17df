/* What a run tells a model besides rows, and what a model may say besides rows: window, context, connections, nothing
 * new, further models. */
#include "python/python_fixture.h"

#include "python/frame.h"

#define US_PER_HOUR INT64_C(3600000000)

/* `v` of the only row. */
static Str value_of(PythonFixture *f, const PythonTask *task) {
    assert_done(fixture_run_task(f, task), &f->err);
    return fixture_query(f, "SELECT v FROM output");
}

/* ---- Parameters */

static Model *model_with(PythonFixture *f, const char *source, ParameterKind kind, const char *name) {
    Model *model = fixture_model(f, source);
    PythonDefinition *python = ARENA_NEW(f->arena, PythonDefinition);
    *python = *model->python;
    PythonParameter parameter = {.name = str_from(name), .kind = kind};
    python_parameter_vec_push(f->arena, &python->parameters, parameter);
    model->python = python;
    return model;
}

static void test_01_8_2_a_window_is_wall_time(void **state) {
    PythonFixture *f = *state;
    Model *model = model_with(f,
                              HEAD "def m(*, window):\n"
                                   "    if window is None: return pa.table({'v': ['none']})\n"
                                   "    assert window.start.tzinfo is None\n"
                                   "    return pa.table({'v': [f'{window.start} {window.end} {window.grain}']})\n",
                              PARAMETER_WINDOW, "window");
    PythonTask task = fixture_task(f, model);
    assert_str(value_of(f, &task), "none", "built whole");
    PythonWindow window = {
        .start = 30 * 24 * US_PER_HOUR, .end = 30 * 24 * US_PER_HOUR + 6 * US_PER_HOUR, .grain = STR("6h")};
    task.window = &window;
    assert_str(value_of(f, &task), "1970-01-31 00:00:00 1970-01-31 06:00:00 6h", "window");
    window = (PythonWindow){.start = WALL_MIN, .end = WALL_MAX, .grain = STR("1d")};
    assert_str(value_of(f, &task), "0001-01-01 00:00:00 9999-12-31 23:59:59.999999 1d", "all of time");
}

static void test_10_3_ctx_tells_about_the_run(void **state) {
    PythonFixture *f = *state;
    Model *model =
        model_with(f,
                   HEAD "def m(*, ctx):\n"
                        "    ctx.log.warning('half')\n"
                        "    return pa.table({'v': [repr((ctx.model, ctx.environment, ctx.run_id, ctx.attempt,\n"
                        "        ctx.now.isoformat(), ctx.window, ctx.vars, ctx.connections))]})\n",
                   PARAMETER_CTX, "ctx");
    PythonTask task = fixture_task(f, model);
    task.now = 5 * US_PER_HOUR;
    task.attempt = 2;
    assert_str(value_of(f, &task), "('m', 'prod', 'run-1', 2, '1970-01-01T05:00:00+00:00', None, {}, {})", "ctx");
    assert_contains(strbuf_str(&f->log), "warning: half");
    task.now = 0;
    assert_int_equal(str_find(value_of(f, &task), STR("1970")), STR_NOT_FOUND);
}

static void ctx_can_be_imported(void **state) {
    PythonFixture *f = *state;
    assert_runs(f, "from interlace import ctx\n" HEAD
                   "def m(): return pa.table({'v': [f'{ctx.model} {ctx.run_id} {ctx.is_cancelled()}']})\n");
    assert_str(fixture_query(f, "SELECT v FROM output"), "m run-1 False", "ctx");
    assert_fails(f, "from interlace import ctx, model\nctx.run_id\n@model()\ndef m(): ...\n",
                 "ctx.run_id: there is a context only while a model runs");
}

static void arguments_arrive_by_name_or_place(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "base", "SELECT 1 AS id");
    fixture_input(f, "other", "SELECT 2 AS id");
    assert_runs(f, HEAD "def m(base, /, rate=5, *, other):\n"
                        "    return pa.table({'v': [f'{base.name} {other.name} {rate}']})\n");
    assert_str(fixture_query(f, "SELECT v FROM output"), "base other 5", "arguments");
}

typedef struct CursorCase {
    const char *sql, *expected;
} CursorCase;

static void test_01_8_4_cursors_of_all_types(void **state) {
    static const CursorCase cases[] = {
        {"SELECT TIMESTAMP '2026-01-02 03:04:05.678901'", "datetime.datetime(2026, 1, 2, 3, 4, 5, 678901)"},
        {"SELECT TIMESTAMP_NS '2026-01-02 03:04:05.678901234'", "datetime.datetime(2026, 1, 2, 3, 4, 5, 678901)"},
        {"SELECT TIMESTAMP_NS '1969-12-31 23:59:59.999999999'", "datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)"},
        {"SELECT DATE '2026-01-02'", "datetime.date(2026, 1, 2)"},
        {"SELECT 1.5::DOUBLE", "1.5"},
        {"SELECT 12345678901234567890123456789::HUGEINT", "Decimal('12345678901234567890123456789')"},
        {"SELECT 18446744073709551615::UBIGINT", "18446744073709551615"},
        {"SELECT 'ü'", "'ü'"},
    };
    PythonFixture *f = *state;
    fixture_input(f, "cursor", NULL);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        f->inputs[0].sql = cases[i].sql;
        assert_runs(f, HEAD "def m(cursor): return pa.table({'v': [repr(cursor)]})\n");
        assert_str(fixture_query(f, "SELECT v FROM output"), cases[i].expected, cases[i].sql);
    }
}

static void a_wrong_cursor_is_told_as_such(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "cursor", "SELECT max(nope) FROM (SELECT 1 AS id)");
    assert_fails(f, HEAD "def m(cursor): return one\n", "nope");
}

/* ---- Nothing new */

static void test_01_8_5_a_quiet_pull_is_a_success(void **state) {
    static const char *const quiet[] = {
        HEAD "def m():\n    if False: yield one\n",
        HEAD "async def m():\n    if False: yield one\n",
        HEAD "def m(): return []\n",
    };
    PythonFixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(quiet); i++) {
        PythonTask task = fixture_task(f, fixture_model(f, quiet[i]));
        f->rows = 5;
        task.may_yield_nothing = true;
        assert_done(fixture_run_task(f, &task), &f->err);
        assert_int_equal(f->rows, 0);
        assert_int_equal(f->begin_count, 0);
        task.may_yield_nothing = false;
        assert_true(failed(fixture_run_task(f, &task)));
        assert_int_equal(f->err.kind, ERROR_DEFINITION);
        assert_contains(f->err.message, "model 'm': it yielded nothing, not even a schema");
        assert_contains(f->err.hint, "yield one empty batch that has a schema");
    }
}

/* A forgotten `return` is a mistake on every build. */
static void test_01_8_5_none_is_no_quiet_pull(void **state) {
    PythonFixture *f = *state;
    PythonTask task = fixture_task(f, fixture_model(f, HEAD "def m(): pass\n"));
    task.may_yield_nothing = true;
    assert_true(failed(python_run_model(f->runtime, &task, &f->rows, &f->err)));
    assert_contains(f->err.message, "it returned None");
}

static void an_empty_batch_is_an_output_also_when_nothing_would_do(void **state) {
    PythonFixture *f = *state;
    f->only_counts = true;
    PythonTask task = fixture_task(f, fixture_model(f, HEAD "def m(): yield one.slice(0, 0)\n"));
    task.may_yield_nothing = true;
    assert_done(python_run_model(f->runtime, &task, &f->rows, &f->err), &f->err);
    assert_int_equal(f->begin_count, 1);
    assert_int_equal(f->rows, 0);
}

static void values_that_do_not_fit_name_batch_row_and_column(void **state) {
    PythonFixture *f = *state;
    assert_fails(f,
                 "from interlace import model\n"
                 "@model(columns={'id': 'BIGINT', 'at': 'DATE'})\n"
                 "def m():\n"
                 "    yield [{'id': 1}]\n"
                 "    yield [{'id': 2}, {'id': 'x'}]\n",
                 "batch 2: column 'id', row 2: a value does not fit its type int64");
    assert_int_equal(f->err.kind, ERROR_EXECUTION);
}

/* ---- Connections */

static void declare_connections(PythonFixture *f) {
    ConfigValue *connections = NULL;
    Str yaml = STR("api: {type: http, base_url: 'http://h/', headers: {Authorization: Bearer sesame-1, Accept: x}}\n"
                   "pg: {type: postgres, dsn: 'host=h password=sesame-2'}\n");
    assert_done(yaml_read(yaml, STR("interlace.yaml"), 1, f->arena, &connections, &f->err), &f->err);
    f->config.connections = connections;
    fixture_restart(f, 1, false);
}

#define CONNECT "from interlace.connections import connection\n"

static void test_01_8_6_a_connection_is_there_while_a_model_runs(void **state) {
    PythonFixture *f = *state;
    declare_connections(f);
    assert_runs(f, CONNECT HEAD
                "def m():\n"
                "    api, pg = connection('api'), connection('pg')\n"
                "    is_whole = api.headers == {'Authorization': 'Bearer ' + 'sesame-' + '1', 'Accept': 'x'}\n"
                "    is_whole &= pg.dsn == 'host=h password=' + 'sesame-' + '2'\n"
                "    return pa.table({'v': [repr((api, api.base_url, pg, is_whole))]})\n");
    assert_str(fixture_query(f, "SELECT v FROM output"),
               "(<Connection 'api' (http)>, 'http://h/', <Connection 'pg' (postgres)>, True)", "connections");
    assert_fails(f, CONNECT HEAD "def m(): connection('crm')\n",
                 "connection('crm'): no such connection; declared under connections: api, pg");
    assert_int_equal(f->err.kind, ERROR_CONFIGURATION);
    assert_fails(f, CONNECT "connection('api')\n" HEAD "def m(): return one\n",
                 "connection('api'): connections are available only while a model runs");
    assert_int_equal(f->err.kind, ERROR_CONFIGURATION);
}

static void test_10_3_secrets_of_connections_do_not_show(void **state) {
    PythonFixture *f = *state;
    declare_connections(f);
    const char *source = CONNECT HEAD "def m():\n"
                                      "    print(connection('api').headers)\n"
                                      "    __import__('interlace').log.info(connection('pg').dsn)\n"
                                      "    raise ValueError('cannot use ' + connection('pg').dsn)\n";
    assert_fails(f, source, "model 'm' failed: ValueError: cannot use host=h password=…");
    Str log = strbuf_str(&f->log);
    assert_contains(log, "stdout: {'Authorization': '…', 'Accept': 'x'}");
    assert_contains(log, "info: host=h password=…");
    assert_int_equal(str_find(log, STR("sesame")), STR_NOT_FOUND);
    assert_int_equal(str_find(f->err.traceback, STR("sesame")), STR_NOT_FOUND);
}

/* ---- The scratch database */

static void test_01_8_6_models_share_a_scratch_database(void **state) {
    PythonFixture *f = *state;
    assert_runs(f, "from interlace.runtime import session\n" HEAD "def m():\n"
                   "    with session() as db:\n"
                   "        db.execute('CREATE TABLE t AS SELECT 42 AS x')\n"
                   "        db.close()\n"
                   "    return one\n");
    assert_runs(f,
                "from interlace.runtime.scratch import session\n" HEAD "def m():\n"
                "    with session() as db:\n"
                "        row = db.execute(\"SELECT x, current_setting('threads'), current_setting('memory_limit'), \"\n"
                "            \"current_setting('temp_directory') FROM t\").fetchone()\n"
                "    return pa.table({'v': [f'{row[:3]} {row[3].split(\"/.interlace/\")[1].split(\"/\")[:2]}']})\n");
    assert_str(fixture_query(f, "SELECT v FROM output"), "(42, 2, '953.6 MiB') ['cache', 'scratch']", "scratch");
}

static void test_01_8_6_the_scratch_database_has_the_limits_of_the_engine(void **state) {
    PythonFixture *f = *state;
    EngineConfig engine = {.name = STR("default")};
    config_setting_vec_push(f->arena, &engine.settings, (ConfigSetting){STR("memory_limit"), STR("256MiB")});
    config_setting_vec_push(f->arena, &engine.settings, (ConfigSetting){STR("threads"), STR("1")});
    engine_config_vec_push(f->arena, &f->config.engines, engine);
    Model *model = fixture_model(f, "from interlace.runtime import session\n" HEAD "def m():\n"
                                    "    with session() as db, session() as same:\n"
                                    "        same.execute('SELECT 1')\n"
                                    "        row = db.execute(\"SELECT current_setting('threads'), \"\n"
                                    "            \"current_setting('memory_limit')\").fetchone()\n"
                                    "    return pa.table({'v': [str(row)]})\n");
    model->engine = STR("default");
    PythonTask task = fixture_task(f, model);
    assert_str(value_of(f, &task), "(1, '256.0 MiB')", "limits");
}

static void test_01_8_6_a_missing_duckdb_is_told_in_one_line(void **state) {
    PythonFixture *f = *state;
    assert_fails(f,
                 "from interlace.runtime import session\n" HEAD "def m():\n"
                 "    sys.modules['duckdb'] = None\n"
                 "    with session() as db: pass\n",
                 "the scratch database needs the package duckdb, which cannot be imported by ");
    assert_contains(f->err.hint, "-m pip install duckdb");
    assert_int_equal(f->err.kind, ERROR_CONFIGURATION);
}

/* ---- Models that a running one declares */

#define REGISTER "from interlace.dsl.decorators import REGISTRY, ModelDef\n" HEAD

static PythonRegistrations register_by(PythonFixture *f, const char *source) {
    PythonRegistrations registrations = {.arena = f->arena};
    PythonTask task = fixture_task(f, fixture_model(f, source));
    task.registrations = &registrations;
    f->only_counts = true;
    error_clear(&f->err);
    (void)failed(python_run_model(f->runtime, &task, &f->rows, &f->err));
    return registrations;
}

static void test_01_9_3_models_that_a_running_one_declares_are_told(void **state) {
    PythonFixture *f = *state;
    PythonRegistrations found =
        register_by(f, REGISTER "def m():\n"
                                "    for name in ['d1', 'silver.d2', 'd1']:\n"
                                "        REGISTRY.register_model(ModelDef(name=name, sql=f'SELECT 1 AS {name}',\n"
                                "            tags={'x'}))\n"
                                "    return one\n");
    assert_str(f->err.message, "", "error");
    assert_non_null(found.models);
    assert_int_equal(found.models->count, 2);
    assert_str(config_text(found.models->items[0], STR("name")), "d1", "name");
    assert_str(config_text(found.models->items[1], STR("sql")), "SELECT 1 AS silver.d2", "sql");
    assert_str(config_text(found.models->items[1], STR("file")), "models/m.py", "file");
    assert_str(config_text(found.models->items[1], STR("line")), "10", "line");
    assert_str(config_find(found.models->items[1], STR("tags"))->items[0]->text, "x", "tags");

    found = register_by(f, HEAD "def m(): return one\n");
    assert_null(found.models);
}

typedef struct RegisterCase {
    const char *definition, *message;
} RegisterCase;

static void what_a_running_model_may_not_declare(void **state) {
    static const RegisterCase cases[] = {
        {"ModelDef(name='../x', sql='SELECT 1')", "model '../x': the name of a model"},
        {"ModelDef(name='a..b', sql='SELECT 1')", "model 'a..b': the name of a model"},
        {"ModelDef(name='x', fn=print)", "model 'x': a running model can register queries alone"},
        {"ModelDef(name='x', sql='SELECT 1', ownr='me')", "did you mean 'owner'?"},
        {"ModelDef(name='x', sql=' ' * (9 << 20))", "model 'x': a run may register queries of at most 8 MiB"},
    };
    PythonFixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(strbuf) StrBuf source = {0};
        strbuf_format(&source, REGISTER "def m(): REGISTRY.register_model(%s)\n", cases[i].definition);
        PythonRegistrations found = register_by(f, strbuf_c(&source));
        assert_null(found.models);
        assert_contains(str_format(f->arena, STR_FMT " " STR_FMT, STR_ARG(f->err.message), STR_ARG(f->err.hint)),
                        cases[i].message);
    }
    fixture_input(f, "table", "SELECT 1 AS id");
    PythonVerdict verdict =
        fixture_check(f, "from interlace.dsl.decorators import REGISTRY, ModelDef\n"
                         "from interlace import check\n"
                         "@check(model='m')\n"
                         "def c(table): REGISTRY.register_model(ModelDef(name='x', sql='SELECT 1'))\n");
    assert_int_equal(verdict.status, VERDICT_ERROR);
    assert_contains(verdict.message, "only a running model may register another one");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PYTHON_TEST(test_01_8_2_a_window_is_wall_time),
        PYTHON_TEST(test_10_3_ctx_tells_about_the_run),
        PYTHON_TEST(ctx_can_be_imported),
        PYTHON_TEST(arguments_arrive_by_name_or_place),
        PYTHON_TEST(test_01_8_4_cursors_of_all_types),
        PYTHON_TEST(a_wrong_cursor_is_told_as_such),
        PYTHON_TEST(test_01_8_5_a_quiet_pull_is_a_success),
        PYTHON_TEST(test_01_8_5_none_is_no_quiet_pull),
        PYTHON_TEST(an_empty_batch_is_an_output_also_when_nothing_would_do),
        PYTHON_TEST(values_that_do_not_fit_name_batch_row_and_column),
        PYTHON_TEST(test_01_8_6_a_connection_is_there_while_a_model_runs),
        PYTHON_TEST(test_10_3_secrets_of_connections_do_not_show),
        PYTHON_TEST(test_01_8_6_models_share_a_scratch_database),
        PYTHON_TEST(test_01_8_6_the_scratch_database_has_the_limits_of_the_engine),
        PYTHON_TEST(test_01_8_6_a_missing_duckdb_is_told_in_one_line),
        PYTHON_TEST(test_01_9_3_models_that_a_running_one_declares_are_told),
        PYTHON_TEST(what_a_running_model_may_not_declare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
