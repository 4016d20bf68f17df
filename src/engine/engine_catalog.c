/* Questions about what there is in an engine and in its attachments, and schemas. */
#include "engine/engine_internal.h"

#include "base/str_map.h"
#include "base/test_hooks.h"
#include "config/dsn.h"
#include "duck/duck_error.h"

/* --- Catalog ------------------------------------------------------------------------------------------------------ */

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
    TRY(engine_check_interrupt(connection, err));
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

Status engine_owned_relations(EngineConnection *connection, Arena *arena, OwnedRelationVec *relations_out, Error *err) {
    TRY(engine_check_interrupt(connection, err));
    return connection->engine->type->owned_relations(connection->session, arena, relations_out, err);
}

Status engine_environment_views(EngineConnection *connection, Arena *arena, EngineViewVec *views_out, Error *err) {
    TRY(engine_check_interrupt(connection, err));
    return connection->engine->type->environment_views(connection->session, arena, views_out, err);
}

Status engine_check_columns(const Engine *engine, const DuckColumnVec *columns, Error *err) {
    return engine->type->check_columns == NULL ? OK : engine->type->check_columns(columns, err);
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
    TRY(engine_check_interrupt(connection, err));
    if (failed(type->missing_schemas(connection->session, schemas, arena, &missing, err))) {
        if (str_equal(error_detail_find(err, STR("code")), STR("schema.ambiguous"))) {
            error_hint(err, "%s", type->ambiguous_schema_hint);
        }
        return FAILED;
    }
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

Status engine_drop_schema(EngineConnection *connection, Str schema, bool cascades, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "DROP SCHEMA IF EXISTS ");
    sql_identifier(&sql, schema);
    strbuf_text(&sql, cascades ? " CASCADE" : "");
    return engine_execute_own(connection, strbuf_str(&sql), err);
}

Status engine_drop_relation(EngineConnection *connection, RelationKind kind, SqlRelation relation, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, kind == RELATION_VIEW ? "DROP VIEW IF EXISTS " : "DROP TABLE IF EXISTS ");
    sql_relation(&sql, relation);
    return engine_execute_own(connection, strbuf_str(&sql), err);
}

/* --- Attachments -------------------------------------------------------------------------------------------------- */

/* DuckDB runs the statements itself and sends the rows: all of these were tried inside one transaction. MERGE works
 * too, but writes NULL into the columns that it does not name, where an INSERT leaves them their DEFAULT. */
static const EngineCapabilities postgres_capabilities = {
    .create_or_replace = false, /* it works, but what others granted on the table would be gone */
    .star_exclude = true,
    .merge = false,
    .transactions = true,
    .mutation_subquery = true,
    .except_in_delete = true,
    .attach = true,
    .row_counts = true,
    .parallel_writers = true,
    .remote_alter = true,
    .rows_by_place = true,
    .name_limit = 63,
};

static const AttachConfig *find_attachment(const Engine *engine, Str alias) {
    const AttachConfigVec *attachments = &engine->options.config->attach;
    for (size_t i = 0; i < attachments->count; i++) {
        if (str_equal_fold(attachments->items[i].alias, alias)) {
            return &attachments->items[i];
        }
    }
    return NULL;
}

/* Tests see what becomes of a strategy on an engine that can do less. */
static void take_away(EngineCapabilities *capabilities) {
    const struct {
        const char *name;
        bool *can;
    } fields[] = {
        {"merge", &capabilities->merge},
        {"merge_actions", &capabilities->merge_actions},
        {"create_or_replace", &capabilities->create_or_replace},
        {"mutation_subquery", &capabilities->mutation_subquery},
        {"except_in_delete", &capabilities->except_in_delete},
        {"row_counts", &capabilities->row_counts},
    };
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        *fields[i].can = *fields[i].can && !test_without(fields[i].name);
    }
    capabilities->merge_actions = capabilities->merge_actions && capabilities->merge;
}

Status engine_target_capabilities(const Engine *engine, Str alias, EngineCapabilities *capabilities_out, Error *err) {
    if (alias.size == 0) {
        *capabilities_out = engine->type->capabilities;
        take_away(capabilities_out);
        return OK;
    }
    const AttachConfig *attachment = find_attachment(engine, alias);
    if (attachment == NULL) {
        (void)error_set(err, ERROR_CONFIGURATION, "engine '" STR_FMT "' has no attachment '" STR_FMT "'",
                        STR_ARG(engine_name(engine)), STR_ARG(alias));
        error_code(err, STR("attach.unknown"));
        error_hint(err, "name it under `attach` in interlace.yaml");
        return FAILED;
    }
    *capabilities_out = dsn_is_postgres(attachment->uri) ? postgres_capabilities : engine_type_duckdb.capabilities;
    /* Whoever writes to an attachment waits for the same turn. */
    capabilities_out->parallel_writers = engine->type->capabilities.parallel_writers;
    take_away(capabilities_out);
    return OK;
}

Status engine_relation_columns(EngineConnection *connection, SqlRelation relation, Arena *arena, bool *exists_out,
                               DuckColumnVec *columns_out, Error *err) {
    TRY(engine_check_interrupt(connection, err));
    return connection->engine->type->relation_columns(connection->session, relation, arena, exists_out, columns_out,
                                                      err);
}

Status engine_create_external_schema(EngineConnection *connection, Str catalog, Str schema, Error *err) {
    TRY(engine_writer_enter(connection, err));
    Status status = connection->engine->type->create_external_schema(connection->session, catalog, schema, err);
    engine_writer_leave(connection);
    return status;
}

Status engine_load_extension(EngineConnection *connection, Str name, Error *err) {
    return connection->engine->type->load_extension(connection->session, name, err);
}
