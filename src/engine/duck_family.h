/* What the engines of the DuckDB family share: one DuckDB instance with attachments, sessions on it, its catalog. Each
 * engine adds how its database is opened and what its capabilities are; the rest of its EngineType is FAMILY_FUNCTIONS.
 *
 * PostgreSQL attachments that are written to need care. DuckDB keeps what it knows of their tables in a cache that no
 * rollback and no failed statement undoes: `CREATE TABLE p.s.x AS …` of a name that only the cache has makes an empty
 * table and reports success. So the cache is cleared after each of them, as soon as no session is in a statement or a
 * transaction: clearing it beside one makes that one fail.
 *
 * A DuckLake runs one statement at a time. Two sessions that meet a new version of the catalog at once both load it,
 * and the extension then frees the one that lost, although a table that a transaction has just made still points into
 * it. */
#ifndef INTERLACE_ENGINE_DUCK_FAMILY_H
#define INTERLACE_ENGINE_DUCK_FAMILY_H

#include "engine/engine_type.h"

#include <pthread.h>

typedef struct FamilyDatabase {
    DuckDatabase *duck;
    Str catalog;          /* of the engine's own relations; empty: the database that was opened. Kept by the engine */
    Str metadata_schema;  /* of a lake; empty: the default. Kept by the engine */
    bool has_postgres;    /* errors may hold a connection string */
    bool writes_postgres; /* an attachment is writable */
    bool one_statement;   /* `statement` is held while one runs */
    pthread_mutex_t statement;
    pthread_mutex_t lock;
    size_t
        busy_count; /* guarded by lock: sessions in a statement or a transaction; only counted when writes_postgres */
    bool cache_is_stale; /* guarded by lock */
} FamilyDatabase;

typedef struct FamilySession {
    FamilyDatabase *database;
    DuckConnection *connection;
    bool is_busy; /* counted in the database's busy_count */
} FamilySession;

/* Opens the instance at `path` (":memory:" or a file), without attachments. */
MUST_CHECK Status family_open(const EngineOptions *options, Str path, bool read_only, FamilyDatabase **database_out,
                              Error *err);
/* The attachments of the configuration, writable ones as the options name them. */
MUST_CHECK Status family_attach_all(FamilyDatabase *database, const EngineOptions *options, Error *err);
/* A connection string as the postgres extension takes it, that does not wait for a dead host for ever. */
Str family_postgres_target(Arena *arena, Str uri);
void family_close(void *database); /* NULL is fine */
static inline void family_database_auto(FamilyDatabase **database) {
    family_close(*database);
}

Status family_connect(void *database, void **session_out, Error *err);
void family_disconnect(void *session);
void family_interrupt(void *session);
Status family_begin(void *session, bool read_only, Error *err);
Status family_commit(void *session, Error *err);
void family_rollback(void *session);
bool family_transaction_is_lost(const void *session);
bool family_in_transaction(const void *session);
Status family_execute(void *session, Str sql, int64_t *changed_out, Error *err);
Status family_query(void *session, Str sql, Arena *arena, DuckRows *rows_out, Error *err);
Status family_merge(void *session, Str sql, DuckMerged *merged_out, Error *err);
Status family_describe(void *session, Str sql, Arena *arena, DuckColumnVec *columns_out, Error *err);
DuckConnection *family_duck(void *session);

/* Brings what is known of PostgreSQL attachments up to date, unless statements or transactions run. */
void family_refresh(FamilySession *session);

Status family_owned_relations(void *session, Arena *arena, OwnedRelationVec *relations_out, Error *err);
Status family_relations(void *session, Arena *arena, EngineRelationVec *relations_out, Error *err);
Status family_environment_views(void *session, Arena *arena, EngineViewVec *views_out, Error *err);
Status family_missing_schemas(void *session, const StrVec *wanted, Arena *arena, StrVec *missing_out, Error *err);
Status family_relation_columns(void *session, SqlRelation relation, Arena *arena, bool *exists_out,
                               DuckColumnVec *columns_out, Error *err);
Status family_create_external_schema(void *session, Str catalog, Str schema, Error *err);
Status family_load_extension(void *session, Str name, Error *err);

/* clang-format off */
#define FAMILY_FUNCTIONS                                    \
    .close = family_close,                                  \
    .connect = family_connect,                              \
    .disconnect = family_disconnect,                        \
    .interrupt = family_interrupt,                          \
    .begin = family_begin,                                  \
    .commit = family_commit,                                \
    .rollback = family_rollback,                            \
    .transaction_is_lost = family_transaction_is_lost,      \
    .in_transaction = family_in_transaction,                \
    .execute = family_execute,                              \
    .query = family_query,                                  \
    .merge = family_merge,                                  \
    .describe = family_describe,                            \
    .duck = family_duck,                                    \
    .relations = family_relations,                          \
    .owned_relations = family_owned_relations,              \
    .environment_views = family_environment_views,          \
    .missing_schemas = family_missing_schemas,              \
    .relation_columns = family_relation_columns,            \
    .create_external_schema = family_create_external_schema, \
    .load_extension = family_load_extension
/* clang-format on */

#endif
