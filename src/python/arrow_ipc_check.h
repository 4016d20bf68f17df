/* What nanoarrow 0.9.0 takes for granted in the header of a message, checked before it sees it (all found by fuzzing):
 * that lengths and places can be multiplied and added, that each field of a schema has its type. Pure. */
#ifndef INTERLACE_PYTHON_ARROW_IPC_CHECK_H
#define INTERLACE_PYTHON_ARROW_IPC_CHECK_H

#include "base/str.h"

/* Rows of one batch, or values of one column of it. Larger ones are cut by the package. */
#define ARROW_IPC_LENGTH_MAX ((int64_t)1 << 27)
#define ARROW_IPC_FIELDS_MAX 100000 /* nested ones included */
#define ARROW_IPC_DEPTH_MAX 60

/* `message` is the flatbuffer of a message. NULL when all is sound, else what is not. Schemas with dictionaries are
 * not: the package sends values, and dictionary messages are decoded without counting their columns. */
const char *arrow_ipc_check(Str message, int64_t body_size);

#endif
