/* The lock of a command that writes: taken, and what a dead command left finished. */
#ifndef INTERLACE_RUN_COMMAND_LOCK_H
#define INTERLACE_RUN_COMMAND_LOCK_H

#include "run/session.h"

/* `command` as others are told who holds it. Who waits says so once on stderr, and Ctrl-C ends the waiting. LockError
 * as state_lock_acquire. */
MUST_CHECK Status command_lock(Session *session, Str command, int64_t timeout_us, StateStore **state_out,
                               StateLock **lock_out, Error *err);
/* "`apply` (pid 42 on host, since 2026-07-01T08:30:00Z)" */
Str lock_holder_text(const LockHolder *holder, Arena *arena);
/* Gives the lock back, and the warehouse before it: who waits for the one opens the other. NULL is fine. */
void command_release(Session *session, StateLock *lock);

#endif
