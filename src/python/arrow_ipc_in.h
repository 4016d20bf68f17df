/* ArrowIpcIn: an Arrow IPC stream, read and validated in full: sizes and offsets. What user code wrote is
 * not trusted; it is fuzzed (tests/fuzz/ipc_fuzz.c). (That text is UTF-8 is checked where it is stored.)
 *
 * A size is refused before anything is reserved for it. An end without end marker is a failure: a killed writer must
 * not look like one that is done. */
#ifndef INTERLACE_PYTHON_ARROW_IPC_IN_H
#define INTERLACE_PYTHON_ARROW_IPC_IN_H

#include "base/arrow_abi.h"
#include "base/error.h"

#define ARROW_IPC_HEADER_SIZE_MAX ((int64_t)16 << 20)
#define ARROW_IPC_BODY_SIZE_MAX ((int64_t)64 << 20)

/* Where the bytes come from. `read` gives at least one and at most `size`; none at the end. */
typedef struct ArrowSource {
    Status (*read)(void *context, void *target, size_t size, size_t *size_out, Error *err);
    void *context;
} ArrowSource;

/* Error code of an end without end marker; whoever knows why the writer stopped says that in its place. */
#define ARROW_IPC_BROKEN "output.broken"

typedef struct ArrowIpcIn ArrowIpcIn;

MUST_CHECK Status arrow_ipc_in_open(const ArrowSource *source, ArrowIpcIn **in_out, Error *err); /* reads the schema */
struct ArrowSchema *arrow_ipc_in_schema(ArrowIpcIn *in); /* borrowed until it is closed */
/* The next batch; `array_out->release` is NULL at the end marker. */
MUST_CHECK Status arrow_ipc_in_next(ArrowIpcIn *in, struct ArrowArray *array_out, Error *err);
void arrow_ipc_in_close(ArrowIpcIn *in); /* NULL is fine */
DEFINE_AUTO(ArrowIpcIn, arrow_ipc_in, arrow_ipc_in_close)

#endif
