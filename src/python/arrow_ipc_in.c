/* The decoder of nanoarrow with a loop of our own around it: nanoarrow's loop takes an end of file for an end of
 * stream, and reserves what a message announces before anyone can look at it. What it takes for granted is checked
 * before (arrow_ipc_check.h). */
#include "python/arrow_ipc_in.h"

#include "python/arrow_ipc_check.h"

#include <nanoarrow/nanoarrow.h>
#include <nanoarrow/nanoarrow_ipc.h>

#define PREFIX_SIZE 8 /* continuation, size of the header */
#define READ_AHEAD_SIZE ((size_t)256 << 10)

struct ArrowIpcIn {
    ArrowSource source;
    char *ahead; /* bytes that were read ahead: [ahead_start, ahead_end) */
    size_t ahead_start, ahead_end;
    struct ArrowIpcDecoder decoder;
    struct ArrowSchema schema; /* release NULL: not read */
    struct ArrowBuffer header, body;
    bool is_at_end;
};

static Status refuse(const char *reason, Error *err) {
    error_set(err, ERROR_EXECUTION, "the output is no sound Arrow stream: %s", reason);
    error_code(err, STR("output.invalid"));
    return FAILED;
}

/* ---- Bytes */

static Status read_source(ArrowIpcIn *in, void *target, size_t size, size_t *size_out, Error *err) {
    TRY(in->source.read(in->source.context, target, size, size_out, err));
    if (*size_out == 0) {
        error_set(err, ERROR_EXECUTION, "the output ended in the middle");
        error_code(err, STR(ARROW_IPC_BROKEN));
        return FAILED;
    }
    return OK;
}

static size_t take_ahead(ArrowIpcIn *in, char *target, size_t size) {
    size_t taken = in->ahead_end - in->ahead_start;
    taken = taken < size ? taken : size;
    memcpy(target, in->ahead + in->ahead_start, taken);
    in->ahead_start += taken;
    return taken;
}

/* Small pieces come out of the bytes read ahead, large ones go where they belong at once. */
static Status read_bytes(ArrowIpcIn *in, void *target, size_t size, Error *err) {
    char *next = target;
    while (size > 0) {
        size_t got = take_ahead(in, next, size);
        if (got == 0 && size >= READ_AHEAD_SIZE) {
            TRY(read_source(in, next, size, &got, err));
        } else if (got == 0) {
            in->ahead_start = 0;
            in->ahead_end = 0;
            TRY(read_source(in, in->ahead, READ_AHEAD_SIZE, &in->ahead_end, err));
        }
        next += got;
        size -= got;
    }
    return OK;
}

static Status read_into(ArrowIpcIn *in, struct ArrowBuffer *buffer, int64_t size, Error *err) {
    if (size == 0) {
        return OK;
    }
    if (ArrowBufferReserve(buffer, size) != NANOARROW_OK) {
        return refuse("a message for which there is no memory", err);
    }
    TRY(read_bytes(in, buffer->data + buffer->size_bytes, (size_t)size, err));
    buffer->size_bytes += size;
    return OK;
}

/* ---- Messages: a header with what follows, then a body */

static Status check_size(int64_t size, int64_t size_max, const char *what, Error *err) {
    if (size >= 0 && size <= size_max) {
        return OK;
    }
    AUTO(arena) Arena *arena = arena_create();
    Str reason = str_format(arena, "a %s of %lld bytes, more than %lld", what, (long long)size, (long long)size_max);
    return refuse(reason.ptr, err);
}

/* `*is_end_out`: it was the end marker. Streams of before 2019, without the continuation, are refused. */
static Status read_prefix(ArrowIpcIn *in, bool *is_end_out, Error *err) {
    in->header.size_bytes = 0;
    TRY(read_into(in, &in->header, PREFIX_SIZE, err));
    uint32_t continuation;
    int32_t size;
    memcpy(&continuation, in->header.data, sizeof continuation);
    memcpy(&size, in->header.data + sizeof continuation, sizeof size);
    if (continuation != UINT32_MAX) {
        return refuse("a message that does not start like one", err);
    }
    TRY(check_size(size, ARROW_IPC_HEADER_SIZE_MAX, "message header", err));
    *is_end_out = size == 0;
    return *is_end_out ? OK : read_into(in, &in->header, size, err);
}

static struct ArrowBufferView view_of(const struct ArrowBuffer *buffer) {
    return (struct ArrowBufferView){.data.data = buffer->data, .size_bytes = buffer->size_bytes};
}

static Status check_arrow(int code, const struct ArrowError *reason, Error *err) {
    if (code == NANOARROW_OK) {
        return OK;
    }
    return refuse(reason->message[0] != '\0' ? reason->message : strerror(code), err);
}

static Status read_header(ArrowIpcIn *in, bool *is_end_out, Error *err) {
    struct ArrowError reason = {0};
    TRY(read_prefix(in, is_end_out, err));
    if (*is_end_out) {
        return OK;
    }
    int32_t prefix_size;
    struct ArrowBufferView header = view_of(&in->header);
    TRY(check_arrow(ArrowIpcDecoderPeekHeader(&in->decoder, header, &prefix_size, &reason), &reason, err));
    TRY(check_arrow(ArrowIpcDecoderVerifyHeader(&in->decoder, header, &reason), &reason, err));
    TRY(check_size(in->decoder.body_size_bytes, ARROW_IPC_BODY_SIZE_MAX, "message body", err));
    const char *fault =
        arrow_ipc_check((Str){(const char *)in->header.data + PREFIX_SIZE, (size_t)in->header.size_bytes - PREFIX_SIZE},
                        in->decoder.body_size_bytes);
    return fault == NULL ? OK : refuse(fault, err);
}

static Status decode_header(ArrowIpcIn *in, Error *err) {
    struct ArrowError reason = {0};
    return check_arrow(ArrowIpcDecoderDecodeHeader(&in->decoder, view_of(&in->header), &reason), &reason, err);
}

/* The body as a buffer that the arrays made from it share. */
static Status read_body(ArrowIpcIn *in, struct ArrowBuffer *shared_out, Error *err) {
    in->body.size_bytes = 0;
    TRY(read_into(in, &in->body, in->decoder.body_size_bytes, err));
    if (ArrowSharedBufferInit(shared_out, &in->body) != NANOARROW_OK) {
        return refuse("a message for which there is no memory", err);
    }
    return OK;
}

/* ---- Schema */

static Status check_features(const ArrowIpcIn *in, Error *err) {
    if (in->decoder.message_type != NANOARROW_IPC_MESSAGE_TYPE_SCHEMA) {
        return refuse("it does not start with a schema", err);
    }
    return in->decoder.endianness == ArrowIpcSystemEndianness() ? OK : refuse("it is of another byte order", err);
}

static Status read_schema(ArrowIpcIn *in, Error *err) {
    struct ArrowError reason = {0};
    bool is_end = false;
    TRY(read_header(in, &is_end, err));
    if (is_end) {
        return refuse("it ends before its schema", err);
    }
    TRY(decode_header(in, err));
    TRY(check_features(in, err));
    TRY(check_arrow(ArrowIpcDecoderDecodeSchema(&in->decoder, &in->schema, &reason), &reason, err));
    return check_arrow(ArrowIpcDecoderSetSchema(&in->decoder, &in->schema, &reason), &reason, err);
}

Status arrow_ipc_in_open(const ArrowSource *source, ArrowIpcIn **in_out, Error *err) {
    AUTO(arrow_ipc_in) ArrowIpcIn *in = heap_alloc_zeroed(1, sizeof *in);
    in->source = *source;
    in->ahead = heap_alloc(READ_AHEAD_SIZE);
    ArrowBufferInit(&in->header);
    ArrowBufferInit(&in->body);
    if (ArrowIpcDecoderInit(&in->decoder) != NANOARROW_OK) {
        return error_set(err, ERROR_INTERNAL, "cannot make an Arrow decoder");
    }
    TRY(read_schema(in, err));
    *in_out = TAKE(in);
    return OK;
}

struct ArrowSchema *arrow_ipc_in_schema(ArrowIpcIn *in) {
    return &in->schema;
}

/* ---- Batches */

static Status read_batch(ArrowIpcIn *in, struct ArrowArray *array_out, Error *err) {
    if (in->decoder.message_type != NANOARROW_IPC_MESSAGE_TYPE_RECORD_BATCH) {
        return refuse("a message of a type that has no place there", err);
    }
    struct ArrowError reason = {0};
    struct ArrowBuffer body;
    TRY(decode_header(in, err));
    if (in->decoder.codec != NANOARROW_IPC_COMPRESSION_TYPE_NONE) {
        return refuse("a compressed message", err);
    }
    TRY(read_body(in, &body, err));
    int code = ArrowIpcDecoderDecodeArrayFromShared(&in->decoder, &body, -1, array_out, NANOARROW_VALIDATION_LEVEL_FULL,
                                                    &reason);
    ArrowBufferReset(&body);
    return check_arrow(code, &reason, err);
}

Status arrow_ipc_in_next(ArrowIpcIn *in, struct ArrowArray *array_out, Error *err) {
    struct ArrowArray array = {.release = NULL};
    if (!in->is_at_end) {
        TRY(read_header(in, &in->is_at_end, err));
    }
    if (!in->is_at_end) {
        TRY(read_batch(in, &array, err));
    }
    *array_out = array;
    return OK;
}

void arrow_ipc_in_close(ArrowIpcIn *in) {
    if (in == NULL) {
        return;
    }
    ArrowIpcDecoderReset(&in->decoder);
    if (in->schema.release != NULL) {
        in->schema.release(&in->schema);
    }
    ArrowBufferReset(&in->header);
    ArrowBufferReset(&in->body);
    free(in->ahead);
    free(in);
}
