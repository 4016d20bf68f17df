#include "cli/terminal_guard.h"

#include "base/macros.h"
#include "run/cancel.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define NO_DESCRIPTOR (-1)
static atomic_int guarded = NO_DESCRIPTOR; /* the terminal whose cursor is hidden */
static atomic_bool resumed;

static void write_sequence(int descriptor, const char *sequence, size_t size) {
    int saved_errno = errno;
    ssize_t written = write(descriptor, sequence, size);
    (void)written; /* a terminal that has gone needs no cursor */
    errno = saved_errno;
}

static void show_cursor(int descriptor) {
    write_sequence(descriptor, "\x1b[?25h", 6);
}

static void hide_cursor(int descriptor) {
    write_sequence(descriptor, "\x1b[?25l", 6);
}

void terminal_guard_restore(void) {
    int descriptor = atomic_load(&guarded);
    if (descriptor != NO_DESCRIPTOR) {
        show_cursor(descriptor);
    }
}

bool terminal_guard_was_resumed(void) {
    return atomic_exchange(&resumed, false);
}

/* --- Signals ---------------------------------------------------------------------------------------------------------
 */

static void on_cancel(int signal_number);
static void on_stop(int signal_number);
static void on_continue(int signal_number);

static struct GuardedSignal {
    int number;
    void (*handler)(int signal_number);
    struct sigaction previous;
} signals[] = {
    {.number = SIGINT, .handler = on_cancel},
    {.number = SIGTERM, .handler = on_cancel},
    {.number = SIGTSTP, .handler = on_stop},
    {.number = SIGCONT, .handler = on_continue},
};

static void install(struct GuardedSignal *guarded_signal) {
    struct sigaction action = {.sa_handler = guarded_signal->handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(guarded_signal->number, &action, &guarded_signal->previous);
}

static void hand_on(int signal_number) {
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        void (*handler)(int) = signals[i].previous.sa_handler;
        if (signals[i].number == signal_number && handler != SIG_DFL && handler != SIG_IGN) {
            handler(signal_number);
        }
    }
}

/* The second signal ends the process in the handler that was there before. */
static void on_cancel(int signal_number) {
    if (cancel_requested()) {
        terminal_guard_restore();
    }
    hand_on(signal_number);
}

/* Shows the cursor, then stops as if there were no handler; goes on behind raise(). */
static void on_stop(int signal_number) {
    terminal_guard_restore();
    struct sigaction stop = {.sa_handler = SIG_DFL}, again;
    sigemptyset(&stop.sa_mask);
    sigaction(signal_number, &stop, &again);
    sigset_t only, before;
    sigemptyset(&only);
    sigaddset(&only, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &only, &before);
    raise(signal_number);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sigaction(signal_number, &again, NULL);
}

static void on_continue(int signal_number) {
    (void)signal_number;
    int descriptor = atomic_load(&guarded);
    if (descriptor != NO_DESCRIPTOR) {
        hide_cursor(descriptor);
        atomic_store(&resumed, true);
    }
}

void terminal_guard_begin(int descriptor) {
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        install(&signals[i]);
    }
    atomic_store(&guarded, descriptor);
    hide_cursor(descriptor);
}

void terminal_guard_end(void) {
    terminal_guard_restore();
    atomic_store(&guarded, NO_DESCRIPTOR);
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        sigaction(signals[i].number, &signals[i].previous, NULL);
    }
}
