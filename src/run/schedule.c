#include "run/schedule.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define POLL_NS 50000000L

/* A running task's work that others may help with. On the stack of that task's thread; guarded by the schedule's lock.
 */
typedef struct Share {
    bool (*step)(void *context);
    void *context;
    size_t places; /* for further helpers */
    size_t helpers;
    bool is_over; /* nobody begins another step */
    struct Share *next;
} Share;

/* All fields but `options` are guarded by `lock`. */
struct Schedule {
    const ScheduleOptions *options;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    TaskState *states;
    size_t *missing;      /* needs that are not done yet, a task each */
    IndexVec *dependents; /* a vector a task */
    size_t *ready;        /* queue of ready tasks: [ready_first, ready_end) */
    size_t ready_first, ready_end;
    size_t *alone; /* tasks that wait to be run alone */
    size_t alone_first, alone_end;
    size_t running; /* threads that have a task or help with one */
    bool is_alone;  /* the one task that runs must stay the only one */
    Share *shares;
    bool is_stopping;
};

static void make_ready(Schedule *schedule, size_t task) {
    schedule->states[task] = TASK_READY;
    schedule->ready[schedule->ready_end++] = task;
}

static void init_graph(Schedule *schedule, Arena *arena) {
    size_t count = schedule->options->task_count;
    schedule->missing = ARENA_NEW_ARRAY(arena, size_t, count);
    schedule->dependents = ARENA_NEW_ARRAY(arena, IndexVec, count);
    schedule->ready = ARENA_NEW_ARRAY(arena, size_t, count);
    schedule->alone = ARENA_NEW_ARRAY(arena, size_t, count);
    for (size_t task = 0; task < count; task++) {
        const IndexVec *needs = &schedule->options->needs[task];
        schedule->states[task] = TASK_WAITING;
        schedule->missing[task] = needs->count;
        for (size_t i = 0; i < needs->count; i++) {
            index_vec_push(arena, &schedule->dependents[needs->items[i]], task);
        }
    }
    for (size_t task = 0; task < count; task++) {
        if (schedule->missing[task] == 0) {
            make_ready(schedule, task);
        }
    }
}

static bool is_over(const Schedule *schedule) {
    bool nothing_left = schedule->ready_first == schedule->ready_end && schedule->alone_first == schedule->alone_end;
    return schedule->running == 0 && (schedule->is_stopping || nothing_left);
}

/* Under the lock: takes a task that may start now. */
static bool take_task(Schedule *schedule, size_t *task_out, bool *is_alone_out) {
    if (schedule->is_stopping || schedule->is_alone) {
        return false;
    }
    if (schedule->alone_first < schedule->alone_end) {
        if (schedule->running > 0) {
            return false;
        }
        *task_out = schedule->alone[schedule->alone_first++];
        *is_alone_out = schedule->is_alone = true;
        return true;
    }
    if (schedule->ready_first == schedule->ready_end) {
        return false;
    }
    *task_out = schedule->ready[schedule->ready_first++];
    *is_alone_out = false;
    return true;
}

static void note_done(Schedule *schedule, size_t task) {
    const IndexVec *dependents = &schedule->dependents[task];
    for (size_t i = 0; i < dependents->count; i++) {
        if (--schedule->missing[dependents->items[i]] == 0) {
            make_ready(schedule, dependents->items[i]);
        }
    }
}

static void note_verdict(Schedule *schedule, size_t task, TaskVerdict verdict, bool is_alone) {
    if (verdict == VERDICT_TASK_AGAIN_ALONE && is_alone) {
        verdict = VERDICT_TASK_FAILED;
    }
    switch (verdict) {
    case VERDICT_TASK_DONE:
        schedule->states[task] = TASK_DONE;
        note_done(schedule, task);
        return;
    case VERDICT_TASK_AGAIN_ALONE:
        schedule->states[task] = TASK_READY;
        schedule->alone[schedule->alone_end++] = task;
        return;
    case VERDICT_TASK_CANCELLED:
        schedule->states[task] = TASK_CANCELLED;
        return;
    case VERDICT_TASK_FAILED:
        schedule->states[task] = TASK_FAILED;
        schedule->is_stopping = schedule->is_stopping || !schedule->options->keep_going;
        return;
    }
}

/* Under the lock, which is given up meanwhile; so in `help`. */
static void run_task(Schedule *schedule, size_t task, bool is_alone) {
    schedule->states[task] = TASK_RUNNING;
    schedule->running++;
    pthread_mutex_unlock(&schedule->lock);

    TaskVerdict verdict = schedule->options->run(schedule->options->context, task, is_alone);

    pthread_mutex_lock(&schedule->lock);
    schedule->running--;
    schedule->is_alone = schedule->is_alone && !is_alone;
    note_verdict(schedule, task, verdict, is_alone);
    pthread_cond_broadcast(&schedule->changed);
}

/* Under the lock: what an idle thread may help with. Who waits for memory to come free waits for helpers, too. */
static Share *find_share(const Schedule *schedule) {
    bool may_help = !schedule->is_stopping && !schedule->is_alone && schedule->alone_first == schedule->alone_end;
    Share *share = may_help ? schedule->shares : NULL;
    while (share != NULL && (share->is_over || share->places == 0)) {
        share = share->next;
    }
    return share;
}

static void help(Schedule *schedule, Share *share) {
    share->places--;
    share->helpers++;
    schedule->running++;
    pthread_mutex_unlock(&schedule->lock);

    bool goes_on = share->step(share->context);

    pthread_mutex_lock(&schedule->lock);
    schedule->running--;
    share->helpers--;
    share->places++;
    share->is_over = share->is_over || !goes_on;
    pthread_cond_broadcast(&schedule->changed);
}

static void *builder_thread(void *argument) {
    Schedule *schedule = argument;
    pthread_mutex_lock(&schedule->lock);
    while (!is_over(schedule)) {
        size_t task;
        bool is_alone;
        Share *share;
        if (take_task(schedule, &task, &is_alone)) {
            run_task(schedule, task, is_alone);
        } else if ((share = find_share(schedule)) != NULL) {
            help(schedule, share);
        } else {
            pthread_cond_wait(&schedule->changed, &schedule->lock);
        }
    }
    pthread_cond_broadcast(&schedule->changed);
    pthread_mutex_unlock(&schedule->lock);
    return NULL;
}

/* The calling thread watches for Ctrl-C and, once the schedule stops, keeps telling what still runs to end: a statement
 * that was just about to begin may have slipped through an earlier call. */
static void watch(Schedule *schedule) {
    const ScheduleOptions *options = schedule->options;
    pthread_mutex_lock(&schedule->lock);
    while (!is_over(schedule)) {
        schedule->is_stopping = schedule->is_stopping || options->is_cancelled(options->context);
        if (schedule->is_stopping) {
            pthread_cond_broadcast(&schedule->changed);
            pthread_mutex_unlock(&schedule->lock);
            options->interrupt(options->context);
            pthread_mutex_lock(&schedule->lock);
            if (is_over(schedule)) {
                break;
            }
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += POLL_NS;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        (void)pthread_cond_timedwait(&schedule->changed, &schedule->lock, &until);
    }
    pthread_cond_broadcast(&schedule->changed);
    pthread_mutex_unlock(&schedule->lock);
}

static void init_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool schedule_run(const ScheduleOptions *options, TaskState *states_out) {
    AUTO(arena) Arena *arena = arena_create();
    Schedule schedule = {.options = options, .states = states_out};
    pthread_mutex_init(&schedule.lock, NULL);
    init_condition(&schedule.changed);
    init_graph(&schedule, arena);
    if (options->handle != NULL) {
        *options->handle = &schedule;
    }

    size_t useful = options->task_count == 0 ? 0 : options->task_count + options->helpers;
    size_t wanted = options->thread_count < useful ? options->thread_count : useful;
    pthread_t *threads = ARENA_NEW_ARRAY(arena, pthread_t, wanted);
    size_t started = 0;
    while (started < wanted && pthread_create(&threads[started], NULL, builder_thread, &schedule) == 0) {
        started++;
    }
    if (started > 0) {
        watch(&schedule);
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    for (size_t task = 0; task < options->task_count; task++) {
        if (states_out[task] == TASK_READY) {
            states_out[task] = TASK_WAITING;
        }
    }
    pthread_cond_destroy(&schedule.changed);
    pthread_mutex_destroy(&schedule.lock);
    return started > 0 || options->task_count == 0;
}

void schedule_share(Schedule *schedule, size_t helpers, bool (*step)(void *context), void *context) {
    if (schedule == NULL) {
        while (step(context)) {
        }
        return;
    }
    Share share = {.step = step, .context = context, .places = helpers};
    pthread_mutex_lock(&schedule->lock);
    share.next = schedule->shares;
    schedule->shares = &share;
    pthread_cond_broadcast(&schedule->changed);
    pthread_mutex_unlock(&schedule->lock);

    while (step(context)) {
    }

    pthread_mutex_lock(&schedule->lock);
    share.is_over = true;
    while (share.helpers > 0) {
        pthread_cond_wait(&schedule->changed, &schedule->lock);
    }
    Share **link = &schedule->shares;
    while (*link != &share) {
        link = &(*link)->next;
    }
    *link = share.next;
    pthread_mutex_unlock(&schedule->lock);
}
