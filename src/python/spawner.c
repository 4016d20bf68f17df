#include "python/spawner.h"

#include <pthread.h>

typedef struct SpawnRequest {
    ProcessOptions options;
    pid_t pid;
    Status status;
    Error *err; /* the asking thread's, which waits meanwhile */
    bool is_done;
} SpawnRequest;

struct Spawner {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool is_started, is_ending; /* guarded by lock */
    SpawnRequest *request;      /* guarded by lock; NULL: nothing asked for */
};

static void serve(Spawner *spawner, SpawnRequest *request) {
    pthread_mutex_unlock(&spawner->lock);
    request->status = process_spawn(&request->options, &request->pid, request->err);
    pthread_mutex_lock(&spawner->lock);
    request->is_done = true;
    spawner->request = NULL;
    pthread_cond_broadcast(&spawner->changed);
}

static void *spawner_run(void *argument) {
    Spawner *spawner = argument;
    pthread_mutex_lock(&spawner->lock);
    while (!spawner->is_ending) {
        if (spawner->request != NULL && !spawner->request->is_done) {
            serve(spawner, spawner->request);
        } else {
            pthread_cond_wait(&spawner->changed, &spawner->lock);
        }
    }
    pthread_mutex_unlock(&spawner->lock);
    return NULL;
}

Spawner *spawner_create(void) {
    Spawner *spawner = heap_alloc_zeroed(1, sizeof *spawner);
    pthread_mutex_init(&spawner->lock, NULL);
    pthread_cond_init(&spawner->changed, NULL);
    return spawner;
}

void spawner_destroy(Spawner *spawner) {
    if (spawner == NULL) {
        return;
    }
    pthread_mutex_lock(&spawner->lock);
    spawner->is_ending = true;
    pthread_cond_broadcast(&spawner->changed);
    pthread_mutex_unlock(&spawner->lock);
    if (spawner->is_started) {
        pthread_join(spawner->thread, NULL);
    }
    pthread_cond_destroy(&spawner->changed);
    pthread_mutex_destroy(&spawner->lock);
    free(spawner);
}

/* The lock is held. */
static Status start_if_needed(Spawner *spawner, Error *err) {
    if (!spawner->is_started) {
        if (pthread_create(&spawner->thread, NULL, spawner_run, spawner) != 0) {
            return error_set(err, ERROR_EXECUTION, "cannot start a thread");
        }
        spawner->is_started = true;
    }
    return OK;
}

Status spawner_spawn(Spawner *spawner, const ProcessOptions *options, pid_t *pid_out, Error *err) {
    SpawnRequest request = {.options = *options, .err = err};
    request.options.dies_with_thread = true;

    pthread_mutex_lock(&spawner->lock);
    Status status = start_if_needed(spawner, err);
    if (!failed(status)) {
        while (spawner->request != NULL) {
            pthread_cond_wait(&spawner->changed, &spawner->lock);
        }
        spawner->request = &request;
        pthread_cond_broadcast(&spawner->changed);
        while (!request.is_done) {
            pthread_cond_wait(&spawner->changed, &spawner->lock);
        }
        status = request.status;
    }
    pthread_mutex_unlock(&spawner->lock);

    *pid_out = request.pid;
    return status;
}
