/* The pool of connections, and the way from an SqlText to an EngineType and back to a place in the user's files. */
#include "engine/engine.h"

#include "duck/duck_error.h"
#include "engine/engine_internal.h"

static const EngineType *const engine_types[] = {
    &engine_type_duckdb,
    &engine_type_ducklake,
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
    (void)pthread_cond_init(&engine->writable, NULL);
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
    (void)pthread_cond_destroy(&engine->writable);
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
    engine_rollback(connection);

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
    (void)pthread_cond_broadcast(&engine->writable);
    (void)pthread_mutex_unlock(&engine->lock);
}

void engine_resume(Engine *engine) {
    atomic_store(&engine->interrupted, false);
}

/* --- Statements --------------------------------------------------------------------------------------------------- */

Status engine_check_interrupt(const EngineConnection *connection, Error *err) {
    if (atomic_load(&connection->engine->interrupted)) {
        return error_set(err, ERROR_INTERRUPTED, "interrupted");
    }
    return OK;
}

Status engine_writer_enter(EngineConnection *connection, Error *err) {
    Engine *engine = connection->engine;
    if (engine->type->capabilities.parallel_writers || connection->is_writer) {
        return engine_check_interrupt(connection, err);
    }
    (void)pthread_mutex_lock(&engine->lock);
    while (engine->has_writer && !atomic_load(&engine->interrupted)) {
        (void)pthread_cond_wait(&engine->writable, &engine->lock);
    }
    Status status = engine_check_interrupt(connection, err);
    connection->is_writer = !failed(status);
    engine->has_writer = engine->has_writer || connection->is_writer;
    (void)pthread_mutex_unlock(&engine->lock);
    return status;
}

void engine_writer_leave(EngineConnection *connection) {
    Engine *engine = connection->engine;
    if (!connection->is_writer || engine->type->in_transaction(connection->session)) {
        return;
    }
    (void)pthread_mutex_lock(&engine->lock);
    connection->is_writer = false;
    engine->has_writer = false;
    (void)pthread_cond_signal(&engine->writable);
    (void)pthread_mutex_unlock(&engine->lock);
}

Status engine_begin(EngineConnection *connection, Error *err) {
    TRY(engine_writer_enter(connection, err));
    Status status = connection->engine->type->begin(connection->session, false, err);
    engine_writer_leave(connection);
    return status;
}

Status engine_begin_read_only(EngineConnection *connection, Error *err) {
    TRY(engine_check_interrupt(connection, err));
    return connection->engine->type->begin(connection->session, true, err);
}

Status engine_commit(EngineConnection *connection, Error *err) {
    Status status = connection->engine->type->commit(connection->session, err);
    engine_writer_leave(connection);
    return status;
}

void engine_rollback(EngineConnection *connection) {
    connection->engine->type->rollback(connection->session);
    engine_writer_leave(connection);
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

/* A transaction that reads only has no turn, and what it executes must not wait for one. */
static Status writer_for_statement(EngineConnection *connection, Error *err) {
    bool inside = connection->engine->type->in_transaction(connection->session);
    return inside ? engine_check_interrupt(connection, err) : engine_writer_enter(connection, err);
}

Status engine_execute(EngineConnection *connection, const SqlText *sql, int64_t *changed_out, Error *err) {
    TRY(writer_for_statement(connection, err));
    Status status = connection->engine->type->execute(connection->session, sql->text, changed_out, err);
    engine_writer_leave(connection);
    return located(status, sql, err);
}

Status engine_execute_own(EngineConnection *connection, Str sql, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    SqlText text = sql_text_own(arena, sql);
    return engine_execute(connection, &text, NULL, err);
}

Status engine_query(EngineConnection *connection, const SqlText *sql, Arena *arena, DuckRows *rows_out, Error *err) {
    TRY(engine_check_interrupt(connection, err));
    return located(connection->engine->type->query(connection->session, sql->text, arena, rows_out, err), sql, err);
}

Status engine_query_int(EngineConnection *connection, const SqlText *sql, int64_t *number_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    DuckRows rows;
    TRY(engine_query(connection, sql, arena, &rows, err));
    return duck_rows_int(&rows, number_out, err);
}

Status engine_merge(EngineConnection *connection, const SqlText *sql, DuckMerged *merged_out, Error *err) {
    TRY(engine_check_interrupt(connection, err));
    return located(connection->engine->type->merge(connection->session, sql->text, merged_out, err), sql, err);
}

Status engine_describe(EngineConnection *connection, const SqlText *sql, Arena *arena, DuckColumnVec *columns_out,
                       Error *err) {
    TRY(engine_check_interrupt(connection, err));
    return located(connection->engine->type->describe(connection->session, sql->text, arena, columns_out, err), sql,
                   err);
}

Status engine_redefines(EngineConnection *connection, const Str *names, size_t count, bool *redefines_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(strbuf) StrBuf sql = {0};
    DuckRows rows;
    *redefines_out = false;
    if (atomic_load(&connection->engine->is_plain)) {
        return OK;
    }
    strbuf_text(&sql, "SELECT count(*), count(*) FILTER (WHERE lower(function_name) IN (");
    for (size_t i = 0; i < count; i++) {
        strbuf_text(&sql, i == 0 ? "" : ", ");
        sql_literal(&sql, names[i]);
    }
    strbuf_text(&sql, ")) FROM duckdb_functions() WHERE NOT internal");
    SqlText query = sql_text_own(arena, strbuf_str(&sql));
    TRY(engine_query(connection, &query, arena, &rows, err));
    atomic_store(&connection->engine->is_plain, str_equal(duck_cell(&rows, 0, 0)->text, STR("0")));
    *redefines_out = !str_equal(duck_cell(&rows, 0, 1)->text, STR("0"));
    return OK;
}

Status engine_data_folder(EngineConnection *connection, Arena *arena, Str *folder_out, Error *err) {
    const EngineType *type = connection->engine->type;
    *folder_out = STR_EMPTY;
    return type->data_folder == NULL ? OK : type->data_folder(connection->session, arena, folder_out, err);
}

Status engine_create_temporary(EngineConnection *connection, Str name, const DuckColumnVec *columns,
                               SqlRelation *table_out, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CREATE OR REPLACE TEMP TABLE ");
    sql_identifier(&sql, name);
    for (size_t i = 0; i < columns->count; i++) {
        strbuf_text(&sql, i > 0 ? ", " : " (");
        sql_identifier(&sql, columns->items[i].name);
        strbuf_char(&sql, ' ');
        strbuf_append(&sql, columns->items[i].type);
    }
    strbuf_char(&sql, ')');
    TRY(engine_execute_own(connection, strbuf_str(&sql), err));
    *table_out = (SqlRelation){.catalog = STR("temp"), .schema = STR("main"), .name = name};
    return OK;
}

Status engine_drop_temporary(EngineConnection *connection, SqlRelation table, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "DROP TABLE ");
    sql_relation(&sql, table);
    return engine_execute_own(connection, strbuf_str(&sql), err);
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
