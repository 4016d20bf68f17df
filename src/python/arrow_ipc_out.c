#include "python/arrow_ipc_out.h"

#include <errno.h>
#include <sys/socket.h>

#include <nanoarrow/nanoarrow.h>
#include <nanoarrow/nanoarrow_ipc.h>

struct ArrowIpcOut {
    int fd;
    struct ArrowIpcWriter writer; /* private_data NULL: not made */
    struct ArrowArrayView view;
};

static ArrowErrorCode write_all(struct ArrowIpcOutputStream *stream, const void *bytes, int64_t size,
                                int64_t *written_out, struct ArrowError *error) {
    ArrowIpcOut *out = stream->private_data;
    *written_out = 0;
    while (*written_out < size) {
        const char *left = (const char *)bytes + *written_out;
        ssize_t sent = send(out->fd, left, (size_t)(size - *written_out), MSG_NOSIGNAL);
        if (sent >= 0) {
            *written_out += sent;
        } else if (errno != EINTR) {
            (void)ArrowErrorSet(error, "%s", strerror(errno));
            return errno;
        }
    }
    return NANOARROW_OK;
}

static void release_stream(struct ArrowIpcOutputStream *stream) {
    stream->release = NULL;
}

static Status refuse(int code, const struct ArrowError *reason, Error *err) {
    if (code == EPIPE || code == ECONNRESET) {
        error_set(err, ERROR_EXECUTION, "nobody reads the rows any more");
        error_code(err, STR(ARROW_IPC_READER_GONE));
        return FAILED;
    }
    const char *text = reason->message[0] != '\0' ? reason->message : strerror(code);
    return error_set(err, ERROR_EXECUTION, "rows cannot be sent: %s", text);
}

static int open_writer(ArrowIpcOut *out, const struct ArrowSchema *schema, struct ArrowError *reason) {
    struct ArrowIpcOutputStream stream = {.write = write_all, .release = release_stream, .private_data = out};
    NANOARROW_RETURN_NOT_OK(ArrowIpcWriterInit(&out->writer, &stream));
    NANOARROW_RETURN_NOT_OK(ArrowArrayViewInitFromSchema(&out->view, schema, reason));
    return ArrowIpcWriterWriteSchema(&out->writer, schema, reason);
}

Status arrow_ipc_out_open(int fd, const struct ArrowSchema *schema, ArrowIpcOut **out_out, Error *err) {
    AUTO(arrow_ipc_out) ArrowIpcOut *out = heap_alloc_zeroed(1, sizeof *out);
    struct ArrowError reason = {0};
    out->fd = fd;
    ArrowArrayViewInitFromType(&out->view, NANOARROW_TYPE_UNINITIALIZED);
    int code = open_writer(out, schema, &reason);
    if (code != NANOARROW_OK) {
        return refuse(code, &reason, err);
    }
    *out_out = TAKE(out);
    return OK;
}

static int write_array(ArrowIpcOut *out, const struct ArrowArray *array, struct ArrowError *reason) {
    NANOARROW_RETURN_NOT_OK(ArrowArrayViewSetArray(&out->view, array, reason));
    return ArrowIpcWriterWriteArrayView(&out->writer, &out->view, reason);
}

Status arrow_ipc_out_write(ArrowIpcOut *out, struct ArrowArray *array, Error *err) {
    struct ArrowError reason = {0};
    int code = write_array(out, array, &reason);
    array->release(array);
    return code == NANOARROW_OK ? OK : refuse(code, &reason, err);
}

Status arrow_ipc_out_finish(ArrowIpcOut *out, Error *err) {
    struct ArrowError reason = {0};
    int code = ArrowIpcWriterWriteArrayView(&out->writer, NULL, &reason);
    return code == NANOARROW_OK ? OK : refuse(code, &reason, err);
}

void arrow_ipc_out_close(ArrowIpcOut *out) {
    if (out == NULL) {
        return;
    }
    if (out->writer.private_data != NULL) {
        ArrowIpcWriterReset(&out->writer);
    }
    ArrowArrayViewReset(&out->view);
    free(out);
}
