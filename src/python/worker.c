#include "python/worker.h"

#include "base/civil.h"
#include "base/clock.h"
#include "config/json_writer.h"
#include "python/worker_environment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROTOCOL_VERSION 1
#define START_TIMEOUT_US (60 * US_PER_SECOND)
#define TASKS_MAX 100
#define MEMORY_MAX ((int64_t)2 << 30)
#define FDS_MAX 4 /* descriptors that wait for their frame */

typedef enum WorkerState { WORKER_STARTING, WORKER_READY, WORKER_DEAD } WorkerState;

struct Worker {
    WorkerState state;
    pid_t pid;
    int control, watch; /* socket; readable when the process has ended */
    int exit_status;    /* of waitpid, once DEAD */
    int64_t started_us;
    int task_count;
    WorkerLog log;
    FrameReader reader;
    int fds[FDS_MAX];
    size_t fd_count;
    Arena *frame_arena; /* of `frame`; NULL before the first */
    Frame frame;
    Str interpreter; /* as the options had it; outlives the worker */
};

/* ---- Start */

typedef struct Ends {
    int ours, theirs;
} Ends;

static void ends_deinit(Ends *ends) {
    fd_close(&ends->ours);
    fd_close(&ends->theirs);
}
DEFINE_AUTO_VALUE(Ends, ends, ends_deinit)

static Status make_socket(Ends *ends, Error *err) {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot make a socket");
    }
    *ends = (Ends){fds[0], fds[1]};
    return OK;
}

static Status make_pipe(Ends *ends, Error *err) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot make a pipe");
    }
    *ends = (Ends){fds[0], fds[1]};
    return OK;
}

static int take_fd(int *fd) {
    int taken = *fd;
    *fd = -1;
    return taken;
}

static Status spawn(const WorkerOptions *options, Worker *worker, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(ends) Ends control = {-1, -1};
    AUTO(ends) Ends output = {-1, -1};
    AUTO(ends) Ends errors = {-1, -1};
    AUTO(fd) int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    TRY(make_socket(&control, err));
    TRY(make_pipe(&output, err));
    TRY(make_pipe(&errors, err));

    const char *arguments[] = {
        str_to_c(arena, options->interpreter->path), "-X", "utf8", "-m", "interlace.worker", NULL,
    };
    ProcessOptions process = {
        .arguments = arguments,
        .directory = "/", /* Python would look for its own modules in the project first; the worker goes there later */
        .fds = {nothing, output.theirs, errors.theirs, control.theirs},
    };
    TRY(worker_environment(options->sdk->path, arena, &process.environment, err));
    TRY(spawner_spawn(options->spawner, &process, &worker->pid, err));
    worker->control = take_fd(&control.ours);
    worker_log_init(&worker->log, take_fd(&output.ours), take_fd(&errors.ours));
    return process_watch(worker->pid, &worker->watch, err);
}

/* A worker that does not read must not keep us. */
static void limit_sending(int fd) {
    struct timeval limit = {.tv_sec = 30};
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

static const char *const var_type_names[] = {
    [VAR_STRING] = "string", [VAR_INT] = "int",   [VAR_FLOAT] = "float",
    [VAR_BOOL] = "bool",     [VAR_DATE] = "date", [VAR_TIMESTAMP] = "timestamp",
};

static void write_vars(JsonWriter *json, const ProjectConfig *config) {
    json_key(json, STR("vars"));
    json_begin_object(json);
    for (size_t i = 0; i < config->vars.count; i++) {
        const VarConfig *var = &config->vars.items[i];
        json_key(json, var->name);
        json_begin_object(json);
        json_text_field(json, STR("type"), str_from(var_type_names[var->type]));
        json_text_field(json, STR("value"), var->value);
        json_end_object(json);
    }
    json_end_object(json);
}

static Status greet(Worker *worker, const ProjectConfig *config, Error *err) {
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_begin_object(&json);
    json_text_field(&json, STR("t"), STR("hello"));
    json_int_field(&json, STR("protocol"), PROTOCOL_VERSION);
    json_text_field(&json, STR("root"), config->root);
    json_text_field(&json, STR("project"), config->name);
    write_vars(&json, config);
    json_end_object(&json);
    return worker_send(worker, strbuf_str(&text), -1, err);
}

Status worker_start(const WorkerOptions *options, Worker **worker_out, Error *err) {
    Worker *worker = heap_alloc_zeroed(1, sizeof *worker);
    *worker = (Worker){.control = -1, .watch = -1, .pid = -1, .interpreter = options->interpreter->path};
    worker_log_init(&worker->log, -1, -1);
    worker->started_us = clock_monotonic_us();
    Status status = spawn(options, worker, err);
    if (!failed(status)) {
        limit_sending(worker->control);
        status = greet(worker, options->config, err);
    }
    if (failed(status)) {
        worker_close(worker, 0);
        return error_wrap(err, "starting a Python worker");
    }
    *worker_out = worker;
    return OK;
}

/* ---- End */

void worker_ask_to_end(Worker *worker) {
    fd_close(&worker->control);
}

static void wait_for_end(const Worker *worker, int grace_ms) {
    struct pollfd wait = {.fd = worker->watch, .events = POLLIN};
    int64_t deadline_us = clock_monotonic_us() + (int64_t)grace_ms * 1000;
    while (worker->watch >= 0 && worker->state != WORKER_DEAD && clock_monotonic_us() < deadline_us) {
        int64_t left_us = deadline_us - clock_monotonic_us();
        if (poll(&wait, 1, (int)(left_us / 1000) + 1) > 0) {
            return;
        }
    }
}

#define KILL_PATIENCE_MS 5000

/* The group is killed while its leader is not yet reaped: until then no other group can have its number. One that hangs
 * in the kernel is left behind. */
static void reap(Worker *worker) {
    if (worker->pid > 0 && worker->state != WORKER_DEAD) {
        (void)kill(-worker->pid, SIGKILL);
        wait_for_end(worker, KILL_PATIENCE_MS);
        while (waitpid(worker->pid, &worker->exit_status, WNOHANG) < 0 && errno == EINTR) {
        }
        worker->state = WORKER_DEAD;
    }
}

void worker_close(Worker *worker, int grace_ms) {
    if (worker == NULL) {
        return;
    }
    wait_for_end(worker, grace_ms);
    reap(worker);
    fd_close(&worker->control);
    fd_close(&worker->watch);
    for (size_t i = 0; i < worker->fd_count; i++) {
        fd_close(&worker->fds[i]);
    }
    worker_log_deinit(&worker->log);
    frame_reader_deinit(&worker->reader);
    arena_destroy(worker->frame_arena);
    free(worker);
}

/* ---- Frames in */

static void keep_fds(Worker *worker, struct msghdr *message, bool *too_many) {
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
            if (worker->fd_count < FDS_MAX) {
                worker->fds[worker->fd_count++] = fd;
            } else {
                fd_close(&fd);
                *too_many = true;
            }
        }
    }
}

/* Reads what is there; `*is_closed` when the other side has closed the socket. */
static Status receive(Worker *worker, bool *is_closed, Error *err) {
    char block[64 << 10];
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control;
    struct iovec part = {.iov_base = block, .iov_len = sizeof block};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t size = recvmsg(worker->control, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    *is_closed = size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
    if (size <= 0) {
        return OK;
    }
    bool too_many = (message.msg_flags & MSG_CTRUNC) != 0;
    keep_fds(worker, &message, &too_many);
    if (too_many) {
        return error_set(err, ERROR_EXECUTION, "protocol error: more file descriptors than frames");
    }
    frame_reader_add(&worker->reader, (Str){block, (size_t)size});
    return OK;
}

static Status check_ready(Worker *worker, Error *err) {
    int64_t protocol = frame_int(worker->frame.fields, STR("protocol"));
    if (protocol != PROTOCOL_VERSION) {
        Str version = config_text(worker->frame.fields, STR("sdk_version"));
        error_set(err, ERROR_CONFIGURATION,
                  "the package interlace " STR_FMT " of the interpreter speaks protocol %lld, this program speaks %d",
                  STR_ARG(version), (long long)protocol, PROTOCOL_VERSION);
        error_hint(err, "unset INTERLACE_SDK_PATH: the package of this program is then used");
        return FAILED;
    }
    worker->state = WORKER_READY;
    return OK;
}

/* The next frame that is for the caller, out of the bytes that are there. */
static Status next_frame(Worker *worker, bool *has_frame, Error *err) {
    Str payload;
    TRY(frame_reader_next(&worker->reader, &payload, has_frame, err));
    if (!*has_frame) {
        return OK;
    }
    arena_destroy(worker->frame_arena);
    worker->frame_arena = arena_create();
    TRY(frame_parse(payload, worker->frame_arena, &worker->frame, err));
    switch (worker->frame.type) {
    case FRAME_READY:
        TRY(check_ready(worker, err));
        return next_frame(worker, has_frame, err);
    case FRAME_LOG:
        worker_log_line(&worker->log, config_text(worker->frame.fields, STR("level")),
                        config_text(worker->frame.fields, STR("message")));
        return next_frame(worker, has_frame, err);
    case FRAME_LOADING:
    case FRAME_MANIFEST:
    case FRAME_OPEN_INPUT:
    case FRAME_OUTPUT:
    case FRAME_RESULT:
    case FRAME_ERROR:
    case FRAME_STALE:
    case FRAME_PONG:
    case FRAME_TYPE_COUNT:
        break;
    }
    return OK;
}

const Frame *worker_frame(const Worker *worker) {
    return &worker->frame;
}

Status worker_take_fd(Worker *worker, int *fd_out, Error *err) {
    if (worker->fd_count == 0) {
        return error_set(err, ERROR_EXECUTION, "protocol error: a frame without its file descriptor");
    }
    *fd_out = worker->fds[0];
    worker->fd_count--;
    memmove(worker->fds, worker->fds + 1, worker->fd_count * sizeof *worker->fds);
    return OK;
}

/* ---- Waiting */

enum { POLL_CONTROL, POLL_STDOUT, POLL_STDERR, POLL_WATCH, POLL_EXTRA, POLL_COUNT };

static bool is_ready_to_read(const struct pollfd *poll) {
    return poll->revents != 0;
}

/* poll passes over negative descriptors. */
static void poll_all(const Worker *worker, int extra_fd, int timeout_ms, struct pollfd polls[POLL_COUNT]) {
    const int fds[POLL_COUNT] = {
        [POLL_CONTROL] = worker->control,
        [POLL_STDOUT] = worker->log.pipes[0].fd,
        [POLL_STDERR] = worker->log.pipes[1].fd,
        [POLL_WATCH] = worker->watch,
        [POLL_EXTRA] = extra_fd,
    };
    for (size_t i = 0; i < POLL_COUNT; i++) {
        polls[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    }
    (void)poll(polls, POLL_COUNT, timeout_ms);
}

static Status check_start(const Worker *worker, Error *err) {
    if (worker->state != WORKER_STARTING || clock_monotonic_us() - worker->started_us < START_TIMEOUT_US) {
        return OK;
    }
    return error_set(err, ERROR_CONFIGURATION, "'" STR_FMT "' did not start a worker within %lld s",
                     STR_ARG(worker->interpreter), (long long)(START_TIMEOUT_US / US_PER_SECOND));
}

/* The process has ended, or has closed its socket, which is the end of it as well. */
static Status note_death(Worker *worker, WorkerEvent *event_out, Error *err) {
    bool was_starting = worker->state == WORKER_STARTING;
    worker_log_drain(&worker->log);
    wait_for_end(worker, 100);
    reap(worker);
    fd_close(&worker->control);
    if (was_starting) {
        AUTO(arena) Arena *arena = arena_create();
        Str last_error = strbuf_str(&worker->log.last_error);
        return error_set(err, ERROR_CONFIGURATION, "'" STR_FMT "' started no worker: it " STR_FMT "%s" STR_FMT,
                         STR_ARG(worker->interpreter), STR_ARG(worker_death(worker, arena)),
                         last_error.size > 0 ? ": " : "", STR_ARG(last_error));
    }
    *event_out = WORKER_DIED;
    return OK;
}

/* A frame that is there; else, when the socket is closed or the process gone, its death. */
static Status take_control(Worker *worker, bool has_ended, bool *has_event, WorkerEvent *event_out, Error *err) {
    bool is_closed = false;
    TRY(receive(worker, &is_closed, err));
    bool has_frame = false;
    TRY(next_frame(worker, &has_frame, err));
    if (has_frame) {
        *event_out = WORKER_FRAME;
        *has_event = true;
    } else if (is_closed || has_ended) {
        TRY(note_death(worker, event_out, err));
        *has_event = true;
    }
    return OK;
}

static Status wait_once(Worker *worker, int extra_fd, int timeout_ms, bool *has_event, WorkerEvent *event_out,
                        Error *err) {
    struct pollfd polls[POLL_COUNT];
    poll_all(worker, extra_fd, timeout_ms, polls);
    worker_log_drain(&worker->log); /* what was printed comes before the frame that was sent after it */
    bool has_ended = is_ready_to_read(&polls[POLL_WATCH]);
    if (is_ready_to_read(&polls[POLL_CONTROL]) || has_ended) {
        TRY(take_control(worker, has_ended, has_event, event_out, err));
    }
    if (!*has_event && is_ready_to_read(&polls[POLL_EXTRA])) {
        *event_out = WORKER_READABLE;
        *has_event = true;
    }
    return OK;
}

Status worker_wait(Worker *worker, int extra_fd, int timeout_ms, WorkerEvent *event_out, Error *err) {
    if (worker->state == WORKER_DEAD) {
        *event_out = WORKER_DIED;
        return OK;
    }
    bool has_event = false;
    TRY(next_frame(worker, &has_event, err));
    if (has_event) {
        *event_out = WORKER_FRAME;
        return OK;
    }
    int64_t deadline_us = clock_monotonic_us() + (int64_t)timeout_ms * 1000;
    int64_t left_us;
    while (!has_event && (left_us = deadline_us - clock_monotonic_us()) >= 0) {
        TRY(wait_once(worker, extra_fd, (int)(left_us / 1000), &has_event, event_out, err));
    }
    if (!has_event) {
        *event_out = WORKER_TIMEOUT;
        return check_start(worker, err);
    }
    return OK;
}

/* ---- Frames out */

static ssize_t send_with_fd(int socket, Str bytes, int fd) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes.ptr, .iov_len = bytes.size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        control.header =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

Status worker_send(Worker *worker, Str json, int fd, Error *err) {
    AUTO(strbuf) StrBuf frame = {0};
    TRY(frame_encode(json, &frame, err));
    Str left = strbuf_str(&frame);
    while (left.size > 0 && worker->control >= 0) {
        ssize_t size = send_with_fd(worker->control, left, fd);
        if (size >= 0) {
            left = str_skip(left, (size_t)size);
            fd = -1; /* it rode on the first byte */
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return OK;
        } else if (errno != EINTR) {
            return error_set_errno(err, ERROR_EXECUTION, "a Python worker does not take its orders");
        }
    }
    return OK;
}

/* ---- Tasks */

void worker_begin_task(Worker *worker, LogSink sink) {
    worker->task_count++;
    worker_log_begin_task(&worker->log, sink);
}

void worker_end_task(Worker *worker) {
    worker_log_end_task(&worker->log);
}

void worker_signal(Worker *worker, int number) {
    if (worker->state != WORKER_DEAD) {
        (void)kill(number == SIGINT ? worker->pid : -worker->pid, number);
    }
}

/* The resident memory in bytes; 0 when it cannot be had. */
static int64_t resident_memory(pid_t pid) {
    AUTO(strbuf) StrBuf path = {0};
    strbuf_format(&path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(strbuf_c(&path), "re");
    long long pages = 0;
    if (file != NULL) {
        if (fscanf(file, "%*s %lld", &pages) != 1) {
            pages = 0;
        }
        (void)fclose(file);
    }
    return pages * sysconf(_SC_PAGESIZE);
}

bool worker_is_reusable(const Worker *worker) {
    return worker->state == WORKER_READY && worker->task_count < TASKS_MAX && worker->fd_count == 0 &&
           worker_log_is_open(&worker->log) && resident_memory(worker->pid) < MEMORY_MAX;
}

/* ---- Death */

typedef struct SignalMeaning {
    int number;
    const char *meaning;
} SignalMeaning;

static const SignalMeaning signal_meanings[] = {
    {SIGKILL, "; perhaps memory ran out"}, {SIGSEGV, ": a fault in native code"}, {SIGBUS, ": a fault in native code"},
    {SIGILL, ": a fault in native code"},  {SIGFPE, ": a fault in native code"},  {SIGABRT, ": native code gave up"},
};

static const char *signal_meaning(int number) {
    for (size_t i = 0; i < COUNT_OF(signal_meanings); i++) {
        if (signal_meanings[i].number == number) {
            return signal_meanings[i].meaning;
        }
    }
    return "";
}

Str worker_death(const Worker *worker, Arena *arena) {
    int status = worker->exit_status;
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        return str_format(arena, "was killed by SIG%s%s", name == NULL ? "?" : name, signal_meaning(WTERMSIG(status)));
    }
    return str_format(arena, "ended with exit code %d", WEXITSTATUS(status));
}
