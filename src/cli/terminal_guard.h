/* Keeps the promise that a terminal is left as it was found: while a guard is on, the cursor is hidden, and every way
 * out (normal end, second Ctrl-C, Ctrl-Z, a fault) shows it again. One guard in a process. */
#ifndef INTERLACE_CLI_TERMINAL_GUARD_H
#define INTERLACE_CLI_TERMINAL_GUARD_H

#include <stdbool.h>

/* Hides the cursor. Takes over SIGINT, SIGTERM (and hands them on), SIGTSTP and SIGCONT. */
void terminal_guard_begin(int descriptor);
void terminal_guard_end(void);
/* Shows the cursor if it is hidden. Async-signal-safe. */
void terminal_guard_restore(void);
/* True once after the process was stopped and went on: what stood on the screen is not there any more. */
bool terminal_guard_was_resumed(void);

#endif
