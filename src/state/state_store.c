/* Opening and closing. A writer keeps the -wal and -shm files when it closes (the -wal empty): with them a reader can
 * take part in SQLite's locking without creating or changing anything, in a read-only folder too. What a reader does
 * depends on which files are there; see reading_way. */
#include "state/state_sql.h"

#include "base/files.h"

#include <errno.h>
#include <sys/stat.h>

#define BUSY_TIMEOUT_MS 10000
#define BUSY_PAUSE_MS 5
#define IN_MEMORY STR(":memory:")

StateStore *state_store_create(Str path) {
    StateStore *store = heap_alloc_zeroed(1, sizeof *store);
    store->arena = arena_create();
    store->path = str_copy(store->arena, path);
    return store;
}

void state_store_close(StateStore *store) {
    if (store == NULL) {
        return;
    }
    sqlite3_close(store->db);
    arena_destroy(store->arena);
    free(store);
}

bool state_is_in_memory(const StateStore *store) {
    return str_equal(store->path, IN_MEMORY);
}

static Status connect_database(StateStore *store, const char *name, int flags, Error *err) {
    if (sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        return state_failure(store, err);
    }
    sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
    return OK;
}

/* ---- Writers. */

/* SQLite opens a file that may not be written for reading, without a word. */
static Status check_writable(const StateStore *store, Error *err) {
    if (sqlite3_db_readonly(store->db, "main") == 0) {
        return OK;
    }
    error_set(err, ERROR_CONFIGURATION, "state file '" STR_FMT "' may only be read", STR_ARG(store->path));
    error_code(err, STR("state.unwritable"));
    error_hint(err, "commands that change something need the right to write it and its folder");
    return FAILED;
}

static Status connect_writer(StateStore *store, int more_flags, Error *err) {
    TRY(connect_database(store, str_to_c(store->arena, store->path), SQLITE_OPEN_READWRITE | more_flags, err));
    TRY(check_writable(store, err));
    int keep_files = 1;
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep_files);
    return state_script(store,
                        "PRAGMA synchronous = FULL;"
                        "PRAGMA foreign_keys = ON;"
                        "PRAGMA trusted_schema = OFF;"
                        "PRAGMA journal_size_limit = 4194304;",
                        err);
}

Status state_connect(StateStore *store, Error *err) {
    return connect_writer(store, 0, err);
}

static void read_text(sqlite3_stmt *row, Arena *arena, void *rows) {
    *(Str *)rows = state_column_text(row, 0, arena);
}

/* While two processes make the file at the same moment, SQLite refuses one of them at once, without the busy timeout:
 * waiting inside its call could be for ever. */
static Status switch_to_write_ahead_log(StateStore *store, Arena *arena, Str *mode_out, Error *err) {
    int64_t until_us = clock_monotonic_us() + (int64_t)BUSY_TIMEOUT_MS * 1000;
    while (failed(state_query(store, "PRAGMA journal_mode = WAL", NO_VALUES, read_text, arena, mode_out, err))) {
        if (err->kind != ERROR_LOCK || clock_monotonic_us() >= until_us) {
            return FAILED;
        }
        error_clear(err);
        sqlite3_sleep(BUSY_PAUSE_MS);
    }
    return OK;
}

static Status use_write_ahead_log(StateStore *store, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    Str mode = STR_EMPTY;
    TRY(switch_to_write_ahead_log(store, scratch, &mode, err));
    if (str_equal(mode, STR("wal"))) {
        return OK;
    }
    error_set(err, ERROR_CONFIGURATION,
              "state file '" STR_FMT "' is on a file system where processes cannot share memory", STR_ARG(store->path));
    error_code(err, STR("state.unsupported"));
    error_hint(err, "name a file on a local disk as `state:` in interlace.yaml");
    return FAILED;
}

static Status create_folder(Str path, Error *err) {
    if (failed(directory_create_all(path_directory(path), err))) {
        err->kind = ERROR_CONFIGURATION;
        error_code(err, STR("state.unwritable"));
        return error_wrap(err, "creating the state file '" STR_FMT "'", STR_ARG(path));
    }
    return OK;
}

/* The format is looked at before anything is changed: the file may be somebody else's database. */
Status state_store_open(Str path, StateStore **store_out, Error *err) {
    TRY(create_folder(path, err));
    AUTO(state_store) StateStore *store = state_store_create(path);
    TRY(connect_writer(store, SQLITE_OPEN_CREATE, err));

    StateFormat format;
    TRY(state_read_format(store, &format, err));
    TRY(state_check_format(store, format, err));
    TRY(use_write_ahead_log(store, err));
    if (format.version < STATE_FORMAT_VERSION) {
        TRY(state_migrate(store, err));
    }
    *store_out = TAKE(store);
    return OK;
}

/* ---- Readers. */

static Status open_in_memory(StateStore **store_out, Error *err) {
    AUTO(state_store) StateStore *store = state_store_create(IN_MEMORY);
    TRY(connect_database(store, ":memory:", SQLITE_OPEN_READWRITE, err));
    TRY(state_script(store, "PRAGMA foreign_keys = ON", err));
    TRY(state_migrate(store, err));
    *store_out = TAKE(store);
    return OK;
}

/* Sizes in bytes; -1: not there. */
typedef struct StateFiles {
    int64_t database, wal, shm, journal;
} StateFiles;

static Status size_of_file(Str path, const char *suffix, int64_t *size_out, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    struct stat info;
    if (stat(str_format(scratch, STR_FMT "%s", STR_ARG(path), suffix).ptr, &info) == 0) {
        *size_out = info.st_size;
        return OK;
    }
    if (errno == ENOENT || errno == ENOTDIR) {
        *size_out = -1;
        return OK;
    }
    error_set_errno(err, ERROR_CONFIGURATION, "state file '" STR_FMT "%s' cannot be read", STR_ARG(path), suffix);
    error_code(err, STR("state.unreadable"));
    return FAILED;
}

static Status look_at_files(Str path, StateFiles *files_out, Error *err) {
    StateFiles files;
    TRY(size_of_file(path, "", &files.database, err));
    TRY(size_of_file(path, "-wal", &files.wal, err));
    TRY(size_of_file(path, "-shm", &files.shm, err));
    TRY(size_of_file(path, "-journal", &files.journal, err));
    *files_out = files;
    return OK;
}

typedef enum ReadingWay {
    READ_NOTHING,   /* no state yet */
    READ_ALONE,     /* the file is complete, and nobody who writes has it open: no locks needed */
    READ_SHARED,    /* -wal and -shm are there: a writer may be at work, have closed, or have died */
    READ_RECOVERED, /* a writer died at the creation, or files were copied without -shm: only a writer can repair that
                     */
} ReadingWay;

static ReadingWay reading_way(StateFiles files) {
    if (files.database <= 0) {
        return READ_NOTHING;
    }
    if (files.journal > 0) {
        return READ_RECOVERED;
    }
    if (files.shm >= 0 && files.wal >= 0) {
        return READ_SHARED;
    }
    return files.wal > 0 ? READ_RECOVERED : READ_ALONE;
}

/* SQLite's URI form of a path, for the options that only a URI can carry. */
static const char *database_uri(Arena *arena, Str path, const char *options) {
    AUTO(strbuf) StrBuf uri = {0};
    strbuf_text(&uri, "file:");
    for (size_t i = 0; i < path.size; i++) {
        char c = path.ptr[i];
        if (c == '%' || c == '?' || c == '#') {
            strbuf_format(&uri, "%%%02X", (unsigned)c);
        } else {
            strbuf_char(&uri, c);
        }
    }
    strbuf_format(&uri, "?mode=ro%s", options);
    return strbuf_copy(&uri, arena).ptr;
}

/* A reader sees one moment: its transaction is open until it closes. It goes through the tables once, so a small cache
 * is as good as a large one, and cheaper. */
static Status connect_reader(StateStore *store, const char *options, StateFormat *format_out, Error *err) {
    const char *uri = database_uri(store->arena, store->path, options);
    TRY(connect_database(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err));
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    TRY(state_script(store, "PRAGMA cache_size = -512; BEGIN", err));
    TRY(state_read_format(store, format_out, err));
    return state_check_format(store, *format_out, err);
}

/* A new store has no tables yet, and one of an older format has others: then the reader gives way. */
static Status open_reader(Str path, const char *options, StateStore **store_out, Error *err) {
    AUTO(state_store) StateStore *store = state_store_create(path);
    StateFormat format;
    TRY(connect_reader(store, options, &format, err));
    if (format.version == 0) {
        return open_in_memory(store_out, err);
    }
    if (format.version < STATE_FORMAT_VERSION) {
        state_store_close(TAKE(store));
        return state_store_open(path, store_out, err);
    }
    *store_out = TAKE(store);
    return OK;
}

/* The shared memory is read as it is. While a writer is at work it may happen that only somebody who can set a mark in
 * it can read: then the reader takes part with the rights it has. */
static Status open_shared_reader(Str path, StateStore **store_out, Error *err) {
    if (!failed(open_reader(path, "&readonly_shm=1", store_out, err))) {
        return OK;
    }
    Str code = error_detail_find(err, STR("code"));
    if (!str_equal(code, STR("state.unwritable")) && !str_equal(code, STR("state.unreadable"))) {
        return FAILED;
    }
    error_clear(err);
    return open_reader(path, "", store_out, err);
}

Status state_store_open_existing(Str path, StateStore **store_out, Error *err) {
    StateFiles files;
    TRY(look_at_files(path, &files, err));
    switch (reading_way(files)) {
    case READ_NOTHING:
        return open_in_memory(store_out, err);
    case READ_ALONE:
        return open_reader(path, "&immutable=1", store_out, err);
    case READ_SHARED:
        return open_shared_reader(path, store_out, err);
    case READ_RECOVERED:
        return state_store_open(path, store_out, err);
    }
    return error_set(err, ERROR_INTERNAL, "state file '" STR_FMT "' has no way to be read", STR_ARG(path));
}

/* ---- The project's zone. */

Status state_timezone(StateStore *store, Arena *arena, Str *timezone_out, Error *err) {
    Str zone = STR_EMPTY;
    TRY(state_query(store, "SELECT value FROM meta WHERE name = 'timezone'", NO_VALUES, read_text, arena, &zone, err));
    *timezone_out = zone;
    return OK;
}

Status state_set_timezone(StateStore *store, Str zone, Error *err) {
    return state_execute(store,
                         "INSERT INTO meta (name, value) VALUES ('timezone', ?1)"
                         " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                         VALUES(state_text(zone)), err);
}
