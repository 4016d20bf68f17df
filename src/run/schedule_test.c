#include "run/schedule.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define TASKS_MAX 64

/* What the tasks of one test did. `lock` guards all but the settings. */
typedef struct Fixture {
    Arena *arena;
    IndexVec needs[TASKS_MAX];
    TaskState states[TASKS_MAX];
    ScheduleOptions options;
    size_t fails;         /* this task fails; TASKS_MAX: none */
    size_t out_of_memory; /* this task asks once to be run alone */
    bool waits_for_interrupt[TASKS_MAX];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t order[TASKS_MAX], ended;
    size_t running, running_max;
    size_t running_while_alone;
    bool is_interrupted, is_cancelled;
    Schedule *schedule;
    size_t sharer, helpers; /* this task shares its steps; TASKS_MAX: none */
    size_t steps, in_step, in_step_max, meet;
} Fixture;

/* The steps of the sharing task. The first `meet` of them wait for one another. */
static bool step(void *context) {
    Fixture *f = context;
    pthread_mutex_lock(&f->lock);
    bool has_step = f->steps > 0;
    if (has_step) {
        f->steps--;
        f->in_step++;
        f->in_step_max = f->in_step > f->in_step_max ? f->in_step : f->in_step_max;
        while (f->in_step_max < f->meet) {
            pthread_cond_wait(&f->changed, &f->lock);
        }
        pthread_cond_broadcast(&f->changed);
        f->in_step--;
    }
    pthread_mutex_unlock(&f->lock);
    return has_step;
}

static void share(Fixture *f) {
    pthread_mutex_unlock(&f->lock);
    schedule_share(f->schedule, f->helpers, step, f);
    pthread_mutex_lock(&f->lock);
    assert_int_equal(f->steps, 0);
    assert_int_equal(f->in_step, 0);
}

static void wait_until_interrupted(Fixture *f) {
    while (!f->is_interrupted) {
        pthread_cond_wait(&f->changed, &f->lock);
    }
}

/* Gives others the time to begin beside the task that runs alone, if anything lets them. */
static void wait_for_company(Fixture *f) {
    size_t ended = f->ended;
    for (int i = 0; i < 20 && f->ended == ended; i++) {
        pthread_mutex_unlock(&f->lock);
        usleep(1000);
        pthread_mutex_lock(&f->lock);
    }
    f->running_while_alone = f->running + f->ended - ended;
}

static TaskVerdict run(void *context, size_t task, bool is_alone) {
    Fixture *f = context;
    pthread_mutex_lock(&f->lock);
    f->running++;
    f->running_max = f->running > f->running_max ? f->running : f->running_max;
    if (is_alone) {
        wait_for_company(f);
    }
    TaskVerdict verdict = VERDICT_TASK_DONE;
    if (f->waits_for_interrupt[task]) {
        wait_until_interrupted(f);
        verdict = VERDICT_TASK_CANCELLED;
    } else if (task == f->fails) {
        verdict = VERDICT_TASK_FAILED;
    } else if (task == f->out_of_memory && !is_alone) {
        verdict = VERDICT_TASK_AGAIN_ALONE;
    } else {
        if (task == f->sharer) {
            share(f);
        }
        f->order[f->ended++] = task;
    }
    f->running--;
    pthread_mutex_unlock(&f->lock);
    return verdict;
}

static void interrupt(void *context) {
    Fixture *f = context;
    pthread_mutex_lock(&f->lock);
    f->is_interrupted = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static bool is_cancelled(void *context) {
    Fixture *f = context;
    pthread_mutex_lock(&f->lock);
    bool cancelled = f->is_cancelled;
    pthread_mutex_unlock(&f->lock);
    return cancelled;
}

static int setup(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_create();
    f->fails = TASKS_MAX;
    f->out_of_memory = TASKS_MAX;
    f->sharer = TASKS_MAX;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    f->options = (ScheduleOptions){.needs = f->needs,
                                   .thread_count = 3,
                                   .handle = &f->schedule,
                                   .run = run,
                                   .interrupt = interrupt,
                                   .is_cancelled = is_cancelled,
                                   .context = f};
    *state = f;
    return 0;
}

static int teardown(void **state) {
    Fixture *f = *state;
    arena_destroy(f->arena);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    free(f);
    return 0;
}

static void need(Fixture *f, size_t task, size_t needed) {
    index_vec_push(f->arena, &f->needs[task], needed);
}

static void run_schedule(Fixture *f, size_t task_count) {
    f->options.task_count = task_count;
    assert_true(schedule_run(&f->options, f->states));
}

static size_t position(const Fixture *f, size_t task) {
    for (size_t i = 0; i < f->ended; i++) {
        if (f->order[i] == task) {
            return i;
        }
    }
    fail_msg("task %zu did not end", task);
    return 0;
}

static void a_task_starts_after_all_it_needs(void **state) {
    Fixture *f = *state;
    /* a diamond and a chain behind it */
    need(f, 1, 0);
    need(f, 2, 0);
    need(f, 3, 1);
    need(f, 3, 2);
    for (size_t i = 4; i < 20; i++) {
        need(f, i, i - 1);
    }
    run_schedule(f, 20);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(f->states[i], TASK_DONE);
        for (size_t n = 0; n < f->needs[i].count; n++) {
            assert_true(position(f, f->needs[i].items[n]) < position(f, i));
        }
    }
}

static void never_more_tasks_run_than_threads(void **state) {
    Fixture *f = *state;
    f->options.thread_count = 2;
    run_schedule(f, TASKS_MAX);
    assert_true(f->running_max <= 2);
    assert_int_equal(f->ended, TASKS_MAX);
}

static void no_tasks_is_no_error(void **state) {
    run_schedule(*state, 0);
}

static void the_first_failure_stops_what_has_not_started(void **state) {
    Fixture *f = *state;
    f->options.thread_count = 1;
    f->fails = 0;
    for (size_t i = 1; i < 10; i++) {
        need(f, i, i - 1);
    }
    run_schedule(f, 20);
    assert_int_equal(f->states[0], TASK_FAILED);
    for (size_t i = 1; i < 20; i++) {
        assert_int_equal(f->states[i], TASK_WAITING);
    }
}

static void a_failure_interrupts_what_runs(void **state) {
    Fixture *f = *state;
    f->waits_for_interrupt[0] = true;
    f->fails = 1;
    run_schedule(f, 2);
    assert_int_equal(f->states[0], TASK_CANCELLED);
    assert_int_equal(f->states[1], TASK_FAILED);
}

static void keep_going_builds_what_does_not_need_the_failed_one(void **state) {
    Fixture *f = *state;
    f->options.keep_going = true;
    f->fails = 0;
    need(f, 1, 0);
    need(f, 2, 1);
    need(f, 4, 3);
    run_schedule(f, 5);
    assert_int_equal(f->states[0], TASK_FAILED);
    assert_int_equal(f->states[1], TASK_WAITING);
    assert_int_equal(f->states[2], TASK_WAITING);
    assert_int_equal(f->states[3], TASK_DONE);
    assert_int_equal(f->states[4], TASK_DONE);
}

static void cancelling_interrupts_what_runs_and_starts_nothing(void **state) {
    Fixture *f = *state;
    f->options.thread_count = 1;
    f->waits_for_interrupt[0] = true;
    f->is_cancelled = true;
    run_schedule(f, 3);
    assert_int_not_equal(f->states[0], TASK_DONE);
    assert_int_equal(f->states[1], TASK_WAITING);
    assert_int_equal(f->states[2], TASK_WAITING);
}

static void a_task_out_of_memory_runs_again_alone(void **state) {
    Fixture *f = *state;
    f->out_of_memory = 3;
    need(f, 10, 3);
    run_schedule(f, 20);
    assert_int_equal(f->running_while_alone, 1);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(f->states[i], TASK_DONE);
    }
}

static void idle_threads_help_a_task_that_shares(void **state) {
    Fixture *f = *state;
    f->sharer = 0;
    f->helpers = f->options.helpers = 2;
    f->steps = 40;
    f->meet = 3; /* else the steps wait for ever */
    run_schedule(f, 1);
    assert_int_equal(f->in_step_max, 3);
    assert_int_equal(f->states[0], TASK_DONE);
}

static void no_more_threads_help_than_are_wanted_or_there(void **state) {
    Fixture *f = *state;
    f->sharer = 0;
    f->helpers = f->options.helpers = 1;
    f->steps = 40;
    f->meet = 2;
    run_schedule(f, 6);
    assert_int_equal(f->in_step_max, 2);
    f->helpers = f->options.helpers = 9;
    f->options.thread_count = 1;
    f->steps = 40;
    f->meet = f->in_step_max = 1;
    f->ended = 0;
    run_schedule(f, 6);
    assert_int_equal(f->in_step_max, 1);
    assert_int_equal(f->ended, 6);
}

static void a_task_that_runs_alone_shares_with_nobody(void **state) {
    Fixture *f = *state;
    f->sharer = f->out_of_memory = 0;
    f->helpers = f->options.helpers = 2;
    f->steps = 400;
    run_schedule(f, 20);
    assert_int_equal(f->in_step_max, 1);
    assert_int_equal(f->running_while_alone, 1);
    assert_int_equal(f->ended, 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_task_starts_after_all_it_needs, setup, teardown),
        cmocka_unit_test_setup_teardown(never_more_tasks_run_than_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(no_tasks_is_no_error, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_failure_stops_what_has_not_started, setup, teardown),
        cmocka_unit_test_setup_teardown(a_failure_interrupts_what_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(keep_going_builds_what_does_not_need_the_failed_one, setup, teardown),
        cmocka_unit_test_setup_teardown(cancelling_interrupts_what_runs_and_starts_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_task_out_of_memory_runs_again_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(idle_threads_help_a_task_that_shares, setup, teardown),
        cmocka_unit_test_setup_teardown(no_more_threads_help_than_are_wanted_or_there, setup, teardown),
        cmocka_unit_test_setup_teardown(a_task_that_runs_alone_shares_with_nobody, setup, teardown),
    };
    return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
