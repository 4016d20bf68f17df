/* What a worker says of a failure of user code, as an Error. Pure. */
#ifndef INTERLACE_PYTHON_WORKER_ERROR_H
#define INTERLACE_PYTHON_WORKER_ERROR_H

#include "config/config_value.h"

/* How an error is told: what stands before it, as "model 'orders' failed: ", when user code raised something, and
 * before a refusal of the package, which speaks for itself. */
typedef struct WorkerErrorForm {
    Str raised, refused;
    ErrorKind raised_kind;
} WorkerErrorForm;

/* `fields` as the frame `error` and the manifest's `errors` have them. Kind, message, place, hint, code, traceback and
 * cause; whatever is missing or odd stays empty. Gives FAILED. */
Status worker_error_set(const ConfigValue *fields, const WorkerErrorForm *form, Error *err);

#endif
