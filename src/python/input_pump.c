#include "python/input_pump.h"

#include "python/arrow_ipc_out.h"
#include "python/process_spawn.h"

#include <pthread.h>
#include <sys/socket.h>

#define INTERRUPT_EVERY_MS 50

struct InputPump {
    const PythonInputs *inputs;
    const PythonParameter *parameter;
    PythonPart part;
    int writer; /* the pump's own thread closes nothing: others may shut it down at any time */
    pthread_t thread;
    pthread_mutex_t lock;
    bool is_busy;       /* guarded by lock: `open` or the stream is at work, so may be interrupted */
    DuckStream *stream; /* guarded by lock; NULL while it is being opened */
    bool has_failed;    /* guarded by lock */
    Error reason;       /* the thread's until it has ended */
};

static Status write_rows(DuckStream *stream, ArrowIpcOut *out, Error *err) {
    for (;;) {
        struct ArrowArray array = {.release = NULL};
        TRY(duck_stream_next(stream, &array, err));
        if (array.release == NULL) {
            return arrow_ipc_out_finish(out, err);
        }
        TRY(arrow_ipc_out_write(out, &array, err));
    }
}

static Status write_stream(InputPump *pump, DuckStream *stream, Error *err) {
    AUTO(arrow_ipc_out) ArrowIpcOut *out = NULL;
    TRY(arrow_ipc_out_open(pump->writer, duck_stream_schema(stream), &out, err));
    return write_rows(stream, out, err);
}

static void set_busy(InputPump *pump, bool is_busy, DuckStream *stream) {
    pthread_mutex_lock(&pump->lock);
    pump->is_busy = is_busy;
    pump->stream = stream;
    pthread_mutex_unlock(&pump->lock);
}

static Status run(InputPump *pump, Error *err) {
    DuckStream *stream = NULL;
    set_busy(pump, true, NULL);
    Status status = pump->inputs->open(pump->inputs->context, pump->parameter, &pump->part, &stream, err);
    set_busy(pump, !failed(status) && stream != NULL, stream);
    if (failed(status) || stream == NULL) {
        return status;
    }
    status = write_stream(pump, stream, err);
    set_busy(pump, false, NULL);
    pump->inputs->close(pump->inputs->context, pump->parameter, stream);
    return status;
}

static bool is_reader_gone(const Error *err) {
    return str_equal(error_detail_find(err, STR("code")), STR(ARROW_IPC_READER_GONE));
}

static void *run_thread(void *argument) {
    InputPump *pump = argument;
    Status status = run(pump, &pump->reason);
    pthread_mutex_lock(&pump->lock);
    pump->is_busy = false;
    pump->has_failed = failed(status) && !is_reader_gone(&pump->reason);
    pthread_mutex_unlock(&pump->lock);
    (void)shutdown(pump->writer, SHUT_WR); /* the reader sees the end, with or without a marker before it */
    return NULL;
}

static void pump_free(InputPump *pump) {
    fd_close(&pump->writer);
    pthread_mutex_destroy(&pump->lock);
    error_deinit(&pump->reason);
    free(pump);
}

Status input_pump_start(const PythonInputs *inputs, const PythonParameter *parameter, PythonPart part,
                        InputPump **pump_out, int *reader_out, Error *err) {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot make a socket");
    }
    InputPump *pump = heap_alloc_zeroed(1, sizeof *pump);
    *pump = (InputPump){.inputs = inputs, .parameter = parameter, .part = part, .writer = fds[0]};
    pthread_mutex_init(&pump->lock, NULL);
    error_init(&pump->reason);
    if (pthread_create(&pump->thread, NULL, run_thread, pump) != 0) {
        pump_free(pump);
        fd_close(&fds[1]);
        return error_set(err, ERROR_EXECUTION, "cannot start a thread");
    }
    *pump_out = pump;
    *reader_out = fds[1];
    return OK;
}

const PythonParameter *input_pump_parameter(const InputPump *pump) {
    return pump->parameter;
}

bool input_pump_has_failed(InputPump *pump) {
    pthread_mutex_lock(&pump->lock);
    bool has_failed = pump->has_failed;
    pthread_mutex_unlock(&pump->lock);
    return has_failed;
}

/* While the lock is held the pump does not get to close its stream. */
static void interrupt(InputPump *pump) {
    pthread_mutex_lock(&pump->lock);
    if (pump->is_busy && pump->inputs->interrupt != NULL) {
        pump->inputs->interrupt(pump->inputs->context, pump->parameter, pump->stream);
    }
    pthread_mutex_unlock(&pump->lock);
}

static bool has_joined(InputPump *pump) {
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += INTERRUPT_EVERY_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    return pthread_timedjoin_np(pump->thread, NULL, &until) == 0;
}

/* An interrupt between two statements is lost, so it is repeated. */
Status input_pump_finish(InputPump *pump, Error *err) {
    bool had_failed = input_pump_has_failed(pump); /* what fails from here on fails because we end it */
    (void)shutdown(pump->writer, SHUT_RDWR);
    interrupt(pump);
    while (!has_joined(pump)) {
        interrupt(pump);
    }
    Status status = OK;
    if (had_failed) {
        error_move(err, &pump->reason);
        status = error_wrap(err, "reading '" STR_FMT "'", STR_ARG(pump->parameter->name));
    }
    pump_free(pump);
    return status;
}
