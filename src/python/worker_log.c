#include "python/worker_log.h"

#include "python/process_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define DRAIN_SIZE_MAX ((size_t)4 << 20) /* of one drain: a worker that never stops printing does not keep us */

void worker_log_init(WorkerLog *log, int stdout_fd, int stderr_fd) {
    *log = (WorkerLog){.pipes = {{.fd = stdout_fd, .level = STR("stdout")}, {.fd = stderr_fd, .level = STR("stderr")}}};
    for (size_t i = 0; i < LOG_PIPES; i++) {
        (void)fcntl(log->pipes[i].fd, F_SETFL, O_NONBLOCK);
    }
}

void worker_log_deinit(WorkerLog *log) {
    for (size_t i = 0; i < LOG_PIPES; i++) {
        fd_close(&log->pipes[i].fd);
        strbuf_deinit(&log->pipes[i].line);
    }
    strbuf_deinit(&log->last_error);
}

bool worker_log_is_open(const WorkerLog *log) {
    return log->pipes[0].fd >= 0 && log->pipes[1].fd >= 0;
}

void worker_log_line(WorkerLog *log, Str level, Str line) {
    if (log->passed_size + line.size > LOG_TASK_SIZE_MAX) {
        log->dropped_size += line.size + 1;
        return;
    }
    log->passed_size += line.size + 1;
    if (log->sink.write != NULL) {
        log->sink.write(log->sink.context, level, line);
    }
}

static void pass_line(WorkerLog *log, LogPipe *pipe) {
    Str line = strbuf_str(&pipe->line);
    if (str_ends_with(line, STR("\r"))) {
        line.size--;
    }
    worker_log_line(log, pipe->level, line);
    if (pipe == &log->pipes[1] && line.size > 0) {
        strbuf_clear(&log->last_error);
        strbuf_append(&log->last_error, line);
    }
    strbuf_clear(&pipe->line);
    pipe->is_cut = false;
}

static void add_text(LogPipe *pipe, Str text) {
    if (pipe->is_cut) {
        return;
    }
    size_t room = LOG_LINE_SIZE_MAX - pipe->line.size;
    strbuf_append(&pipe->line, str_slice(text, 0, room));
    if (text.size > room) {
        strbuf_text(&pipe->line, " …");
        pipe->is_cut = true;
    }
}

static void add_bytes(WorkerLog *log, LogPipe *pipe, Str bytes) {
    while (bytes.size > 0) {
        size_t end = str_find_char(bytes, '\n');
        add_text(pipe, str_slice(bytes, 0, end));
        if (end == STR_NOT_FOUND) {
            return;
        }
        pass_line(log, pipe);
        bytes = str_skip(bytes, end + 1);
    }
}

static void drain_pipe(WorkerLog *log, LogPipe *pipe) {
    char block[16 << 10];
    for (size_t size = 0; pipe->fd >= 0 && size < DRAIN_SIZE_MAX;) {
        ssize_t read_size = read(pipe->fd, block, sizeof block);
        if (read_size > 0) {
            add_bytes(log, pipe, (Str){block, (size_t)read_size});
            size += (size_t)read_size;
        } else if (read_size == 0) {
            fd_close(&pipe->fd);
        } else if (errno != EINTR) {
            return;
        }
    }
}

void worker_log_drain(WorkerLog *log) {
    for (size_t i = 0; i < LOG_PIPES; i++) {
        drain_pipe(log, &log->pipes[i]);
    }
}

void worker_log_begin_task(WorkerLog *log, LogSink sink) {
    log->sink = (LogSink){0};
    worker_log_drain(log); /* of threads that the task before left running */
    for (size_t i = 0; i < LOG_PIPES; i++) {
        strbuf_clear(&log->pipes[i].line);
        log->pipes[i].is_cut = false;
    }
    log->sink = sink;
    log->passed_size = 0;
    log->dropped_size = 0;
}

void worker_log_end_task(WorkerLog *log) {
    worker_log_drain(log);
    for (size_t i = 0; i < LOG_PIPES; i++) {
        if (log->pipes[i].line.size > 0) {
            pass_line(log, &log->pipes[i]);
        }
    }
    if (log->dropped_size > 0 && log->sink.write != NULL) {
        AUTO(strbuf) StrBuf note = {0};
        strbuf_format(&note, "%zu more bytes of output are not shown", log->dropped_size);
        log->sink.write(log->sink.context, STR("warning"), strbuf_str(&note));
    }
    log->sink = (LogSink){0};
}
