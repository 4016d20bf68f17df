/* Opening: what is there, what is refused, and that a reader writes nothing. */
#include "state/state_fixture.h"

#include "base/hash.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t count_snapshots(Fixture *f, StateStore *store) {
    SnapshotVec snapshots = {0};
    assert_done(state_load_snapshots(store, f->arena, &snapshots, &f->err), &f->err);
    return snapshots.count;
}

static void record(Fixture *f, StateStore *store, const char *name) {
    Snapshot snapshot = sample_snapshot(name, "aaaaaaaaaaaaaaaa");
    assert_done(state_record_snapshot(store, &snapshot, &f->err), &f->err);
}

/* What a reader sees, and that the folder is afterwards as it was before. */
static void assert_reads_without_a_trace(Fixture *f, size_t snapshot_count) {
    Str before = fixture_folder_digest(f);
    AUTO(state_store) StateStore *store = fixture_open_existing(f);
    assert_int_equal(count_snapshots(f, store), snapshot_count);
    state_store_close(TAKE(store));
    assert_text(fixture_folder_digest(f), before.ptr);
}

static void opening_makes_the_folder_and_the_file(void **state) {
    Fixture *f = *state;
    f->path = path_join(f->arena, f->folder, STR("deep/.interlace/state.db"));
    AUTO(state_store) StateStore *store = fixture_open(f);
    record(f, store, "a");
    state_store_close(TAKE(store));
    store = fixture_open(f);
    assert_int_equal(count_snapshots(f, store), 1);
    assert_int_equal(fixture_sql_int(f, "PRAGMA user_version"), STATE_FORMAT_VERSION);
    assert_int_equal(fixture_sql_int(f, "SELECT value FROM meta WHERE name = 'canonical_version'"), 1);
}

static void a_missing_file_reads_as_an_empty_store_and_is_not_made(void **state) {
    Fixture *f = *state;
    assert_reads_without_a_trace(f, 0);
    f->path = path_join(f->arena, f->folder, STR("no/such/folder/state.db"));
    assert_reads_without_a_trace(f, 0);
}

static void an_empty_file_is_a_fresh_state(void **state) {
    Fixture *f = *state;
    assert_done(file_write_atomic(f->path, STR(""), false, &f->err), &f->err);
    assert_reads_without_a_trace(f, 0);
    AUTO(state_store) StateStore *store = fixture_open(f);
    record(f, store, "a");
    assert_int_equal(count_snapshots(f, store), 1);
}

static void a_file_of_a_creation_that_was_cut_short_is_a_fresh_state(void **state) {
    Fixture *f = *state;
    fixture_sql(f, "PRAGMA journal_mode = WAL");
    assert_reads_without_a_trace(f, 0);
    AUTO(state_store) StateStore *store = fixture_open(f);
    record(f, store, "a");
}

/* ---- What is refused. */

typedef Status (*Opener)(Str path, StateStore **store_out, Error *err);
static const Opener openers[] = {state_store_open, state_store_open_existing};

static Str content_digest(Fixture *f) {
    Str content;
    assert_done(file_read(f->path, SIZE_MAX / 4, f->arena, &content, &f->err), &f->err);
    return sha256_hex(f->arena, content);
}

static void assert_all_refuse(Fixture *f, ErrorKind kind, const char *code) {
    Str before = content_digest(f);
    for (size_t i = 0; i < COUNT_OF(openers); i++) {
        StateStore *store = NULL;
        assert_refused(openers[i](f->path, &store, &f->err), &f->err, kind, code);
        assert_null(store);
        assert_mentions(f->err.message, f->path.ptr);
        assert_true(f->err.hint.size > 0);
    }
    assert_text(content_digest(f), before.ptr);
}

static void a_newer_format_is_refused_with_both_versions(void **state) {
    Fixture *f = *state;
    state_store_close(fixture_open(f));
    fixture_sql(f, "PRAGMA user_version = 7");
    assert_all_refuse(f, ERROR_CONFIGURATION, "state.newer");
    assert_mentions(f->err.message, "format 7");
    assert_mentions(f->err.message, str_format(f->arena, "up to %d", STATE_FORMAT_VERSION).ptr);
}

/* A file as the first format left it: what it held stays, and the ledger is there and empty. */
static void a_file_of_the_first_format_is_brought_up_to_date(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(openers); i++) {
        void *fresh = NULL;
        fixture_setup(&fresh);
        Fixture *f = fresh;
        AUTO(state_store) StateStore *store = fixture_open(f);
        record(f, store, "a");
        state_store_close(TAKE(store));
        fixture_sql(
            f,
            "DROP TABLE campaign_plans; DROP TABLE campaign_batches; DROP TABLE campaign_models; DROP TABLE campaigns;"
            " DROP TABLE change_hooks; DROP TABLE change_windows; DROP TABLE changes; DROP TABLE notices;"
            " DROP TABLE ledger; DROP TABLE reclaimed; DROP TABLE orphans;"
            " ALTER TABLE check_results DROP COLUMN run_id;"
            " ALTER TABLE snapshots DROP COLUMN config_json;"
            " ALTER TABLE snapshots DROP COLUMN physical_objects; PRAGMA user_version = 1");

        assert_done(openers[i](f->path, &store, &f->err), &f->err);
        assert_int_equal(count_snapshots(f, store), 1);
        IntervalSet filled;
        LedgerKey key = {.engine = STR("default"), .schema = STR("interlace__main"), .name = STR("a")};
        assert_done(state_ledger_load(store, &key, f->arena, &filled, &f->err), &f->err);
        assert_int_equal(filled.count, 0);
        AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
        assert_done(state_ledger_add(store, lock, &key, (Window){1, 2}, &f->err), &f->err);
        assert_int_equal(fixture_sql_int(f, "PRAGMA user_version"), STATE_FORMAT_VERSION);
        assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM meta WHERE name = 'canonical_version'"), 1);
        state_lock_release(TAKE(lock));
        state_store_close(TAKE(store));
        fixture_teardown(&fresh);
    }
}

static void a_database_of_something_else_is_refused_and_left_alone(void **state) {
    Fixture *f = *state;
    fixture_sql(f, "CREATE TABLE orders (id INTEGER)");
    assert_all_refuse(f, ERROR_CONFIGURATION, "state.foreign");
}

static void a_file_that_is_no_database_is_named_as_damaged(void **state) {
    Fixture *f = *state;
    Str text = STR("warehouse: ducklake\nthis is not a database, but long enough to look like the head of one, "
                   "which is a hundred bytes\n");
    assert_done(file_write_atomic(f->path, text, false, &f->err), &f->err);
    assert_all_refuse(f, ERROR_CONFIGURATION, "state.corrupt");
}

static void damage_inside_is_named_when_it_is_met(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    record(f, store, "a");
    state_store_close(TAKE(store));
    int64_t page = fixture_sql_int(f, "SELECT rootpage FROM sqlite_schema WHERE name = 'snapshots'");

    int fd = open(f->path.ptr, O_WRONLY);
    assert_int_equal(pwrite(fd, "\x99\x99\x99\x99\x99\x99\x99\x99", 8, (page - 1) * 4096), 8);
    close(fd);
    store = fixture_open_existing(f);
    SnapshotVec snapshots;
    assert_refused(state_load_snapshots(store, f->arena, &snapshots, &f->err), &f->err, ERROR_CONFIGURATION,
                   "state.corrupt");
    assert_mentions(f->err.message, f->path.ptr);
    assert_mentions(f->err.hint, "-wal");
}

static void a_folder_in_the_place_of_the_file_is_an_error(void **state) {
    Fixture *f = *state;
    f->path = f->folder;
    StateStore *store = NULL;
    assert_refused(state_store_open(f->path, &store, &f->err), &f->err, ERROR_CONFIGURATION, "state.unreadable");
}

/* ---- Readers. */

static void a_reader_beside_nobody_writes_nothing(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    record(f, store, "a");
    state_store_close(TAKE(store));
    assert_reads_without_a_trace(f, 1);
}

static void a_reader_of_the_file_alone_writes_nothing(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    record(f, store, "a");
    state_store_close(TAKE(store));
    unlink(str_format(f->arena, STR_FMT "-wal", STR_ARG(f->path)).ptr);
    assert_reads_without_a_trace(f, 1);
    unlink(str_format(f->arena, STR_FMT "-shm", STR_ARG(f->path)).ptr);
    assert_reads_without_a_trace(f, 1);
}

/* The writer is a process of its own, as it is in life: within one process SQLite shares more than it should here. */
static int write_and_stay(Fixture *f) {
    AUTO(state_store) StateStore *store = fixture_open(f);
    record(f, store, "a");
    assert_done(file_write_atomic(path_join(f->arena, f->folder, STR("written")), STR_EMPTY, false, &f->err), &f->err);
    pause();
    return 0;
}

static void a_reader_beside_a_writer_and_after_its_death_sees_all_and_writes_nothing(void **state) {
    Fixture *f = *state;
    pid_t writer = fixture_start(f, "write_and_stay", NULL);
    wait_for_file(path_join(f->arena, f->folder, STR("written")));
    assert_reads_without_a_trace(f, 1);
    kill(writer, SIGKILL);
    assert_killed(fixture_wait(writer));
    assert_true(fixture_folder_digest(f).size > 0);
    assert_reads_without_a_trace(f, 1);

    AUTO(state_store) StateStore *store = fixture_open(f);
    record(f, store, "b");
    assert_int_equal(count_snapshots(f, store), 2);
}

static void a_copy_without_shared_memory_is_recovered(void **state) {
    Fixture *f = *state;
    pid_t writer = fixture_start(f, "write_and_stay", NULL);
    wait_for_file(path_join(f->arena, f->folder, STR("written")));
    kill(writer, SIGKILL);
    fixture_wait(writer);
    unlink(str_format(f->arena, STR_FMT "-shm", STR_ARG(f->path)).ptr);
    AUTO(state_store) StateStore *store = fixture_open_existing(f);
    assert_int_equal(count_snapshots(f, store), 1);
}

/* Two loads of one reader agree, whatever is written between them. */
static void a_reader_sees_one_moment(void **state) {
    Fixture *f = *state;
    state_store_close(fixture_open(f));
    AUTO(state_store) StateStore *reader = fixture_open_existing(f);
    pid_t writer = fixture_start(f, "write_and_stay", NULL);
    wait_for_file(path_join(f->arena, f->folder, STR("written")));
    assert_int_equal(count_snapshots(f, reader), 0);
    state_store_close(TAKE(reader));
    reader = fixture_open_existing(f);
    assert_int_equal(count_snapshots(f, reader), 1);
    kill(writer, SIGKILL);
    fixture_wait(writer);
}

static int read_as_another_user(Fixture *f) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
        return 1;
    }
    AUTO(state_store) StateStore *reader = fixture_open_existing(f);
    if (count_snapshots(f, reader) != 1) {
        return 2;
    }
    StateStore *writer = NULL;
    if (!failed(state_store_open(f->path, &writer, &f->err))) {
        return 3;
    }
    bool is_named = str_find(f->err.message, f->path) != STR_NOT_FOUND && f->err.kind == ERROR_CONFIGURATION &&
                    str_equal(error_detail_find(&f->err, STR("code")), STR("state.unwritable"));
    return is_named ? 0 : 4;
}

static void make_read_only(Fixture *f, bool is_read_only) {
    const char *suffixes[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
        chmod(str_format(f->arena, STR_FMT "%s", STR_ARG(f->path), suffixes[i]).ptr, is_read_only ? 0444 : 0644);
    }
    chmod(f->folder.ptr, is_read_only ? 0555 : 0755);
}

static void a_read_only_folder_can_be_read_and_refuses_writers(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    record(f, store, "a");
    state_store_close(TAKE(store));
    make_read_only(f, true);
    int status = fixture_run(f, "read_as_another_user", NULL);
    make_read_only(f, false);
    assert_exited(status, 0);
}

static void a_read_only_folder_of_a_writer_that_died_can_be_read(void **state) {
    Fixture *f = *state;
    pid_t writer = fixture_start(f, "write_and_stay", NULL);
    wait_for_file(path_join(f->arena, f->folder, STR("written")));
    kill(writer, SIGKILL);
    fixture_wait(writer);
    make_read_only(f, true);
    int status = fixture_run(f, "read_as_another_user", NULL);
    make_read_only(f, false);
    assert_exited(status, 0);
}

/* ---- Several at once. */

static int open_and_record(Fixture *f) {
    AUTO(state_store) StateStore *store = fixture_open(f);
    record(f, store, str_format(f->arena, "model_%d", (int)getpid()).ptr);
    return 0;
}

static void processes_that_create_the_file_together_all_succeed(void **state) {
    Fixture *f = *state;
    pid_t children[8];
    for (size_t i = 0; i < COUNT_OF(children); i++) {
        children[i] = fixture_start(f, "open_and_record", NULL);
    }
    for (size_t i = 0; i < COUNT_OF(children); i++) {
        assert_exited(fixture_wait(children[i]), 0);
    }
    assert_reads_without_a_trace(f, COUNT_OF(children));
}

static void a_name_with_signs_of_a_uri_is_opened_as_it_is(void **state) {
    Fixture *f = *state;
    f->path = path_join(f->arena, f->folder, STR("a b?mode=rw#100%/stäte.db"));
    AUTO(state_store) StateStore *store = fixture_open(f);
    record(f, store, "a");
    state_store_close(TAKE(store));
    store = fixture_open_existing(f);
    assert_int_equal(count_snapshots(f, store), 1);
}

static void the_zone_is_remembered(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    Str timezone;
    assert_done(state_timezone(store, f->arena, &timezone, &f->err), &f->err);
    assert_text(timezone, "");
    assert_done(state_set_timezone(store, STR("Europe/Paris"), &f->err), &f->err);
    assert_done(state_set_timezone(store, STR("Europe/Berlin"), &f->err), &f->err);
    assert_done(state_timezone(store, f->arena, &timezone, &f->err), &f->err);
    assert_text(timezone, "Europe/Berlin");
}

static const ChildWork works[] = {
    {"write_and_stay", write_and_stay},
    {"open_and_record", open_and_record},
    {"read_as_another_user", read_as_another_user},
};

int main(int argument_count, char **arguments) {
    int result;
    if (fixture_is_child(argument_count, arguments, works, COUNT_OF(works), &result)) {
        return result;
    }
    const struct CMUnitTest tests[] = {
        STATE_TEST(opening_makes_the_folder_and_the_file),
        STATE_TEST(a_missing_file_reads_as_an_empty_store_and_is_not_made),
        STATE_TEST(an_empty_file_is_a_fresh_state),
        STATE_TEST(a_file_of_a_creation_that_was_cut_short_is_a_fresh_state),
        STATE_TEST(a_newer_format_is_refused_with_both_versions),
        STATE_TEST(a_file_of_the_first_format_is_brought_up_to_date),
        STATE_TEST(a_database_of_something_else_is_refused_and_left_alone),
        STATE_TEST(a_file_that_is_no_database_is_named_as_damaged),
        STATE_TEST(damage_inside_is_named_when_it_is_met),
        STATE_TEST(a_folder_in_the_place_of_the_file_is_an_error),
        STATE_TEST(a_reader_beside_nobody_writes_nothing),
        STATE_TEST(a_reader_of_the_file_alone_writes_nothing),
        STATE_TEST(a_reader_beside_a_writer_and_after_its_death_sees_all_and_writes_nothing),
        STATE_TEST(a_copy_without_shared_memory_is_recovered),
        STATE_TEST(a_reader_sees_one_moment),
        STATE_TEST(a_read_only_folder_can_be_read_and_refuses_writers),
        STATE_TEST(a_read_only_folder_of_a_writer_that_died_can_be_read),
        STATE_TEST(processes_that_create_the_file_together_all_succeed),
        STATE_TEST(a_name_with_signs_of_a_uri_is_opened_as_it_is),
        STATE_TEST(the_zone_is_remembered),
    };
    return cmocka_run_group_tests_name("state_store", tests, NULL, NULL);
}
