/* Batches of windows that are read while an earlier one is written. Only reading runs beside: the rows wait in a TEMP
 * table, and every batch has its transaction in its turn, on what the ones before it have committed. So rows, checks,
 * ledger and messages are those of one batch after the other, whatever the strategy. */
#include "run/build_step.h"

#include "base/log.h"
#include "base/test_hooks.h"

static Status read_window(const Build *start, Window window, BuildAhead *ahead, Error *err) {
    TRY(test_hook("build.ahead", err));
    ahead->arena = arena_create();
    TRY(engine_connect(start->context->engine, &ahead->connection, err));
    ModelResult result = {.attempts = start->result->attempts};
    Build build = *start;
    build.arena = ahead->arena;
    build.connection = ahead->connection;
    build.result = &result;
    build.window = &window;
    build.now = clock_now_us();
    TRY(engine_begin(ahead->connection, err));
    TRY(build_stage_rows(&build, &ahead->rows, err));
    TRY(engine_commit(ahead->connection, err));
    if (result.registrations.count > 0) {
        return error_set(err, ERROR_INTERNAL, "models were registered, which lasts only in the batch's turn");
    }
    return test_hook("build.staged", err);
}

bool build_read_ahead(const Build *start, Window window, BuildAhead *ahead) {
    AUTO(error) Error err = {0};
    if (failed(read_window(start, window, ahead, &err))) {
        log_debug("ignoring that a window was not read ahead model=" STR_FMT " reason=" STR_FMT,
                  STR_ARG(start->task->model->name), STR_ARG(err.message));
        return false;
    }
    return true;
}

void build_ahead_close(BuildAhead *ahead) {
    if (ahead->rows.name.size > 0) {
        AUTO(error) Error ignored = {0}; /* the next table of that name takes its place */
        (void)failed(engine_drop_temporary(ahead->connection, ahead->rows, &ignored));
    }
    engine_release(ahead->connection);
    arena_destroy(ahead->arena);
}
