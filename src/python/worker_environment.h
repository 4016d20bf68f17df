/* The environment variables of a worker: ours, without tokens, and with the package on Python's search path. */
#ifndef INTERLACE_PYTHON_WORKER_ENVIRONMENT_H
#define INTERLACE_PYTHON_WORKER_ENVIRONMENT_H

#include "base/error.h"

/* NULL-terminated KEY=VALUE, in the arena. What PYTHONPATH was is kept in INTERLACE_PYTHONPATH: the worker puts it
 * back. */
MUST_CHECK Status worker_environment(Str sdk_path, Arena *arena, const char *const **variables_out, Error *err);

#endif
