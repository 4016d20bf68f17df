/* The handlers do only what is allowed in a signal handler: write, open, backtrace_symbols_fd (which takes no memory
 * once backtrace has been called before). */
#include "cli/crash.h"

#include "base/macros.h"
#include "base/str.h"
#include "cli/terminal_guard.h"

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

#define EXIT_INTERNAL 70
#define FRAMES_MAX 64

static const char *trace_path; /* set when the handlers are installed; lives as long as the process */

/* A deep recursion leaves no stack to run the handler on. */
static unsigned char fault_stack[(size_t)64 << 10];

static void say(int descriptor, const char *text) {
    ssize_t written = write(descriptor, text, strlen(text));
    (void)written;
}

static bool save_trace(void) {
    int file = open(trace_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        return false;
    }
    void *frames[FRAMES_MAX];
    say(file, "interlace " INTERLACE_VERSION "\n");
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), file);
    close(file);
    return true;
}

static void on_fault(int signal_number) {
    terminal_guard_restore();
    say(STDERR_FILENO, "\nerror: interlace met a fault of its own (");
    say(STDERR_FILENO, signal_number == SIGABRT ? "assertion" : "signal");
    say(STDERR_FILENO, ") and stopped; what was committed before is kept\n");
    if (save_trace()) {
        say(STDERR_FILENO, "hint: please report this with the trace in ");
        say(STDERR_FILENO, trace_path);
        say(STDERR_FILENO, "\n");
    }
    _exit(EXIT_INTERNAL);
}

static void choose_trace_path(void) {
    static StrBuf path;
    const char *folder = getenv("TMPDIR");
    strbuf_format(&path, "%s/interlace-fault-%ld.txt", folder == NULL ? P_tmpdir : folder, (long)getpid());
    trace_path = strbuf_c(&path);
}

void crash_install_handlers(void) {
    if (IS_SANITIZED) {
        return;
    }
    choose_trace_path();
    stack_t stack = {.ss_sp = fault_stack, .ss_size = sizeof fault_stack};
    sigaltstack(&stack, NULL);
    void *frame[1];
    backtrace(frame, 1); /* loads what it needs now, not in the handler */

    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = (int)SA_RESETHAND | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        sigaction(signals[i], &action, NULL);
    }
}
