/* A fault inside interlace (a signal such as SIGSEGV, a failed assertion): one line, where the trace was saved,
 * exit 70. */
#ifndef INTERLACE_CLI_CRASH_H
#define INTERLACE_CLI_CRASH_H

/* Not under sanitizers, which tell more. */
void crash_install_handlers(void);

#endif
