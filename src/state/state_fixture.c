#include "state/state_fixture.h"

#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void fixture_init(Fixture *f, Str folder) {
    f->arena = arena_create();
    f->folder = str_copy(f->arena, folder);
    f->path = path_join(f->arena, f->folder, STR("state.db"));
    error_init(&f->err);
}

int fixture_setup(void **state) {
    const char *parent = getenv("TMPDIR");
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/interlace-state-XXXXXX", parent == NULL ? P_tmpdir : parent);
    assert_non_null(mkdtemp(folder));
    Fixture *f = heap_alloc_zeroed(1, sizeof *f);
    fixture_init(f, str_from(folder));
    *state = f;
    return 0;
}

/* The folder holds files, or folders that hold files. */
static void remove_tree(const char *path) {
    DIR *directory = opendir(path);
    if (directory == NULL) {
        unlink(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            char inner[4096];
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
            remove_tree(inner);
        }
    }
    closedir(directory);
    rmdir(path);
}

int fixture_teardown(void **state) {
    Fixture *f = *state;
    remove_tree(f->folder.ptr);
    error_deinit(&f->err);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

void assert_done(Status status, const Error *err) {
    if (failed(status)) {
        fail_msg("%.*s", STR_ARG(err->message));
    }
}

void assert_refused(Status status, const Error *err, ErrorKind kind, const char *code) {
    assert_true(failed(status));
    if (err->kind != kind || !str_equal(error_detail_find(err, STR("code")), str_from(code))) {
        fail_msg("%s: %.*s", error_kind_name(err->kind), STR_ARG(err->message));
    }
}

void assert_text(Str actual, const char *expected) {
    if (!str_equal(actual, str_from(expected))) {
        fail_msg("'%.*s' is not '%s'", STR_ARG(actual), expected);
    }
}

void assert_mentions(Str text, const char *part) {
    if (str_find(text, str_from(part)) == STR_NOT_FOUND) {
        fail_msg("'%.*s' does not mention '%s'", STR_ARG(text), part);
    }
}

StateStore *fixture_open(Fixture *f) {
    StateStore *store = NULL;
    assert_done(state_store_open(f->path, &store, &f->err), &f->err);
    return store;
}

StateStore *fixture_open_existing(Fixture *f) {
    StateStore *store = NULL;
    assert_done(state_store_open_existing(f->path, &store, &f->err), &f->err);
    return store;
}

StateLock *fixture_lock(Fixture *f, StateStore *store) {
    LockOptions options = {.command = STR("apply"), .timeout_us = 20000000};
    StateLock *lock = NULL;
    assert_done(state_lock_acquire(store, &options, &lock, &f->err), &f->err);
    return lock;
}

static int keep_first_column(void *context, int count, char **values, char **names) {
    (void)count;
    (void)names;
    int64_t *number = context;
    *number = values[0] == NULL ? 0 : strtoll(values[0], NULL, 10);
    return 0;
}

int64_t fixture_sql_int(Fixture *f, const char *sql) {
    sqlite3 *db;
    int64_t number = -1;
    assert_int_equal(sqlite3_open(f->path.ptr, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    int keep_files = 1;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep_files);
    sqlite3_exec(db, "PRAGMA journal_size_limit = 0", NULL, NULL, NULL);
    if (sqlite3_exec(db, sql, keep_first_column, &number, NULL) != SQLITE_OK) {
        fail_msg("%s", sqlite3_errmsg(db));
    }
    sqlite3_close(db);
    return number;
}

void fixture_sql(Fixture *f, const char *sql) {
    fixture_sql_int(f, sql);
}

Str fixture_folder_digest(Fixture *f) {
    FileEntryVec entries = {0};
    assert_done(directory_walk(f->folder, STR(""), f->arena, &entries, &f->err), &f->err);
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < entries.count; i++) {
        Str path = path_join(f->arena, f->folder, entries.items[i].path);
        struct stat info;
        assert_int_equal(stat(path.ptr, &info), 0);
        Str content;
        assert_done(file_read(path, SIZE_MAX / 4, f->arena, &content, &f->err), &f->err);
        strbuf_format(&text, "%.*s %lld %lld.%ld %.*s\n", STR_ARG(entries.items[i].path), (long long)info.st_size,
                      (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec, STR_ARG(sha256_hex(f->arena, content)));
    }
    return strbuf_copy(&text, f->arena);
}

Snapshot sample_snapshot(const char *name, const char *fingerprint) {
    return (Snapshot){
        .name = str_from(name),
        .fingerprint = str_from(fingerprint),
        .local_fingerprint = STR("1111111111111111"),
        .metadata_hash = STR("2222222222222222"),
        .physical_hash = STR_EMPTY,
        .definition_sql = STR("SELECT 'it''s' AS \"x\", 'ü' AS y"),
        .definition_source = STR_EMPTY,
        .physical_catalog = STR_EMPTY,
        .physical_schema = STR("interlace__main"),
        .physical_name = str_from(fingerprint),
        .change_category = STR("breaking"),
        .engine = STR("default"),
        .created_at = 1000,
        .verified_at = 2000,
        .columns_json = STR("[]"),
    };
}

Pointer sample_pointer(const char *model, const char *fingerprint) {
    return (Pointer){.model = str_from(model), .fingerprint = str_from(fingerprint), .promoted_at = 5000};
}

int64_t fixture_promote(Fixture *f, StateStore *store, StateLock *lock, const char *model, const char *fingerprint) {
    Intent intent = {.environment = STR("prod"), .command = STR("apply"), .created_at = 4000};
    if (fingerprint == NULL) {
        str_vec_push(f->arena, &intent.removed, str_from(model));
    } else {
        pointer_vec_push(f->arena, &intent.put, sample_pointer(model, fingerprint));
    }
    int64_t generation = -1;
    assert_done(state_intent_begin(store, lock, &intent, &f->err), &f->err);
    assert_done(state_intent_commit(store, lock, &intent, &generation, &f->err), &f->err);
    return generation;
}

/* ---- Processes. */

#define CHILD_ARGUMENT "--child"

pid_t fixture_start(Fixture *f, const char *work, const char *hook) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0) {
        return child;
    }
    if (hook != NULL) {
        setenv("INTERLACE_HOOK", hook, 1);
    }
    execl("/proc/self/exe", "state_test", CHILD_ARGUMENT, work, f->folder.ptr, (char *)NULL);
    _exit(127);
}

int fixture_wait(pid_t child) {
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

int fixture_run(Fixture *f, const char *work, const char *hook) {
    return fixture_wait(fixture_start(f, work, hook));
}

void assert_killed(int status) {
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

void assert_exited(int status, int code) {
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), code);
}

void wait_for_file(Str path) {
    int64_t until_us = clock_monotonic_us() + 20000000;
    while (!file_exists(path)) {
        assert_true(clock_monotonic_us() < until_us);
        usleep(2000);
    }
}

bool fixture_is_child(int argument_count, char **arguments, const ChildWork *works, size_t count, int *result_out) {
    if (argument_count != 4 || strcmp(arguments[1], CHILD_ARGUMENT) != 0) {
        return false;
    }
    Fixture f = {0};
    fixture_init(&f, str_from(arguments[3]));
    *result_out = 126;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(works[i].name, arguments[2]) == 0) {
            *result_out = works[i].run(&f);
        }
    }
    error_deinit(&f.err);
    arena_destroy(f.arena);
    return true;
}
