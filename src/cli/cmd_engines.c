/* What the configuration names: engines, and connections for Python models. Nothing is contacted unless --connect asks.
 */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "run/engine_probe.h"

/* ---- engines */

typedef struct EngineCheck {
    const EngineConfig *config;
    bool is_default;
    bool is_ok;
    double seconds;
    Str said; /* why not; of a database that the first apply makes: that it is not there */
} EngineCheck;

static Str database_text(const EngineConfig *engine, Arena *arena) {
    return config_redact_dsn(arena, engine->database);
}

static void check_engine(const ProjectConfig *config, EngineCheck *check, Arena *arena) {
    AUTO(error) Error err = {0};
    int64_t before = clock_monotonic_us();
    check->is_ok = !failed(engine_probe(config, check->config, &check->said, &err));
    check->seconds = (double)(clock_monotonic_us() - before) / 1e6;
    check->said = check->is_ok ? check->said : error_line(&err, arena);
}

static void print_engines_as_json(Cli *cli, const EngineCheck *checks, size_t count, bool is_checked) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_array(writer);
    for (size_t i = 0; i < count; i++) {
        const EngineConfig *engine = checks[i].config;
        json_begin_object(writer);
        json_text_field(writer, STR("name"), engine->name);
        json_bool_field(writer, STR("default"), checks[i].is_default);
        json_text_field(writer, STR("type"), engine->type);
        json_text_field(writer, STR("dialect"), engine->dialect);
        json_text_field(writer, STR("database"), database_text(engine, cli->arena));
        if (is_checked) {
            json_bool_field(writer, STR("ok"), checks[i].is_ok);
            json_optional_text_field(writer, STR("message"), checks[i].said);
            json_key(writer, STR("seconds"));
            json_double(writer, checks[i].seconds);
        }
        json_end_object(writer);
    }
    json_end_array(writer);
    cli_json_end(cli);
}

static Str check_text(const EngineCheck *check, Arena *arena) {
    return check->said.size > 0 ? check->said : str_format(arena, "ok (%.2fs)", check->seconds);
}

static void print_engines(Cli *cli, const EngineCheck *checks, size_t count, bool is_checked) {
    static const TableColumn columns[] = {{.title = "Engine", .is_name = true},
                                          {.title = "Type"},
                                          {.title = "Dialect"},
                                          {.title = "Database", .is_dim = true},
                                          {.title = "Check"}};
    Table *table = table_create(cli->arena, STR("Engines"), columns, COUNT_OF(columns) - !is_checked);
    for (size_t i = 0; i < count; i++) {
        const EngineConfig *engine = checks[i].config;
        TableCell cells[] = {
            CELL(checks[i].is_default ? str_format(cli->arena, STR_FMT " (default)", STR_ARG(engine->name))
                                      : engine->name),
            CELL(engine->type),
            CELL(engine->dialect),
            CELL(database_text(engine, cli->arena)),
            CELL_STYLED(check_text(&checks[i], cli->arena), checks[i].is_ok ? STYLE_GOOD : STYLE_BAD),
        };
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

Status command_engines(Cli *cli, ErrorList *faults) {
    ProjectConfig *config = NULL;
    TRY(cli_load_config(cli, &config, faults));
    bool is_checked = invocation_flag(cli->invocation, OPTION_CONNECT);
    size_t count = config->engines.count;
    EngineCheck *checks = ARENA_NEW_ARRAY(cli->arena, EngineCheck, count);
    for (size_t i = 0; i < count; i++) {
        const EngineConfig *engine = &config->engines.items[i];
        checks[i].config = engine;
        checks[i].is_default = str_equal(engine->name, config->default_engine);
        if (is_checked) {
            check_engine(config, &checks[i], cli->arena);
            cli->exit_code = checks[i].is_ok ? cli->exit_code : 1;
        }
    }
    if (cli_wants_json(cli)) {
        print_engines_as_json(cli, checks, count, is_checked);
    } else {
        print_engines(cli, checks, count, is_checked);
    }
    return OK;
}

/* ---- connections */

static Str target_text(const ConfigValue *connection, Arena *arena) {
    Str dsn = config_text(connection, STR("dsn"));
    return config_redact_dsn(arena, dsn.size > 0 ? dsn : config_text(connection, STR("base_url")));
}

static size_t connection_count(const ProjectConfig *config) {
    return config->connections == NULL ? 0 : config->connections->count;
}

static void print_connections_as_json(Cli *cli, const ProjectConfig *config) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_array(writer);
    for (size_t i = 0; i < connection_count(config); i++) {
        const ConfigEntry *entry = &config->connections->entries[i];
        json_begin_object(writer);
        json_text_field(writer, STR("name"), entry->key);
        json_text_field(writer, STR("type"), config_text(entry->value, STR("type")));
        json_optional_text_field(writer, STR("target"), target_text(entry->value, cli->arena));
        json_end_object(writer);
    }
    json_end_array(writer);
    cli_json_end(cli);
}

static void print_connections(Cli *cli, const ProjectConfig *config) {
    static const TableColumn columns[] = {
        {.title = "Connection", .is_name = true}, {.title = "Type"}, {.title = "Target", .is_dim = true}};
    if (connection_count(config) == 0) {
        cli_line(cli, "No connections configured.");
        return;
    }
    Table *table = table_create(cli->arena, STR("Connections"), columns, COUNT_OF(columns));
    for (size_t i = 0; i < connection_count(config); i++) {
        const ConfigEntry *entry = &config->connections->entries[i];
        TableCell cells[] = {CELL(entry->key), CELL(config_text(entry->value, STR("type"))),
                             CELL(target_text(entry->value, cli->arena))};
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

Status command_connections(Cli *cli, ErrorList *faults) {
    ProjectConfig *config = NULL;
    TRY(cli_load_config(cli, &config, faults));
    if (cli_wants_json(cli)) {
        print_connections_as_json(cli, config);
    } else {
        print_connections(cli, config);
    }
    return OK;
}
