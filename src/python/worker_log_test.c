/* Output of workers as lines, within bounds. */
#include "base/testing.h"
#include "python/process_spawn.h"
#include "python/worker_log.h"

#include <fcntl.h>

typedef struct Listener {
    WorkerLog log;
    int writers[LOG_PIPES];
    StrBuf lines; /* "level: line\n" … */
} Listener;

static void take_line(void *context, Str level, Str line) {
    Listener *listener = context;
    strbuf_format(&listener->lines, STR_FMT ": " STR_FMT "\n", STR_ARG(level), STR_ARG(line));
}

static int listener_open(void **state) {
    Listener *listener = heap_alloc_zeroed(1, sizeof *listener);
    int readers[LOG_PIPES];
    for (size_t i = 0; i < LOG_PIPES; i++) {
        int ends[2];
        assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
        readers[i] = ends[0];
        listener->writers[i] = ends[1];
    }
    worker_log_init(&listener->log, readers[0], readers[1]);
    worker_log_begin_task(&listener->log, (LogSink){take_line, listener});
    *state = listener;
    return 0;
}

static int listener_close(void **state) {
    Listener *listener = *state;
    worker_log_deinit(&listener->log);
    fd_close(&listener->writers[0]);
    fd_close(&listener->writers[1]);
    strbuf_deinit(&listener->lines);
    free(listener);
    return 0;
}

static void print(Listener *listener, int pipe, const char *text) {
    assert_int_equal(write(listener->writers[pipe], text, strlen(text)), (ssize_t)strlen(text));
    worker_log_drain(&listener->log);
}

static void lines_come_when_they_are_complete(void **state) {
    Listener *listener = *state;
    print(listener, 0, "one\ntw");
    assert_str(strbuf_str(&listener->lines), "stdout: one\n", "first");
    print(listener, 1, "oops\r\n");
    print(listener, 0, "o\n\nthree");
    worker_log_end_task(&listener->log);
    assert_str(strbuf_str(&listener->lines), "stdout: one\nstderr: oops\nstdout: two\nstdout: \nstdout: three\n",
               "all");
    assert_str(strbuf_str(&listener->log.last_error), "oops", "last error");
}

static void a_long_line_is_cut(void **state) {
    Listener *listener = *state;
    char part[1001] = {0};
    memset(part, 'x', 1000);
    for (int i = 0; i < 100; i++) {
        print(listener, 0, part);
    }
    print(listener, 0, "\nshort\n");
    Str lines = strbuf_str(&listener->lines);
    assert_true(lines.size < LOG_LINE_SIZE_MAX + 100);
    assert_true(str_ends_with(lines, STR("xxx …\nstdout: short\n")));
}

static void a_task_that_prints_without_end_is_cut_short_and_that_is_said(void **state) {
    Listener *listener = *state;
    char line[1002] = {0};
    memset(line, 'x', 1000);
    line[1000] = '\n';
    for (int i = 0; i < 3000; i++) {
        print(listener, 0, line);
    }
    worker_log_end_task(&listener->log);
    Str lines = strbuf_str(&listener->lines);
    assert_true(lines.size < LOG_TASK_SIZE_MAX + (64 << 10));
    assert_true(str_ends_with(lines, STR("warning: 1954953 more bytes of output are not shown\n")));
}

static void what_comes_between_two_tasks_belongs_to_none(void **state) {
    Listener *listener = *state;
    print(listener, 0, "first\n");
    worker_log_end_task(&listener->log);
    print(listener, 0, "between\nunfinished");
    worker_log_begin_task(&listener->log, (LogSink){take_line, listener});
    print(listener, 0, "second\n");
    assert_str(strbuf_str(&listener->lines), "stdout: first\nstdout: second\n", "lines");
}

static void a_closed_pipe_is_noticed(void **state) {
    Listener *listener = *state;
    assert_true(worker_log_is_open(&listener->log));
    fd_close(&listener->writers[0]);
    worker_log_drain(&listener->log);
    assert_false(worker_log_is_open(&listener->log));
    print(listener, 1, "still here\n");
    assert_str(strbuf_str(&listener->lines), "stderr: still here\n", "lines");
}

#define LISTENER_TEST(test) cmocka_unit_test_setup_teardown(test, listener_open, listener_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        LISTENER_TEST(lines_come_when_they_are_complete),
        LISTENER_TEST(a_long_line_is_cut),
        LISTENER_TEST(a_task_that_prints_without_end_is_cut_short_and_that_is_said),
        LISTENER_TEST(what_comes_between_two_tasks_belongs_to_none),
        LISTENER_TEST(a_closed_pipe_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
