/* What an engine must give: one EngineType for each, one row in engine.c. Only the files of this folder see it.
 *
 * A database is opened once for an Engine and shared by its sessions; a session is used by one thread at a time, but
 * for `interrupt`. Both are the engine's own objects. Failures follow engine.h; places in files are added by engine.c.
 */
#ifndef INTERLACE_ENGINE_ENGINE_TYPE_H
#define INTERLACE_ENGINE_ENGINE_TYPE_H

#include "engine/engine.h"

typedef struct EngineRelation {
    Str schema, name;
    RelationKind kind;
} EngineRelation;
DEFINE_VEC(EngineRelationVec, engine_relation_vec, EngineRelation)

typedef struct EngineType {
    const char *name; /* as in `type:` of the configuration */
    EngineCapabilities capabilities;
    const char *ambiguous_schema_hint; /* what to do about a schema that has the name of the database */

    bool (*exists)(const EngineOptions *options);
    Status (*open)(const EngineOptions *options, void **database_out, Error *err);
    void (*close)(void *database);
    Status (*connect)(void *database, void **session_out, Error *err);
    void (*disconnect)(void *session);
    void (*interrupt)(void *session); /* any thread */

    Status (*begin)(void *session, bool read_only, Error *err);
    Status (*commit)(void *session, Error *err);
    void (*rollback)(void *session);
    bool (*transaction_is_lost)(const void *session);
    bool (*in_transaction)(const void *session);

    Status (*execute)(void *session, Str sql, int64_t *changed_out, Error *err);
    Status (*query)(void *session, Str sql, Arena *arena, DuckRows *rows_out, Error *err);
    Status (*merge)(void *session, Str sql, DuckMerged *merged_out, Error *err); /* NULL without merge_actions */
    Status (*describe)(void *session, Str sql, Arena *arena, DuckColumnVec *columns_out, Error *err);
    DuckConnection *(*duck)(void *session); /* NULL: not of the DuckDB family */

    /* Where the rows lie outside of the database's own file; NULL, or an empty text: nowhere. */
    Status (*data_folder)(void *session, Arena *arena, Str *folder_out, Error *err);
    Status (*relations)(void *session, Arena *arena, EngineRelationVec *relations_out, Error *err);
    Status (*owned_relations)(void *session, Arena *arena, OwnedRelationVec *relations_out, Error *err);
    Status (*environment_views)(void *session, Arena *arena, EngineViewVec *views_out, Error *err);
    Status (*missing_schemas)(void *session, const StrVec *wanted, Arena *arena, StrVec *missing_out, Error *err);

    Status (*check_columns)(const DuckColumnVec *columns, Error *err); /* NULL: all types can be stored */
    Status (*relation_columns)(void *session, SqlRelation relation, Arena *arena, bool *exists_out,
                               DuckColumnVec *columns_out, Error *err);
    Status (*create_external_schema)(void *session, Str catalog, Str schema, Error *err);
    Status (*load_extension)(void *session, Str name, Error *err);
} EngineType;

extern const EngineType engine_type_duckdb;
extern const EngineType engine_type_ducklake;

#endif
