#include "python/worker_pool.h"

#include <pthread.h>

#define CANCEL_POLL_MS 100
#define END_GRACE_MS 500

struct WorkerPool {
    WorkerSetup *setup;
    size_t workers_max;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a worker was given back or discarded */
    Worker **idle;          /* guarded by lock; room for workers_max */
    size_t idle_count;      /* guarded by lock */
    size_t live_count;      /* guarded by lock; idle and lent */
};

WorkerPool *worker_pool_create(WorkerSetup *setup, size_t workers_max) {
    WorkerPool *pool = heap_alloc_zeroed(1, sizeof *pool);
    pool->setup = setup;
    pool->workers_max = workers_max > 0 ? workers_max : 1;
    pool->idle = heap_alloc_zeroed(pool->workers_max, sizeof(Worker *));
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return pool;
}

void worker_pool_destroy(WorkerPool *pool) {
    if (pool == NULL) {
        return;
    }
    for (size_t i = 0; i < pool->idle_count; i++) {
        worker_ask_to_end(pool->idle[i]);
    }
    for (size_t i = 0; i < pool->idle_count; i++) {
        worker_close(pool->idle[i], END_GRACE_MS);
    }
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool->idle);
    free(pool);
}

/* ---- Taking. The lock is held in the first three. */

/* The one used last is the warmest. One that died while idle is nobody's failure. */
static Worker *take_idle(WorkerPool *pool) {
    while (pool->idle_count > 0) {
        Worker *worker = pool->idle[--pool->idle_count];
        if (worker_is_reusable(worker)) {
            return worker;
        }
        pool->live_count--;
        worker_close(worker, 0);
    }
    return NULL;
}

static void wait_for_change(WorkerPool *pool) {
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)CANCEL_POLL_MS * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    (void)pthread_cond_timedwait(&pool->changed, &pool->lock, &until);
}

/* An idle worker, or NULL with the right to start one. */
static Status take_place(WorkerPool *pool, bool (*is_cancelled)(void *context), void *context, Worker **worker_out,
                         Error *err) {
    while ((*worker_out = take_idle(pool)) == NULL && pool->live_count >= pool->workers_max) {
        if (is_cancelled != NULL && is_cancelled(context)) {
            return error_set(err, ERROR_INTERRUPTED, "cancelled while waiting for a Python worker");
        }
        wait_for_change(pool);
    }
    pool->live_count += *worker_out == NULL ? 1 : 0;
    return OK;
}

static void leave_place(WorkerPool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->live_count--;
    pthread_cond_signal(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

static Status start(WorkerPool *pool, Worker **worker_out, Error *err) {
    const WorkerOptions *options;
    TRY(worker_setup_get(pool->setup, &options, err));
    return worker_start(options, worker_out, err);
}

Status worker_pool_take(WorkerPool *pool, bool (*is_cancelled)(void *context), void *context, Worker **worker_out,
                        Error *err) {
    pthread_mutex_lock(&pool->lock);
    Status status = take_place(pool, is_cancelled, context, worker_out, err);
    pthread_mutex_unlock(&pool->lock);
    if (failed(status) || *worker_out != NULL) {
        return status;
    }
    status = start(pool, worker_out, err);
    if (failed(status)) {
        leave_place(pool);
    }
    return status;
}

void worker_pool_give_back(WorkerPool *pool, Worker *worker) {
    if (!worker_is_reusable(worker)) {
        worker_pool_discard(pool, worker);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->idle[pool->idle_count++] = worker;
    pthread_cond_signal(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

void worker_pool_discard(WorkerPool *pool, Worker *worker) {
    worker_close(worker, 0);
    leave_place(pool);
}
