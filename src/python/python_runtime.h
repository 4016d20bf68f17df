/* PythonRuntime: worker processes of the user's interpreter, started on first need and kept for the command.
 * Discovery of declarations and execution of models and checks go through it; user code runs only in there. A worker's
 * death, silence or nonsense fails its task and nothing else. Protocol: docs/development/worker-protocol.md.
 *
 * Any thread may run a task; each task has a worker of its own while it runs. */
#ifndef INTERLACE_PYTHON_PYTHON_RUNTIME_H
#define INTERLACE_PYTHON_PYTHON_RUNTIME_H

#include "base/clock.h"
#include "duck/duck_arrow.h"
#include "project/project.h"
#include "window/grain.h"

typedef struct PythonRuntime PythonRuntime;

/* A line that a model printed or logged. Called from a thread of the runtime; must not call back into it. */
typedef struct PythonLog {
    void (*write)(void *context, Str model, Str level, Str message); /* level: "stdout", "stderr", "info", … */
    void *context;
} PythonLog;

typedef struct PythonOptions {
    const ProjectConfig *config; /* must outlive the runtime */
    size_t workers_max;
    PythonLog log;
    bool no_cache;
} PythonOptions;

/* Starts nothing yet. */
MUST_CHECK Status python_runtime_create(const PythonOptions *options, PythonRuntime **runtime_out, Error *err);
void python_runtime_destroy(PythonRuntime *runtime); /* ends all workers; NULL is fine */
DEFINE_AUTO(PythonRuntime, python_runtime, python_runtime_destroy)

/* For project_load. The manifest is cached by content (.interlace/cache/discovery/); a hit starts no Python. */
PythonDiscovery python_runtime_discovery(PythonRuntime *runtime);

/* What a function asks for of a parameter's rows. */
typedef struct PythonPart {
    StrVec columns; /* these, in this order; none: all */
    Str filter;     /* a predicate of SQL over all columns; empty: all rows */
} PythonPart;

/* Where the rows of a parameter come from: an upstream, `this` (no table yet: `open` gives a NULL stream) or `cursor`
 * (one row with one column, or a NULL stream). `open` is called at the parameter's first use, from a thread of the
 * runtime; the stream it gives is read there and given to `close`. Several may be open at once. */
typedef struct PythonInputs {
    Status (*open)(void *context, const PythonParameter *parameter, const PythonPart *part, DuckStream **stream_out,
                   Error *err);
    void (*close)(void *context, const PythonParameter *parameter, DuckStream *stream);
    /* May be NULL. Its rows are not wanted any more: ends what `open` or the stream is busy with. From another thread;
     * repeated until that is over. `stream` is NULL while `open` runs. Without it the end of the statement is waited
     * for. */
    void (*interrupt)(void *context, const PythonParameter *parameter, DuckStream *stream);
    void *context;
} PythonInputs;

/* Where the rows go; called on the thread that called python_run_model, in order: begin once, then batches. Neither is
 * called when the function yielded nothing and might do so. */
typedef struct PythonOutput {
    Status (*begin)(void *context, struct ArrowSchema *schema, Error *err);
    Status (*append)(void *context, struct ArrowArray *array, Error *err); /* takes the array */
    void *context;
} PythonOutput;

/* What the parameter `window` receives: half-open wall time of the project's zone. */
typedef struct PythonWindow {
    WallUs start, end;
    Str grain; /* the model's `interval`, as written */
} PythonWindow;

/* Models that the function declared while it ran (spec 01 §9), in order: each a map with `name`, `sql`, `file` and
 * `line` of the declaration and the keys that were given, as in a manifest. Their names have the right form; whether
 * they may be used is the caller's to judge. */
typedef struct PythonRegistrations {
    Arena *arena;              /* set by the caller: of `models` */
    const ConfigValue *models; /* a list; set when the model succeeded, else NULL */
} PythonRegistrations;

typedef struct PythonTask {
    const Model *model;
    Str environment, run_id;
    int64_t attempt;                    /* of the model in this run, from 1; 0 counts as 1 */
    TimeUs now;                         /* what the run takes for now (`ctx.now`); 0: the clock */
    const PythonWindow *window;         /* NULL: the model is built whole, and the parameter is None */
    bool may_yield_nothing;             /* no batch at all means "no new rows", not a mistake */
    PythonRegistrations *registrations; /* NULL: declaring models while running is refused */
    PythonInputs inputs;
    PythonOutput output;
    bool (*is_cancelled)(
        void *context); /* polled; true ends the worker: first politely, after 2 s TERM, after 5 s KILL */
    void *cancel_context;
} PythonTask;

/* Runs the model's function and drains its output. On OK all rows came, with the end marker, and their number equals
 * the worker's own count. The project's connections are open to the function, their secrets to nobody who reads its
 * log or error. ExecutionError: the function raised (type, text, file:line of the user's frame;
 * err->traceback), the worker died (signal or exit code); DefinitionError: wrong return type, nothing yielded. */
MUST_CHECK Status python_run_model(PythonRuntime *runtime, const PythonTask *task, int64_t *rows_out, Error *err);

typedef enum PythonVerdictStatus { VERDICT_PASSED, VERDICT_FAILED, VERDICT_ERROR } PythonVerdictStatus;
typedef struct PythonVerdict {
    PythonVerdictStatus status;
    int64_t failures;
    Str message;     /* ERROR: why; in the arena */
    Str sample_json; /* up to 100 failing rows; empty: none */
} PythonVerdict;

/* Runs a Python check over one relation (the stream of parameter "table" comes from `inputs`). Fails only when no
 * verdict could be had at all because of cancellation; a raising function is VERDICT_ERROR. */
MUST_CHECK Status python_run_check(PythonRuntime *runtime, const Check *check, const PythonTask *task, Arena *arena,
                                   PythonVerdict *verdict_out, Error *err);

#endif
