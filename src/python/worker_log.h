/* WorkerLog: what a worker writes to stdout and stderr, as lines. Bounded: a line longer than LOG_LINE_SIZE_MAX is cut,
 * and of one task at most LOG_TASK_SIZE_MAX bytes are passed on; the rest is counted and mentioned at the end. */
#ifndef INTERLACE_PYTHON_WORKER_LOG_H
#define INTERLACE_PYTHON_WORKER_LOG_H

#include "base/error.h"

#define LOG_LINE_SIZE_MAX ((size_t)8 << 10)
#define LOG_TASK_SIZE_MAX ((size_t)1 << 20)

typedef struct LogSink {
    void (*write)(void *context, Str level, Str line); /* NULL: nobody listens */
    void *context;
} LogSink;

typedef struct LogPipe {
    int fd;      /* -1: closed by the worker */
    Str level;   /* "stdout" or "stderr" */
    StrBuf line; /* the unfinished one */
    bool is_cut; /* the rest of the line is skipped */
} LogPipe;

#define LOG_PIPES 2
typedef struct WorkerLog {
    LogPipe pipes[LOG_PIPES];
    LogSink sink;
    size_t passed_size; /* of the task so far */
    size_t dropped_size;
    StrBuf last_error; /* last line of stderr: why a worker did not start */
} WorkerLog;

/* Takes both descriptors and makes them non-blocking. */
void worker_log_init(WorkerLog *log, int stdout_fd, int stderr_fd);
void worker_log_deinit(WorkerLog *log);

void worker_log_begin_task(WorkerLog *log, LogSink sink);
/* Unfinished lines and the mention of what was dropped; then nobody listens. */
void worker_log_end_task(WorkerLog *log);

void worker_log_drain(WorkerLog *log);                     /* reads what is there; never waits */
void worker_log_line(WorkerLog *log, Str level, Str line); /* one that came by another way */
bool worker_log_is_open(const WorkerLog *log);             /* both pipes still are */

#endif
