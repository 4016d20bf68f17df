/* ArrowIpcOut: Arrow arrays as an IPC stream into a socket. A write waits while the reader is behind.
 * Only arrow_ipc_out_finish writes the end marker: a stream that is merely closed is broken for its reader. */
#ifndef INTERLACE_PYTHON_ARROW_IPC_OUT_H
#define INTERLACE_PYTHON_ARROW_IPC_OUT_H

#include "base/arrow_abi.h"
#include "base/error.h"

typedef struct ArrowIpcOut ArrowIpcOut;

/* Error code of a failure whose only reason is that the reader has closed its end. */
#define ARROW_IPC_READER_GONE "input.reader_gone"

/* Keeps `fd`, which stays the caller's, and writes the schema. ExecutionError naming the type that does not travel. */
MUST_CHECK Status arrow_ipc_out_open(int fd, const struct ArrowSchema *schema, ArrowIpcOut **out_out, Error *err);
/* Takes the array (released in every case). */
MUST_CHECK Status arrow_ipc_out_write(ArrowIpcOut *out, struct ArrowArray *array, Error *err);
MUST_CHECK Status arrow_ipc_out_finish(ArrowIpcOut *out, Error *err);
void arrow_ipc_out_close(ArrowIpcOut *out); /* NULL is fine */
DEFINE_AUTO(ArrowIpcOut, arrow_ipc_out, arrow_ipc_out_close)

#endif
