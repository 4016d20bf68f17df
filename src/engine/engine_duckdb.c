/* A DuckDB file, or memory: one instance for a process and file, one connection for each session.
 *
 * Attachments are read only: nothing delivers into them yet, and so other programs may read the same files meanwhile.
 */
#include "engine/engine_type.h"

#include "base/files.h"
#include "duck/duck_database.h"

/* --- Life --------------------------------------------------------------------------------------------------------- */

static bool is_memory(const EngineOptions *options) {
    return str_equal(options->config->database_path, STR(":memory:"));
}

static bool duckdb_exists(const EngineOptions *options) {
    return is_memory(options) || file_exists(options->config->database_path);
}

static Status attach(DuckDatabase *database, const AttachConfig *attachment, Error *err) {
    const bool read_only = true;
    if (failed(duck_database_attach(database, attachment->alias, attachment->uri, read_only, err))) {
        error_place(err, attachment->place);
        return FAILED;
    }
    return OK;
}

static Status attach_all(DuckDatabase *database, const AttachConfigVec *attachments, Error *err) {
    for (size_t i = 0; i < attachments->count; i++) {
        TRY(attach(database, &attachments->items[i], err));
    }
    return OK;
}

static const DuckSetting *settings_of(const EngineConfig *config, Arena *arena) {
    DuckSetting *settings = ARENA_NEW_ARRAY(arena, DuckSetting, config->settings.count);
    for (size_t i = 0; i < config->settings.count; i++) {
        settings[i] = (DuckSetting){.name = config->settings.items[i].name, .value = config->settings.items[i].value};
    }
    return settings;
}

static Status duckdb_open(const EngineOptions *options, void **database_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(duck_database) DuckDatabase *database = NULL;
    const EngineConfig *config = options->config;
    DuckOpenOptions open = {
        .path = config->database_path,
        .read_only = options->read_only,
        .settings = settings_of(config, arena),
        .setting_count = config->settings.count,
        .root = options->root,
        .extension_directory = options->extension_directory,
    };

    TRY(duck_database_open(&open, &database, err));
    TRY(attach_all(database, &config->attach, err));
    *database_out = TAKE(database);
    return OK;
}

static void duckdb_close(void *database) {
    duck_database_close(database);
}

static Status duckdb_connect(void *database, void **session_out, Error *err) {
    DuckConnection *connection = NULL;
    TRY(duck_connection_open(database, &connection, err));
    *session_out = connection;
    return OK;
}

static void duckdb_disconnect(void *session) {
    duck_connection_close(session);
}

static void duckdb_interrupt(void *session) {
    duck_interrupt(session);
}

/* --- Statements --------------------------------------------------------------------------------------------------- */

static Status duckdb_begin(void *session, bool read_only, Error *err) {
    return read_only ? duck_begin_read_only(session, err) : duck_begin(session, err);
}

static Status duckdb_commit(void *session, Error *err) {
    return duck_commit(session, err);
}

static void duckdb_rollback(void *session) {
    duck_rollback(session);
}

static bool duckdb_transaction_is_lost(const void *session) {
    return duck_transaction_is_lost(session);
}

static bool duckdb_in_transaction(const void *session) {
    return duck_in_transaction(session);
}

static Status duckdb_execute(void *session, Str sql, int64_t *changed_out, Error *err) {
    return duck_execute(session, sql, changed_out, err);
}

static Status duckdb_query(void *session, Str sql, Arena *arena, DuckRows *rows_out, Error *err) {
    return duck_query(session, sql, arena, rows_out, err);
}

static Status duckdb_describe(void *session, Str sql, Arena *arena, DuckColumnVec *columns_out, Error *err) {
    return duck_describe(session, sql, arena, columns_out, err);
}

static DuckConnection *duckdb_duck(void *session) {
    return session;
}

/* --- Catalog ------------------------------------------------------------------------------------------------------ */

/* Schemas that are ours alone. `_` is a wildcard of LIKE, hence starts_with. */
#define OWNED_SCHEMA "starts_with(lower(schema_name), 'interlace__')"
#define OWN_DATABASE "database_name = current_database() AND NOT internal"

static RelationKind kind_of_cell(const DuckCell *cell) {
    return str_equal(cell->text, STR("table")) ? RELATION_TABLE : RELATION_VIEW;
}

static Status duckdb_relations(void *session, Arena *arena, EngineRelationVec *relations_out, Error *err) {
    const Str sql = STR("SELECT schema_name, table_name, 'table' FROM duckdb_tables() WHERE " OWN_DATABASE
                        " UNION ALL SELECT schema_name, view_name, 'view' FROM duckdb_views() WHERE " OWN_DATABASE);
    DuckRows rows;
    EngineRelationVec relations = {0};

    TRY(duck_query(session, sql, arena, &rows, err));
    for (size_t row = 0; row < rows.row_count; row++) {
        EngineRelation relation = {
            .schema = duck_cell(&rows, row, 0)->text,
            .name = duck_cell(&rows, row, 1)->text,
            .kind = kind_of_cell(duck_cell(&rows, row, 2)),
        };
        engine_relation_vec_push(arena, &relations, relation);
    }
    *relations_out = relations;
    return OK;
}

/* The engine stores the text of a view in its own spelling: … AS SELECT * FROM interlace__silver."orders__0a…"; */
#define VIEW_BODY "' AS SELECT \\* FROM (\"(?:[^\"]|\"\")+\"|[^\" .]+)\\.(\"(?:[^\"]|\"\")+\"|[^\" .;]+);?\\s*$'"

static Str unquote(Arena *arena, Str name) {
    if (!str_starts_with(name, STR("\""))) {
        return name;
    }
    AUTO(strbuf) StrBuf plain = {0};
    for (size_t i = 1; i + 1 < name.size; i++) {
        strbuf_char(&plain, name.ptr[i]);
        i += name.ptr[i] == '"'; /* doubled */
    }
    return strbuf_copy(&plain, arena);
}

static Status duckdb_environment_views(void *session, Arena *arena, EngineViewVec *views_out, Error *err) {
    const Str sql = STR("SELECT schema_name, view_name, regexp_extract(sql, " VIEW_BODY ", 1),"
                        " regexp_extract(sql, " VIEW_BODY ", 2) FROM duckdb_views()"
                        " WHERE " OWN_DATABASE " AND NOT " OWNED_SCHEMA " AND regexp_matches(sql, " VIEW_BODY ")"
                        " ORDER BY schema_name, view_name");
    DuckRows rows;
    EngineViewVec views = {0};

    TRY(duck_query(session, sql, arena, &rows, err));
    for (size_t row = 0; row < rows.row_count; row++) {
        EngineView view = {
            .schema = duck_cell(&rows, row, 0)->text,
            .name = duck_cell(&rows, row, 1)->text,
            .target.schema = unquote(arena, duck_cell(&rows, row, 2)->text),
            .target.name = unquote(arena, duck_cell(&rows, row, 3)->text),
        };
        if (str_starts_with_fold(view.target.schema, STR("interlace__"))) {
            engine_view_vec_push(arena, &views, view);
        }
    }
    *views_out = views;
    return OK;
}

static bool has_schema(const DuckRows *present, Str schema) {
    for (size_t row = 0; row < present->row_count; row++) {
        if (str_equal_fold(duck_cell(present, row, 0)->text, schema)) {
            return true;
        }
    }
    return false;
}

/* "warehouse"."orders" may then mean the database's or the schema's: the engine refuses every such name, for readers
 * too. */
static Status check_not_database_name(void *session, const StrVec *schemas, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    DuckRows rows;
    TRY(duck_query(session, STR("SELECT current_database()"), arena, &rows, err));
    Str database = duck_cell(&rows, 0, 0)->text;
    for (size_t i = 0; i < schemas->count; i++) {
        if (str_equal_fold(schemas->items[i], database)) {
            (void)error_set(err, ERROR_CONFIGURATION,
                            "schema '" STR_FMT "' has the name of the database file: DuckDB cannot tell them apart",
                            STR_ARG(schemas->items[i]));
            error_code(err, STR("schema.ambiguous"));
            error_hint(err, "give the file another name under `database`, or the models another folder");
            return FAILED;
        }
    }
    return OK;
}

static Status duckdb_missing_schemas(void *session, const StrVec *wanted, Arena *arena, StrVec *missing_out,
                                     Error *err) {
    const Str sql = STR("SELECT schema_name FROM duckdb_schemas() WHERE database_name = current_database()");
    DuckRows present;
    StrVec missing = {0};

    TRY(check_not_database_name(session, wanted, err));
    TRY(duck_query(session, sql, arena, &present, err));
    for (size_t i = 0; i < wanted->count; i++) {
        if (!has_schema(&present, wanted->items[i])) {
            str_vec_push(arena, &missing, wanted->items[i]);
        }
    }
    *missing_out = missing;
    return OK;
}

const EngineType engine_type_duckdb = {
    .name = "duckdb",
    .capabilities =
        {
            .create_or_replace = true,
            .star_exclude = true,
            .merge = true,
            .transactions = true,
            .mutation_subquery = true,
            .except_in_delete = true,
            .attach = true,
            .row_counts = true,
            .parallel_writers = true,
        },
    .exists = duckdb_exists,
    .open = duckdb_open,
    .close = duckdb_close,
    .connect = duckdb_connect,
    .disconnect = duckdb_disconnect,
    .interrupt = duckdb_interrupt,
    .begin = duckdb_begin,
    .commit = duckdb_commit,
    .rollback = duckdb_rollback,
    .transaction_is_lost = duckdb_transaction_is_lost,
    .in_transaction = duckdb_in_transaction,
    .execute = duckdb_execute,
    .query = duckdb_query,
    .describe = duckdb_describe,
    .duck = duckdb_duck,
    .relations = duckdb_relations,
    .environment_views = duckdb_environment_views,
    .missing_schemas = duckdb_missing_schemas,
};
