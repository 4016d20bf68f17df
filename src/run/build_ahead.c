/* Batches of windows that are read while an earlier one is written. Only reading runs beside: the rows wait in a TEMP
 * table, and every batch has its transaction in its turn, on what the ones before it have committed. So rows, checks,
 * ledger and messages are those of one batch after the other, whatever the strategy. */
#include "run/build_step.h"

#include "base/test_hooks.h"

Status build_read_ahead(const Build *start, Window window, BuildAhead *ahead, Error *err) {
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
    TRY(build_stage_rows(&build, &ahead->rows, err));
    if (result.registrations.count > 0) {
        return error_set(err, ERROR_INTERNAL, "models were registered, which lasts only in the batch's turn");
    }
    return OK;
}

void build_ahead_close(BuildAhead *ahead) {
    if (ahead->rows.name.size > 0) {
        AUTO(error) Error ignored = {0}; /* the next table of that name takes its place */
        AUTO(strbuf) StrBuf sql = {0};
        strbuf_text(&sql, "DROP TABLE IF EXISTS ");
        sql_relation(&sql, ahead->rows);
        SqlText text = sql_text_own(ahead->arena, strbuf_str(&sql));
        (void)failed(engine_execute(ahead->connection, &text, NULL, &ignored));
    }
    engine_release(ahead->connection);
    arena_destroy(ahead->arena);
}
