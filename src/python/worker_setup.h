/* WorkerSetup: what every worker of a runtime is started with. Interpreter and package are looked for on first need,
 * once. Any thread. */
#ifndef INTERLACE_PYTHON_WORKER_SETUP_H
#define INTERLACE_PYTHON_WORKER_SETUP_H

#include "python/worker.h"

typedef struct WorkerSetup WorkerSetup;

WorkerSetup *worker_setup_create(const ProjectConfig *config); /* keeps `config` */
void worker_setup_destroy(WorkerSetup *setup);                 /* after the last worker; NULL is fine */
DEFINE_AUTO(WorkerSetup, worker_setup, worker_setup_destroy)

/* Borrowed for as long as the setup lives. A failure is not kept: the next call looks again. */
MUST_CHECK Status worker_setup_get(WorkerSetup *setup, const WorkerOptions **options_out, Error *err);

#endif
