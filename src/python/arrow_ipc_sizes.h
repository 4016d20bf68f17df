/* The sizes that a record batch message announces: lengths of columns, places of buffers. nanoarrow 0.9.0 multiplies and
 * adds them unchecked (found by fuzzing), so they are checked before it sees them. Pure. */
#ifndef INTERLACE_PYTHON_ARROW_IPC_SIZES_H
#define INTERLACE_PYTHON_ARROW_IPC_SIZES_H

#include "base/str.h"

/* Rows of one batch, or values of one column of it. Larger ones are cut by the package. */
#define ARROW_IPC_LENGTH_MAX ((int64_t)1 << 27)

/* `message` is the flatbuffer of a message. NULL when all is sound, else what is not. */
const char *arrow_ipc_check_sizes(Str message, int64_t body_size);

#endif
