/* Cancel: the one flag that stops a command. Set by the signal handler (async-signal-safe) or by a test; read by all.
 */
#ifndef INTERLACE_RUN_CANCEL_H
#define INTERLACE_RUN_CANCEL_H

#include "base/error.h"

/* First SIGINT or SIGTERM: the flag is set. Second: the process ends at once (130 or 143); recovery does the rest. */
void cancel_install_signal_handlers(void);
bool cancel_requested(void); /* any thread */
int cancel_signal(void);     /* SIGINT, SIGTERM or 0 */
void cancel_request(int signal_number);
int cancel_exit_code(void); /* 130 or 143 */

#endif
