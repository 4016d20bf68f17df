/* Arrow IPC streams from a worker: any bytes. */
#include "python/arrow_ipc_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Status read_memory(void *context, void *target, size_t size, size_t *size_out, Error *err) {
    Str *left = context;
    (void)err;
    *size_out = left->size < size ? left->size : size;
    if (*size_out > 0) {
        memcpy(target, left->ptr, *size_out);
    }
    *left = str_skip(*left, *size_out);
    return OK;
}

static void read_stream(Str bytes, Error *err) {
    ArrowSource source = {.read = read_memory, .context = &bytes};
    AUTO(arrow_ipc_in) ArrowIpcIn *in = NULL;
    if (failed(arrow_ipc_in_open(&source, &in, err))) {
        return;
    }
    for (;;) {
        struct ArrowArray array = {.release = NULL};
        if (failed(arrow_ipc_in_next(in, &array, err)) || array.release == NULL) {
            return;
        }
        array.release(&array);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(error) Error err;
    error_init(&err);
    read_stream((Str){(const char *)data, size}, &err);
    return 0;
}
