/* WorkerPool: at most `workers_max` workers, each lent to one task at a time and kept warm in between. Any thread. */
#ifndef INTERLACE_PYTHON_WORKER_POOL_H
#define INTERLACE_PYTHON_WORKER_POOL_H

#include "python/worker_setup.h"

typedef struct WorkerPool WorkerPool;

WorkerPool *worker_pool_create(WorkerSetup *setup, size_t workers_max); /* keeps `setup`; starts nothing yet */
void worker_pool_destroy(WorkerPool *pool);                             /* no worker may be lent; NULL is fine */
DEFINE_AUTO(WorkerPool, worker_pool, worker_pool_destroy)

/* An idle worker, a new one, or, when all are lent, the next that is given back. ERROR_INTERRUPTED when `is_cancelled`
 * (may be NULL) says so meanwhile. */
MUST_CHECK Status worker_pool_take(WorkerPool *pool, bool (*is_cancelled)(void *context), void *context,
                                   Worker **worker_out, Error *err);
/* Kept when it is fit for another task, else ended. */
void worker_pool_give_back(WorkerPool *pool, Worker *worker);
/* Killed at once. */
void worker_pool_discard(WorkerPool *pool, Worker *worker);

#endif
