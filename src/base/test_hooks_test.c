/* INTERLACE_HOOK is read once, so each case runs in a process of its own. */
#include "base/files.h"
#include "base/test_hooks.h"
#include "base/testing.h"

#include <signal.h>
#include <sys/wait.h>

#ifdef INTERLACE_TEST_HOOKS

/* Passes `point` three times with INTERLACE_HOOK set; the exit code is the number of failures. */
static int status_of_child(const char *hooks, const char *point) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        AUTO(error) Error err;
        error_init(&err);
        int failure_count = 0;
        (void)setenv("INTERLACE_HOOK", hooks, 1);
        if (freopen("/dev/null", "w", stderr) == NULL) {
            _exit(99);
        }
        for (int i = 0; i < 3; i++) {
            failure_count += failed(test_hook(point, &err));
        }
        error_clear(&err);
        _exit(failure_count);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void hooks_fail_the_passages_they_name(void **state) {
    (void)state;
    static const struct {
        const char *hooks, *point;
        int failure_count;
    } cases[] = {
        {"", "commit", 0},
        {"commit=fail", "commit", 3},
        {"commit=fail", "rollback", 0},
        {"commit=fail@2", "commit", 1},
        {"a=fail,commit=fail@1", "commit", 1},
        {"commit=fail@4", "commit", 0},
        {"commit=wait:1", "commit", 0},
        {"commit=wait:1@1,commit=fail@3", "commit", 1},
        {"commit=nonsense", "commit", 2},
        {"commit=fail@0", "commit", 2},
        {"commit=wait", "commit", 2},
        {"=fail", "commit", 2},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int status = status_of_child(cases[i].hooks, cases[i].point);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cases[i].failure_count); /* 2 is also the exit of a wrong hook */
    }
}

static void kill_ends_the_process_at_once(void **state) {
    (void)state;
    int status = status_of_child("commit=kill", "commit");
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void touch_creates_its_file(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    Str root = test_directory(arena);
    Str file = path_join(arena, root, STR("reached"));
    int status = status_of_child(str_format(arena, "commit=touch:" STR_FMT "@2", STR_ARG(file)).ptr, "commit");
    assert_int_equal(status, 0);
    assert_true(file_exists(file));
    test_directory_remove(arena, root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(hooks_fail_the_passages_they_name),
        TEST(kill_ends_the_process_at_once),
        TEST(touch_creates_its_file),
    };
    return cmocka_run_group_tests_name("test_hooks", tests, NULL, NULL);
}

#else

static void hooks_are_not_compiled_in(void **state) {
    (void)state;
    AUTO(error) Error err;
    error_init(&err);
    assert_done(test_hook("commit", &err), &err);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(hooks_are_not_compiled_in)};
    return cmocka_run_group_tests_name("test_hooks", tests, NULL, NULL);
}

#endif
