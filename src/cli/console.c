#include "cli/console.h"

#include "cli/progress.h"
#include "cli/terminal_guard.h"
#include "cli/text_width.h"
#include "config/json_writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FRAME_US INT64_C(100000)

struct Console {
    ConsoleOptions options;
    pthread_mutex_t lock; /* guards all below, and writing */
    pthread_cond_t changed;
    pthread_t thread; /* draws the rows again; runs while is_live */
    bool is_live, is_ending;
    Progress progress;
    size_t lines_drawn; /* live rows on the screen, above the cursor */
    size_t step;        /* of the spinner */
};

Console *console_create(const ConsoleOptions *options) {
    Console *console = heap_alloc_zeroed(1, sizeof *console);
    console->options = *options;
    console->progress.arena = arena_create();
    pthread_mutex_init(&console->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&console->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return console;
}

void console_destroy(Console *console) {
    if (console == NULL) {
        return;
    }
    console_end_live(console);
    pthread_cond_destroy(&console->changed);
    pthread_mutex_destroy(&console->lock);
    arena_destroy(console->progress.arena);
    free(console);
}

/* --- Writing; the lock is held ---------------------------------------------------------------------------------------
 */

/* A stderr that cannot be written to leaves nobody to tell. */
static void write_all(const Console *console, Str text) {
    while (text.size > 0) {
        ssize_t written = write(console->options.terminal.descriptor, text.ptr, text.size);
        if (written < 0 && errno != EINTR) {
            return;
        }
        text = str_skip(text, written > 0 ? (size_t)written : 0);
    }
}

/* Puts `stays` where the live rows began, and the rows below it, in one write. */
static void write_above_rows(Console *console, Str stays) {
    if (!console->is_live) {
        write_all(console, stays);
        return;
    }
    if (terminal_guard_was_resumed()) {
        console->lines_drawn = 0;
    }
    if (stays.size == 0 && console->lines_drawn == 0 && console->progress.running.count == 0) {
        return; /* nothing to show, nothing to take away: what others write to the terminal is left alone */
    }
    AUTO(strbuf) StrBuf frame = {0};
    if (console->lines_drawn > 0) {
        strbuf_format(&frame, "\x1b[%zuA", console->lines_drawn);
    }
    strbuf_text(&frame, "\r\x1b[J");
    strbuf_append(&frame, stays);
    const Terminal *terminal = &console->options.terminal;
    console->lines_drawn = console->is_ending ? 0
                                              : progress_draw(&console->progress, clock_monotonic_us(), console->step,
                                                              terminal, terminal_size(terminal), &frame);
    write_all(console, strbuf_str(&frame));
}

/* --- Live rows -------------------------------------------------------------------------------------------------------
 */

static void wait_for_frame(Console *console) {
    int64_t next_us = clock_monotonic_us() + FRAME_US;
    struct timespec until = {.tv_sec = next_us / 1000000, .tv_nsec = next_us % 1000000 * 1000};
    pthread_cond_timedwait(&console->changed, &console->lock, &until);
}

static void *draw_again(void *context) {
    Console *console = context;
    pthread_mutex_lock(&console->lock);
    while (!console->is_ending) {
        wait_for_frame(console);
        console->step++;
        write_above_rows(console, STR_EMPTY);
    }
    pthread_mutex_unlock(&console->lock);
    return NULL;
}

/* Signals go to the main thread, so that a drawing thread is never inside a handler while it holds the lock. */
static bool start_thread(Console *console) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&console->thread, NULL, draw_again, console) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void begin_live(Console *console) {
    if (console->is_live || console->options.mode != CONSOLE_LIVE || !start_thread(console)) {
        return;
    }
    console->is_live = true;
    terminal_guard_begin(console->options.terminal.descriptor);
}

void console_end_live(Console *console) {
    pthread_mutex_lock(&console->lock);
    bool was_live = console->is_live && !console->is_ending;
    if (was_live) {
        console->is_ending = true;
        write_above_rows(console, STR_EMPTY);
        pthread_cond_signal(&console->changed);
    }
    pthread_mutex_unlock(&console->lock);
    if (was_live) {
        pthread_join(console->thread, NULL);
        console->is_live = console->is_ending = false;
        terminal_guard_end();
    }
}

/* --- Messages --------------------------------------------------------------------------------------------------------
 */

static const struct MessageLevelRow {
    Str name;
    Style style;
} message_levels[MESSAGE_LEVEL_COUNT] = {
    [MESSAGE_ERROR] = {STR_INIT("error"), STYLE_BAD},
    [MESSAGE_HINT] = {STR_INIT("hint"), STYLE_CALM},
    [MESSAGE_WARNING] = {STR_INIT("warning"), STYLE_CHANGED},
    [MESSAGE_NOTE] = {STR_INIT("note"), STYLE_DIM},
};

static void append_json_message(StrBuf *out, Str level, Str text) {
    AUTO(arena) Arena *arena = arena_create();
    JsonWriter writer;
    json_writer_init(&writer, out, JSON_COMPACT);
    json_begin_object(&writer);
    json_text_field(&writer, STR("ts"), time_format_iso(arena, clock_now_us()));
    json_text_field(&writer, STR("level"), level);
    json_text_field(&writer, STR("message"), text);
    json_end_object(&writer);
    strbuf_char(out, '\n');
}

static void write_locked(Console *console, const StrBuf *lines) {
    pthread_mutex_lock(&console->lock);
    write_above_rows(console, strbuf_str(lines));
    pthread_mutex_unlock(&console->lock);
}

void console_say(Console *console, MessageLevel level, Str text) {
    const struct MessageLevelRow *row = &message_levels[level];
    AUTO(strbuf) StrBuf line = {0};
    if (console->options.is_json) {
        append_json_message(&line, row->name, text);
    } else {
        style_append(&line, &console->options.terminal, row->style, row->name);
        strbuf_text(&line, ": ");
        text_append_visible(&line, text);
        strbuf_char(&line, '\n');
    }
    write_locked(console, &line);
}

/* Line breaks stay; other control characters are shown escaped. */
static void append_visible_lines(StrBuf *out, Str lines) {
    while (lines.size > 0) {
        Str line = str_slice(lines, 0, str_find_char(lines, '\n'));
        text_append_visible(out, line);
        strbuf_char(out, '\n');
        lines = str_skip(lines, line.size + 1);
    }
}

void console_say_block(Console *console, const char *level, Str lines) {
    AUTO(strbuf) StrBuf block = {0};
    if (console->options.is_json) {
        append_json_message(&block, str_from(level), lines);
    } else {
        append_visible_lines(&block, lines);
    }
    write_locked(console, &block);
}

/* --- Events ----------------------------------------------------------------------------------------------------------
 */

/* What an event line says behind the event's name. */
static void append_event_text(StrBuf *out, const Event *event) {
    switch (event->type) {
    case EVENT_PLAN:
        strbuf_format(out, STR_FMT ", %zu model(s)", STR_ARG(event->plan->environment), event->plan->tasks.count);
        return;
    case EVENT_MODEL_START:
        strbuf_append(out, event->model->name);
        return;
    case EVENT_MODEL_DONE:
    case EVENT_MODEL_FAILED:
    case EVENT_MODEL_CANCELLED:
        strbuf_format(out, STR_FMT " %.2fs", STR_ARG(event->model->name), event->seconds);
        return;
    case EVENT_MODEL_WINDOW:
        strbuf_format(out, STR_FMT " %lld/%lld", STR_ARG(event->model->name), (long long)event->done,
                      (long long)event->total);
        return;
    case EVENT_CHECK:
        strbuf_format(out, STR_FMT "." STR_FMT " " STR_FMT, STR_ARG(event->check->model),
                      STR_ARG(event->check->check_name), STR_ARG(event->check->status));
        return;
    case EVENT_LOG:
        strbuf_format(out, STR_FMT ": " STR_FMT, STR_ARG(event->model == NULL ? STR("python") : event->model->name),
                      STR_ARG(event->text));
        return;
    case EVENT_PROMOTED:
        strbuf_format(out, "%zu model(s), generation %lld", event->promoted, (long long)event->generation);
        return;
    case EVENT_NOTE:
    case EVENT_SUMMARY:
        return;
    }
}

static void append_event_line(StrBuf *out, const Console *console, const Event *event) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(strbuf) StrBuf text = {0};
    strbuf_format(&text, "%s ", event_type_name(event->type));
    append_event_text(&text, event);
    if (console->options.is_json) {
        append_json_message(out, STR("info"), strbuf_str(&text));
        return;
    }
    Str at = time_format_iso(arena, event->at);
    style_append(out, &console->options.terminal, STYLE_DIM, at);
    strbuf_char(out, ' ');
    text_append_visible(out, strbuf_str(&text));
    strbuf_char(out, '\n');
}

static bool is_warning(const Event *event) {
    static const Str levels[] = {STR_INIT("warning"), STR_INIT("error"), STR_INIT("critical")};
    for (size_t i = 0; i < COUNT_OF(levels); i++) {
        if (str_equal_fold(event->level, levels[i])) {
            return true;
        }
    }
    return false;
}

/* Notes and warnings of models are for everyone; other events only for who asked to see them as lines. */
static bool say_event(Console *console, const Event *event) {
    if (event->type == EVENT_NOTE) {
        console_say(console, MESSAGE_NOTE, event->text);
        return true;
    }
    if (event->type == EVENT_LOG && is_warning(event)) {
        AUTO(strbuf) StrBuf text = {0};
        append_event_text(&text, event);
        console_say(console, MESSAGE_WARNING, strbuf_str(&text));
        return true;
    }
    return false;
}

static void take_live(Console *console, const Event *event) {
    AUTO(strbuf) StrBuf stays = {0};
    pthread_mutex_lock(&console->lock);
    if (event->type == EVENT_MODEL_START) {
        begin_live(console);
    }
    progress_take(&console->progress, event, clock_monotonic_us(), &console->options.terminal, &stays);
    if (console->is_live) {
        write_above_rows(console, strbuf_str(&stays));
    }
    pthread_mutex_unlock(&console->lock);
}

void console_take_event(Console *console, const Event *event) {
    if (say_event(console, event)) {
        return;
    }
    if (console->options.mode == CONSOLE_LIVE) {
        take_live(console, event);
    }
    if (console->options.mode == CONSOLE_LINES && event->type != EVENT_SUMMARY) {
        AUTO(strbuf) StrBuf line = {0};
        append_event_line(&line, console, event);
        write_locked(console, &line);
    }
}
