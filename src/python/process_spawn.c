#include "python/process_spawn.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void fd_close(int *fd) {
    if (*fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
}

/* ---- In the child. It shares our memory until exec: nothing but system calls, and `failure` to report with. */

typedef struct ChildPlan {
    const ProcessOptions *options;
    int fds[PROCESS_FDS]; /* all ≥ 10 or -1, so that no target is also a source */
    pid_t parent;
    volatile int failure; /* errno of what did not work */
} ChildPlan;

static void child_reset_signals(void) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) {
        (void)sigaction(number, &action, NULL); /* refused for two of them */
    }
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool child_place_fds(const ChildPlan *plan) {
    for (int target = 0; target < PROCESS_FDS; target++) {
        if (plan->fds[target] < 0) {
            (void)close(target);
        } else if (dup2(plan->fds[target], target) < 0) {
            return false;
        }
    }
    (void)syscall(SYS_close_range, PROCESS_FDS, ~0U, 0U); /* older kernels: all of ours are close-on-exec anyway */
    return true;
}

static bool child_die_with_thread(const ChildPlan *plan) {
    if (!plan->options->dies_with_thread) {
        return true;
    }
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == plan->parent;
}

static int child_run(void *argument) {
    ChildPlan *plan = argument;
    const ProcessOptions *options = plan->options;
    child_reset_signals();
    if (setpgid(0, 0) == 0 && child_die_with_thread(plan) && chdir(options->directory) == 0 && child_place_fds(plan)) {
        (void)execve(options->arguments[0], (char *const *)(uintptr_t)options->arguments,
                     (char *const *)(uintptr_t)options->environment);
    }
    plan->failure = errno == 0 ? ECHILD : errno;
    _exit(127);
}

/* ---- In the parent */

static void plan_close_fds(ChildPlan *plan) {
    for (int i = 0; i < PROCESS_FDS; i++) {
        fd_close(&plan->fds[i]);
    }
}

static Status plan_raise_fds(ChildPlan *plan, Error *err) {
    for (int i = 0; i < PROCESS_FDS; i++) {
        if (plan->options->fds[i] < 0) {
            continue;
        }
        plan->fds[i] = fcntl(plan->options->fds[i], F_DUPFD_CLOEXEC, 10);
        if (plan->fds[i] < 0) {
            return error_set_errno(err, ERROR_EXECUTION, "cannot prepare a process");
        }
    }
    return OK;
}

#define CHILD_STACK_SIZE ((size_t)64 << 10)

/* As posix_spawn does it, which cannot set the parent-death signal: the child shares our memory, and this thread waits,
 * until exec; so a large process costs no more than a small one. All signals wait, so that no handler of ours runs in
 * the child. */
static pid_t fork_and_run(ChildPlan *plan) {
    sigset_t all, before;
    char *stack = heap_alloc(CHILD_STACK_SIZE);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = clone(child_run, stack + CHILD_STACK_SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD, plan);
    int reason = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(stack);
    errno = reason;
    return pid;
}

static Status spawn_planned(ChildPlan *plan, pid_t *pid_out, Error *err) {
    TRY(plan_raise_fds(plan, err));
    pid_t pid = fork_and_run(plan);
    if (pid < 0) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot start a process");
    }
    if (plan->failure != 0) {
        (void)waitpid(pid, NULL, 0);
        errno = plan->failure;
        return error_set_errno(err, ERROR_CONFIGURATION, "cannot start '%s'", plan->options->arguments[0]);
    }
    *pid_out = pid;
    return OK;
}

Status process_spawn(const ProcessOptions *options, pid_t *pid_out, Error *err) {
    ChildPlan plan = {.options = options, .fds = {-1, -1, -1, -1}, .parent = getpid()};
    Status status = spawn_planned(&plan, pid_out, err);
    plan_close_fds(&plan);
    return status;
}

Status process_watch(pid_t pid, int *fd_out, Error *err) {
    long fd = syscall(SYS_pidfd_open, pid, 0U);
    if (fd < 0) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot watch process %d", (int)pid);
    }
    *fd_out = (int)fd;
    return OK;
}

/* ---- Output of a short program */

#define OUTPUT_SIZE_MAX (64 << 10)

static Status read_until_end(int fd, int timeout_ms, StrBuf *output, Error *err) {
    int64_t deadline_us = clock_monotonic_us() + (int64_t)timeout_ms * 1000;
    char block[4096];
    while (output->size <= OUTPUT_SIZE_MAX) {
        int64_t left_us = deadline_us - clock_monotonic_us();
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (left_us <= 0 || poll(&wait, 1, (int)(left_us / 1000) + 1) == 0) {
            return error_set(err, ERROR_CONFIGURATION, "it did not end within %d s", timeout_ms / 1000);
        }
        ssize_t size = read(fd, block, sizeof block);
        if (size == 0) {
            return OK;
        }
        if (size > 0) {
            strbuf_append(output, (Str){block, (size_t)size});
        } else if (errno != EINTR) {
            return error_set_errno(err, ERROR_CONFIGURATION, "its output cannot be read");
        }
    }
    return error_set(err, ERROR_CONFIGURATION, "it wrote more than %d KiB", OUTPUT_SIZE_MAX >> 10);
}

static Status run_and_read(const char *const *arguments, const char *directory, int timeout_ms, StrBuf *output,
                           Error *err) {
    AUTO(fd) int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot make a pipe");
    }
    AUTO(fd) int reader = ends[0];
    AUTO(fd) int writer = ends[1];
    ProcessOptions options = {.arguments = arguments,
                              .environment = (const char *const *)(uintptr_t)environ,
                              .directory = directory,
                              .fds = {nothing, writer, nothing, -1}};
    pid_t pid = 0;
    TRY(process_spawn(&options, &pid, err));
    fd_close(&writer);
    Status status = read_until_end(reader, timeout_ms, output, err);
    (void)kill(-pid, SIGKILL); /* it has closed its output, or is not waited for any longer */
    (void)waitpid(pid, NULL, 0);
    return status;
}

Status process_read_output(const char *const *arguments, const char *directory, int timeout_ms, Arena *arena,
                           Str *output_out, Error *err) {
    AUTO(strbuf) StrBuf output = {0};
    if (failed(run_and_read(arguments, directory, timeout_ms, &output, err))) {
        return error_wrap(err, "running '%s'", arguments[0]);
    }
    *output_out = str_copy(arena, str_trim(strbuf_str(&output)));
    return OK;
}
