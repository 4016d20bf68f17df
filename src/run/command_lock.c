#include "run/command_lock.h"

#include "run/apply.h"
#include "run/cancel.h"
#include "run/change_log.h"

Str lock_holder_text(const LockHolder *holder, Arena *arena) {
    return str_format(arena, "`" STR_FMT "` (pid %lld on " STR_FMT ", since " STR_FMT ")", STR_ARG(holder->command),
                      (long long)holder->pid, STR_ARG(holder->host), STR_ARG(time_format_iso(arena, holder->since)));
}

static void note_waiting(void *context, const LockHolder *holder) {
    AUTO(arena) Arena *arena = arena_create();
    session_note(context, "waiting for " STR_FMT, STR_ARG(lock_holder_text(holder, arena)));
}

static bool is_cancelled(void *context) {
    (void)context;
    return cancel_requested();
}

Status command_lock(Session *session, Str command, int64_t timeout_us, StateStore **state_out, StateLock **lock_out,
                    Error *err) {
    LockOptions options = {
        .command = command,
        .timeout_us = timeout_us,
        .on_wait = note_waiting,
        .is_cancelled = is_cancelled,
        .context = session,
    };
    TRY(session_state_for_writing(session, state_out, err));
    TRY(state_lock_acquire(*state_out, &options, lock_out, err));
    TRY(recovery_finish(session, *lock_out, err));
    return state_changes_settle(*state_out, *lock_out, err);
}

void command_release(Session *session, StateLock *lock) {
    if (lock != NULL) {
        change_log_finish(session, lock);
        session_close_engine(session);
        state_lock_release(lock);
    }
}
