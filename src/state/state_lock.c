/* A lock, as `apply`, is one row. Whoever finds no row, one whose lease is over, or one whose process has ended, puts
 * its own there in one transaction. The token in it fences: a promotion commits only while the row still carries its
 * token.
 *
 * Leases run on the real clock, never on one that a test or a replay has fixed: the processes that look at the row need
 * not share that setting. */
#include "state/process_identity.h"
#include "state/state_sql.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/test_hooks.h"

#include <pthread.h>
#include <signal.h>

#define LEASE_US ((int64_t)180 * 1000000)
#define POLL_US ((int64_t)50 * 1000)
#define WAIT_NOTICE_US ((int64_t)2 * 1000000)
#define RENEWALS_PER_LEASE 3
#define RETRIES_PER_LEASE 36 /* after a renewal that failed */
#define APPLY STR("apply")

struct StateLock {
    Arena *arena;
    StateStore *store;
    Str name, token;
    int64_t lease_us;
    bool is_taken; /* there was a row of ours */
    pthread_t renewer;
    bool has_renewer;
    pthread_mutex_t mutex;
    pthread_cond_t stop_asked;
    bool is_stopping; /* guarded by mutex */
};

static TimeUs real_now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (TimeUs)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void sleep_us(int64_t span_us) {
    struct timespec span = {.tv_sec = span_us / 1000000, .tv_nsec = span_us % 1000000 * 1000};
    nanosleep(&span, NULL);
}

/* ---- The row. */

typedef struct LockRow {
    bool is_there;
    Str token, command;
    ProcessIdentity process;
    TimeUs since, lease_until;
} LockRow;

static void read_row(sqlite3_stmt *row, Arena *arena, void *rows) {
    int column = 0;
    LockRow *lock_row = rows;
    lock_row->is_there = true;
    lock_row->token = state_column_text(row, column++, arena);
    lock_row->command = state_column_text(row, column++, arena);
    lock_row->process.host = state_column_text(row, column++, arena);
    lock_row->process.boot_id = state_column_text(row, column++, arena);
    lock_row->process.pid_namespace = state_column_text(row, column++, arena);
    lock_row->process.pid = state_column_int(row, column++);
    lock_row->process.start_time = state_column_int(row, column++);
    lock_row->since = state_column_int(row, column++);
    lock_row->lease_until = state_column_int(row, column++);
}

static Status load_row(StateStore *store, Str name, Arena *arena, LockRow *row_out, Error *err) {
    LockRow row = {0};
    TRY(state_query(store,
                    "SELECT token, command, host, boot_id, pid_namespace, pid, process_start, since, lease_until"
                    " FROM locks WHERE name = ?1",
                    VALUES(state_text(name)), read_row, arena, &row, err));
    *row_out = row;
    return OK;
}

static Status put_row(StateStore *store, Str name, const LockRow *row, Error *err) {
    return state_execute(store,
                         "INSERT OR REPLACE INTO locks (name, token, command, host, boot_id, pid_namespace, pid,"
                         " process_start, since, lease_until) VALUES (?10, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                         VALUES(state_text(row->token), state_text(row->command), state_text(row->process.host),
                                state_text(row->process.boot_id), state_text(row->process.pid_namespace),
                                state_int(row->process.pid), state_int(row->process.start_time), state_int(row->since),
                                state_int(row->lease_until), state_text(name)),
                         err);
}

static bool is_free(const LockRow *row, const ProcessIdentity *self) {
    return !row->is_there || row->lease_until <= real_now_us() || process_is_gone(self, &row->process);
}

static Status extend_lease(StateStore *store, const StateLock *lock, Error *err) {
    return state_execute(
        store, "UPDATE locks SET lease_until = ?2 WHERE name = ?3 AND token = ?1",
        VALUES(state_text(lock->token), state_int(real_now_us() + lock->lease_us), state_text(lock->name)), err);
}

/* ---- Renewing: a thread with a connection of its own, opened when it is first needed. */

static bool wait_for_stop(StateLock *lock, int64_t span_us) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t nanoseconds = until.tv_nsec + span_us % 1000000 * 1000;
    until.tv_sec += span_us / 1000000 + nanoseconds / 1000000000;
    until.tv_nsec = nanoseconds % 1000000000;

    pthread_mutex_lock(&lock->mutex);
    int result = 0;
    while (!lock->is_stopping && result == 0) {
        result = pthread_cond_timedwait(&lock->stop_asked, &lock->mutex, &until);
    }
    bool is_stopping = lock->is_stopping;
    pthread_mutex_unlock(&lock->mutex);
    return is_stopping;
}

static Status renew(const StateLock *lock, StateStore **store, Error *err) {
    if (*store == NULL) {
        AUTO(state_store) StateStore *opened = state_store_create(lock->store->path);
        TRY(state_connect(opened, err));
        *store = TAKE(opened);
    }
    return extend_lease(*store, lock, err);
}

/* A renewal that fails is tried again sooner. When the lease is lost all the same, the fence finds out. */
static void *renew_until_stopped(void *argument) {
    StateLock *lock = argument;
    AUTO(state_store) StateStore *store = NULL;
    AUTO(error) Error err;
    error_init(&err);
    int64_t pause_us = lock->lease_us / RENEWALS_PER_LEASE;
    while (!wait_for_stop(lock, pause_us)) {
        bool is_renewed = !failed(renew(lock, &store, &err));
        pause_us = lock->lease_us / (is_renewed ? RENEWALS_PER_LEASE : RETRIES_PER_LEASE);
    }
    return NULL;
}

/* Signals are for the thread that drives the command. */
static Status start_renewer(StateLock *lock, Error *err) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&lock->renewer, NULL, renew_until_stopped, lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result != 0) {
        return error_set(err, ERROR_LOCK, "cannot start the thread that keeps the apply lock: %s", strerror(result));
    }
    lock->has_renewer = true;
    return OK;
}

static void stop_renewer(StateLock *lock) {
    if (!lock->has_renewer) {
        return;
    }
    pthread_mutex_lock(&lock->mutex);
    lock->is_stopping = true;
    pthread_cond_signal(&lock->stop_asked);
    pthread_mutex_unlock(&lock->mutex);
    pthread_join(lock->renewer, NULL);
}

/* ---- Life of a lock. */

static Str name_of(const LockOptions *options) {
    return options->name.size == 0 ? APPLY : options->name;
}

static StateLock *lock_create(StateStore *store, const LockOptions *options) {
    StateLock *lock = heap_alloc_zeroed(1, sizeof *lock);
    lock->arena = arena_create();
    lock->store = store;
    lock->name = str_copy(lock->arena, name_of(options));
    lock->token = random_hex(lock->arena, 16);
    lock->lease_us = options->lease_us > 0 ? options->lease_us : LEASE_US;
    pthread_mutex_init(&lock->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&lock->stop_asked, &attributes);
    pthread_condattr_destroy(&attributes);
    return lock;
}

/* A row that cannot be deleted does no harm: its process is about to end, or its lease. */
static void delete_row(const StateLock *lock) {
    AUTO(error) Error err;
    error_init(&err);
    if (failed(state_execute(lock->store, "DELETE FROM locks WHERE name = ?2 AND token = ?1",
                             VALUES(state_text(lock->token), state_text(lock->name)), &err))) {
        log_debug("ignoring: " STR_FMT, STR_ARG(err.message));
    }
}

void state_lock_release(StateLock *lock) {
    if (lock == NULL) {
        return;
    }
    stop_renewer(lock);
    if (lock->is_taken) {
        delete_row(lock);
    }
    pthread_cond_destroy(&lock->stop_asked);
    pthread_mutex_destroy(&lock->mutex);
    arena_destroy(lock->arena);
    free(lock);
}

/* ---- Acquiring. */

static LockHolder holder_of(const LockRow *row) {
    return (LockHolder){
        .command = row->command, .host = row->process.host, .pid = row->process.pid, .since = row->since};
}

static Str holder_text(Arena *arena, const LockHolder *holder) {
    return str_format(arena, "'" STR_FMT "' (pid %lld on " STR_FMT ", since " STR_FMT ")", STR_ARG(holder->command),
                      (long long)holder->pid, STR_ARG(holder->host), STR_ARG(time_format_iso(arena, holder->since)));
}

static void add_holder_details(Error *err, Arena *arena, const LockHolder *holder) {
    error_detail(err, STR("holder_command"), holder->command);
    error_detail(err, STR("holder_pid"), str_format(arena, "%lld", (long long)holder->pid));
    error_detail(err, STR("holder_host"), holder->host);
    error_detail(err, STR("holder_since"), time_format_iso(arena, holder->since));
}

static Status timeout_error(Str name, const LockHolder *holder, int64_t timeout_us, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    Str holder_words = holder_text(scratch, holder);
    if (timeout_us <= 0) {
        error_set(err, ERROR_LOCK, "the " STR_FMT " lock is held by " STR_FMT, STR_ARG(name), STR_ARG(holder_words));
    } else {
        error_set(err, ERROR_LOCK, "could not acquire the " STR_FMT " lock within %.3gs: it is held by " STR_FMT,
                  STR_ARG(name), (double)timeout_us / 1e6, STR_ARG(holder_words));
    }
    error_code(err, STR("lock.held"));
    add_holder_details(err, scratch, holder);
    error_hint(err, "wait until it is done, or give --lock-timeout more time");
    return FAILED;
}

/* Looks first without the write lock, so that those who wait do not disturb the one who works. */
static Status try_to_take(StateLock *lock, const LockRow *own, Arena *arena, LockRow *found_out, bool *taken_out,
                          Error *err) {
    *taken_out = false;
    TRY(load_row(lock->store, lock->name, arena, found_out, err));
    if (!is_free(found_out, &own->process)) {
        return OK;
    }
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_transaction_begin(&transaction, lock->store, err));
    TRY(load_row(lock->store, lock->name, arena, found_out, err));
    if (!is_free(found_out, &own->process)) {
        return OK;
    }
    LockRow row = *own;
    row.since = real_now_us();
    row.lease_until = row.since + lock->lease_us;
    TRY(put_row(lock->store, lock->name, &row, err));
    TRY(state_transaction_commit(&transaction, err));
    *taken_out = true;
    return OK;
}

typedef struct LockWait {
    const LockOptions *options;
    int64_t started_us; /* monotonic */
    bool is_noticed;
} LockWait;

/* One pause between two tries; fails when there is to be no other. */
static Status wait_a_little(LockWait *wait, const LockRow *found, Error *err) {
    const LockOptions *options = wait->options;
    LockHolder holder = holder_of(found);
    int64_t waited_us = clock_monotonic_us() - wait->started_us;
    if (waited_us >= options->timeout_us) {
        return timeout_error(name_of(options), &holder, options->timeout_us, err);
    }
    if (options->is_cancelled != NULL && options->is_cancelled(options->context)) {
        return error_set(err, ERROR_INTERRUPTED, "interrupted while waiting for the " STR_FMT " lock",
                         STR_ARG(name_of(options)));
    }
    if (!wait->is_noticed && waited_us >= WAIT_NOTICE_US && options->on_wait != NULL) {
        wait->is_noticed = true;
        options->on_wait(options->context, &holder);
    }
    int64_t left_us = options->timeout_us - waited_us;
    sleep_us(left_us < POLL_US ? left_us : POLL_US);
    return OK;
}

static Status wait_and_take(StateLock *lock, const LockOptions *options, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    LockRow own = {.token = lock->token, .command = options->command, .process = process_identity_self(scratch)};
    LockWait wait = {.options = options, .started_us = clock_monotonic_us()};
    for (;;) {
        AUTO(arena) Arena *round = arena_create();
        LockRow found;
        bool taken;
        TRY(try_to_take(lock, &own, round, &found, &taken, err));
        if (taken) {
            return OK;
        }
        TRY(wait_a_little(&wait, &found, err));
    }
}

Status state_lock_acquire(StateStore *store, const LockOptions *options, StateLock **lock_out, Error *err) {
    assert(!state_is_in_memory(store));
    AUTO(state_lock) StateLock *lock = lock_create(store, options);
    TRY(wait_and_take(lock, options, err));
    lock->is_taken = true;
    TRY(start_renewer(lock, err));
    TRY(test_hook("state.lock_acquired", err));
    *lock_out = TAKE(lock);
    return OK;
}

/* ---- Looking, and removing. */

Status state_lock_look(StateStore *store, Arena *arena, LockState *lock_out, Error *err) {
    LockRow row;
    ProcessIdentity self = process_identity_self(arena);
    TRY(load_row(store, APPLY, arena, &row, err));
    *lock_out = (LockState){.is_held = row.is_there, .is_dead = is_free(&row, &self), .holder = holder_of(&row)};
    return OK;
}

Status state_lock_break(StateStore *store, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    AUTO(state_transaction) StateTransaction transaction = {0};
    LockState lock;
    TRY(state_transaction_begin(&transaction, store, err));
    TRY(state_lock_look(store, scratch, &lock, err));
    if (lock.is_held && !lock.is_dead) {
        TRY(timeout_error(APPLY, &lock.holder, 0, err));
    }
    TRY(state_execute(store, "DELETE FROM locks WHERE name = 'apply'", NO_VALUES, err));
    return state_transaction_commit(&transaction, err);
}

/* ---- Checking. */

static Status lost_error(Str name, const LockRow *row, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    LockHolder holder = holder_of(row);
    Str taker = row->is_there
                    ? str_format(scratch, "was taken over by " STR_FMT, STR_ARG(holder_text(scratch, &holder)))
                    : STR("is held by nobody");
    error_set(err, ERROR_LOCK, "the " STR_FMT " lock was lost: its lease ran out, and it " STR_FMT, STR_ARG(name),
              STR_ARG(taker));
    error_code(err, STR("lock.lost"));
    if (row->is_there) {
        add_holder_details(err, scratch, &holder);
    }
    error_hint(err, "nothing was promoted; run the command again");
    return FAILED;
}

static Status check_row(StateStore *store, const StateLock *lock, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    LockRow row;
    TRY(load_row(store, lock->name, scratch, &row, err));
    return row.is_there && str_equal(row.token, lock->token) ? OK : lost_error(lock->name, &row, err);
}

Status state_lock_check(StateLock *lock, Error *err) {
    return check_row(lock->store, lock, err);
}

Status state_fenced_begin(StateTransaction *transaction, StateStore *store, const StateLock *lock, Error *err) {
    TRY(state_transaction_begin(transaction, store, err));
    TRY(check_row(store, lock, err));
    return extend_lease(store, lock, err);
}
