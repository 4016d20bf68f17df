/* A DuckLake: Parquet files, and a catalog in a DuckDB, SQLite or PostgreSQL database that is attached to an instance
 * in memory. Every session begins with USE of it, so names without a catalog mean the lake.
 *
 * One writer at a time: transactions that only the catalog could order fail at their commit, and the more so the more
 * of them there are. engine.c makes them wait. */
#include "engine/duck_family.h"

#include "base/files.h"
#include "config/lake_catalog.h"
#include "duck/duck_database.h"
#include "engine/lake_columns.h"

static bool ducklake_exists(const EngineOptions *options) {
    Str path = options->config->database_path;
    return path.size == 0 || file_exists(path);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

typedef struct LakeOptions {
    DuckSetting items[4];
    size_t count;
} LakeOptions;

static void add_option(LakeOptions *options, const char *name, Str value) {
    assert(options->count < COUNT_OF(options->items));
    options->items[options->count++] = (DuckSetting){.name = str_from(name), .value = value};
}

static LakeOptions lake_options(const EngineConfig *config, LakeCatalogKind kind) {
    LakeOptions options = {0};
    if (config->data_path.size > 0) {
        add_option(&options, "DATA_PATH", config->data_path);
    }
    if (config->metadata_schema.size > 0) {
        add_option(&options, "METADATA_SCHEMA", config->metadata_schema);
    }
    if (kind == LAKE_CATALOG_SQLITE) {
        /* Other processes may hold the catalog for a moment. */
        add_option(&options, "META_JOURNAL_MODE", STR("WAL"));
        add_option(&options, "META_BUSY_TIMEOUT", STR("30000"));
    }
    return options;
}

static Str lake_target(const EngineConfig *config, LakeCatalog catalog, Arena *arena) {
    switch (catalog.kind) {
    case LAKE_CATALOG_DUCKDB:
        return str_format(arena, "ducklake:" STR_FMT, STR_ARG(config->database_path));
    case LAKE_CATALOG_SQLITE:
        return str_format(arena, "ducklake:sqlite:" STR_FMT, STR_ARG(config->database_path));
    case LAKE_CATALOG_POSTGRES:
        return str_format(arena, "ducklake:postgres:" STR_FMT, STR_ARG(family_postgres_target(arena, catalog.target)));
    case LAKE_CATALOG_UNKNOWN:
        break;
    }
    return STR_EMPTY; /* refused by engine_config_check_usable */
}

static Status load_extensions(DuckDatabase *duck, LakeCatalogKind kind, Error *err) {
    TRY(duck_database_load_extension(duck, STR("ducklake"), err));
    if (kind == LAKE_CATALOG_SQLITE) {
        TRY(duck_database_load_extension(duck, STR("sqlite_scanner"), err));
    } else if (kind == LAKE_CATALOG_POSTGRES) {
        TRY(duck_database_load_extension(duck, STR("postgres_scanner"), err));
    }
    return OK;
}

/* Commits that another process was quicker with are done again inside; ten times is not enough for a busy catalog. */
#define LAKE_RETRIES "50"

/* An instance in memory would spill to `.tmp` of the current directory. The engine makes the folder when it needs it.
 */
static Status set_standards(DuckDatabase *duck, const EngineOptions *options, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    const ConfigSettingVec *settings = &options->config->settings;
    bool has_temp_directory = false;
    for (size_t i = 0; i < settings->count; i++) {
        has_temp_directory = has_temp_directory || str_equal_fold(settings->items[i].name, STR("temp_directory"));
    }
    if (!has_temp_directory && options->root.size > 0) {
        TRY(duck_database_set(duck, STR("temp_directory"), path_join(arena, options->root, STR(".tmp")), err));
    }
    return duck_database_set(duck, STR("ducklake_max_retry_count"), STR(LAKE_RETRIES), err);
}

static bool wants_data_path(const Error *err) {
    return str_find(err->message, STR("data_path is not set")) != STR_NOT_FOUND;
}

/* Only an SQLite catalog that is new has to be told where the data goes, and a later DATA_PATH must be the same: so it
 * is asked first. */
static Status attach_lake(DuckDatabase *duck, DuckAttachment *lake, LakeOptions *options, Error *err) {
    lake->options = options->items;
    lake->option_count = options->count;
    if (!failed(duck_database_attach(duck, lake, err))) {
        return OK;
    }
    if (!wants_data_path(err)) {
        return FAILED;
    }
    if (lake->path.size == 0) {
        error_hint(err, "set `data_path` to the folder that is to hold the Parquet files");
        return FAILED;
    }
    AUTO(arena) Arena *arena = arena_create();
    error_clear(err);
    add_option(options, "DATA_PATH", str_format(arena, STR_FMT ".files/", STR_ARG(lake->path)));
    lake->option_count = options->count;
    return duck_database_attach(duck, lake, err);
}

static Status open_lake(FamilyDatabase *database, const EngineOptions *options, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    const EngineConfig *config = options->config;
    LakeCatalog catalog = lake_catalog_read(config->database);
    LakeOptions lake_settings = lake_options(config, catalog.kind);
    DuckAttachment lake = {
        .alias = config->alias,
        .target = lake_target(config, catalog, arena),
        .path = config->database_path,
        .read_only = options->read_only,
    };

    TRY(load_extensions(database->duck, catalog.kind, err));
    TRY(set_standards(database->duck, options, err));
    if (config->data_path.size > 0 && !options->read_only) {
        TRY(directory_create_all(config->data_path, err));
    }
    database->has_postgres = catalog.kind == LAKE_CATALOG_POSTGRES;
    TRY(attach_lake(database->duck, &lake, &lake_settings, err));
    database->catalog = config->alias;
    database->metadata_schema = config->metadata_schema;
    database->one_statement = true;
    return OK;
}

static Status ducklake_open(const EngineOptions *options, void **database_out, Error *err) {
    AUTO(family_database) FamilyDatabase *database = NULL;
    const EngineConfig *config = options->config;

    if (options->read_only && !ducklake_exists(options)) {
        return error_set_at(err, ERROR_CONFIGURATION, config->place, "database '" STR_FMT "' does not exist",
                            STR_ARG(config->database_path));
    }
    TRY(family_open(options, STR(":memory:"), false, &database, err));
    if (failed(open_lake(database, options, err))) {
        error_place(err, config->place);
        return FAILED;
    }
    TRY(family_attach_all(database, options, err));
    *database_out = TAKE(database);
    return OK;
}

static Str metadata_relation(Arena *arena, Str alias, Str schema) {
    AUTO(strbuf) StrBuf sql = {0};
    Str catalog = str_format(arena, "__ducklake_metadata_" STR_FMT, STR_ARG(alias));
    sql_relation(&sql, (SqlRelation){.catalog = catalog, .schema = schema, .name = STR("ducklake_metadata")});
    return strbuf_copy(&sql, arena);
}

/* As the catalog has it: an ATTACH may leave it out. */
static Status ducklake_data_folder(void *session, Arena *arena, Str *folder_out, Error *err) {
    const FamilySession *family = session;
    DuckRows rows;
    Str relation = metadata_relation(arena, family->database->catalog, family->database->metadata_schema);
    Str sql = str_format(arena, "SELECT value FROM " STR_FMT " WHERE key = 'data_path'", STR_ARG(relation));
    TRY(family_query(session, sql, arena, &rows, err));
    *folder_out = rows.row_count == 0 ? STR_EMPTY : duck_cell(&rows, 0, 0)->text;
    return OK;
}

const EngineType engine_type_ducklake = {
    .name = "ducklake",
    .capabilities =
        {
            .create_or_replace = true,
            .star_exclude = true,
            .merge = true,
            .transactions = true,
            .mutation_subquery = true,
            .except_in_delete = false,
            .attach = true,
            .row_counts = true,
            .parallel_writers = false,
        },
    .ambiguous_schema_hint = "give the lake another name by `alias`, or the models another folder",
    .exists = ducklake_exists,
    .open = ducklake_open,
    .check_columns = lake_columns_check,
    .data_folder = ducklake_data_folder,
    FAMILY_FUNCTIONS,
};
