/* The windows of an incremental model: batches of adjacent grains, each one transaction, oldest first unless the
 * command says otherwise. What failed and what was not started is told, and running again does the rest.
 *
 * Batches take turns to be written. A thread that takes one before its turn reads it ahead; the thread whose turn it is
 * when it takes one has nothing to wait for, and reads it within the transaction: so does a thread by itself. */
#include "run/build_step.h"

/* Up to `lock`: of the thread whose turn it is. */
typedef struct WindowRun {
    Build *build;
    Status (*build_one)(Build *build, Error *err);
    bool halves; /* a failing batch is done again by halves, so that the good grains are filled and the bad one named */
    int64_t total, done;
    StrVec failed;
    Error first;   /* of the first failing grain */
    Error stopped; /* the command is being stopped */
    const Build *start;
    WindowVec batches;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    size_t next;  /* guarded by lock: the first batch that no thread has taken */
    size_t turn;  /* guarded by lock: the batch that may be written */
    bool is_over; /* guarded by lock: no batch is taken or written any more */
} WindowRun;

static bool is_stopping(const Build *build) {
    return build->context->is_stopping(build->context->stop_context);
}

static void take_success(WindowRun *run, Window window) {
    Build *build = run->build;
    int64_t grains = grain_count(build->target.grain, window.start, window.end);
    run->done += grains;
    build->result->tasks += grains;
    if (!build->target.is_aside) { /* a part of a campaign, which tells of all of it */
        session_emit(
            build->context->session,
            (Event){.type = EVENT_MODEL_WINDOW, .model = build->task->model, .done = run->done, .total = run->total});
    }
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

static bool is_failed_for_good(const WindowRun *run) {
    return run->failed.count > 0 && !run->build->context->options->keep_going;
}

/* FAILED: the command is being stopped, or no window can be filled yet; what failed otherwise is in `run`. */
static Status run_window(WindowRun *run, Window window, Error *err) {
    Build *build = run->build;
    if (is_failed_for_good(run)) {
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
    build->staged = NULL;
    if (err->kind == ERROR_INTERRUPTED || err->kind == ERROR_LOCK || is_stopping(build) || build_must_be_alone(err)) {
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

/* ---- Turns. */

static bool take_batch(WindowRun *run, size_t *batch_out, bool *is_turn_out) {
    pthread_mutex_lock(&run->lock);
    bool has_more = !run->is_over && run->next < run->batches.count;
    if (has_more) {
        *batch_out = run->next++;
        *is_turn_out = *batch_out == run->turn;
    }
    pthread_mutex_unlock(&run->lock);
    return has_more;
}

/* The batches before it have been taken by threads that are at work, so its turn comes. False: none is written. */
static bool wait_for_turn(WindowRun *run, size_t batch) {
    pthread_mutex_lock(&run->lock);
    while (run->turn != batch) {
        pthread_cond_wait(&run->moved, &run->lock);
    }
    bool is_over = run->is_over;
    pthread_mutex_unlock(&run->lock);
    return !is_over;
}

static void end_turn(WindowRun *run, bool is_over) {
    pthread_mutex_lock(&run->lock);
    run->turn++;
    run->is_over = run->is_over || is_over;
    pthread_cond_broadcast(&run->moved);
    pthread_mutex_unlock(&run->lock);
}

/* True: nothing may follow. `ahead` NULL: the batch is still to be read. */
static bool write_batch(WindowRun *run, Window window, const BuildAhead *ahead) {
    AUTO(error) Error err = {0};
    Build *build = run->build;
    EngineConnection *own = build->connection;
    if (ahead != NULL) {
        build->connection = ahead->connection;
        build->staged = &ahead->rows;
    }
    bool is_stopped = failed(run_window(run, window, &err));
    build->connection = own;
    build->staged = NULL;
    if (is_stopped) {
        error_move(&run->stopped, &err);
    }
    return is_stopped || is_failed_for_good(run);
}

/* False: no batch is left. Any thread. */
static bool do_batch(void *context) {
    WindowRun *run = context;
    size_t batch;
    bool is_turn;
    if (!take_batch(run, &batch, &is_turn)) {
        return false;
    }
    Window window = run->batches.items[batch];
    BuildAhead ahead = {0};
    bool is_read = !is_turn && build_read_ahead(run->start, window, &ahead);
    bool is_over = !wait_for_turn(run, batch) || write_batch(run, window, is_read ? &ahead : NULL);
    end_turn(run, is_over);
    build_ahead_close(&ahead);
    return true;
}

size_t build_helpers(const BuildTarget *target) {
    bool has_batches = target->is_windowed && !target->is_skipped && target->concurrency > 1;
    int64_t grains = has_batches ? interval_set_grains(&target->work.due, target->grain) : 0;
    int64_t most = grains < target->concurrency ? grains : target->concurrency;
    return most > 1 ? (size_t)(most - 1) : 0;
}

static Status run_all(WindowRun *run, Error *err) {
    const Build start = *run->build;
    run->start = &start;
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->moved, NULL);
    schedule_share(start.context->schedule, build_helpers(&start.target), do_batch, run);
    pthread_cond_destroy(&run->moved);
    pthread_mutex_destroy(&run->lock);
    if (run->stopped.message.size > 0) {
        error_move(err, &run->stopped);
        return FAILED;
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
    WindowRun run = {
        .build = build,
        .build_one = build_one,
        .halves = build->target.batch == BATCH_AUTO,
        .total = interval_set_grains(&build->target.work.due, build->target.grain),
    };
    TRY(build_batches(build, &run.batches, err));
    TRY(build_take_out(build, err));
    build->result->batches = run.batches;
    error_init(&run.first);
    error_init(&run.stopped);
    Status status = run_all(&run, err);
    error_deinit(&run.first);
    error_deinit(&run.stopped);
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
