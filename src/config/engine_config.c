#include "config/engine_config.h"

#include "base/files.h"
#include "config/dsn.h"
#include "config/lake_catalog.h"
#include "config/project_keys.h"
#include "config/variables.h"

#include <stdlib.h>

typedef struct EngineTypeRow {
    Str name, dialect;
    Str standard_database; /* empty: it must be written */
    bool postgres_strings; /* `database` is a PostgreSQL URI or keyword string */
} EngineTypeRow;

/* clang-format off */
static const EngineTypeRow engine_types[] = {
    {STR_INIT("duckdb"),     STR_INIT("duckdb"),    STR_INIT(".interlace/warehouse.duckdb"),            false},
    {STR_INIT("ducklake"),   STR_INIT("duckdb"),    STR_INIT("ducklake:.interlace/warehouse.ducklake"), false},
    {STR_INIT("quack"),      STR_INIT("duckdb"),    STR_INIT(""),                                       false},
    {STR_INIT("motherduck"), STR_INIT("duckdb"),    STR_INIT("md:"),                                    false},
    {STR_INIT("postgres"),   STR_INIT("postgres"),  STR_INIT(""),                                       true},
    {STR_INIT("redshift"),   STR_INIT("redshift"),  STR_INIT(""),                                       true},
    {STR_INIT("snowflake"),  STR_INIT("snowflake"), STR_INIT(""),                                       false},
    {STR_INIT("bigquery"),   STR_INIT("bigquery"),  STR_INIT(""),                                       false},
    {STR_INIT("spark"),      STR_INIT("spark"),     STR_INIT("local"),                                  false},
    {STR_INIT("adbc"),       STR_INIT("duckdb"),    STR_INIT(""),                                       false},
};

static const struct { Str prefix, type; } database_prefixes[] = {
    {STR_INIT("ducklake:"),   STR_INIT("ducklake")},
    {STR_INIT("quack:"),      STR_INIT("quack")},
    {STR_INIT("md:"),         STR_INIT("motherduck")},
    {STR_INIT("motherduck:"), STR_INIT("motherduck")},
    {STR_INIT("postgres:"),   STR_INIT("postgres")},
    {STR_INIT("postgresql:"), STR_INIT("postgres")},
};
/* clang-format on */

static const Str duckdb_type = STR_INIT("duckdb");
static const Str ducklake_type = STR_INIT("ducklake");

/* Types are checked by the key table, so an unknown one here was refused already. */
static const EngineTypeRow *engine_type_row(Str type) {
    for (size_t i = 0; i < COUNT_OF(engine_types); i++) {
        if (str_equal(engine_types[i].name, type)) {
            return &engine_types[i];
        }
    }
    return &engine_types[0];
}

/* DuckDB itself would open `ducklake:x` as a DuckLake, so the prefix wins over `type: duckdb`. */
static Str resolve_type(Str written, Str database) {
    if (written.size > 0 && !str_equal(written, duckdb_type)) {
        return written;
    }
    for (size_t i = 0; i < COUNT_OF(database_prefixes); i++) {
        if (str_starts_with_fold(database, database_prefixes[i].prefix)) {
            return database_prefixes[i].type;
        }
    }
    return duckdb_type;
}

static bool is_memory(Str database) {
    return str_equal(database, STR(":memory:"));
}

static Str file_path(const EngineSource *source, Arena *arena, Str database) {
    bool as_it_is = is_memory(database) || dsn_has_scheme(database);
    return as_it_is ? database : path_absolute(arena, path_join(arena, source->root, database));
}

static Str database_path(const EngineSource *source, Arena *arena, Str type, Str database) {
    if (str_equal(type, duckdb_type)) {
        return file_path(source, arena, database);
    }
    LakeCatalog catalog = lake_catalog_read(database);
    bool is_lake_file =
        str_equal(type, ducklake_type) && (catalog.kind == LAKE_CATALOG_DUCKDB || catalog.kind == LAKE_CATALOG_SQLITE);
    return is_lake_file ? file_path(source, arena, catalog.target) : STR_EMPTY;
}

static Str data_path(const EngineSource *source, Arena *arena) {
    Str written = config_text(source->keys, STR("data_path"));
    return written.size > 0 ? file_path(source, arena, written) : STR_EMPTY;
}

/* Booleans as DuckDB writes them; a number or text as it was written. */
static Str setting_value(const ConfigValue *value) {
    bool flag = false;
    AUTO(error) Error ignored; /* only booleans are read as such */
    error_init(&ignored);
    if (value->is_boolean && !failed(config_as_bool(value, "", &flag, &ignored))) {
        return flag ? STR("true") : STR("false");
    }
    return value->text;
}

static void add_setting_fault(const KeyCheck *check, const ConfigEntry *entry) {
    AUTO(error) Error err;
    error_init(&err);
    error_set_at(&err, ERROR_CONFIGURATION, entry->place,
                 "settings: '" STR_FMT "' is no name of a setting (letters, digits and _)", STR_ARG(entry->key));
    error_list_take(check->faults, &err);
}

static const ConfigSetting *find_setting(const ConfigSettingVec *settings, Str name) {
    for (size_t i = 0; i < settings->count; i++) {
        if (str_equal_fold(settings->items[i].name, name)) {
            return &settings->items[i];
        }
    }
    return NULL;
}

static const Str temp_directory = STR_INIT("temp_directory");

static void push_setting(const EngineSource *source, const KeyCheck *check, const ConfigEntry *entry,
                         ConfigSettingVec *settings) {
    if (key_is_free(entry->key) || entry->value->kind != CONFIG_SCALAR) {
        return;
    }
    if (!str_is_identifier(entry->key)) {
        add_setting_fault(check, entry);
        return;
    }
    Str value = setting_value(entry->value);
    if (str_equal_fold(entry->key, temp_directory) && value.size > 0) {
        value = file_path(source, check->arena, value);
    }
    config_setting_vec_push(check->arena, settings, (ConfigSetting){.name = entry->key, .value = value});
}

/* A memory limit without a place to spill to would make a large sort fail. */
static void add_temp_directory(const EngineSource *source, Arena *arena, ConfigSettingVec *settings) {
    if (find_setting(settings, STR("memory_limit")) != NULL && find_setting(settings, temp_directory) == NULL) {
        Str path = path_join(arena, source->root, STR(".tmp"));
        config_setting_vec_push(arena, settings, (ConfigSetting){.name = temp_directory, .value = path});
    }
}

static ConfigSettingVec read_settings(const EngineSource *source, const KeyCheck *check) {
    ConfigSettingVec settings = {0};
    const ConfigValue *map = config_find(source->keys, STR("settings"));
    for (size_t i = 0; map != NULL && map->kind == CONFIG_MAP && i < map->count; i++) {
        push_setting(source, check, &map->entries[i], &settings);
    }
    add_temp_directory(source, check->arena, &settings);
    return settings;
}

static AttachConfigVec read_attach(const EngineSource *source, Arena *arena) {
    AttachConfigVec attach = {0};
    const ConfigValue *map = config_find(source->keys, STR("attach"));
    for (size_t i = 0; map != NULL && map->kind == CONFIG_MAP && i < map->count; i++) {
        const ConfigEntry *entry = &map->entries[i];
        if (!key_is_free(entry->key) && entry->value->kind == CONFIG_SCALAR && entry->value->text.size > 0) {
            Str uri = file_path(source, arena, entry->value->text);
            attach_config_vec_push(arena, &attach,
                                   (AttachConfig){.alias = entry->key, .uri = uri, .place = entry->value->place});
        }
    }
    return attach;
}

static bool is_set(const ConfigValue *value) {
    return value != NULL && value->kind != CONFIG_NULL && !(value->kind == CONFIG_SCALAR && value->text.size == 0) &&
           !((value->kind == CONFIG_MAP || value->kind == CONFIG_LIST) && value->count == 0);
}

/* In the top-level map only the keys that an engine shares with it are found: it has no others of these names. */
static StrVec read_later_keys(const EngineSource *source, Arena *arena) {
    StrVec later = {0};
    for (size_t i = 0; i < engine_keys.count; i++) {
        const KeyRule *rule = &engine_keys.rules[i];
        if (rule->release == KEY_REFUSED_ON_USE && is_set(config_find(source->keys, rule->name))) {
            str_vec_push(arena, &later, rule->name);
        }
    }
    return later;
}

void engine_config_read(const EngineSource *source, const KeyCheck *check, EngineConfig *engine_out) {
    Str database = config_text(source->keys, STR("database"));
    Str type = resolve_type(config_text(source->keys, STR("type")), database);
    const EngineTypeRow *row = engine_type_row(type);
    database = database.size > 0 ? database : row->standard_database;
    bool is_default = str_equal(source->name, STR("default"));
    *engine_out = (EngineConfig){
        .name = source->name,
        .type = type,
        .database = database,
        .database_path = database_path(source, check->arena, type, database),
        .dialect = config_text_or(source->keys, STR("dialect"), row->dialect),
        .alias = config_text_or(source->keys, STR("alias"), is_default ? source->project_name : source->name),
        .data_path = data_path(source, check->arena),
        .metadata_schema = config_text(source->keys, STR("metadata_schema")),
        .settings = read_settings(source, check),
        .attach = read_attach(source, check->arena),
        .later_keys = read_later_keys(source, check->arena),
        .place = source->keys->place,
    };
}

static Status unresolved_error(const EngineConfig *engine, const StrVec *names, Arena *arena, Error *err) {
    Str list = str_join(arena, names->items, names->count, STR(", "));
    error_set_at(err, ERROR_CONFIGURATION, engine->place,
                 "engine '" STR_FMT "': " STR_FMT " %s not set, neither in the environment nor in .env",
                 STR_ARG(engine->name), STR_ARG(list), names->count == 1 ? "is" : "are");
    error_code(err, STR("variable.unset"));
    return FAILED;
}

static Status check_variables(const EngineConfig *engine, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    StrVec names = {0};
    variables_collect(engine->database, scratch, &names);
    variables_collect(engine->data_path, scratch, &names);
    variables_collect(engine->metadata_schema, scratch, &names);
    for (size_t i = 0; i < engine->settings.count; i++) {
        variables_collect(engine->settings.items[i].value, scratch, &names);
    }
    for (size_t i = 0; i < engine->attach.count; i++) {
        variables_collect(engine->attach.items[i].uri, scratch, &names);
    }
    return names.count == 0 ? OK : unresolved_error(engine, &names, scratch, err);
}

static bool environment_names_host(void) {
    static const char *const names[] = {"PGHOST", "PGSERVICE"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && *value != '\0') {
            return true;
        }
    }
    return false;
}

/* The string itself is never shown: it may hold a password. */
static Status check_host(const EngineConfig *engine, const char *what, Str dsn, SourceSpan place, Error *err) {
    if (dsn_names_host(dsn) || environment_names_host()) {
        return OK;
    }
    error_set_at(err, ERROR_CONFIGURATION, place, "engine '" STR_FMT "': %s is a PostgreSQL string without a host",
                 STR_ARG(engine->name), what);
    error_hint(err, "add host=…, a host in the URI, or set PGHOST");
    error_code(err, STR("dsn.host"));
    return FAILED;
}

static Status check_hosts(const EngineConfig *engine, Error *err) {
    const EngineTypeRow *row = engine_type_row(engine->type);
    if (row->postgres_strings || dsn_is_postgres(engine->database)) {
        TRY(check_host(engine, "database", engine->database, engine->place, err));
    }
    for (size_t i = 0; i < engine->attach.count; i++) {
        const AttachConfig *attach = &engine->attach.items[i];
        if (dsn_is_postgres(attach->uri)) {
            TRY(check_host(engine, "attach", attach->uri, attach->place, err));
        }
    }
    return OK;
}

static Status check_database_is_written(const EngineConfig *engine, Error *err) {
    if (engine->database.size > 0) {
        return OK;
    }
    error_set_at(err, ERROR_CONFIGURATION, engine->place, "engine '" STR_FMT "' of type " STR_FMT " needs 'database'",
                 STR_ARG(engine->name), STR_ARG(engine->type));
    error_code(err, STR("key.missing"));
    return FAILED;
}

static Status later_error(Error *err) {
    error_code(err, STR("feature.later"));
    return FAILED;
}

static Str scheme_of(Str text) {
    return str_slice(text, 0, str_find_char(text, ':') + 1);
}

static Status check_duckdb_release(const EngineConfig *engine, Error *err) {
    if (dsn_has_scheme(engine->database)) {
        error_set_at(err, ERROR_PLAN, engine->place,
                     "engine '" STR_FMT "': a database at '" STR_FMT "…' is not in this release: name a DuckDB file",
                     STR_ARG(engine->name), STR_ARG(scheme_of(engine->database)));
        return later_error(err);
    }
    return OK;
}

static Status check_ducklake_release(const EngineConfig *engine, Error *err) {
    if (lake_catalog_read(engine->database).kind == LAKE_CATALOG_UNKNOWN) {
        error_set_at(err, ERROR_PLAN, engine->place,
                     "engine '" STR_FMT "': a DuckLake keeps its catalog in ducklake:<file>, ducklake:sqlite:<file> or "
                     "ducklake:postgres:<connection string>; others are not in this release",
                     STR_ARG(engine->name));
        return later_error(err);
    }
    if (dsn_has_scheme(engine->data_path)) {
        error_set_at(err, ERROR_PLAN, engine->place,
                     "engine '" STR_FMT "': a data_path at '" STR_FMT "…' is not in this release: name a folder",
                     STR_ARG(engine->name), STR_ARG(scheme_of(engine->data_path)));
        return later_error(err);
    }
    return OK;
}

static Status check_release(const EngineConfig *engine, Error *err) {
    if (str_equal(engine->type, duckdb_type)) {
        TRY(check_duckdb_release(engine, err));
    } else if (str_equal(engine->type, ducklake_type)) {
        TRY(check_ducklake_release(engine, err));
    } else {
        error_set_at(err, ERROR_PLAN, engine->place,
                     "engine '" STR_FMT "': engines of type " STR_FMT " are not in this release", STR_ARG(engine->name),
                     STR_ARG(engine->type));
        return later_error(err);
    }
    if (engine->later_keys.count > 0) {
        error_set_at(err, ERROR_PLAN, engine->place, "engine '" STR_FMT "': '" STR_FMT "' is not in this release",
                     STR_ARG(engine->name), STR_ARG(engine->later_keys.items[0]));
        return later_error(err);
    }
    return OK;
}

static Status check_attach_release(const EngineConfig *engine, Error *err) {
    for (size_t i = 0; i < engine->attach.count; i++) {
        const AttachConfig *attach = &engine->attach.items[i];
        bool is_lake = str_starts_with_fold(attach->uri, STR("ducklake:"));
        if (dsn_has_scheme(attach->uri) && (is_lake || !dsn_is_postgres(attach->uri))) {
            error_set_at(err, ERROR_PLAN, attach->place,
                         "engine '" STR_FMT "': attaching a '" STR_FMT "' database ('" STR_FMT
                         "') is not in this release",
                         STR_ARG(engine->name), STR_ARG(scheme_of(attach->uri)), STR_ARG(attach->alias));
            return later_error(err);
        }
    }
    return OK;
}

Status engine_config_check_usable(const EngineConfig *engine, Error *err) {
    TRY(check_database_is_written(engine, err));
    TRY(check_variables(engine, err));
    TRY(check_hosts(engine, err));
    TRY(check_release(engine, err));
    return check_attach_release(engine, err);
}
