/* Instances, attachments and sessions of the DuckDB family. */
#include "engine/duck_family.h"

#include "config/dsn.h"
#include "duck/duck_database.h"

/* --- Life --------------------------------------------------------------------------------------------------------- */

static const DuckSetting *settings_of(const EngineConfig *config, Arena *arena) {
    DuckSetting *settings = ARENA_NEW_ARRAY(arena, DuckSetting, config->settings.count);
    for (size_t i = 0; i < config->settings.count; i++) {
        settings[i] = (DuckSetting){.name = config->settings.items[i].name, .value = config->settings.items[i].value};
    }
    return settings;
}

Status family_open(const EngineOptions *options, Str path, bool read_only, FamilyDatabase **database_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    DuckOpenOptions open = {
        .path = path,
        .read_only = read_only,
        .settings = settings_of(options->config, arena),
        .setting_count = options->config->settings.count,
        .root = options->root,
        .extension_directory = options->extension_directory,
    };
    DuckDatabase *duck = NULL;
    TRY(duck_database_open(&open, &duck, err));

    FamilyDatabase *database = heap_alloc_zeroed(1, sizeof *database);
    database->duck = duck;
    (void)pthread_mutex_init(&database->lock, NULL);
    (void)pthread_mutex_init(&database->statement, NULL);
    *database_out = database;
    return OK;
}

void family_close(void *database_pointer) {
    FamilyDatabase *database = database_pointer;
    if (database == NULL) {
        return;
    }
    duck_database_close(database->duck);
    (void)pthread_mutex_destroy(&database->statement);
    (void)pthread_mutex_destroy(&database->lock);
    free(database);
}

/* --- Attachments -------------------------------------------------------------------------------------------------- */

Str family_postgres_target(Arena *arena, Str uri) {
    Str target = dsn_postgres_string(uri);
    if (str_find(target, STR("connect_timeout")) != STR_NOT_FOUND) {
        return target;
    }
    bool is_uri = str_find(target, STR("://")) != STR_NOT_FOUND && dsn_has_scheme(target);
    bool has_query = str_find_char(target, '?') != STR_NOT_FOUND;
    return str_format(arena, STR_FMT "%sconnect_timeout=10", STR_ARG(target), !is_uri ? " " : has_query ? "&" : "?");
}

static Status attach_postgres(FamilyDatabase *database, const AttachConfig *attachment, bool writable, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    DuckAttachment attach = {
        .alias = attachment->alias,
        .target = family_postgres_target(arena, attachment->uri),
        .type = STR("postgres"),
        .read_only = !writable,
    };
    if (!database->has_postgres) {
        TRY(duck_database_load_extension(database->duck, STR("postgres_scanner"), err));
    }
    database->has_postgres = true;
    database->writes_postgres = database->writes_postgres || writable;
    return duck_database_attach(database->duck, &attach, err);
}

/* Read only unless something is delivered there: so other programs may read the same files meanwhile. */
static Status attach(FamilyDatabase *database, const EngineOptions *options, const AttachConfig *attachment,
                     Error *err) {
    bool writable = !options->read_only && options->writable_aliases != NULL &&
                    str_vec_contains_fold(options->writable_aliases, attachment->alias);
    if (dsn_is_postgres(attachment->uri)) {
        return attach_postgres(database, attachment, writable, err);
    }
    DuckAttachment file = {
        .alias = attachment->alias,
        .target = attachment->uri,
        .path = attachment->uri,
        .read_only = !writable,
    };
    return duck_database_attach(database->duck, &file, err);
}

Status family_attach_all(FamilyDatabase *database, const EngineOptions *options, Error *err) {
    const AttachConfigVec *attachments = &options->config->attach;
    for (size_t i = 0; i < attachments->count; i++) {
        bool is_used = options->unused_aliases == NULL ||
                       !str_vec_contains_fold(options->unused_aliases, attachments->items[i].alias);
        if (is_used && failed(attach(database, options, &attachments->items[i], err))) {
            error_place(err, attachments->items[i].place);
            return FAILED;
        }
    }
    return OK;
}

/* --- The cache of PostgreSQL attachments -------------------------------------------------------------------------- */

/* Holds the lock, so that nothing begins meanwhile. A session with an open stream cannot: the next one does. */
static void clear_stale_cache(FamilySession *session) {
    AUTO(error) Error ignored;
    error_init(&ignored);
    FamilyDatabase *database = session->database;
    if (database->cache_is_stale && database->busy_count == 0) {
        database->cache_is_stale =
            failed(duck_execute(session->connection, STR("CALL pg_clear_cache()"), NULL, &ignored));
    }
}

static void become_busy(FamilySession *session) {
    FamilyDatabase *database = session->database;
    if (!database->writes_postgres || session->is_busy) {
        return;
    }
    (void)pthread_mutex_lock(&database->lock);
    database->busy_count++;
    session->is_busy = true;
    (void)pthread_mutex_unlock(&database->lock);
}

static void become_idle(FamilySession *session, bool is_undone) {
    FamilyDatabase *database = session->database;
    if (!session->is_busy) {
        return;
    }
    (void)pthread_mutex_lock(&database->lock);
    database->cache_is_stale = database->cache_is_stale || is_undone;
    if (!duck_in_transaction(session->connection)) {
        database->busy_count--;
        session->is_busy = false;
        clear_stale_cache(session);
    }
    (void)pthread_mutex_unlock(&database->lock);
}

/* Around every statement of a session. */
static void enter(FamilySession *session) {
    if (session->database->one_statement) {
        (void)pthread_mutex_lock(&session->database->statement);
    }
    become_busy(session);
}

static void leave(FamilySession *session, bool is_undone) {
    become_idle(session, is_undone);
    if (session->database->one_statement) {
        (void)pthread_mutex_unlock(&session->database->statement);
    }
}

void family_refresh(FamilySession *session) {
    FamilyDatabase *database = session->database;
    if (!database->writes_postgres) {
        return;
    }
    (void)pthread_mutex_lock(&database->lock);
    database->cache_is_stale = true;
    clear_stale_cache(session);
    (void)pthread_mutex_unlock(&database->lock);
}

/* --- Sessions ----------------------------------------------------------------------------------------------------- */

/* The texts of a lost connection repeat its string. */
static void redact(Error *err) {
    err->message = config_redact_dsn(err->arena, err->message);
    err->hint = config_redact_dsn(err->arena, err->hint);
    for (size_t i = 0; i < err->details.count; i++) {
        error_detail_hide(&err->details.items[i], config_redact_dsn(err->arena, err->details.items[i].value));
    }
}

/* The end of every statement of a session. */
static Status done(FamilySession *session, Status status, Error *err) {
    leave(session, failed(status));
    if (failed(status) && session->database->has_postgres) {
        redact(err);
    }
    return status;
}

static Status use_catalog(FamilySession *session, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    if (session->database->catalog.size == 0) {
        return OK;
    }
    strbuf_text(&sql, "USE ");
    sql_identifier(&sql, session->database->catalog);
    return family_execute(session, strbuf_str(&sql), NULL, err);
}

Status family_connect(void *database, void **session_out, Error *err) {
    FamilySession *session = heap_alloc_zeroed(1, sizeof *session);
    session->database = database;
    if (failed(duck_connection_open(session->database->duck, &session->connection, err)) ||
        failed(use_catalog(session, err))) {
        family_disconnect(session);
        return FAILED;
    }
    *session_out = session;
    return OK;
}

void family_disconnect(void *session_pointer) {
    FamilySession *session = session_pointer;
    if (session->connection != NULL) {
        family_rollback(session);
    }
    duck_connection_close(session->connection);
    free(session);
}

void family_interrupt(void *session) {
    duck_interrupt(family_duck(session));
}

Status family_begin(void *session_pointer, bool read_only, Error *err) {
    FamilySession *session = session_pointer;
    enter(session);
    Status status = read_only ? duck_begin_read_only(session->connection, err) : duck_begin(session->connection, err);
    return done(session, status, err);
}

Status family_commit(void *session_pointer, Error *err) {
    FamilySession *session = session_pointer;
    enter(session);
    return done(session, duck_commit(session->connection, err), err);
}

void family_rollback(void *session_pointer) {
    FamilySession *session = session_pointer;
    if (!duck_in_transaction(session->connection)) {
        return; /* every release comes here: it must not wait for a statement of another session */
    }
    enter(session);
    duck_rollback(session->connection);
    leave(session, true);
}

bool family_transaction_is_lost(const void *session) {
    return duck_transaction_is_lost(((const FamilySession *)session)->connection);
}

bool family_in_transaction(const void *session) {
    return duck_in_transaction(((const FamilySession *)session)->connection);
}

Status family_execute(void *session_pointer, Str sql, int64_t *changed_out, Error *err) {
    FamilySession *session = session_pointer;
    enter(session);
    return done(session, duck_execute(session->connection, sql, changed_out, err), err);
}

Status family_query(void *session_pointer, Str sql, Arena *arena, DuckRows *rows_out, Error *err) {
    FamilySession *session = session_pointer;
    enter(session);
    return done(session, duck_query(session->connection, sql, arena, rows_out, err), err);
}

Status family_merge(void *session_pointer, Str sql, DuckMerged *merged_out, Error *err) {
    FamilySession *session = session_pointer;
    enter(session);
    return done(session, duck_merge(session->connection, sql, merged_out, err), err);
}

Status family_describe(void *session_pointer, Str sql, Arena *arena, DuckColumnVec *columns_out, Error *err) {
    FamilySession *session = session_pointer;
    enter(session);
    return done(session, duck_describe(session->connection, sql, arena, columns_out, err), err);
}

DuckConnection *family_duck(void *session) {
    return ((FamilySession *)session)->connection;
}
