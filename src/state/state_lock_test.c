/* The lock: one holder at a time, dead ones taken over, a lost lease fenced (spec 03 §11). */
#include "state/state_fixture.h"

#include "state/process_identity.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND ((int64_t)1000000)

static Str in_folder(Fixture *f, const char *name) {
    return path_join(f->arena, f->folder, str_from(name));
}

static void touch(Fixture *f, const char *name) {
    assert_done(file_write_atomic(in_folder(f, name), STR_EMPTY, false, &f->err), &f->err);
}

static Status acquire(Fixture *f, StateStore *store, int64_t timeout_us, StateLock **lock_out) {
    LockOptions options = {.command = STR("run"), .timeout_us = timeout_us};
    return state_lock_acquire(store, &options, lock_out, &f->err);
}

static int hold(Fixture *f) {
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    touch(f, "held");
    pause();
    return 0;
}

static pid_t start_holder(Fixture *f, const char *work) {
    pid_t holder = fixture_start(f, work, NULL);
    wait_for_file(in_folder(f, "held"));
    return holder;
}

static void end_holder(pid_t holder) {
    kill(holder, SIGKILL);
    fixture_wait(holder);
}

/* ---- Waiting. */

static void test_03_11_2_a_timeout_of_0_fails_at_once_and_names_the_holder(void **state) {
    Fixture *f = *state;
    pid_t holder = start_holder(f, "hold");
    AUTO(state_store) StateStore *store = fixture_open(f);
    StateLock *lock = NULL;
    int64_t start_us = clock_monotonic_us();
    assert_refused(acquire(f, store, 0, &lock), &f->err, ERROR_LOCK, "lock.held");
    assert_true(clock_monotonic_us() - start_us < SECOND);
    assert_mentions(f->err.message, "'apply'");
    assert_mentions(f->err.message, str_format(f->arena, "pid %d on ", (int)holder).ptr);
    assert_mentions(f->err.message, process_identity_self(f->arena).host.ptr);
    assert_text(error_detail_find(&f->err, STR("holder_pid")), str_format(f->arena, "%d", (int)holder).ptr);
    assert_text(error_detail_find(&f->err, STR("holder_command")), "apply");
    end_holder(holder);
}

static void a_timeout_is_told_with_its_length(void **state) {
    Fixture *f = *state;
    pid_t holder = start_holder(f, "hold");
    AUTO(state_store) StateStore *store = fixture_open(f);
    StateLock *lock = NULL;
    assert_refused(acquire(f, store, SECOND / 5, &lock), &f->err, ERROR_LOCK, "lock.held");
    assert_mentions(f->err.message, "within 0.2s");
    end_holder(holder);
}

typedef struct WaitSeen {
    int notices;
    int64_t holder_pid;
    int64_t noticed_after_us;
    int64_t start_us;
    bool is_cancelled;
} WaitSeen;

static void notice_wait(void *context, const LockHolder *holder) {
    WaitSeen *seen = context;
    seen->notices++;
    seen->holder_pid = holder->pid;
    seen->noticed_after_us = clock_monotonic_us() - seen->start_us;
}

static bool was_cancelled(void *context) {
    return ((WaitSeen *)context)->is_cancelled;
}

static void who_waits_is_told_once_after_two_seconds(void **state) {
    Fixture *f = *state;
    pid_t holder = start_holder(f, "hold");
    AUTO(state_store) StateStore *store = fixture_open(f);
    WaitSeen seen = {.start_us = clock_monotonic_us()};
    LockOptions options = {.command = STR("run"),
                           .timeout_us = 2300 * SECOND / 1000,
                           .on_wait = notice_wait,
                           .is_cancelled = was_cancelled,
                           .context = &seen};
    StateLock *lock = NULL;
    assert_refused(state_lock_acquire(store, &options, &lock, &f->err), &f->err, ERROR_LOCK, "lock.held");
    assert_int_equal(seen.notices, 1);
    assert_int_equal(seen.holder_pid, holder);
    assert_true(seen.noticed_after_us >= 2 * SECOND);
    end_holder(holder);
}

static void waiting_can_be_cancelled(void **state) {
    Fixture *f = *state;
    pid_t holder = start_holder(f, "hold");
    AUTO(state_store) StateStore *store = fixture_open(f);
    WaitSeen seen = {.is_cancelled = true};
    LockOptions options = {
        .command = STR("run"), .timeout_us = 60 * SECOND, .is_cancelled = was_cancelled, .context = &seen};
    StateLock *lock = NULL;
    assert_refused(state_lock_acquire(store, &options, &lock, &f->err), &f->err, ERROR_INTERRUPTED, "");
    end_holder(holder);
}

static int hold_shortly(Fixture *f) {
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    touch(f, "held");
    usleep(300000);
    return 0;
}

static void who_waits_gets_the_lock_when_it_is_released(void **state) {
    Fixture *f = *state;
    pid_t holder = start_holder(f, "hold_shortly");
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = NULL;
    assert_done(acquire(f, store, 20 * SECOND, &lock), &f->err);
    assert_exited(fixture_wait(holder), 0);
    state_lock_release(TAKE(lock));
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM locks"), 0);
}

/* Each adds to a number in a file, which only a lock keeps right. */
static int count_up(Fixture *f) {
    Str counter = in_folder(f, "counter");
    for (int i = 0; i < 10; i++) {
        AUTO(state_store) StateStore *store = fixture_open(f);
        AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
        Str text;
        int64_t number;
        assert_done(file_read(counter, 100, f->arena, &text, &f->err), &f->err);
        assert_true(str_to_int64(text, &number));
        usleep(1000);
        assert_done(file_write_atomic(counter, str_format(f->arena, "%lld", (long long)number + 1), false, &f->err),
                    &f->err);
    }
    return 0;
}

static void test_03_11_1_processes_that_fight_for_the_lock_hold_it_one_by_one(void **state) {
    Fixture *f = *state;
    assert_done(file_write_atomic(in_folder(f, "counter"), STR("0"), false, &f->err), &f->err);
    pid_t children[4];
    for (size_t i = 0; i < COUNT_OF(children); i++) {
        children[i] = fixture_start(f, "count_up", NULL);
    }
    for (size_t i = 0; i < COUNT_OF(children); i++) {
        assert_exited(fixture_wait(children[i]), 0);
    }
    Str text;
    assert_done(file_read(in_folder(f, "counter"), 100, f->arena, &text, &f->err), &f->err);
    assert_text(text, "40");
}

/* ---- Holders that are gone. */

static void test_03_11_3_a_dead_holder_is_taken_over_at_once(void **state) {
    Fixture *f = *state;
    pid_t holder = start_holder(f, "hold");
    kill(holder, SIGKILL);
    siginfo_t ended;
    assert_int_equal(waitid(P_PID, (id_t)holder, &ended, WEXITED | WNOWAIT), 0); /* dead, but still in the table */

    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = NULL;
    assert_done(acquire(f, store, 0, &lock), &f->err);
    state_lock_release(TAKE(lock));
    assert_killed(fixture_wait(holder));
}

static void *stay(void *unused) {
    (void)unused;
    pause();
    return NULL;
}

/* Its first thread is gone, so the process is called a zombie; another one still has all of its files open. */
static int hold_without_first_thread(Fixture *f) {
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, stay, NULL), 0);
    touch(f, "held");
    syscall(SYS_exit, 0); /* of this thread alone */
    return 1;
}

static bool is_zombie(Fixture *f, pid_t process) {
    Str stat;
    assert_done(file_read(str_format(f->arena, "/proc/%d/stat", (int)process), 4096, f->arena, &stat, &f->err),
                &f->err);
    return str_find(stat, STR(") Z ")) != STR_NOT_FOUND;
}

static void test_03_11_3_a_dying_holder_is_waited_for_until_its_last_thread_is_gone(void **state) {
    Fixture *f = *state;
    pid_t holder = start_holder(f, "hold_without_first_thread");
    while (!is_zombie(f, holder)) {
        usleep(1000);
    }
    AUTO(state_store) StateStore *store = fixture_open(f);
    StateLock *lock = NULL;
    assert_refused(acquire(f, store, 0, &lock), &f->err, ERROR_LOCK, "lock.held");
    kill(holder, SIGKILL);
    siginfo_t ended;
    assert_int_equal(waitid(P_PID, (id_t)holder, &ended, WEXITED | WNOWAIT), 0);
    assert_done(acquire(f, store, 0, &lock), &f->err);
    state_lock_release(TAKE(lock));
    fixture_wait(holder);
}

static void put_holder(Fixture *f, const char *host, const char *boot_id, const char *pid_namespace, int64_t pid,
                       int64_t start_time, int64_t lease_until) {
    state_store_close(fixture_open(f));
    fixture_sql(f,
                str_format(f->arena,
                           "INSERT OR REPLACE INTO locks VALUES ('apply', 't', 'apply', '%s', '%s', '%s', %lld, "
                           "%lld, 1, %lld)",
                           host, boot_id, pid_namespace, (long long)pid, (long long)start_time, (long long)lease_until)
                    .ptr);
}

static void assert_takes_over(Fixture *f, bool expected) {
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = NULL;
    bool taken = !failed(acquire(f, store, 0, &lock));
    assert_int_equal(taken, expected);
}

static void a_holder_is_dead_only_when_that_is_certain(void **state) {
    Fixture *f = *state;
    ProcessIdentity self = process_identity_self(f->arena);
    const char *host = str_to_c(f->arena, self.host);
    const char *boot = str_to_c(f->arena, self.boot_id);
    const char *space = str_to_c(f->arena, self.pid_namespace);
    int64_t future = INT64_MAX;
    const struct {
        const char *host, *boot_id, *pid_namespace;
        int64_t pid, start_time, lease_until;
        bool is_taken;
    } cases[] = {
        {host, boot, space, self.pid, self.start_time, future, false},
        {host, boot, space, self.pid, self.start_time, 1, true},          /* its lease is over */
        {host, boot, space, self.pid, self.start_time - 1, future, true}, /* the pid came round again */
        {host, boot, space, 0x7ffffff0, 1, future, true},                 /* no such process */
        {host, boot, "pid:[1]", 0x7ffffff0, 1, future, false},            /* another container's numbers */
        {host, "other-boot", space, 0x7ffffff0, 1, future, true},         /* before this machine's restart */
        {"elsewhere", "other-boot", space, 0x7ffffff0, 1, future, false}, /* another machine */
        {"elsewhere", "other-boot", space, 0x7ffffff0, 1, 1, true},
        {"renamed", boot, space, 0x7ffffff0, 1, future, true},
        {host, "", "", 0x7ffffff0, 1, future, false}, /* nothing is known */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        put_holder(f, cases[i].host, cases[i].boot_id, cases[i].pid_namespace, cases[i].pid, cases[i].start_time,
                   cases[i].lease_until);
        print_message("# case %zu\n", i);
        assert_takes_over(f, cases[i].is_taken);
    }
}

/* ---- Leases. */

/* A holder that a paused machine would leave behind: stopped, its lease over, and then it goes on. */
static int hold_with_short_lease(Fixture *f) {
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = NULL;
    LockOptions options = {.command = STR("apply"), .lease_us = SECOND};
    assert_done(state_lock_acquire(store, &options, &lock, &f->err), &f->err);
    assert_done(state_lock_check(lock, &f->err), &f->err);
    touch(f, "held");
    wait_for_file(in_folder(f, "stolen"));

    Intent intent = {.environment = STR("prod"), .command = STR("apply")};
    pointer_vec_push(f->arena, &intent.put, sample_pointer("a", "aaaaaaaaaaaaaaaa"));
    bool check_fails = failed(state_lock_check(lock, &f->err)) && f->err.kind == ERROR_LOCK &&
                       str_equal(error_detail_find(&f->err, STR("code")), STR("lock.lost")) &&
                       str_find(f->err.message, STR("'run'")) != STR_NOT_FOUND;
    bool begin_fails = failed(state_intent_begin(store, lock, &intent, &f->err)) && f->err.kind == ERROR_LOCK;
    return check_fails && begin_fails ? 0 : 1;
}

static void test_03_11_5_a_stolen_lease_promotes_nothing(void **state) {
    Fixture *f = *state;
    pid_t holder = start_holder(f, "hold_with_short_lease");
    kill(holder, SIGSTOP);
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = NULL;
    assert_done(acquire(f, store, 20 * SECOND, &lock), &f->err);
    touch(f, "stolen");
    kill(holder, SIGCONT);
    assert_exited(fixture_wait(holder), 0);
    assert_done(state_lock_check(lock, &f->err), &f->err); /* its release did not touch ours */
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM intents"), 0);
}

static void a_lease_lost_between_intent_and_commit_leaves_the_intent(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    Intent intent = {.environment = STR("prod"), .command = STR("apply")};
    pointer_vec_push(f->arena, &intent.put, sample_pointer("a", "aaaaaaaaaaaaaaaa"));
    assert_done(state_intent_begin(store, lock, &intent, &f->err), &f->err);
    fixture_sql(f, "UPDATE locks SET token = 'thief'");
    int64_t generation = -1;
    assert_refused(state_intent_commit(store, lock, &intent, &generation, &f->err), &f->err, ERROR_LOCK, "lock.lost");
    assert_int_equal(generation, -1);
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM intents"), 1);
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM pointers"), 0);
}

static void a_lease_is_renewed_while_its_holder_works(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = NULL;
    LockOptions options = {.command = STR("apply"), .lease_us = 2 * SECOND};
    assert_done(state_lock_acquire(store, &options, &lock, &f->err), &f->err);
    int64_t first = fixture_sql_int(f, "SELECT lease_until FROM locks");
    int64_t until_us = clock_monotonic_us() + 20 * SECOND;
    while (fixture_sql_int(f, "SELECT lease_until FROM locks") < first + SECOND) {
        assert_true(clock_monotonic_us() < until_us);
        usleep(50000);
    }
    assert_done(state_lock_check(lock, &f->err), &f->err);
}

static const ChildWork works[] = {
    {"hold", hold},         {"hold_without_first_thread", hold_without_first_thread}, {"hold_shortly", hold_shortly},
    {"count_up", count_up}, {"hold_with_short_lease", hold_with_short_lease},
};

int main(int argument_count, char **arguments) {
    int result;
    if (fixture_is_child(argument_count, arguments, works, COUNT_OF(works), &result)) {
        return result;
    }
    const struct CMUnitTest tests[] = {
        STATE_TEST(test_03_11_2_a_timeout_of_0_fails_at_once_and_names_the_holder),
        STATE_TEST(a_timeout_is_told_with_its_length),
        STATE_TEST(who_waits_is_told_once_after_two_seconds),
        STATE_TEST(waiting_can_be_cancelled),
        STATE_TEST(who_waits_gets_the_lock_when_it_is_released),
        STATE_TEST(test_03_11_1_processes_that_fight_for_the_lock_hold_it_one_by_one),
        STATE_TEST(test_03_11_3_a_dead_holder_is_taken_over_at_once),
        STATE_TEST(test_03_11_3_a_dying_holder_is_waited_for_until_its_last_thread_is_gone),
        STATE_TEST(a_holder_is_dead_only_when_that_is_certain),
        STATE_TEST(test_03_11_5_a_stolen_lease_promotes_nothing),
        STATE_TEST(a_lease_lost_between_intent_and_commit_leaves_the_intent),
        STATE_TEST(a_lease_is_renewed_while_its_holder_works),
    };
    return cmocka_run_group_tests_name("state_lock", tests, NULL, NULL);
}
