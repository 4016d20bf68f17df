/* The windows of an incremental model: batches of adjacent grains, each one transaction, oldest first unless the
 * command says otherwise. What failed and what was not started is told, and running again does the rest. */
#include "run/build_step.h"

typedef struct WindowRun {
    Build *build;
    Status (*build_one)(Build *build, Error *err);
    bool halves; /* a failing batch is done again by halves, so that the good grains are filled and the bad one named */
    int64_t total, done;
    StrVec failed;
    Error first; /* of the first failing grain */
} WindowRun;

static bool is_stopping(const Build *build) {
    return build->context->is_stopping(build->context->stop_context);
}

static void take_success(WindowRun *run, Window window) {
    Build *build = run->build;
    int64_t grains = grain_count(build->target.grain, window.start, window.end);
    run->done += grains;
    build->result->tasks += grains;
    session_emit(
        build->context->session,
        (Event){.type = EVENT_MODEL_WINDOW, .model = build->task->model, .done = run->done, .total = run->total});
}

static void take_failure(WindowRun *run, Window window, Error *err) {
    Str text = window_format(run->build->arena, run->build->target.grain, window);
    str_vec_push(run->build->arena, &run->failed, text);
    if (run->first.message.size > 0) {
        error_clear(err);
        return;
    }
    err->message = str_format(err->arena, STR_FMT " (window " STR_FMT ")", STR_ARG(err->message), STR_ARG(text));
    error_move(&run->first, err);
}

/* FAILED: the command is being stopped; what failed otherwise is in `run`. */
static Status run_window(WindowRun *run, Window window, Error *err) {
    Build *build = run->build;
    bool keep_going = build->context->options->keep_going;
    if (run->failed.count > 0 && !keep_going) {
        return OK;
    }
    build->window = &window;
    Status status = run->build_one(build, err);
    build->window = NULL;
    if (!failed(status)) {
        take_success(run, window);
        return OK;
    }
    engine_rollback(build->connection);
    if (err->kind == ERROR_INTERRUPTED || err->kind == ERROR_LOCK || is_stopping(build)) {
        return FAILED;
    }
    int64_t grains = grain_count(build->target.grain, window.start, window.end);
    /* A key may stand in several windows of a batch: what one window at a time accepts, a batch of them accepts too. */
    bool repeats_key = str_equal(error_detail_find(err, STR("code")), STR("duplicate_key"));
    if (grains == 1 || !(run->halves || repeats_key)) {
        take_failure(run, window, err);
        return OK;
    }
    error_clear(err);
    WallUs middle = grain_step(build->target.grain, window.start, grains / 2);
    TRY(run_window(run, (Window){window.start, middle}, err)); /* halves: no deeper than the bits of a count */
    return run_window(run, (Window){middle, window.end}, err);
}

static WindowVec batches_of(const Build *build) {
    const BuildTarget *target = &build->target;
    WindowVec batches = {0};
    interval_set_batches(build->arena, &target->work.due, target->grain, target->batch, &batches);
    if (build->context->options->newest_first) {
        for (size_t i = 0; i < batches.count / 2; i++) {
            Window other = batches.items[i];
            batches.items[i] = batches.items[batches.count - 1 - i];
            batches.items[batches.count - 1 - i] = other;
        }
    }
    return batches;
}

static Status tell_failures(WindowRun *run, Error *err) {
    Build *build = run->build;
    int64_t rest = run->total - run->done - (int64_t)run->failed.count;
    Str failures = str_join(build->arena, run->failed.items, run->failed.count, STR(", "));
    AUTO(strbuf) StrBuf text = {0};
    strbuf_format(&text, "model '" STR_FMT "': %lld of %lld windows are filled; failed: " STR_FMT,
                  STR_ARG(build->task->model->name), (long long)run->done, (long long)run->total, STR_ARG(failures));
    if (rest > 0) {
        strbuf_format(&text, "; not started: %lld", (long long)rest);
    }
    session_note(build->context->session, STR_FMT "; running it again does the rest", STR_ARG(strbuf_str(&text)));
    error_move(err, &run->first);
    return FAILED;
}

static Status run_all(WindowRun *run, const WindowVec *batches, Error *err) {
    for (size_t i = 0; i < batches->count; i++) {
        TRY(run_window(run, batches->items[i], err));
    }
    return run->failed.count > 0 ? tell_failures(run, err) : OK;
}

Status build_windows(Build *build, Status (*build_one)(Build *build, Error *err), Error *err) {
    if (build->target.work.first_build) {
        build->is_first_build = true;
        TRY(build_one(build, err));
        build->result->tasks = 1;
        return OK;
    }
    WindowVec batches = batches_of(build);
    WindowRun run = {
        .build = build,
        .build_one = build_one,
        .halves = build->target.batch == BATCH_AUTO,
        .total = interval_set_grains(&build->target.work.due, build->target.grain),
    };
    error_init(&run.first);
    TRY(build_take_out(build, err));
    Status status = run_all(&run, &batches, err);
    error_deinit(&run.first);
    return status;
}

/* ---- First builds. */

Status build_first_start(const Build *build, bool *has_start_out, WallUs *start_out, Error *err) {
    const Model *model = build->task->model;
    bool is_pinned = model->backfill.size > 0 && !str_equal(model->backfill, STR("auto"));
    *has_start_out = build->is_first_build && !build->target.is_external && is_pinned;
    if (!*has_start_out) {
        return OK;
    }
    WallUs start;
    TRY(wall_parse(model->backfill, build->context->zone, &start, err));
    *start_out = grain_floor(build->target.grain, start);
    return OK;
}

/* A table of our own holds the source's rows and no others; an external one may hold those of somebody else, so there
 * the source itself is asked. */
static SqlText bounded_rows(const Build *build, const SqlRelation *staged) {
    if (build->target.is_external && staged == NULL) {
        SqlText parts[] = {sql_text_own(build->arena, STR("(")), build->query,
                           sql_text_own(build->arena, STR("\n) AS source"))};
        return sql_text_concat(build->arena, parts, COUNT_OF(parts));
    }
    AUTO(strbuf) StrBuf sql = {0};
    sql_relation(&sql, build->target.is_external ? *staged : build->target.relation);
    return sql_text_own(build->arena, strbuf_copy(&sql, build->arena));
}

static Status time_bounds(Build *build, const SqlRelation *staged, DuckRows *rows_out, Error *err) {
    Str column = build->task->model->time_column;
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT CAST(min(");
    sql_identifier(&sql, column);
    strbuf_text(&sql, ") AS VARCHAR), CAST(max(");
    sql_identifier(&sql, column);
    strbuf_text(&sql, ") AS VARCHAR), count(*) FILTER (WHERE ");
    sql_identifier(&sql, column);
    strbuf_text(&sql, " IS NULL) FROM ");
    SqlText parts[] = {sql_text_own(build->arena, strbuf_copy(&sql, build->arena)), bounded_rows(build, staged)};
    SqlText query = sql_text_concat(build->arena, parts, COUNT_OF(parts));
    return engine_query(build->connection, &query, build->arena, rows_out, err);
}

void build_note_untimed(const Build *build, const DuckCell *untimed) {
    bool is_one = str_equal(untimed->text, STR("1"));
    if (!str_equal(untimed->text, STR("0"))) {
        session_note(build->context->session, "model '" STR_FMT "': " STR_FMT " source row%s no " STR_FMT,
                     STR_ARG(build->task->model->name), STR_ARG(untimed->text), is_one ? " has" : "s have",
                     STR_ARG(build->task->model->time_column));
    }
}

TimeColumnKind build_time_kind(const Build *build) {
    TimeColumnKind kind = TIME_COLUMN_NAIVE;
    const DuckColumn *column = duck_column_find(&build->columns, build->task->model->time_column);
    (void)(column != NULL && time_column_kind(column->type, &kind)); /* told before the statements */
    return kind;
}

Status build_find_first_range(Build *build, const SqlRelation *staged, Error *err) {
    BuildContext *context = build->context;
    DuckRows rows;
    TRY(time_bounds(build, staged, &rows, err));
    build_note_untimed(build, duck_cell(&rows, 0, 2)); /* of a delivery: a table of our own has none any more */
    bool has_rows = duck_cell(&rows, 0, 0)->kind != DUCK_CELL_NULL;
    WallUs bounds[2] = {0};
    for (size_t i = 0; has_rows && i < COUNT_OF(bounds); i++) {
        TRY(wall_from_sql(duck_cell(&rows, 0, i)->text, build_time_kind(build), context->zone, &bounds[i], err));
    }
    Window range;
    bool is_empty = false;
    TRY(window_first_range(build->task->model, has_rows, bounds[0], bounds[1], context->zone, &range, &is_empty, err));
    build->filled = (Window){0};
    build->first_range = is_empty ? (Window){0} : range;
    if (is_empty) {
        Str note = window_empty_source_note(build->task->model, build->arena);
        session_note(context->session, STR_FMT, STR_ARG(note));
        return OK;
    }
    if (!window_recordable(build->target.grain, range, context->now, &build->filled)) {
        build->filled = (Window){0};
    }
    return OK;
}
