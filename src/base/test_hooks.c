#include "base/test_hooks.h"

#ifdef INTERLACE_TEST_HOOKS

#include "base/files.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct Hook Hook;

typedef struct HookAction {
    Str name;
    bool has_argument;
    Status (*run)(const Hook *hook, Error *err);
} HookAction;

struct Hook {
    Str name;
    const HookAction *action;
    Str argument;
    int64_t wait_ms;
    int64_t passage;       /* the only one that counts; 0 = each */
    atomic_llong passages; /* so far */
};

static pthread_once_t hooks_once = PTHREAD_ONCE_INIT;
static Hook *hooks; /* written once by read_hooks; lives as long as the process */
static size_t hook_count;

static Status hook_kill(const Hook *hook, Error *err) {
    (void)hook;
    (void)err;
    kill(getpid(), SIGKILL);
    return FAILED; /* not reached */
}

static Status hook_fail(const Hook *hook, Error *err) {
    return error_set(err, ERROR_EXECUTION, "test hook '" STR_FMT "' failed", STR_ARG(hook->name));
}

static Status hook_wait(const Hook *hook, Error *err) {
    (void)err;
    struct timespec span = {.tv_sec = hook->wait_ms / 1000, .tv_nsec = hook->wait_ms % 1000 * 1000000};
    nanosleep(&span, NULL);
    return OK;
}

static Status hook_touch(const Hook *hook, Error *err) {
    return file_write_atomic(hook->argument, STR_EMPTY, false, err);
}

static const HookAction actions[] = {
    {.name = STR_INIT("kill"), .run = hook_kill},
    {.name = STR_INIT("fail"), .run = hook_fail},
    {.name = STR_INIT("wait"), .has_argument = true, .run = hook_wait},
    {.name = STR_INIT("touch"), .has_argument = true, .run = hook_touch},
};

static const HookAction *find_action(Str name) {
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        if (str_equal(actions[i].name, name)) {
            return &actions[i];
        }
    }
    return NULL;
}

static Str cut_behind(Str *text, size_t at) {
    Str tail = at == STR_NOT_FOUND ? STR_EMPTY : str_skip(*text, at + 1);
    *text = str_slice(*text, 0, at);
    return tail;
}

/* name=action[:argument][@n] */
static bool parse_hook(Str text, Hook *hook) {
    hook->name = text;
    Str action = cut_behind(&hook->name, str_find_char(text, '='));
    Str passage = cut_behind(&action, str_find_last_char(action, '@'));
    hook->argument = cut_behind(&action, str_find_char(action, ':'));
    hook->action = find_action(action);
    return hook->name.size > 0 && hook->action != NULL && hook->action->has_argument == (hook->argument.size > 0) &&
           (passage.size == 0 || (str_to_int64(passage, &hook->passage) && hook->passage > 0)) &&
           (hook->action->run != hook_wait || str_to_int64(hook->argument, &hook->wait_ms));
}

/* A hook that is not understood ends the process: the test would otherwise pass without its fault. */
static void read_hooks(void) {
    Str rest = str_from(getenv("INTERLACE_HOOK"));
    while (rest.size > 0) {
        Str text = rest;
        rest = cut_behind(&text, str_find_char(rest, ','));
        hooks = heap_realloc(hooks, (hook_count + 1) * sizeof *hooks);
        hooks[hook_count] = (Hook){0};
        if (!parse_hook(text, &hooks[hook_count])) {
            fprintf(stderr, "error: INTERLACE_HOOK: '" STR_FMT "' is not name=action[@n]\n", STR_ARG(text));
            exit(error_exit_code(ERROR_USAGE));
        }
        hook_count++;
    }
}

Status test_hook(const char *name, Error *err) {
    pthread_once(&hooks_once, read_hooks);
    for (size_t i = 0; i < hook_count; i++) {
        Hook *hook = &hooks[i];
        if (!str_equal(hook->name, str_from(name))) {
            continue;
        }
        int64_t passage = atomic_fetch_add(&hook->passages, 1) + 1;
        if (hook->passage == 0 || hook->passage == passage) {
            TRY(hook->action->run(hook, err));
        }
    }
    return OK;
}

bool test_without(const char *name) {
    Str rest = str_from(getenv("INTERLACE_WITHOUT"));
    while (rest.size > 0) {
        Str one = rest;
        rest = cut_behind(&one, str_find_char(rest, ','));
        if (str_equal(one, str_from(name))) {
            return true;
        }
    }
    return false;
}

#endif
