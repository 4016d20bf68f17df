#include "plan/window_plan.h"

#define WINDOWS_WITHOUT_WARNING 366

/* What the steps below share. */
typedef struct Planner {
    const Model *model;
    const WindowRequest *request;
    Grain grain;
    const IntervalSet *filled;
    Arena *arena;
    WindowWork *work;
} Planner;

static Status model_grain(const Model *model, Grain *grain_out, Error *err) {
    if (failed(grain_parse(model->interval, grain_out, err))) {
        error_place(err, model->place);
        return error_wrap(err, "model '" STR_FMT "'", STR_ARG(model->name));
    }
    return OK;
}

static Window latest_complete(Grain grain, WallUs now) {
    WallUs end = grain_floor(grain, now);
    return (Window){grain_step(grain, end, -1), end};
}

/* ---- Texts. */

static void add_line(StrVec *lines, Arena *arena, const Model *model, const char *format, ...) PRINTF_LIKE(4, 5);
static void add_line(StrVec *lines, Arena *arena, const Model *model, const char *format, ...) {
    AUTO(strbuf) StrBuf line = {0};
    strbuf_format(&line, STR_FMT ": ", STR_ARG(model->name));
    va_list arguments;
    va_start(arguments, format);
    strbuf_format_v(&line, format, arguments);
    va_end(arguments);
    str_vec_push(arena, lines, strbuf_copy(&line, arena));
}

/* "2,103,840 windows", "1 window" */
static const char *counted(Arena *arena, int64_t count, const char *noun) {
    Str digits = str_format(arena, "%lld", (long long)count);
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < digits.size; i++) {
        if (i > 0 && (digits.size - i) % 3 == 0) {
            strbuf_char(&text, ',');
        }
        strbuf_char(&text, digits.ptr[i]);
    }
    strbuf_format(&text, " %s%s", noun, count == 1 ? "" : "s");
    return str_to_c(arena, strbuf_str(&text));
}

static const char *time_text(Arena *arena, WallUs wall) {
    return wall_format(arena, wall, false).ptr;
}

/* " --env dev", or nothing */
static const char *environment_option(Arena *arena, Str environment) {
    return environment.size == 0 ? "" : str_format(arena, " --env " STR_FMT, STR_ARG(environment)).ptr;
}

static void note_moved_bounds(const Planner *planner, bool start_moved, bool end_moved, Window aligned) {
    if (!start_moved && !end_moved) {
        return;
    }
    Arena *arena = planner->arena;
    Str start = start_moved ? str_format(arena, "the start moves to %s", time_text(arena, aligned.start)) : STR_EMPTY;
    Str end = end_moved ? str_format(arena, "%sthe end%s to %s", start_moved ? " and " : "",
                                     start_moved ? "" : " moves", time_text(arena, aligned.end))
                        : STR_EMPTY;
    add_line(&planner->work->notes, arena, planner->model, STR_FMT STR_FMT ", so that windows of " STR_FMT " are whole",
             STR_ARG(start), STR_ARG(end), STR_ARG(planner->model->interval));
}

static void note_left_out(const Planner *planner, Window future) {
    Arena *arena = planner->arena;
    int64_t count = grain_count(planner->grain, future.start, future.end);
    add_line(&planner->work->notes, arena, planner->model, "%s from %s to %s %s after now (%s) and %s left out",
             counted(arena, count, "window"), time_text(arena, future.start), time_text(arena, future.end),
             count == 1 ? "begins" : "begin", wall_format(arena, planner->request->now, true).ptr,
             count == 1 ? "is" : "are");
}

static void note_running_grain(const Planner *planner) {
    const IntervalSet *due = &planner->work->due;
    WallUs running = grain_floor(planner->grain, planner->request->now);
    if (due->count > 0 && due->items[due->count - 1].end > running) {
        add_line(&planner->work->notes, planner->arena, planner->model,
                 "the window that begins at %s is not over: its rows so far are loaded, and it stays due",
                 time_text(planner->arena, running));
    }
}

/* What lies before now, behind the beginning of the ledger, and neither is filled nor will be by this run. */
static void note_unfilled_past(const Planner *planner) {
    Arena *arena = planner->arena;
    if (planner->filled->count == 0) {
        return;
    }
    IntervalSet covered = interval_set_copy(arena, planner->filled);
    interval_set_add_all(arena, &covered, &planner->work->due);
    Window past = {grain_ceil(planner->grain, interval_set_hull(planner->filled).start),
                   grain_floor(planner->grain, planner->request->now)};
    IntervalSet open = interval_set_due(arena, &covered, planner->grain, past);
    if (open.count == 0) {
        return;
    }
    Window hull = interval_set_hull(&open);
    const char *start = time_text(arena, hull.start);
    const char *end = time_text(arena, hull.end);
    int64_t count = interval_set_grains(&open, planner->grain);
    add_line(&planner->work->notes, arena, planner->model,
             "%s between %s and %s %s not filled: interlace run -s " STR_FMT " --start %s --end %s%s",
             counted(arena, count, "grain"), start, end, count == 1 ? "is" : "are", STR_ARG(planner->model->name),
             start, end, environment_option(arena, planner->request->environment));
}

static void warn_of_many_windows(const Planner *planner) {
    const IntervalSet *due = &planner->work->due;
    int64_t count = interval_set_grains(due, planner->grain);
    if (count <= WINDOWS_WITHOUT_WARNING) {
        return;
    }
    Window hull = interval_set_hull(due);
    add_line(&planner->work->warnings, planner->arena, planner->model, "%s of " STR_FMT " from %s to %s",
             counted(planner->arena, count, "window"), STR_ARG(planner->model->interval),
             time_text(planner->arena, hull.start), time_text(planner->arena, hull.end));
}

/* ---- With bounds. */

static Status requested_range(const Planner *planner, Window *range_out, Error *err) {
    const WindowRequest *request = planner->request;
    Window range = {request->start, request->end};
    if (!request->has_end) {
        range.end = request->now;
    }
    if (!request->has_start) { /* a grain before the end; aligned, because that is all that comes of it */
        range.start = grain_step(planner->grain, grain_floor(planner->grain, request->end), -1);
    }
    if (!request->has_end && range.start >= range.end) {
        error_set(err, ERROR_USAGE, "the start %s is not before now (%s)", time_text(planner->arena, range.start),
                  wall_format(planner->arena, request->now, true).ptr);
        error_hint(err, "without an end the range ends now: give one with --end");
        return FAILED;
    }
    *range_out = range;
    return OK;
}

/* Widens the range to whole grains, and leaves out those that begin after now. */
static Window processed_range(const Planner *planner, Window range) {
    const WindowRequest *request = planner->request;
    Window aligned = {grain_floor(planner->grain, range.start), grain_ceil(planner->grain, range.end)};
    WallUs limit = grain_step(planner->grain, grain_floor(planner->grain, request->now), 1);
    Window kept = {aligned.start, aligned.end < limit ? aligned.end : limit};
    bool start_moved = request->has_start && aligned.start != range.start && kept.start < kept.end;
    bool end_moved = request->has_end && aligned.end != range.end && aligned.end <= limit;
    note_moved_bounds(planner, start_moved, end_moved, aligned);
    if (aligned.end > limit) {
        note_left_out(planner, (Window){aligned.start > limit ? aligned.start : limit, aligned.end});
    }
    return kept;
}

static Status plan_bounded(const Planner *planner, Error *err) {
    Window range;
    TRY(requested_range(planner, &range, err));
    Window kept = processed_range(planner, range);
    bool is_restate = planner->request->verb == WINDOW_RESTATE;
    planner->work->due = interval_set_due(planner->arena, is_restate ? NULL : planner->filled, planner->grain, kept);
    if (is_restate) {
        interval_set_add(planner->arena, &planner->work->take_out, kept);
    }
    note_running_grain(planner);
    return OK;
}

/* ---- Without bounds. */

/* What `run` does of its own accord: the latest complete grain (with catch-up: all from the end of the ledger) where it
 * is not filled, and again what `lookback` expects late rows in. */
static void plan_routine_run(const Planner *planner, Window latest) {
    Arena *arena = planner->arena;
    IntervalSet *due = &planner->work->due;
    Window range = latest;
    if (planner->request->catch_up && planner->filled->count > 0) {
        WallUs filled_to = grain_floor(planner->grain, interval_set_hull(planner->filled).end);
        range.start = filled_to < range.start ? filled_to : range.start;
    }
    *due = interval_set_due(arena, planner->filled, planner->grain, range);
    interval_set_add(arena, due,
                     (Window){grain_step(planner->grain, latest.start, -planner->model->lookback), latest.start});
    note_unfilled_past(planner);
}

static void plan_unbounded(const Planner *planner) {
    WindowWork *work = planner->work;
    bool is_from_nothing = planner->filled->count == 0 && !planner->request->is_forward_only;
    if (is_from_nothing && !str_equal(planner->model->backfill, STR("none"))) {
        work->first_build = true;
        return;
    }
    Window latest = latest_complete(planner->grain, planner->request->now);
    switch (planner->request->verb) {
    case WINDOW_RUN:
        plan_routine_run(planner, latest);
        break;
    case WINDOW_RESTATE:
        interval_set_add(planner->arena, &work->take_out, latest);
        interval_set_add(planner->arena, &work->due, latest);
        break;
    case WINDOW_APPLY:
        interval_set_add(planner->arena, &work->due, latest);
        break;
    }
}

/* ---- */

/* A ledger without its relation says nothing any more. */
static void forget_missing_relation(Planner *planner) {
    static const IntervalSet nothing = {0};
    int64_t count = interval_set_grains(planner->filled, planner->grain);
    add_line(&planner->work->warnings, planner->arena, planner->model,
             "its table is missing, although %s recorded as filled: the record is cleared",
             count == 1 ? "1 window is"
                        : str_format(planner->arena, "%s are", counted(planner->arena, count, "window")).ptr);
    planner->work->take_out = interval_set_copy(planner->arena, planner->filled);
    planner->filled = &nothing;
}

Status window_plan(const Model *model, const IntervalSet *filled, bool has_relation, const WindowRequest *request,
                   Arena *arena, WindowWork *work_out, Error *err) {
    bool is_bounded = request->has_start || request->has_end;
    assert(model->strategy == STRATEGY_INCREMENTAL);
    assert(!is_bounded || request->verb != WINDOW_APPLY);
    assert(!request->catch_up || (request->verb == WINDOW_RUN && !is_bounded));

    WindowWork work = {0};
    Planner planner = {.model = model, .request = request, .filled = filled, .arena = arena, .work = &work};
    TRY(model_grain(model, &planner.grain, err));
    if (!has_relation && filled->count > 0) {
        forget_missing_relation(&planner);
    }
    if (is_bounded) {
        TRY(plan_bounded(&planner, err));
    } else {
        plan_unbounded(&planner);
    }
    warn_of_many_windows(&planner);
    *work_out = work;
    return OK;
}

Status window_first_range(const Model *model, bool has_rows, WallUs min, WallUs max, const Zone *zone,
                          Window *range_out, bool *is_empty_out, Error *err) {
    assert(!str_equal(model->backfill, STR("none")));
    Grain grain;
    TRY(model_grain(model, &grain, err));
    WallUs from = min;
    if (!str_equal(model->backfill, STR("auto")) && failed(wall_parse(model->backfill, zone, &from, err))) {
        err->kind = ERROR_DEFINITION;
        error_place(err, model->place);
        return error_wrap(err, "backfill of model '" STR_FMT "'", STR_ARG(model->name));
    }
    *is_empty_out = !has_rows;
    if (has_rows) {
        WallUs last = max < from ? from : max;
        *range_out = (Window){grain_floor(grain, from), grain_step(grain, grain_floor(grain, last), 1)};
    }
    return OK;
}

bool window_recordable(Grain grain, Window window, WallUs now, Window *recorded_out) {
    WallUs complete = grain_floor(grain, now);
    Window recorded = {window.start, window.end < complete ? window.end : complete};
    if (recorded.start >= recorded.end) {
        return false;
    }
    *recorded_out = recorded;
    return true;
}

/* ---- Notes. */

Status window_due_note(const Model *model, const IntervalSet *filled, WallUs now, Str environment, Arena *arena,
                       bool *has_note_out, Str *note_out, Error *err) {
    Grain grain;
    TRY(model_grain(model, &grain, err));
    Window latest = latest_complete(grain, now);
    *has_note_out = !interval_set_covers(filled, latest);
    if (*has_note_out) {
        *note_out = str_format(arena, STR_FMT ": %s to %s is not filled: interlace run -s " STR_FMT "%s",
                               STR_ARG(model->name), time_text(arena, latest.start), time_text(arena, latest.end),
                               STR_ARG(model->name), environment_option(arena, environment));
    }
    return OK;
}

Status window_grain_note(const Model *model, WallUs now, Arena *arena, bool *has_note_out, Str *note_out, Error *err) {
    Grain grain;
    TRY(model_grain(model, &grain, err));
    bool is_obvious = grain.months > 0 || US_PER_DAY % grain.size_us == 0 || grain.size_us == 7 * US_PER_DAY;
    *has_note_out = !is_obvious;
    if (*has_note_out) {
        *note_out = str_format(
            arena, STR_FMT ": windows of " STR_FMT " are counted from 0001-01-01 00:00; the present one began at %s",
            STR_ARG(model->name), STR_ARG(model->interval), time_text(arena, grain_floor(grain, now)));
    }
    return OK;
}

Str window_empty_source_note(const Model *model, Arena *arena) {
    return str_format(
        arena, STR_FMT ": its source has no row with a time: the table is made empty, and the next run tries again",
        STR_ARG(model->name));
}

Str window_nothing_written_note(const Model *model, Str environment, Arena *arena) {
    return str_format(arena,
                      STR_FMT ": nothing was written and its table is empty; to load earlier rows: "
                              "interlace run -s " STR_FMT " --start DATE --end DATE%s",
                      STR_ARG(model->name), STR_ARG(model->name), environment_option(arena, environment));
}
