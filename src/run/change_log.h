/* What a command tells of what it changed (spec 04 §8): its drafts, and, when it is over, the table `interlace.changes`
 * of the warehouse. What is told is in docs/changes.md. */
#ifndef INTERLACE_RUN_CHANGE_LOG_H
#define INTERLACE_RUN_CHANGE_LOG_H

#include "run/apply_steps.h"

/* Who runs this command: INTERLACE_WHO, else user@host. */
Str change_log_who(Arena *arena);

/* The drafts of a command that builds: before the first build, once the targets are decided. Sets `change` of targets.
 * `connection` NULL: nothing has a table. */
MUST_CHECK Status change_log_begin(Apply *apply, EngineConnection *connection, Error *err);

/* The command is over, however it ended; it still has the lock. What readers saw change is recorded, and what is
 * recorded is in the warehouse's table, unless that cannot be written: then the next command does it, with a note. */
void change_log_finish(Session *session, StateLock *lock);

#endif
