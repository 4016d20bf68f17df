/* Only async-signal-safe work in the handler: an atomic flag, and _exit on the second signal. */
#include "run/cancel.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int requested_signal;

static int exit_code_of(int signal_number) {
    return signal_number == SIGTERM ? 143 : 130;
}

static void on_signal(int signal_number) {
    int expected = 0;
    if (!atomic_compare_exchange_strong(&requested_signal, &expected, signal_number)) {
        _exit(exit_code_of(signal_number));
    }
}

void cancel_install_signal_handlers(void) {
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cancel_requested(void) {
    return atomic_load(&requested_signal) != 0;
}

int cancel_signal(void) {
    return atomic_load(&requested_signal);
}

void cancel_request(int signal_number) {
    atomic_store(&requested_signal, signal_number);
}

int cancel_exit_code(void) {
    return exit_code_of(cancel_signal());
}
