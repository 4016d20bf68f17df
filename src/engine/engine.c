/* The pool of connections, and the way from an SqlText to an EngineType and back to a place in the user's files. */
#include "engine/engine.h"

#include "base/str_map.h"
#include "duck/duck_error.h"
#include "engine/engine_type.h"

#include <pthread.h>
#include <stdatomic.h>

static const EngineType *const engine_types[] = {
    &engine_type_duckdb,
};

struct EngineConnection {
    Engine *engine;
    void *session;
    EngineConnection *next; /* guarded by engine->lock; in one of its two lists */
};

struct Engine {
    const EngineType *type;
    EngineOptions options;
    atomic_bool interrupted; /* between engine_interrupt_all and engine_resume */
    pthread_mutex_t lock;
    pthread_cond_t opened;  /* `is_opening` went down */
    bool is_opening;        /* guarded by lock: one thread opens the database, without holding the lock */
    void *database;         /* guarded by lock; NULL until the first connection */
    EngineConnection *idle; /* guarded by lock */
    EngineConnection *busy; /* guarded by lock */
};

/* --- Life --------------------------------------------------------------------------------------------------------- */

static const EngineType *find_type(Str name) {
    for (size_t i = 0; i < COUNT_OF(engine_types); i++) {
        if (str_equal(name, str_from(engine_types[i]->name))) {
            return engine_types[i];
        }
    }
    return NULL;
}

Status engine_create(const EngineOptions *options, Engine **engine_out, Error *err) {
    TRY(engine_config_check_usable(options->config, err));
    const EngineType *type = find_type(options->config->type);
    if (type == NULL) {
        return error_set(err, ERROR_INTERNAL, "engine type '" STR_FMT "' passed the configuration, but is not built in",
                         STR_ARG(options->config->type));
    }

    Engine *engine = heap_alloc_zeroed(1, sizeof *engine);
    engine->type = type;
    engine->options = *options;
    (void)pthread_mutex_init(&engine->lock, NULL);
    (void)pthread_cond_init(&engine->opened, NULL);
    *engine_out = engine;
    return OK;
}

static void connection_destroy(EngineConnection *connection) {
    connection->engine->type->disconnect(connection->session);
    free(connection);
}

void engine_destroy(Engine *engine) {
    if (engine == NULL) {
        return;
    }
    assert(engine->busy == NULL);
    while (engine->idle != NULL) {
        EngineConnection *connection = engine->idle;
        engine->idle = connection->next;
        connection_destroy(connection);
    }
    if (engine->database != NULL) {
        engine->type->close(engine->database);
    }
    (void)pthread_cond_destroy(&engine->opened);
    (void)pthread_mutex_destroy(&engine->lock);
    free(engine);
}

Str engine_name(const Engine *engine) {
    return engine->options.config->name;
}

const EngineCapabilities *engine_capabilities(const Engine *engine) {
    return &engine->type->capabilities;
}

bool engine_database_exists(const Engine *engine) {
    return engine->type->exists(&engine->options);
}

/* --- The pool ----------------------------------------------------------------------------------------------------- */

/* Waits while another thread opens. True: the caller is the one to open. */
static bool claim_opening(Engine *engine) {
    (void)pthread_mutex_lock(&engine->lock);
    while (engine->is_opening) {
        (void)pthread_cond_wait(&engine->opened, &engine->lock);
    }
    bool claimed = engine->database == NULL;
    engine->is_opening = claimed;
    (void)pthread_mutex_unlock(&engine->lock);
    return claimed;
}

static Status open_database(Engine *engine, Error *err) {
    if (!claim_opening(engine)) {
        return OK;
    }
    void *database = NULL;
    Status status = engine->type->open(&engine->options, &database, err);

    (void)pthread_mutex_lock(&engine->lock);
    engine->database = failed(status) ? NULL : database;
    engine->is_opening = false;
    (void)pthread_cond_broadcast(&engine->opened);
    (void)pthread_mutex_unlock(&engine->lock);
    return status;
}

static EngineConnection *take_idle(Engine *engine) {
    (void)pthread_mutex_lock(&engine->lock);
    EngineConnection *connection = engine->idle;
    if (connection != NULL) {
        engine->idle = connection->next;
        connection->next = engine->busy;
        engine->busy = connection;
    }
    (void)pthread_mutex_unlock(&engine->lock);
    return connection;
}

static void add_busy(Engine *engine, EngineConnection *connection) {
    (void)pthread_mutex_lock(&engine->lock);
    connection->next = engine->busy;
    engine->busy = connection;
    (void)pthread_mutex_unlock(&engine->lock);
}

Status engine_connect(Engine *engine, EngineConnection **connection_out, Error *err) {
    TRY(open_database(engine, err));
    EngineConnection *connection = take_idle(engine);
    if (connection == NULL) {
        void *session = NULL;
        TRY(engine->type->connect(engine->database, &session, err));
        connection = heap_alloc_zeroed(1, sizeof *connection);
        connection->engine = engine;
        connection->session = session;
        add_busy(engine, connection);
    }
    *connection_out = connection;
    return OK;
}

void engine_release(EngineConnection *connection) {
    if (connection == NULL) {
        return;
    }
    Engine *engine = connection->engine;
    engine->type->rollback(connection->session);

    (void)pthread_mutex_lock(&engine->lock);
    EngineConnection **link = &engine->busy;
    while (*link != connection) {
        link = &(*link)->next;
    }
    *link = connection->next;
    connection->next = engine->idle;
    engine->idle = connection;
    (void)pthread_mutex_unlock(&engine->lock);
}

void engine_interrupt_all(Engine *engine) {
    atomic_store(&engine->interrupted, true);
    (void)pthread_mutex_lock(&engine->lock);
    for (EngineConnection *connection = engine->busy; connection != NULL; connection = connection->next) {
        engine->type->interrupt(connection->session);
    }
    (void)pthread_mutex_unlock(&engine->lock);
}

void engine_resume(Engine *engine) {
    atomic_store(&engine->interrupted, false);
}

/* --- Statements --------------------------------------------------------------------------------------------------- */

static Status check_interrupt(const EngineConnection *connection, Error *err) {
    if (atomic_load(&connection->engine->interrupted)) {
        return error_set(err, ERROR_INTERRUPTED, "interrupted");
    }
    return OK;
}

static Status begin(EngineConnection *connection, bool read_only, Error *err) {
    TRY(check_interrupt(connection, err));
    return connection->engine->type->begin(connection->session, read_only, err);
}

Status engine_begin(EngineConnection *connection, Error *err) {
    return begin(connection, false, err);
}

Status engine_begin_read_only(EngineConnection *connection, Error *err) {
    return begin(connection, true, err);
}

Status engine_commit(EngineConnection *connection, Error *err) {
    return connection->engine->type->commit(connection->session, err);
}

void engine_rollback(EngineConnection *connection) {
    connection->engine->type->rollback(connection->session);
}

bool engine_transaction_is_lost(const EngineConnection *connection) {
    return connection->engine->type->transaction_is_lost(connection->session);
}

/* The engine points into the text it was sent; the text knows the file. */
static Status located(Status status, const SqlText *sql, Error *err) {
    if (failed(status)) {
        sql_text_locate_error(sql, err);
    }
    return status;
}

Status engine_execute(EngineConnection *connection, const SqlText *sql, int64_t *changed_out, Error *err) {
    TRY(check_interrupt(connection, err));
    return located(connection->engine->type->execute(connection->session, sql->text, changed_out, err), sql, err);
}

Status engine_query(EngineConnection *connection, const SqlText *sql, Arena *arena, DuckRows *rows_out, Error *err) {
    TRY(check_interrupt(connection, err));
    return located(connection->engine->type->query(connection->session, sql->text, arena, rows_out, err), sql, err);
}

Status engine_query_int(EngineConnection *connection, const SqlText *sql, int64_t *number_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    DuckRows rows;
    TRY(engine_query(connection, sql, arena, &rows, err));
    return duck_rows_int(&rows, number_out, err);
}

Status engine_describe(EngineConnection *connection, const SqlText *sql, Arena *arena, DuckColumnVec *columns_out,
                       Error *err) {
    TRY(check_interrupt(connection, err));
    return located(connection->engine->type->describe(connection->session, sql->text, arena, columns_out, err), sql,
                   err);
}

DuckConnection *engine_connection_duck(EngineConnection *connection) {
    return connection->engine->type->duck(connection->session);
}

bool engine_error_is_conflict(const Error *err) {
    return duck_error_is_conflict(err);
}

bool engine_error_is_out_of_memory(const Error *err) {
    return duck_error_is_out_of_memory(err);
}

/* --- Catalog ------------------------------------------------------------------------------------------------------ */

const char *relation_kind_name(RelationKind kind) {
    static const char *const names[] = {
        [RELATION_ABSENT] = "absent",
        [RELATION_TABLE] = "table",
        [RELATION_VIEW] = "view",
    };
    static_assert(COUNT_OF(names) == RELATION_KIND_COUNT, "one name per RelationKind");
    return names[kind];
}

struct EngineCatalog {
    StrMap *kinds; /* by catalog_key */
};

/* No name holds the separator. */
static void catalog_key(StrBuf *key, Str schema, Str name) {
    strbuf_append(key, schema);
    strbuf_char(key, '\0');
    strbuf_append(key, name);
}

Status engine_catalog_load(EngineConnection *connection, Arena *arena, EngineCatalog **catalog_out, Error *err) {
    EngineRelationVec relations = {0};
    TRY(check_interrupt(connection, err));
    TRY(connection->engine->type->relations(connection->session, arena, &relations, err));

    EngineCatalog *catalog = ARENA_NEW(arena, EngineCatalog);
    catalog->kinds = str_map_create(arena, STR_MAP_FOLD);
    AUTO(strbuf) StrBuf key = {0};
    for (size_t i = 0; i < relations.count; i++) {
        strbuf_clear(&key);
        catalog_key(&key, relations.items[i].schema, relations.items[i].name);
        str_map_put(catalog->kinds, strbuf_copy(&key, arena), &relations.items[i].kind);
    }
    *catalog_out = catalog;
    return OK;
}

RelationKind engine_catalog_kind(const EngineCatalog *catalog, SqlRelation relation) {
    AUTO(strbuf) StrBuf key = {0};
    catalog_key(&key, relation.schema, relation.name);
    const RelationKind *kind = str_map_find(catalog->kinds, strbuf_str(&key));
    return kind != NULL ? *kind : RELATION_ABSENT;
}

Status engine_environment_views(EngineConnection *connection, Arena *arena, EngineViewVec *views_out, Error *err) {
    TRY(check_interrupt(connection, err));
    return connection->engine->type->environment_views(connection->session, arena, views_out, err);
}

static Status create_in_transaction(EngineConnection *connection, const StrVec *schemas, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    TRY(engine_begin(connection, err));
    for (size_t i = 0; i < schemas->count; i++) {
        strbuf_clear(&sql);
        strbuf_text(&sql, "CREATE SCHEMA IF NOT EXISTS ");
        sql_identifier(&sql, schemas->items[i]);
        TRY(connection->engine->type->execute(connection->session, strbuf_str(&sql), NULL, err));
    }
    return engine_commit(connection, err);
}

Status engine_create_schemas(EngineConnection *connection, const StrVec *schemas, Error *err) {
    const EngineType *type = connection->engine->type;
    AUTO(arena) Arena *arena = arena_create();
    StrVec missing = {0};

    if (type->in_transaction(connection->session)) {
        return error_set(err, ERROR_INTERNAL, "schemas are created inside another transaction");
    }
    TRY(check_interrupt(connection, err));
    TRY(type->missing_schemas(connection->session, schemas, arena, &missing, err));
    if (missing.count == 0) {
        return OK;
    }
    Status status = create_in_transaction(connection, &missing, err);
    if (failed(status)) {
        engine_rollback(connection);
        return error_wrap(err, "creating schemas in engine '" STR_FMT "'", STR_ARG(engine_name(connection->engine)));
    }
    return OK;
}
