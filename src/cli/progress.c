#include "cli/progress.h"

#include "base/civil.h"
#include "cli/text_width.h"

#define NAME_WIDTH_MAX ((size_t)60)

static void pad(StrBuf *out, Str text, size_t width) {
    strbuf_append(out, text);
    for (size_t used = text_width(text); used < width; used++) {
        strbuf_char(out, ' ');
    }
}

static void append_clock(StrBuf *out, int64_t span_us) {
    int64_t seconds = span_us / US_PER_SECOND;
    if (seconds >= 3600) {
        strbuf_format(out, "%lld:", (long long)(seconds / 3600));
    }
    strbuf_format(out, "%02lld:%02lld", (long long)(seconds / 60 % 60), (long long)(seconds % 60));
}

/* --- Events ----------------------------------------------------------------------------------------------------------
 */

static void take_name(Progress *progress, Str name) {
    size_t width = text_width(name);
    width = width < NAME_WIDTH_MAX ? width : NAME_WIDTH_MAX;
    progress->name_width = width > progress->name_width ? width : progress->name_width;
}

static void take_plan(Progress *progress, const Plan *plan) {
    for (size_t i = 0; i < plan->tasks.count; i++) {
        const PlanTask *task = &plan->tasks.items[i];
        if (task->action != TASK_BUILD) {
            continue;
        }
        progress->total++;
        take_name(progress, task->model->name);
    }
}

static void remove_row(Progress *progress, const Model *model) {
    ProgressRowVec *rows = &progress->running;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i].model == model) {
            rows->count--;
            memmove(&rows->items[i], &rows->items[i + 1], (rows->count - i) * sizeof *rows->items);
            return;
        }
    }
}

static void take_start(Progress *progress, const Event *event, int64_t now_us) {
    take_name(progress, event->model->name);
    progress->total = event->total > 0 ? (size_t)event->total : progress->total;
    progress->started_us = progress->started_us == 0 ? now_us : progress->started_us;
    progress_row_vec_push(progress->arena, &progress->running,
                          (ProgressRow){.model = event->model, .started_us = now_us});
}

static void take_window(Progress *progress, const Event *event, int64_t now_us) {
    for (size_t i = 0; i < progress->running.count; i++) {
        ProgressRow *row = &progress->running.items[i];
        if (row->model == event->model) {
            row->done = event->done;
            row->total = event->total;
            row->rows = event->rows.is_known ? event->rows.inserted + event->rows.updated : 0;
            row->moved_us = now_us;
        }
    }
}

typedef struct EndedRow {
    Glyph glyph;
    Style style;
    const char *status;
} EndedRow;

static void take_end(Progress *progress, const Event *event, EndedRow ended, const Terminal *terminal,
                     StrBuf *stays_out) {
    remove_row(progress, event->model);
    progress->done++;
    AUTO(strbuf) StrBuf row = {0};
    pad(&row, event->model->name, progress->name_width);
    strbuf_format(&row, "  %-9s  %.2fs", ended.status, event->seconds);
    style_append(stays_out, terminal, ended.style, glyph(terminal, ended.glyph));
    strbuf_char(stays_out, ' ');
    style_append(stays_out, terminal, ended.style == STYLE_DIM ? STYLE_DIM : STYLE_PLAIN, strbuf_str(&row));
    strbuf_char(stays_out, '\n');
}

void progress_take(Progress *progress, const Event *event, int64_t now_us, const Terminal *terminal,
                   StrBuf *stays_out) {
    switch (event->type) {
    case EVENT_PLAN:
        take_plan(progress, event->plan);
        return;
    case EVENT_MODEL_START:
        take_start(progress, event, now_us);
        return;
    case EVENT_MODEL_WINDOW:
        take_window(progress, event, now_us);
        return;
    case EVENT_MODEL_DONE:
        take_end(progress, event, (EndedRow){GLYPH_DONE, STYLE_GOOD, "done"}, terminal, stays_out);
        return;
    case EVENT_MODEL_FAILED:
        take_end(progress, event, (EndedRow){GLYPH_FAILED, STYLE_BAD, "failed"}, terminal, stays_out);
        return;
    case EVENT_MODEL_CANCELLED:
        take_end(progress, event, (EndedRow){GLYPH_CANCELLED, STYLE_DIM, "cancelled"}, terminal, stays_out);
        return;
    case EVENT_CHECK:
    case EVENT_LOG:
    case EVENT_NOTE:
    case EVENT_PROMOTED:
    case EVENT_SUMMARY:
        return;
    }
}

/* --- Drawing ---------------------------------------------------------------------------------------------------------
 */

static void end_row(StrBuf *row, const Terminal *terminal, TerminalSize size, Style style, StrBuf *out) {
    AUTO(arena) Arena *arena = arena_create();
    /* One column stays free: a cursor behind the last one wraps on some terminals. */
    size_t width = size.columns == TERMINAL_UNLIMITED ? size.columns : size.columns - 1;
    style_append(out, terminal, style, text_cut(arena, strbuf_str(row), width, glyph(terminal, GLYPH_ELLIPSIS)));
    strbuf_char(out, '\n');
    strbuf_clear(row);
}

/* By what is done so far; the time left counts down between two windows. */
static void draw_speed(const ProgressRow *row, int64_t now_us, StrBuf *out) {
    int64_t took_us = row->moved_us - row->started_us;
    if (row->rows > 0 && took_us > 0) {
        strbuf_format(out, "  %.0f rows/s", (double)row->rows * US_PER_SECOND / (double)took_us);
    }
    if (row->done > 0 && row->done < row->total) {
        double left_us = (double)took_us / (double)row->done * (double)(row->total - row->done);
        int64_t since_us = now_us - row->moved_us;
        strbuf_text(out, "  ");
        append_clock(out, left_us > (double)since_us ? (int64_t)left_us - since_us : 0);
        strbuf_text(out, " left");
    }
}

static void draw_running(const Progress *progress, const ProgressRow *row, int64_t now_us, Str spinner, StrBuf *out) {
    strbuf_format(out, STR_FMT " ", STR_ARG(spinner));
    pad(out, row->model->name, progress->name_width);
    strbuf_format(out, "  %-9s  ", "building");
    append_clock(out, now_us - row->started_us);
    if (row->total > 0) {
        strbuf_format(out, "  window %lld/%lld", (long long)row->done, (long long)row->total);
        draw_speed(row, now_us, out);
    }
}

static void draw_bottom(const Progress *progress, int64_t now_us, Str dot, StrBuf *out) {
    size_t total = progress->done + progress->running.count;
    total = progress->total > total ? progress->total : total;
    strbuf_format(out, "%zu/%zu built " STR_FMT " %zu running " STR_FMT " ", progress->done, total, STR_ARG(dot),
                  progress->running.count, STR_ARG(dot));
    append_clock(out, now_us - progress->started_us);
}

size_t progress_draw(const Progress *progress, int64_t now_us, size_t step, const Terminal *terminal, TerminalSize size,
                     StrBuf *out) {
    size_t running = progress->running.count;
    if (running == 0) {
        return 0;
    }
    /* The bottom line, the line of the cursor and perhaps "… and n more" need their places. */
    size_t room = size.rows > 4 ? size.rows - 2 : 2;
    size_t shown = running <= room - 1 ? running : room - 2;
    AUTO(strbuf) StrBuf row = {0};
    for (size_t i = 0; i < shown; i++) {
        draw_running(progress, &progress->running.items[i], now_us, spinner_frame(terminal, step), &row);
        end_row(&row, terminal, size, STYLE_CALM, out);
    }
    size_t lines = shown;
    if (shown < running) {
        strbuf_format(&row, STR_FMT " and %zu more running", STR_ARG(glyph(terminal, GLYPH_ELLIPSIS)), running - shown);
        end_row(&row, terminal, size, STYLE_DIM, out);
        lines++;
    }
    draw_bottom(progress, now_us, glyph(terminal, GLYPH_DOT), &row);
    end_row(&row, terminal, size, STYLE_DIM, out);
    return lines + 1;
}
