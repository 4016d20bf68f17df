#include "run/query_watchdog.h"

#include "base/clock.h"
#include "run/cancel.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* How long a signal may wait to be noticed. */
#define LOOK_US INT64_C(50000)

struct QueryWatchdog {
    DuckConnection *connection;
    int64_t deadline_us; /* monotonic */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the two below */
    pthread_cond_t ended;
    bool is_over, is_late;
};

static void wait_a_little(QueryWatchdog *watchdog) {
    int64_t until_us = clock_monotonic_us() + LOOK_US;
    until_us = until_us < watchdog->deadline_us || watchdog->is_late ? until_us : watchdog->deadline_us;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    pthread_cond_timedwait(&watchdog->ended, &watchdog->lock, &until);
}

/* Interrupts again and again: a statement that had not begun yet does not notice. */
static void *watch(void *context) {
    QueryWatchdog *watchdog = context;
    pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->is_over) {
        wait_a_little(watchdog);
        watchdog->is_late = watchdog->is_late || clock_monotonic_us() >= watchdog->deadline_us;
        if (!watchdog->is_over && (watchdog->is_late || cancel_requested())) {
            duck_interrupt(watchdog->connection);
        }
    }
    pthread_mutex_unlock(&watchdog->lock);
    return NULL;
}

Status query_watchdog_start(DuckConnection *connection, int64_t limit_us, QueryWatchdog **watchdog_out, Error *err) {
    QueryWatchdog *watchdog = heap_alloc_zeroed(1, sizeof *watchdog);
    watchdog->connection = connection;
    watchdog->deadline_us = clock_monotonic_us() + limit_us;
    pthread_mutex_init(&watchdog->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watchdog->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&watchdog->thread, NULL, watch, watchdog) != 0) {
        pthread_cond_destroy(&watchdog->ended);
        pthread_mutex_destroy(&watchdog->lock);
        free(watchdog);
        return error_set(err, ERROR_EXECUTION, "no thread could be started to watch the query");
    }
    *watchdog_out = watchdog;
    return OK;
}

bool query_watchdog_stop(QueryWatchdog *watchdog) {
    pthread_mutex_lock(&watchdog->lock);
    watchdog->is_over = true;
    pthread_cond_signal(&watchdog->ended);
    pthread_mutex_unlock(&watchdog->lock);
    pthread_join(watchdog->thread, NULL);
    bool was_late = watchdog->is_late;
    pthread_cond_destroy(&watchdog->ended);
    pthread_mutex_destroy(&watchdog->lock);
    free(watchdog);
    return was_late;
}
