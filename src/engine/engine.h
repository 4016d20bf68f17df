/* Engine: a named place where models run and where interlace owns their relations. One Engine per engine of the
 * configuration; EngineConnection is one session on it, for one builder.
 *
 *     engine_create  →  engine_connect (opens the database on the first call)  →  statements  →  engine_release
 *                                                                              →  engine_destroy
 *
 * What differs between engines is an EngineType (a table of functions) and its EngineCapabilities; everything above
 * asks the capabilities, never the type's name. Rows come as DuckRows, whatever the engine.
 *
 * Threads: engine_connect, engine_release and engine_interrupt_all from any thread; an EngineConnection belongs to one
 * thread at a time.
 *
 * Errors of statements: ERROR_EXECUTION with err->sql, err->sql_offset and, where the SqlText knows it, err->place. A
 * failed statement inside a transaction leaves only the way back: engine_commit then rolls back and fails. */
#ifndef INTERLACE_ENGINE_ENGINE_H
#define INTERLACE_ENGINE_ENGINE_H

#include "config/project_config.h"
#include "duck/duck_connection.h"
#include "sql/sql_buf.h"
#include "sql/sql_text.h"

/* What a strategy or a command may count on; each is true where the name says so. */
typedef struct EngineCapabilities {
    bool create_or_replace; /* CREATE OR REPLACE TABLE … AS */
    bool star_exclude;      /* SELECT * EXCLUDE (…) */
    bool merge;             /* MERGE INTO with update, insert and delete */
    bool merge_actions;     /* … in one statement, which tells what it did to each row: RETURNING merge_action */
    bool transactions;      /* several statements, DDL among them, in one transaction */
    bool mutation_subquery; /* subqueries in UPDATE and DELETE */
    bool except_in_delete;  /* EXCEPT inside such a subquery */
    bool attach;            /* other databases can be made visible */
    bool row_counts;        /* statements tell how many rows they changed */
    bool parallel_writers;  /* connections may write at the same time; else the engine makes them wait, see below */
    bool remote_alter;      /* of a target: its server alters it (postgres_execute), while no other build runs */
    bool rows_by_place;     /* of a target: UPDATE and DELETE change wrong rows of a table that has partitions */
    size_t name_limit;      /* of a target: bytes of a name that are kept, the rest is cut off; 0: all */
} EngineCapabilities;

typedef struct Engine Engine;
typedef struct EngineConnection EngineConnection;

typedef struct EngineOptions {
    const EngineConfig *config; /* kept: must outlive the engine */
    Str root;                   /* project root, absolute; kept */
    Str extension_directory;    /* empty: `extensions` beside the engine library; kept */
    bool read_only;             /* nothing is written or created; a missing database is an error */
    /* Attachments that statements may write to; the others are read only. NULL: none. Kept. Nothing when read_only. */
    const StrVec *writable_aliases;
    const StrVec *unused_aliases; /* attachments that are not opened. NULL: none. Kept */
} EngineOptions;

/* Contacts nothing. ConfigurationError: a type that this build has not, an unresolved ${NAME}. */
MUST_CHECK Status engine_create(const EngineOptions *options, Engine **engine_out, Error *err);
void engine_destroy(Engine *engine); /* all connections must be released; NULL is fine */
DEFINE_AUTO(Engine, engine, engine_destroy)

Str engine_name(const Engine *engine);
const EngineCapabilities *engine_capabilities(const Engine *engine);
/* The database is there, so that reading from it can give something. Contacts nothing; true when it cannot be known. */
bool engine_database_exists(const Engine *engine);

/* Takes an idle connection or makes one. The first call opens the database, its settings and its attachments; when that
 * fails, the next call tries again. */
MUST_CHECK Status engine_connect(Engine *engine, EngineConnection **connection_out, Error *err);
void engine_release(EngineConnection *connection); /* back to the pool, open transaction rolled back; NULL is fine */
DEFINE_AUTO(EngineConnection, engine_connection, engine_release)

/* Any thread. Statements that run end with ERROR_INTERRUPTED, and no other begins until engine_resume; rollbacks and
 * commits still work. A statement that is about to begin in this instant may slip through: call again while builders
 * are still at work. */
void engine_interrupt_all(Engine *engine);
void engine_resume(Engine *engine);

/* --- Statements ----------------------------------------------------------------------------------------------------
 */

/* On an engine without parallel_writers one connection at a time is in a transaction of this kind or in an
 * engine_execute outside of any: the others wait in the call, until engine_interrupt_all. So a thread that has begun
 * must not begin or execute on another connection of the same engine; reading there is fine. */
MUST_CHECK Status engine_begin(EngineConnection *connection, Error *err);
/* For reads that must agree with each other. */
MUST_CHECK Status engine_begin_read_only(EngineConnection *connection, Error *err);
MUST_CHECK Status engine_commit(EngineConnection *connection, Error *err);
void engine_rollback(EngineConnection *connection);                  /* nothing when no transaction is open */
bool engine_transaction_is_lost(const EngineConnection *connection); /* only a rollback is left */

/* `changed_out` (may be NULL): changed rows, 0 where the engine does not tell. */
MUST_CHECK Status engine_execute(EngineConnection *connection, const SqlText *sql, int64_t *changed_out, Error *err);
/* A statement that no file of the project has a part in, uncounted. */
MUST_CHECK Status engine_execute_own(EngineConnection *connection, Str sql, Error *err);
MUST_CHECK Status engine_query(EngineConnection *connection, const SqlText *sql, Arena *arena, DuckRows *rows_out,
                               Error *err);
/* The single integer of a single-row query; NULL counts as 0. */
MUST_CHECK Status engine_query_int(EngineConnection *connection, const SqlText *sql, int64_t *number_out, Error *err);
/* A MERGE … RETURNING merge_action: what it did, counted. In a transaction; only with merge_actions. */
MUST_CHECK Status engine_merge(EngineConnection *connection, const SqlText *sql, DuckMerged *merged_out, Error *err);
/* Whether somebody has defined functions (macros) in the warehouse under one of these names, in lower case: then a call
 * need not mean the engine's own. Asking costs as much as a small model (30 ms), so that there are none at all is asked
 * once for an engine. */
MUST_CHECK Status engine_redefines(EngineConnection *connection, const Str *names, size_t count, bool *redefines_out,
                                   Error *err);
/* Column names and types of a query, without running it. */
MUST_CHECK Status engine_describe(EngineConnection *connection, const SqlText *sql, Arena *arena,
                                  DuckColumnVec *columns_out, Error *err);

/* Makes or replaces the TEMP table `name`, empty, with these columns. */
MUST_CHECK Status engine_create_temporary(EngineConnection *connection, Str name, const DuckColumnVec *columns,
                                          SqlRelation *table_out, Error *err);

MUST_CHECK Status engine_drop_temporary(EngineConnection *connection, SqlRelation table, Error *err);

/* Refuses, as CompilationError (code column.type), a column whose type the engine cannot store; names it and a cast. */
MUST_CHECK Status engine_check_columns(const Engine *engine, const DuckColumnVec *columns, Error *err);

/* The session itself on engines of the DuckDB family, for Arrow streams and appenders (duck/duck_arrow.h); NULL on
 * others. Borrowed. */
DuckConnection *engine_connection_duck(EngineConnection *connection);

/* A failure that may pass when the whole transaction is done again: another writer was quicker. */
bool engine_error_is_conflict(const Error *err);
/* The memory limit that all connections share was reached: once more, when no other model runs. */
bool engine_error_is_out_of_memory(const Error *err);

/* --- Catalog: only the engine's own database, never its attachments; names compare without case ----------------------
 */

typedef enum RelationKind { RELATION_ABSENT, RELATION_TABLE, RELATION_VIEW } RelationKind;

/* What tables and views there were when it was loaded; then const, so that any thread may look into it. One question
 * for all: the engine goes through its whole catalog for each. */
typedef struct EngineCatalog EngineCatalog;

/* An environment view: outside the schemas of interlace, and its whole body is SELECT * FROM a relation in one of them.
 */
typedef struct EngineView {
    Str schema, name;
    SqlRelation target;
} EngineView;
DEFINE_VEC(EngineViewVec, engine_view_vec, EngineView)

/* Lives in the arena. */
MUST_CHECK Status engine_catalog_load(EngineConnection *connection, Arena *arena, EngineCatalog **catalog_out,
                                      Error *err);
RelationKind engine_catalog_kind(const EngineCatalog *catalog, SqlRelation relation);
/* A relation in one of interlace's own schemas. */
typedef struct OwnedRelation {
    SqlRelation relation;
    RelationKind kind;
    Str sql; /* of a view: its text as the engine keeps it */
} OwnedRelation;
DEFINE_VEC(OwnedRelationVec, owned_relation_vec, OwnedRelation)
/* By schema and name. */
MUST_CHECK Status engine_owned_relations(EngineConnection *connection, Arena *arena, OwnedRelationVec *relations_out,
                                         Error *err);

/* Environment views, ordered by schema and name. */
MUST_CHECK Status engine_environment_views(EngineConnection *connection, Arena *arena, EngineViewVec *views_out,
                                           Error *err);
/* Creates the schemas that are missing, in one transaction of its own. To be done before builders start: inside their
 * transactions most of them would conflict (facts/spikes.md §6). ConfigurationError (code schema.ambiguous): a schema
 * has the name of the database itself. */
MUST_CHECK Status engine_create_schemas(EngineConnection *connection, const StrVec *schemas, Error *err);

/* DROP IF EXISTS. A schema that is not empty is refused, unless `cascades`. */
MUST_CHECK Status engine_drop_schema(EngineConnection *connection, Str schema, bool cascades, Error *err);
MUST_CHECK Status engine_drop_relation(EngineConnection *connection, RelationKind kind, SqlRelation relation,
                                       Error *err);

/* The folder (or remote prefix) that the engine's own rows are read from besides its database file; empty: none. */
MUST_CHECK Status engine_data_folder(EngineConnection *connection, Arena *arena, Str *folder_out, Error *err);

/* Makes what an extension brings known to all connections. ConfigurationError (code extension.missing): it is not in
 * the folder of extensions. */
MUST_CHECK Status engine_load_extension(EngineConnection *connection, Str name, Error *err);

/* --- Attachments: databases that others own -------------------------------------------------------------------------
 */

/* What statements may count on whose target lies in the attachment `alias`; empty: the engine's own database.
 * ConfigurationError (code attach.unknown): no such attachment. Contacts nothing. */
MUST_CHECK Status engine_target_capabilities(const Engine *engine, Str alias, EngineCapabilities *capabilities_out,
                                             Error *err);

/* The ordered columns of a table or view, without reading it; `relation.catalog` is an alias, or empty for the engine's
 * own database. Absent: `exists_out` is false and there are no columns. Any other failure, also that of a view whose
 * sources are gone, is an error. A transaction that is open stays alive. */
MUST_CHECK Status engine_relation_columns(EngineConnection *connection, SqlRelation relation, Arena *arena,
                                          bool *exists_out, DuckColumnVec *columns_out, Error *err);

/* Creates a schema of an attachment unless it is there; then no right to create is needed. Inside a transaction it is a
 * part of it. */
MUST_CHECK Status engine_create_external_schema(EngineConnection *connection, Str catalog, Str schema, Error *err);

#endif
