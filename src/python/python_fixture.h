/* For tests: a project folder with Python files, a runtime over it, and an in-memory database that gives inputs and
 * takes outputs. */
#ifndef INTERLACE_PYTHON_PYTHON_FIXTURE_H
#define INTERLACE_PYTHON_PYTHON_FIXTURE_H

#include "base/clock.h"
#include "base/files.h"
#include "base/testing.h"
#include "python/python_runtime.h"

#include <pthread.h>

#define FIXTURE_INPUTS_MAX 8

typedef struct FixtureInput {
    const char *name;           /* of the parameter */
    const char *sql;            /* NULL: there is nothing */
    DuckConnection *connection; /* guarded by the fixture's lock */
} FixtureInput;

typedef struct PythonFixture {
    Arena *arena;
    Str root;
    ProjectConfig config;
    PythonRuntime *runtime;
    DuckDatabase *database;
    DuckConnection *connection; /* of the output */
    DuckAppender *appender;
    FixtureInput inputs[FIXTURE_INPUTS_MAX];
    size_t input_count;
    pthread_mutex_t lock;
    StrBuf log;            /* guarded by lock while a model runs; "level: line\n" … */
    const char *cancel_at; /* is_cancelled says yes once the log holds this; NULL: never */
    int64_t cancelled_us;  /* when it first said so */
    int64_t begin_count, batch_count, row_count;
    size_t source_count;
    bool edits_one_file; /* sources go to models/m.py, one after the other */
    bool only_counts;    /* output rows are dropped, not stored */
    bool append_fails;   /* the third batch is refused, at failed_us */
    int64_t failed_us;
    int64_t rows; /* as python_run_model told */
    Error err;
} PythonFixture;

int python_fixture_open(void **state);
int python_fixture_close(void **state);
/* A new runtime: what the old one knew is gone, the cache folder stays. */
void fixture_restart(PythonFixture *f, size_t workers_max, bool no_cache);

void fixture_write(PythonFixture *f, const char *path, const char *text);
void fixture_input(PythonFixture *f, const char *name, const char *sql);
void fixture_sql(PythonFixture *f, const char *sql);
/* All cells of a query, `|` between columns and `;` between rows. */
Str fixture_query(PythonFixture *f, const char *sql);

/* The model `m` of models/m.py, from the second on of m2.py …; its parameters are the inputs, and those of `this`,
 * `cursor`, `ctx` by their names. */
Model *fixture_model(PythonFixture *f, const char *source);
PythonTask fixture_task(PythonFixture *f, const Model *model);
/* Runs a task and stores its rows in the table `output`. */
Status fixture_run_task(PythonFixture *f, const PythonTask *task);
/* Writes a source, runs its model `m` and stores its rows in the table `output`. */
Status fixture_run(PythonFixture *f, const char *source);
/* The same for the check `c` on model `m`, over the input "table". */
PythonVerdict fixture_check(PythonFixture *f, const char *source);

/* How the source of most models begins. */
#define HEAD                                                                                                           \
    "import os, sys, time, signal, threading\n"                                                                        \
    "import pyarrow as pa\n"                                                                                           \
    "from interlace import model\n"                                                                                    \
    "print('pid', os.getpid())\n"                                                                                      \
    "one = pa.record_batch({'id': [1]})\n"                                                                             \
    "@model()\n"

#define PYTHON_TEST(test) cmocka_unit_test_setup_teardown(test, python_fixture_open, python_fixture_close)

void expect_contains(Str text, const char *part, const char *file, int line);
#define assert_contains(text, part) expect_contains((text), (part), __FILE__, __LINE__)
#define assert_runs(f, source) assert_done(fixture_run((f), (source)), &(f)->err)
#define assert_fails(f, source, part)                                                                                  \
    do {                                                                                                               \
        assert_true(failed(fixture_run((f), (source))));                                                               \
        assert_contains((f)->err.message, (part));                                                                     \
    } while (0)

/* How many of the processes that told their number ("pid <n>" in the log) live on after `wait_ms`. */
size_t fixture_living_processes(PythonFixture *f, int wait_ms);

#endif
