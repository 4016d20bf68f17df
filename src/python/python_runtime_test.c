/* Models of tiny functions, from the engine through a worker and back: parameters, what may be returned, what is told.
 */
#include "python/python_fixture.h"
#include "python_sdk_zip.h"

#include <unistd.h>

static void assert_output(PythonFixture *f, const char *sql, const char *expected) {
    assert_str(fixture_query(f, sql), expected, sql);
}

/* ---- Rows */

static void rows_of_a_function_arrive(void **state) {
    PythonFixture *f = *state;
    assert_runs(f, HEAD "def m(): return pa.table({'id': [1, 2, 3]})\n");
    assert_output(f, "SELECT sum(id), count(*) FROM output", "6|3");
}

static void rows_of_an_upstream_pass_through(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "orders", "SELECT range AS id, 'x' || range AS name FROM range(100000)");
    assert_runs(f, HEAD "def m(orders):\n"
                        "    for batch in orders.reader():\n"
                        "        print('batch', batch.num_rows)\n"
                        "        yield batch\n");
    assert_output(f, "SELECT count(*), sum(id), max(name) FROM output", "100000|4999950000|x99999");
    assert_contains(strbuf_str(&f->log), "stdout: batch");
}

static void test_01_8_3_a_generator_reads_a_second_upstream_late(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "base", "SELECT range AS id FROM range(50000)");
    fixture_input(f, "other", "SELECT 50000 + range AS id FROM range(70000)");
    assert_runs(f, HEAD "def m(base, other):\n"
                        "    yield from base.reader()\n"
                        "    yield from other.reader()\n");
    assert_output(f, "SELECT count(*), count(DISTINCT id), max(id) FROM output", "120000|120000|119999");
}

static void an_upstream_that_is_read_in_part_or_not_at_all_is_given_up(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "base", "SELECT range AS id FROM range(100000000)");
    fixture_input(f, "other", "SELECT 1 / 0");
    assert_runs(f, HEAD "def m(base, other): return next(iter(base.reader())).slice(0, 2)\n");
    assert_output(f, "SELECT count(*) FROM output", "2");
}

static void an_empty_upstream_has_a_schema(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "base", "SELECT 1 AS id, 'x' AS name WHERE false");
    assert_runs(f, HEAD "def m(base):\n    print(base.schema.names)\n    return base.table()\n");
    assert_contains(strbuf_str(&f->log), "stdout: ['id', 'name']");
    assert_output(f, "SELECT count(*) FROM output", "0");
}

static void values_of_all_types_come_back_as_they_went(void **state) {
    PythonFixture *f = *state;
    fixture_sql(
        f, "CREATE TABLE source AS SELECT unnest([true, NULL]) AS b, 1::TINYINT AS i1, 2::SMALLINT AS i2, 3::INTEGER "
           "AS i4, 4::BIGINT AS i8, 5::UTINYINT AS u1, 6::USMALLINT AS u2, 7::UINTEGER AS u4, 8::UBIGINT AS u8, "
           "12345678901234567890123456789::HUGEINT AS h, 1.5::FLOAT AS f4, 'nan'::DOUBLE AS f8, "
           "12345.67::DECIMAL(9,2) AS d, 'ü€😀' AS s, '\\x00\\xFF'::BLOB AS bin, DATE '2026-02-28' AS dt, "
           "TIME '12:34:56.789' AS t, TIMESTAMP '2026-01-02 03:04:05.678901' AS ts, "
           "TIMESTAMP_NS '2026-01-02 03:04:05.678901234' AS tsn, TIMESTAMPTZ '2026-01-02 03:04:05+02' AS tz, "
           "INTERVAL '1 month 2 days 3 seconds' AS iv, [1, NULL, 3] AS l, [[1], [], NULL] AS ll, "
           "{'a': 1, 'b': 'x'} AS st, MAP {'k': 1, 'l': 2} AS mp, array_value(1, 2, 3) AS ar, NULL::VARCHAR AS n, "
           "uuid() AS uu");
    fixture_input(f, "source", "SELECT * FROM source");
    assert_runs(f, HEAD "def m(source): return source.table()\n");
    assert_output(f,
                  "SELECT count(*) FROM (SELECT * REPLACE (uu::VARCHAR AS uu) FROM source EXCEPT ALL "
                  "SELECT * REPLACE (uu::VARCHAR AS uu) FROM output)",
                  "0");
    assert_output(f, "SELECT count(*) FROM output", "2");
}

static void threads_of_a_model_may_read_upstreams_side_by_side(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "a", "SELECT range AS id FROM range(10000)");
    fixture_input(f, "b", "SELECT range AS id FROM range(20000)");
    fixture_input(f, "c", "SELECT range AS id FROM range(30000)");
    assert_runs(f, "from concurrent.futures import ThreadPoolExecutor\n" HEAD "def m(a, b, c):\n"
                   "    with ThreadPoolExecutor() as pool:\n"
                   "        tables = list(pool.map(lambda handle: handle.table(), [a, b, c]))\n"
                   "    return pa.table({'rows': [table.num_rows for table in tables]})\n");
    assert_output(f, "SELECT list(rows) FROM output", "[10000, 20000, 30000]");
}

/* ---- Parameters */

static void cursor_and_this_of_a_first_build_are_none(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "cursor", NULL);
    fixture_input(f, "this", NULL);
    assert_runs(f, HEAD "def m(cursor, this): return pa.table({'v': [str((cursor, this))]})\n");
    assert_output(f, "SELECT v FROM output", "(None, None)");
}

typedef struct CursorCase {
    const char *sql, *expected;
} CursorCase;

static void test_10_5_the_cursor_keeps_its_type_and_value(void **state) {
    static const CursorCase cases[] = {
        {"SELECT TIMESTAMPTZ '2026-01-02 03:04:05.678901+00'",
         "datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=zoneinfo.ZoneInfo(key='UTC'))"},
        {"SELECT 12.30::DECIMAL(9,2)", "Decimal('12.30')"},
        {"SELECT 'x''y'", "\"x'y\""},
        {"SELECT 20::BIGINT", "20"},
        {"SELECT NULL::BIGINT", "None"},
        {"SELECT 1 WHERE false", "None"},
    };
    PythonFixture *f = *state;
    fixture_sql(f, "SET GLOBAL TimeZone = 'UTC'");
    fixture_input(f, "cursor", NULL);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        f->inputs[0].sql = cases[i].sql;
        assert_runs(f, HEAD "def m(cursor): return pa.table({'v': [repr(cursor)]})\n");
        assert_str(fixture_query(f, "SELECT v FROM output"), cases[i].expected, cases[i].sql);
    }
}

static void this_gives_the_rows_of_before(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "this", "SELECT range AS id FROM range(3)");
    assert_runs(f, HEAD "def m(this):\n"
                        "    rows = this.table()\n"
                        "    return pa.concat_tables([rows, pa.table({'id': [rows.num_rows]})])\n");
    assert_output(f, "SELECT count(*), max(id) FROM output", "4|3");
}

static void ctx_tells_about_the_run(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "ctx", NULL);
    assert_runs(f,
                HEAD "def m(*, ctx):\n"
                     "    ctx.logger.info('half %d', 50)\n"
                     "    return pa.table({'v': [f'{ctx.model} {ctx.environment} {ctx.run} {ctx.is_cancelled()}']})\n");
    assert_output(f, "SELECT v FROM output", "m prod run-1 False");
    assert_contains(strbuf_str(&f->log), "info: half 50");
}

static void variables_of_the_project_have_their_types(void **state) {
    PythonFixture *f = *state;
    var_config_vec_push(f->arena, &f->config.vars,
                        (VarConfig){.name = STR("region"), .type = VAR_STRING, .value = STR("EU")});
    var_config_vec_push(f->arena, &f->config.vars,
                        (VarConfig){.name = STR("rate"), .type = VAR_FLOAT, .value = STR("1.5")});
    var_config_vec_push(f->arena, &f->config.vars,
                        (VarConfig){.name = STR("since"), .type = VAR_DATE, .value = STR("2026-01-02")});
    assert_runs(f, "from interlace import var\n" HEAD
                   "def m(): return pa.table({'v': [repr((var('region'), var('rate'), var('since')))]})\n");
    assert_output(f, "SELECT v FROM output", "('EU', 1.5, datetime.date(2026, 1, 2))");
    assert_fails(f, "from interlace import var\n" HEAD "def m(): return var('nope')\n",
                 "no such variable; declared under vars: rate, region, since");
}

/* ---- What is refused, and how it is told */

typedef struct ReturnCase {
    const char *body, *message;
    ErrorKind kind;
} ReturnCase;

static const ReturnCase wrong_returns[] = {
    {"def m(): pass\n", "model 'm': it returned None; wanted is a pyarrow.Table", ERROR_DEFINITION},
    {"def m(): return {'id': [1]}\n", "it returned a dict", ERROR_DEFINITION},
    {"def m(): return 'rows'\n", "it returned a str", ERROR_DEFINITION},
    {"def m(): return 5\n", "it returned a int", ERROR_DEFINITION},
    {"def m(): return [{'id': 1}]\n", "a list of dicts, but `columns` does not declare", ERROR_DEFINITION},
    {"def m(): yield 5\n", "item 1 of what it yields is a int", ERROR_DEFINITION},
    {"def m():\n    yield one\n    yield None\n", "item 2 of what it yields is None", ERROR_DEFINITION},
    {"def m(): yield from ()\n", "it yielded nothing, not even a schema", ERROR_DEFINITION},
    {"async def m(): return None\n", "it returned None", ERROR_DEFINITION},
    {"def m(): return pa.table({})\n", "the output has no columns", ERROR_EXECUTION},
    {"def m(): return pa.table([[1], [2]], names=['a', 'a'])\n", "two columns called 'a'", ERROR_EXECUTION},
    {"def m():\n    yield one\n    yield pa.record_batch({'id': ['x']})\n",
     "batch 2: column 'id' is string, but int64 in the first batch", ERROR_EXECUTION},
    {"def m():\n    yield one\n    yield pa.record_batch({'other': [1]})\n", "batch 2 lacks column 'id'",
     ERROR_EXECUTION},
    {"def m(): raise ValueError('no\\nway')\n", "model 'm' failed: ValueError: no way", ERROR_EXECUTION},
};

static void test_01_8_5_wrong_returns_are_refused_by_name(void **state) {
    PythonFixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(wrong_returns); i++) {
        AUTO(strbuf) StrBuf source = {0};
        strbuf_text(&source, HEAD);
        strbuf_text(&source, wrong_returns[i].body);
        assert_fails(f, strbuf_c(&source), wrong_returns[i].message);
        assert_int_equal(f->err.kind, wrong_returns[i].kind);
    }
}

static void a_failure_names_the_line_of_user_code(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "models/_help.py", "def divide(a, b):\n    return a / b\n");
    assert_fails(f,
                 "from interlace import model\n"
                 "from _help import divide\n"
                 "@model()\n"
                 "def m():\n"
                 "    return divide(1, 0)\n",
                 "model 'm' failed: ZeroDivisionError: division by zero");
    assert_str(f->err.place.file, "models/_help.py", "file");
    assert_int_equal(f->err.place.line, 2);
    assert_str(f->err.traceback,
               "Traceback (most recent call last):\n"
               "  File \"models/m.py\", line 5, in m\n    return divide(1, 0)\n"
               "  File \"models/_help.py\", line 2, in divide\n    return a / b\n"
               "ZeroDivisionError: division by zero\n",
               "traceback");
}

static void test_10_5_a_handle_is_read_once(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "orders", "SELECT 1 AS id");
    assert_fails(f, HEAD "def m(orders):\n    orders.table()\n    return orders.table()\n",
                 "model 'm': upstream 'orders' has been read already");
    assert_int_equal(f->err.kind, ERROR_DEFINITION);
    assert_int_equal(f->err.place.line, 9);
}

static void what_comes_later_is_refused_by_name(void **state) {
    PythonFixture *f = *state;
    assert_fails(f,
                 "from interlace.dsl.decorators import REGISTRY, ModelDef\n" HEAD
                 "def m(): REGISTRY.register_model(ModelDef(name='x', sql='SELECT 1'))\n",
                 "model 'x': registering a model while another one runs: not part of this version");
    assert_int_equal(f->err.kind, ERROR_PLAN);
    assert_fails(f, HEAD "def m(): from interlace.io import read_csv\n", "interlace.io.read_csv");
}

static void test_10_8_no_pyarrow_is_told_in_one_line(void **state) {
    PythonFixture *f = *state;
    fixture_write(f, "fake/pyarrow.py", "raise ImportError('not here')\n");
    setenv("PYTHONPATH", path_join(f->arena, f->root, STR("fake")).ptr, 1);
    Status status = fixture_run(f, "from interlace import model\n@model()\ndef m(): return 1\n");
    unsetenv("PYTHONPATH");
    assert_true(failed(status));
    assert_contains(f->err.message, "model 'm': pyarrow is needed to run Python models and cannot be imported by ");
    assert_contains(f->err.message, "not here");
    assert_contains(f->err.hint, "-m pip install pyarrow");
    assert_int_equal(f->err.kind, ERROR_CONFIGURATION);
}

/* ---- Workers */

/* Twice: from the zip, then from the folder that was unpacked meanwhile. */
static void test_10_8_the_package_of_the_program_is_used(void **state) {
    PythonFixture *f = *state;
    if (interlace_sdk_zip_size < 1000) {
        skip(); /* built without it */
    }
    Str set_up = str_copy(f->arena, str_from(getenv("INTERLACE_SDK_PATH")));
    unsetenv("INTERLACE_SDK_PATH");
    for (int i = 0; i < 2; i++) {
        fixture_restart(f, 1, false);
        assert_runs(f, "import interlace\n" HEAD "def m(): return pa.table({'v': [interlace.__file__]})\n");
        assert_contains(fixture_query(f, "SELECT v FROM output"), i == 0 ? ".zip/interlace/" : ".interlace/cache/sdk/");
    }
    assert_int_equal(str_find(fixture_query(f, "SELECT v FROM output"), STR(".zip")), STR_NOT_FOUND);
    setenv("INTERLACE_SDK_PATH", set_up.ptr, 1);
}

static void a_worker_serves_one_model_after_the_other(void **state) {
    PythonFixture *f = *state;
    Model *model = fixture_model(f, HEAD "def m(): return pa.table({'pid': [os.getpid()]})\n");
    PythonTask task = fixture_task(f, model);
    f->only_counts = true;
    for (int i = 0; i < 3; i++) {
        assert_done(python_run_model(f->runtime, &task, &f->rows, &f->err), &f->err);
    }
    Str log = strbuf_str(&f->log);
    assert_int_equal(str_find(log, STR("pid")), str_find(log, STR("pid")));
    assert_int_equal(str_find(str_skip(log, str_find(log, STR("pid")) + 3), STR("pid")), STR_NOT_FOUND);
}

/* A file that a worker has imported: a fresh one is started. */
static void an_edited_helper_is_seen_by_the_next_run(void **state) {
    PythonFixture *f = *state;
    const char *source = "from interlace import model\n"
                         "from _fx import RATE\n"
                         "import pyarrow as pa\n"
                         "@model()\n"
                         "def m(): return pa.table({'v': [RATE]})\n";
    f->edits_one_file = true;
    fixture_write(f, "models/_fx.py", "RATE = 1\n");
    assert_runs(f, source);
    fixture_write(f, "models/_fx.py", "RATE = 2\n");
    assert_runs(f, source);
    assert_output(f, "SELECT v FROM output", "2");
}

typedef struct Racer {
    PythonFixture *fixture;
    const Model *model;
    pthread_t thread;
    int64_t rows;
    Status status;
} Racer;

static Status count_begin(void *context, struct ArrowSchema *schema, Error *err) {
    (void)context;
    (void)schema;
    (void)err;
    return OK;
}

static Status count_append(void *context, struct ArrowArray *array, Error *err) {
    (void)context;
    (void)err;
    array->release(array);
    return OK;
}

static void *race(void *argument) {
    Racer *racer = argument;
    AUTO(error) Error err;
    error_init(&err);
    PythonTask task = fixture_task(racer->fixture, racer->model);
    task.output = (PythonOutput){.begin = count_begin, .append = count_append};
    racer->status = python_run_model(racer->fixture->runtime, &task, &racer->rows, &err);
    return NULL;
}

static void several_threads_share_two_workers(void **state) {
    PythonFixture *f = *state;
    fixture_restart(f, 2, false);
    Model *model = fixture_model(f, HEAD "def m(): return pa.table({'id': [1, 2]})\n");
    Racer racers[6];
    for (size_t i = 0; i < COUNT_OF(racers); i++) {
        racers[i] = (Racer){.fixture = f, .model = model};
        assert_int_equal(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
    }
    for (size_t i = 0; i < COUNT_OF(racers); i++) {
        pthread_join(racers[i].thread, NULL);
        assert_false(failed(racers[i].status));
        assert_int_equal(racers[i].rows, 2);
    }
    assert_int_equal(fixture_living_processes(f, 0), 2);
}

static void a_worker_outlives_the_thread_that_needed_it_first(void **state) {
    PythonFixture *f = *state;
    Model *model = fixture_model(f, HEAD "def m(): return pa.table({'id': [1, 2]})\n");
    for (int i = 0; i < 2; i++) {
        Racer racer = {.fixture = f, .model = model};
        assert_int_equal(pthread_create(&racer.thread, NULL, race, &racer), 0);
        pthread_join(racer.thread, NULL);
        assert_false(failed(racer.status));
        usleep(20000); /* time for a signal that must not come */
        assert_int_equal(fixture_living_processes(f, 0), 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PYTHON_TEST(rows_of_a_function_arrive),
        PYTHON_TEST(rows_of_an_upstream_pass_through),
        PYTHON_TEST(test_01_8_3_a_generator_reads_a_second_upstream_late),
        PYTHON_TEST(an_upstream_that_is_read_in_part_or_not_at_all_is_given_up),
        PYTHON_TEST(an_empty_upstream_has_a_schema),
        PYTHON_TEST(threads_of_a_model_may_read_upstreams_side_by_side),
        PYTHON_TEST(values_of_all_types_come_back_as_they_went),
        PYTHON_TEST(cursor_and_this_of_a_first_build_are_none),
        PYTHON_TEST(test_10_5_the_cursor_keeps_its_type_and_value),
        PYTHON_TEST(this_gives_the_rows_of_before),
        PYTHON_TEST(ctx_tells_about_the_run),
        PYTHON_TEST(variables_of_the_project_have_their_types),
        PYTHON_TEST(test_01_8_5_wrong_returns_are_refused_by_name),
        PYTHON_TEST(a_failure_names_the_line_of_user_code),
        PYTHON_TEST(test_10_5_a_handle_is_read_once),
        PYTHON_TEST(what_comes_later_is_refused_by_name),
        PYTHON_TEST(test_10_8_no_pyarrow_is_told_in_one_line),
        PYTHON_TEST(test_10_8_the_package_of_the_program_is_used),
        PYTHON_TEST(a_worker_serves_one_model_after_the_other),
        PYTHON_TEST(an_edited_helper_is_seen_by_the_next_run),
        PYTHON_TEST(several_threads_share_two_workers),
        PYTHON_TEST(a_worker_outlives_the_thread_that_needed_it_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
