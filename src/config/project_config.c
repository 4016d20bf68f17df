/* From texts to a ProjectConfig: read, merge the overlay, fill in variables, check all keys, then build. A fault does
 * not end the checks; building passes over values of a wrong shape, which the checks have reported. */
#include "config/project_config_parse.h"

#include "base/files.h"
#include "config/connection_config.h"
#include "config/engine_config.h"
#include "config/input_config.h"
#include "config/notify_config.h"
#include "config/overlay.h"
#include "config/project_keys.h"
#include "config/time_zone.h"
#include "config/var_config.h"

#define PARALLELISM_DEFAULT 4

static const Str main_file = STR_INIT("interlace.yaml");
static const Str default_engine_name = STR_INIT("default");

typedef struct ConfigBuilder {
    const ConfigSources *sources;
    Arena *arena;
    ConfigValue *keys; /* the whole map, merged and filled */
    KeyCheck check;
    ProjectConfig *config;
} ConfigBuilder;

static Status root_error(const ConfigValue *root, Str path, Error *err) {
    error_set_at(err, ERROR_CONFIGURATION, root->place, "'" STR_FMT "' must hold a map of keys, not %s", STR_ARG(path),
                 config_kind_name(root->kind));
    error_code(err, STR("config.root"));
    return FAILED;
}

/* An empty file, or one of comments, is a map without keys. */
static Status read_map(const ConfigBuilder *builder, Str text, Str file, ConfigValue **map_out, Error *err) {
    ConfigValue *map;
    TRY(yaml_read(text, file, 1, builder->arena, &map, err));
    if (map->kind == CONFIG_NULL) {
        map->kind = CONFIG_MAP;
    }
    if (map->kind != CONFIG_MAP) {
        return root_error(map, path_join(builder->arena, builder->sources->root, file), err);
    }
    *map_out = map;
    return OK;
}

static void read_map_or_fault(const ConfigBuilder *builder, Str text, Str file, ConfigValue **map_out) {
    AUTO(error) Error err;
    error_init(&err);
    if (failed(read_map(builder, text, file, map_out, &err))) {
        error_list_take(builder->check.faults, &err);
    }
}

/* Both files are read before either fault ends the work. */
static bool read_keys(ConfigBuilder *builder) {
    const ConfigSources *sources = builder->sources;
    ConfigValue *base = NULL;
    ConfigValue *overlay = NULL;
    read_map_or_fault(builder, sources->text, main_file, &base);
    if (sources->overlay_file.size > 0) {
        read_map_or_fault(builder, sources->overlay_text, sources->overlay_file, &overlay);
    }
    if (base == NULL || (overlay == NULL && sources->overlay_file.size > 0)) {
        return false;
    }
    builder->keys = overlay == NULL ? base : overlay_merge(builder->arena, base, overlay);
    return true;
}

static void fill_variables(const ConfigBuilder *builder) {
    Variables variables = {
        .environment = builder->sources->environment,
        .dotenv = dotenv_parse(builder->arena, builder->sources->dotenv),
        .arena = builder->arena,
    };
    variables_fill(&variables, builder->keys);
}

static Str text_key(const ConfigBuilder *builder, Str key, Str standard) {
    return config_text_or(builder->keys, key, standard);
}

static Str path_key(const ConfigBuilder *builder, Str key, Str standard) {
    Str root = builder->sources->root;
    return path_absolute(builder->arena, path_join(builder->arena, root, text_key(builder, key, standard)));
}

/* Every folder is written in one way: "./models/" is "models". */
static Str plain_folder(Arena *arena, Str folder) {
    if (str_starts_with(folder, STR("/"))) {
        return folder;
    }
    Str folded = str_skip(path_absolute(arena, path_join(arena, STR("/"), folder)), 1);
    bool leaves_root = str_starts_with(folder, STR("..")) || str_find(folder, STR("/..")) != STR_NOT_FOUND;
    return leaves_root ? folder : folded.size == 0 ? STR(".") : folded;
}

static StrVec folders_key(const ConfigBuilder *builder, Str key, Str standard) {
    StrVec folders = {0};
    StrVec written = {0};
    const ConfigValue *value = config_find(builder->keys, key);
    AUTO(error) Error ignored; /* a wrong shape was reported by the check of keys */
    error_init(&ignored);
    if (value == NULL || value->kind == CONFIG_NULL) {
        str_vec_push(builder->arena, &folders, standard);
    } else if (!failed(config_as_text_list(value, "", builder->arena, &written, &ignored))) {
        for (size_t i = 0; i < written.count; i++) {
            str_vec_push(builder->arena, &folders, plain_folder(builder->arena, written.items[i]));
        }
    }
    return folders;
}

static int64_t parallelism_key(const ConfigBuilder *builder) {
    const ConfigValue *value = config_find(builder->keys, STR("parallelism"));
    int64_t parallelism = PARALLELISM_DEFAULT;
    AUTO(error) Error ignored; /* reported by the check of keys */
    error_init(&ignored);
    if (value == NULL || failed(config_as_int(value, "", 1, &parallelism, &ignored))) {
        return PARALLELISM_DEFAULT;
    }
    return parallelism;
}

/* A bare name is searched in PATH; anything with a `/` is a place under the root. */
static Str interpreter_key(const ConfigBuilder *builder) {
    const ConfigValue *python = config_find(builder->keys, STR("python"));
    bool is_map = python != NULL && python->kind == CONFIG_MAP;
    Str interpreter = is_map ? config_text(python, STR("interpreter")) : text_key(builder, STR("python"), STR_EMPTY);
    bool is_path = str_find_char(interpreter, '/') != STR_NOT_FOUND;
    return is_path ? path_join(builder->arena, builder->sources->root, interpreter) : interpreter;
}

static void check_zone(const ConfigBuilder *builder, const ConfigValue *map, Str key, const char *what) {
    const ConfigValue *value = config_find(map, key);
    AUTO(error) Error err;
    error_init(&err);
    if (value == NULL || value->kind != CONFIG_SCALAR || value->text.size == 0) {
        return;
    }
    if (failed(time_zone_check(value->text, what, value->place, &err))) {
        error_list_take(builder->check.faults, &err);
    }
}

static void build_settings(ConfigBuilder *builder) {
    ProjectConfig *config = builder->config;
    Arena *arena = builder->arena;
    config->root = builder->sources->root;
    config->name = text_key(builder, STR("name"), STR("interlace"));
    config->default_engine = text_key(builder, STR("default_engine"), default_engine_name);
    config->state_path = path_key(builder, STR("state_path"), STR(".interlace/state.db"));
    config->cache_path = path_join(arena, config->root, STR(".interlace/cache"));
    config->model_paths = folders_key(builder, STR("model_paths"), STR("models"));
    config->macro_paths = folders_key(builder, STR("macro_paths"), STR("macros"));
    config->parallelism = parallelism_key(builder);
    config->timezone = text_key(builder, STR("timezone"), STR_EMPTY);
    config->python_interpreter = interpreter_key(builder);
    config->notes_are_optional = str_equal(text_key(builder, STR("notes"), STR_EMPTY), STR("optional"));
    check_zone(builder, builder->keys, STR("timezone"), "timezone");
    check_zone(builder, config_find(builder->keys, STR("scheduler")), STR("timezone"), "scheduler.timezone");
}

static void push_engine(ConfigBuilder *builder, Str name, const ConfigValue *keys) {
    EngineSource source = {
        .name = name, .keys = keys, .root = builder->config->root, .project_name = builder->config->name};
    EngineConfig engine;
    engine_config_read(&source, &builder->check, &engine);
    engine_config_vec_push(builder->arena, &builder->config->engines, engine);
}

/* Keys at the top that describe the engine `default` say nothing when it has a map of its own. */
static void warn_of_unused_keys(ConfigBuilder *builder) {
    static const Str names[] = {
        STR_INIT("database"), STR_INIT("alias"),       STR_INIT("data_path"), STR_INIT("metadata_schema"),
        STR_INIT("secrets"),  STR_INIT("quack_token"), STR_INIT("attach"),    STR_INIT("settings"),
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const ConfigValue *value = config_find(builder->keys, names[i]);
        if (value != NULL && value->kind != CONFIG_NULL) {
            str_vec_push(builder->arena, &builder->config->warnings,
                         str_format(builder->arena,
                                    "'" STR_FMT "' at the top has no effect: engines has its own 'default' (" STR_FMT
                                    ":%zu)",
                                    STR_ARG(names[i]), STR_ARG(value->place.file), value->place.line));
        }
    }
}

static void build_engines(ConfigBuilder *builder) {
    const ConfigValue *engines = config_find(builder->keys, STR("engines"));
    for (size_t i = 0; engines != NULL && engines->kind == CONFIG_MAP && i < engines->count; i++) {
        const ConfigEntry *entry = &engines->entries[i];
        if (!key_is_free(entry->key) && entry->value->kind == CONFIG_MAP) {
            push_engine(builder, entry->key, entry->value);
        }
    }
    if (project_config_engine(builder->config, default_engine_name) == NULL) {
        push_engine(builder, default_engine_name, builder->keys);
    } else {
        warn_of_unused_keys(builder);
    }
}

static void add_unknown_engine(const ConfigBuilder *builder) {
    const ProjectConfig *config = builder->config;
    const ConfigValue *value = config_find(builder->keys, STR("default_engine"));
    StrVec names = {0};
    for (size_t i = 0; i < config->engines.count; i++) {
        str_vec_push(builder->arena, &names, config->engines.items[i].name);
    }
    Str list = str_join(builder->arena, names.items, names.count, STR(", "));
    AUTO(error) Error err;
    error_init(&err);
    error_set_at(&err, ERROR_CONFIGURATION, value->place,
                 "default_engine: there is no engine '" STR_FMT "'; engines are " STR_FMT,
                 STR_ARG(config->default_engine), STR_ARG(list));
    error_code(&err, STR("engine.unknown"));
    error_list_take(builder->check.faults, &err);
}

static void build_default_engine(ConfigBuilder *builder) {
    ProjectConfig *config = builder->config;
    const EngineConfig *engine = project_config_engine(config, config->default_engine);
    if (engine == NULL) {
        add_unknown_engine(builder);
        return;
    }
    config->default_dialect = text_key(builder, STR("default_dialect"), engine->dialect);
}

static void build_vars(ConfigBuilder *builder) {
    const ConfigValue *vars = config_find(builder->keys, STR("vars"));
    for (size_t i = 0; vars != NULL && vars->kind == CONFIG_MAP && i < vars->count; i++) {
        const ConfigEntry *entry = &vars->entries[i];
        if (key_is_free(entry->key) || !var_config_is_complete(entry->value)) {
            continue;
        }
        VarConfig var;
        AUTO(error) Error err;
        error_init(&err);
        if (failed(var_config_read(entry, builder->arena, &var, &err))) {
            error_list_take(builder->check.faults, &err);
        } else {
            var_config_vec_push(builder->arena, &builder->config->vars, var);
        }
    }
}

static void build_connections(ConfigBuilder *builder) {
    const ConfigValue *connections = config_find(builder->keys, STR("connections"));
    if (connections != NULL && connections->kind == CONFIG_MAP) {
        connections_check(&builder->check, connections);
        builder->config->connections = connections;
    }
}

static void build_inputs(ConfigBuilder *builder) {
    const ConfigValue *inputs = config_find(builder->keys, STR("inputs"));
    if (inputs != NULL && inputs->kind == CONFIG_MAP) {
        inputs_read(&builder->check, builder->keys, inputs, &builder->config->inputs);
    }
}

static void build_webhooks(ConfigBuilder *builder) {
    const ConfigValue *notify = config_find(builder->keys, STR("notify"));
    if (notify != NULL && notify->kind == CONFIG_MAP) {
        webhooks_read(&builder->check, notify, &builder->config->webhooks);
    }
}

static void build_config(ConfigBuilder *builder) {
    fill_variables(builder);
    key_table_check(&builder->check, &project_keys, builder->keys, main_file, STR_EMPTY);
    build_settings(builder);
    build_engines(builder);
    build_default_engine(builder);
    build_vars(builder);
    build_connections(builder);
    build_inputs(builder);
    build_webhooks(builder);
}

Status project_config_parse(const ConfigSources *sources, Arena *arena, ProjectConfig **config_out, ErrorList *faults) {
    AUTO(error_list) ErrorList found = {0};
    ProjectConfig *config = ARENA_NEW(arena, ProjectConfig);
    ConfigBuilder builder = {
        .sources = sources,
        .arena = arena,
        .check = {.arena = arena, .faults = &found, .warnings = &config->warnings},
        .config = config,
    };
    if (read_keys(&builder)) {
        build_config(&builder);
    }
    if (found.count == 0) {
        *config_out = config;
        return OK;
    }
    for (size_t i = 0; i < found.count; i++) {
        error_list_take(faults, &found.items[i]);
    }
    return FAILED;
}

const EngineConfig *project_config_engine(const ProjectConfig *config, Str name) {
    for (size_t i = 0; i < config->engines.count; i++) {
        if (str_equal(config->engines.items[i].name, name)) {
            return &config->engines.items[i];
        }
    }
    return NULL;
}

const VarConfig *project_config_var(const ProjectConfig *config, Str name) {
    for (size_t i = 0; i < config->vars.count; i++) {
        if (str_equal(config->vars.items[i].name, name)) {
            return &config->vars.items[i];
        }
    }
    return NULL;
}
