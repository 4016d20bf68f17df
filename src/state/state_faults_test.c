/* Death and full disks at every step: what was recorded stays, what was not finished is not there (spec 03 §7, §11). */
#include "state/state_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FP_A "aaaaaaaaaaaaaaaa"
#define FP_B "bbbbbbbbbbbbbbbb"

/* Two models in generation 1. The second promotion moves `a` and removes `b`: all of it or nothing may be seen. */
static Intent second_promotion(Fixture *f) {
    Intent intent = {.environment = STR("prod"), .command = STR("apply"), .created_at = 4000};
    pointer_vec_push(f->arena, &intent.put, sample_pointer("a", FP_B));
    str_vec_push(f->arena, &intent.removed, STR("b"));
    return intent;
}

static void set_up_first_generation(Fixture *f) {
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    Snapshot snapshot = sample_snapshot("a", FP_A);
    assert_done(state_record_snapshot(store, &snapshot, &f->err), &f->err);
    Intent intent = {.environment = STR("prod"), .command = STR("apply")};
    pointer_vec_push(f->arena, &intent.put, sample_pointer("a", FP_A));
    pointer_vec_push(f->arena, &intent.put, sample_pointer("b", FP_A));
    int64_t generation;
    assert_done(state_intent_begin(store, lock, &intent, &f->err), &f->err);
    assert_done(state_intent_commit(store, lock, &intent, &generation, &f->err), &f->err);
}

static int apply(Fixture *f) {
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    Snapshot snapshot = sample_snapshot("a", FP_B);
    Intent intent = second_promotion(f);
    int64_t generation;
    bool is_done = !failed(state_record_snapshot(store, &snapshot, &f->err)) &&
                   !failed(state_intent_begin(store, lock, &intent, &f->err)) &&
                   !failed(state_intent_commit(store, lock, &intent, &generation, &f->err));
    return is_done ? 0 : 1;
}

/* What the next locking command does first. */
static size_t recover(Fixture *f) {
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = NULL;
    LockOptions options = {.command = STR("apply")};
    assert_done(state_lock_acquire(store, &options, &lock, &f->err), &f->err);
    IntentVec intents;
    assert_done(state_load_intents(store, f->arena, &intents, &f->err), &f->err);
    for (size_t i = 0; i < intents.count; i++) {
        int64_t generation;
        assert_done(state_intent_commit(store, lock, &intents.items[i], &generation, &f->err), &f->err);
    }
    return intents.count;
}

typedef enum Moment { BEFORE_INTENT, INTENT_WRITTEN, PROMOTED } Moment;

static Moment moment_of(Fixture *f) {
    int64_t intents = fixture_sql_int(f, "SELECT count(*) FROM intents");
    int64_t is_moved = fixture_sql_int(f, "SELECT count(*) FROM pointers WHERE fingerprint = '" FP_B "'");
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM pointers WHERE model = 'b'"), 1 - is_moved);
    assert_int_equal(fixture_sql_int(f, "SELECT max(generation) FROM generations"), 1 + is_moved);
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM generation_pointers WHERE generation = 2"), is_moved);
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM snapshots WHERE released_at > 0"), is_moved);
    assert_true(intents == 0 || is_moved == 0);
    return is_moved ? PROMOTED : intents ? INTENT_WRITTEN : BEFORE_INTENT;
}

static void test_03_7_3_death_at_a_hook_leaves_all_or_nothing(void **state) {
    (void)state;
    const struct {
        const char *hook;
        Moment moment;
    } cases[] = {
        {"state.lock_acquired=kill", BEFORE_INTENT}, {"state.snapshot=kill", BEFORE_INTENT},
        {"state.intent_begin=kill", BEFORE_INTENT},  {"state.commit=kill@2", BEFORE_INTENT},
        {"state.intent_begun=kill", INTENT_WRITTEN}, {"state.intent_commit=kill", INTENT_WRITTEN},
        {"state.commit=kill@3", INTENT_WRITTEN},     {"state.intent_committed=kill", PROMOTED},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        void *fresh = NULL;
        fixture_setup(&fresh);
        Fixture *f = fresh;
        print_message("# %s\n", cases[i].hook);
        set_up_first_generation(f);
        assert_killed(fixture_run(f, "apply", cases[i].hook));
        assert_int_equal(moment_of(f), cases[i].moment);
        assert_int_equal(recover(f), cases[i].moment == INTENT_WRITTEN);
        assert_int_equal(moment_of(f), cases[i].moment == BEFORE_INTENT ? BEFORE_INTENT : PROMOTED);
        fixture_teardown(&fresh);
    }
}

static void a_fault_at_a_hook_is_reported_and_leaves_all_or_nothing(void **state) {
    (void)state;
    const char *hooks[] = {"state.snapshot=fail", "state.intent_begin=fail", "state.commit=fail@2",
                           "state.commit=fail@3", "state.intent_commit=fail"};
    for (size_t i = 0; i < COUNT_OF(hooks); i++) {
        void *fresh = NULL;
        fixture_setup(&fresh);
        Fixture *f = fresh;
        set_up_first_generation(f);
        assert_exited(fixture_run(f, "apply", hooks[i]), 1);
        assert_int_not_equal(moment_of(f), PROMOTED);
        assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM locks"), 0);
        recover(f);
        fixture_teardown(&fresh);
    }
}

static int create(Fixture *f) {
    state_store_close(fixture_open(f));
    return 0;
}

static void death_while_the_file_is_made_leaves_a_fresh_state(void **state) {
    Fixture *f = *state;
    assert_killed(fixture_run(f, "create", "state.commit=kill"));
    AUTO(state_store) StateStore *reader = fixture_open_existing(f);
    SnapshotVec snapshots;
    assert_done(state_load_snapshots(reader, f->arena, &snapshots, &f->err), &f->err);
    assert_int_equal(snapshots.count, 0);
    state_store_close(TAKE(reader));
    set_up_first_generation(f);
}

/* Killed at any moment while it promotes again and again: whatever is there afterwards is whole. */
static int promote_for_ever(Fixture *f) {
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    assert_done(file_write_atomic(path_join(f->arena, f->folder, STR("started")), STR_EMPTY, false, &f->err), &f->err);
    for (int64_t i = 1; i < INT64_MAX; i++) {
        Intent intent = {.environment = STR("prod"), .command = STR("apply"), .created_at = 4000};
        const char *fingerprint = str_format(f->arena, "%016llx", (long long)i).ptr;
        for (int model = 0; model < 20; model++) {
            Pointer pointer = sample_pointer(str_format(f->arena, "m%d", model).ptr, fingerprint);
            pointer_vec_push(f->arena, &intent.put, pointer);
        }
        int64_t generation;
        assert_done(state_intent_begin(store, lock, &intent, &f->err), &f->err);
        assert_done(state_intent_commit(store, lock, &intent, &generation, &f->err), &f->err);
    }
    return 0;
}

/* A reader beside it, whatever state its files are in, sees one promotion whole. */
static void read_whole_mappings(Fixture *f, int64_t span_us) {
    int64_t until_us = clock_monotonic_us() + span_us;
    do {
        AUTO(state_store) StateStore *reader = fixture_open_existing(f);
        PointerVec pointers;
        assert_done(state_load_pointers(reader, STR("prod"), f->arena, &pointers, &f->err), &f->err);
        assert_true(pointers.count == 0 || pointers.count == 20);
        for (size_t i = 1; i < pointers.count; i++) {
            assert_true(str_equal(pointers.items[i].fingerprint, pointers.items[0].fingerprint));
        }
    } while (clock_monotonic_us() < until_us);
}

static void death_at_any_moment_leaves_whole_generations(void **state) {
    (void)state;
    for (unsigned round = 0; round < 12; round++) {
        void *fresh = NULL;
        fixture_setup(&fresh);
        Fixture *f = fresh;
        pid_t child = fixture_start(f, "promote_for_ever", NULL);
        wait_for_file(path_join(f->arena, f->folder, STR("started")));
        read_whole_mappings(f, 1000 + round * 1700);
        kill(child, SIGKILL);
        assert_killed(fixture_wait(child));
        read_whole_mappings(f, 0);
        recover(f);
        assert_int_equal(fixture_sql_int(f, "SELECT count(DISTINCT fingerprint) > 1 FROM pointers"), 0);
        assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM generation_pointers") % 20, 0);
        assert_int_equal(
            fixture_sql_int(f, "SELECT count(*) FROM generations WHERE (SELECT count(*) FROM generation_pointers AS p "
                               "WHERE p.generation = generations.generation) <> 20"),
            0);
        assert_int_equal(
            fixture_sql_int(f, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
        fixture_teardown(&fresh);
    }
}

/* ---- No room. */

static int fill_until_refused(Fixture *f) {
    AUTO(state_store) StateStore *store = NULL;
    if (failed(state_store_open(f->path, &store, &f->err))) {
        return 10;
    }
    for (int i = 0; i < 100000; i++) {
        Snapshot snapshot = sample_snapshot(str_format(f->arena, "m%d", i).ptr, FP_A);
        if (!failed(state_record_snapshot(store, &snapshot, &f->err))) {
            continue;
        }
        bool is_clear = str_equal(error_detail_find(&f->err, STR("code")), STR("state.full")) &&
                        str_find(f->err.message, f->path) != STR_NOT_FOUND && f->err.hint.size > 0;
        return is_clear && i > 0 ? 0 : 11;
    }
    return 12;
}

static int fill_below_size_limit(Fixture *f) {
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {.rlim_cur = 300000, .rlim_max = 300000};
    return setrlimit(RLIMIT_FSIZE, &limit) != 0 ? 13 : fill_until_refused(f);
}

/* All rows but the refused one are there, the file is sound, and with room it goes on. */
static void assert_nothing_lost(Fixture *f) {
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"),
                     0);
    int64_t count = fixture_sql_int(f, "SELECT count(*) FROM snapshots");
    assert_true(count > 0);
    assert_int_equal(fixture_sql_int(f, "SELECT max(CAST(substr(name, 2) AS INTEGER)) + 1 FROM snapshots"), count);
    set_up_first_generation(f);
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM snapshots"), count + 1);
}

static void a_file_that_may_not_grow_is_named_and_nothing_is_lost(void **state) {
    Fixture *f = *state;
    assert_exited(fixture_run(f, "fill_below_size_limit", NULL), 0);
    assert_nothing_lost(f);
}

static void a_full_disk_is_named_and_nothing_is_lost(void **state) {
    Fixture *f = *state;
    Str disk = path_join(f->arena, f->folder, STR("disk"));
    mkdir(disk.ptr, 0755);
    if (mount("tmpfs", disk.ptr, "tmpfs", 0, "size=512k") != 0) {
        skip();
    }
    Str limited = path_join(f->arena, disk, STR("state.db"));
    Fixture on_disk = {.arena = f->arena, .folder = disk, .path = limited};
    int status = fixture_run(&on_disk, "fill_until_refused", NULL);
    int remounted = mount("tmpfs", disk.ptr, "tmpfs", MS_REMOUNT, "size=8m");
    bool is_done = WIFEXITED(status) && WEXITSTATUS(status) == 0 && remounted == 0;
    if (is_done) {
        assert_nothing_lost(&on_disk);
    }
    umount2(disk.ptr, MNT_DETACH);
    assert_true(is_done);
}

static const ChildWork works[] = {
    {"apply", apply},
    {"create", create},
    {"promote_for_ever", promote_for_ever},
    {"fill_until_refused", fill_until_refused},
    {"fill_below_size_limit", fill_below_size_limit},
};

int main(int argument_count, char **arguments) {
    int result;
    if (fixture_is_child(argument_count, arguments, works, COUNT_OF(works), &result)) {
        return result;
    }
    const struct CMUnitTest tests[] = {
        STATE_TEST(test_03_7_3_death_at_a_hook_leaves_all_or_nothing),
        STATE_TEST(a_fault_at_a_hook_is_reported_and_leaves_all_or_nothing),
        STATE_TEST(death_while_the_file_is_made_leaves_a_fresh_state),
        STATE_TEST(death_at_any_moment_leaves_whole_generations),
        STATE_TEST(a_file_that_may_not_grow_is_named_and_nothing_is_lost),
        STATE_TEST(a_full_disk_is_named_and_nothing_is_lost),
    };
    return cmocka_run_group_tests_name("state_faults", tests, NULL, NULL);
}
