#include "cli/mcp_tools.h"

typedef enum ArgumentType {
    ARGUMENT_TEXT,
    ARGUMENT_NUMBER,
    ARGUMENT_FLAG,
    ARGUMENT_LIST,
    ARGUMENT_TYPE_COUNT
} ArgumentType;

#define POSITIONAL "" /* in place of an option: an argument of the command */

typedef struct ToolArgument {
    const char *name;
    ArgumentType type;
    const char *option; /* of the command; NULL: the tool looks at it itself */
    bool is_required;
    const char *summary;
} ToolArgument;

#define TOOL_ARGUMENTS_MAX 8
struct McpTool {
    const char *name, *summary;
    const char *command;                             /* whose options the arguments become */
    Status (*run)(McpCall *call, ErrorList *faults); /* NULL: the command, with --json */
    bool writes, needs_confirm;
    ToolArgument arguments[TOOL_ARGUMENTS_MAX];
};

/* clang-format off */
#define ENVIRONMENT {"environment", ARGUMENT_TEXT, "env", .summary = "The environment; prod when the server was started without another"}
#define SELECTORS   {"selectors", ARGUMENT_LIST, "select", .summary = "Only these models: NAME, GLOB, tag:T, path:DIR, state:modified, +NAME+"}
#define CONFIRM     {"confirm", ARGUMENT_FLAG, NULL, true, "Must be true: the call changes what readers of the environment see"}

static const McpTool tools[] = {
    {"list_models", "List the project's models and what they depend on", "models", .run = mcp_list_models},
    {"get_model", "Show one model: its definition, checks and fingerprint", "models", .run = mcp_get_model,
     .arguments = {{"name", ARGUMENT_TEXT, NULL, true, "The model"}}},
    {"preview_model", "Show the first rows of a model as an environment serves it, and a profile of its columns", "models",
     .run = mcp_preview_model,
     .arguments = {{"name", ARGUMENT_TEXT, NULL, true, "The model"}, ENVIRONMENT,
                   {"limit", ARGUMENT_NUMBER, NULL, .summary = "At most so many rows: 25, up to 100"}}},
    {"plan", "Show what apply would change; builds nothing", "plan",
     .arguments = {ENVIRONMENT, SELECTORS,
                   {"forward_only", ARGUMENT_FLAG, "forward-only", .summary = "Changed models go on from a copy of their history"}}},
    {"apply", "Build what changed, check it, and make it live", "apply", .writes = true, .needs_confirm = true,
     .arguments = {CONFIRM, ENVIRONMENT, SELECTORS,
                   {"force", ARGUMENT_FLAG, "force", .summary = "Also when the plan is breaking"},
                   {"forward_only", ARGUMENT_FLAG, "forward-only", .summary = "Changed models go on from a copy of their history"}}},
    {"run", "Build the selected models now, filling windows that are due", "run", .writes = true, .needs_confirm = true,
     .arguments = {CONFIRM, ENVIRONMENT, SELECTORS,
                   {"start", ARGUMENT_TEXT, "start", .summary = "First moment of the windows, as 2026-07-01"},
                   {"end", ARGUMENT_TEXT, "end", .summary = "End of the windows; itself not in them"},
                   {"catch_up", ARGUMENT_FLAG, "catch-up", .summary = "Fill every complete window since the last one that is filled"}}},
    {"query", "Read from an environment with one SELECT; nothing else is let through", "query",
     .arguments = {{"sql", ARGUMENT_TEXT, POSITIONAL, true, "The query"}, ENVIRONMENT,
                   {"limit", ARGUMENT_NUMBER, "limit", .summary = "At most so many rows: 100, up to 10000"}}},
    {"diff", "Compare the rows that two environments serve of each model; equal or not, it is a result", "diff",
     .arguments = {{"against", ARGUMENT_TEXT, "against", true, "The other environment"}, ENVIRONMENT, SELECTORS,
                   {"on", ARGUMENT_LIST, "on", .summary = "Match rows by these columns; else by the model's key, else by whole rows"},
                   {"limit", ARGUMENT_NUMBER, "limit", .summary = "At most so many rows of each kind: 20, up to 1000"},
                   {"schema", ARGUMENT_FLAG, "schema", .summary = "Compare columns only, read no rows"}}},
    {"lineage", "Show the graph of models: which reads which", "lineage",
     .arguments = {{"model", ARGUMENT_TEXT, POSITIONAL, .summary = "Only what this model reads and what reads it"},
                   {"columns", ARGUMENT_FLAG, "columns", .summary = "Also what each column is made of"}}},
    {"impact", "Show everything downstream of a column: columns, row influence, checks, deliveries", "impact",
     .arguments = {{"column", ARGUMENT_TEXT, POSITIONAL, true, "MODEL.COLUMN"}, ENVIRONMENT}},
    {"render", "Show the query of a model as it would run", "render",
     .arguments = {{"model", ARGUMENT_TEXT, POSITIONAL, true, "A model of SQL"}, ENVIRONMENT}},
    {"list_checks", "List recorded outcomes of checks, newest first", "checks list",
     .arguments = {{"model", ARGUMENT_TEXT, "model", .summary = "Only outcomes of this model"}}},
    {"checks_run", "Check what an environment serves, without building; the outcomes are recorded", "checks run", .writes = true,
     .arguments = {ENVIRONMENT, SELECTORS, {"check", ARGUMENT_TEXT, "check", .summary = "Only the check of this name"}}},
    {"failing_rows", "Show rows that a check found wrong when it last ran", "models", .run = mcp_failing_rows,
     .arguments = {{"model", ARGUMENT_TEXT, NULL, true, "The model"}, {"check", ARGUMENT_TEXT, NULL, true, "The check"}, ENVIRONMENT,
                   {"limit", ARGUMENT_NUMBER, NULL, .summary = "At most so many rows: 25, up to 100"}}},
    {"test", "Build models from their fixture files and compare them with their golden files; touches nothing", "test",
     .arguments = {SELECTORS}},
    {"rollback", "Let an environment serve what it served before; builds nothing", "env rollback", .writes = true,
     .needs_confirm = true,
     .arguments = {CONFIRM, {"environment", ARGUMENT_TEXT, POSITIONAL, .summary = "The environment; prod when none is named"},
                   {"to", ARGUMENT_NUMBER, "to", .summary = "The generation; the one before the current when none is named"}}},
    {"env_list", "List the environments and how far they are behind the project", "env list", .writes = false},
};

static const struct TypeName { const char *schema, *words; } type_names[ARGUMENT_TYPE_COUNT] = {
    [ARGUMENT_TEXT]   = {"string", "a text"},
    [ARGUMENT_NUMBER] = {"integer", "a whole number from 1"},
    [ARGUMENT_FLAG]   = {"boolean", "true or false"},
    [ARGUMENT_LIST]   = {"array", "a list of texts"},
};
/* clang-format on */

const McpTool *mcp_tool_find(Str name, bool read_only) {
    for (size_t i = 0; i < COUNT_OF(tools); i++) {
        if (str_equal(name, str_from(tools[i].name)) && !(read_only && tools[i].writes)) {
            return &tools[i];
        }
    }
    return NULL;
}

/* --- Descriptions ----------------------------------------------------------------------------------------------------
 */

static void write_argument(const ToolArgument *argument, JsonWriter *writer) {
    json_key(writer, str_from(argument->name));
    json_begin_object(writer);
    json_text_field(writer, STR("type"), str_from(type_names[argument->type].schema));
    if (argument->type == ARGUMENT_LIST) {
        json_key(writer, STR("items"));
        json_raw(writer, STR("{\"type\":\"string\"}"));
    }
    if (argument->type == ARGUMENT_NUMBER) {
        json_int_field(writer, STR("minimum"), 1);
    }
    json_text_field(writer, STR("description"), str_from(argument->summary));
    json_end_object(writer);
}

static void write_schema(const McpTool *tool, JsonWriter *writer) {
    json_begin_object(writer);
    json_text_field(writer, STR("type"), STR("object"));
    json_key(writer, STR("properties"));
    json_begin_object(writer);
    for (const ToolArgument *argument = tool->arguments; argument->name != NULL; argument++) {
        write_argument(argument, writer);
    }
    json_end_object(writer);
    json_key(writer, STR("required"));
    json_begin_array(writer);
    for (const ToolArgument *argument = tool->arguments; argument->name != NULL; argument++) {
        if (argument->is_required) {
            json_text(writer, str_from(argument->name));
        }
    }
    json_end_array(writer);
    json_bool_field(writer, STR("additionalProperties"), false);
    json_end_object(writer);
}

void mcp_tools_write(bool read_only, JsonWriter *writer) {
    json_begin_array(writer);
    for (size_t i = 0; i < COUNT_OF(tools); i++) {
        if (read_only && tools[i].writes) {
            continue;
        }
        json_begin_object(writer);
        json_text_field(writer, STR("name"), str_from(tools[i].name));
        json_text_field(writer, STR("description"), str_from(tools[i].summary));
        json_key(writer, STR("inputSchema"));
        write_schema(&tools[i], writer);
        json_key(writer, STR("annotations"));
        json_begin_object(writer);
        json_bool_field(writer, STR("readOnlyHint"), !tools[i].writes);
        json_end_object(writer);
        json_end_object(writer);
    }
    json_end_array(writer);
}

/* --- Arguments -------------------------------------------------------------------------------------------------------
 */

static bool is_text(const ConfigValue *value) {
    return value->kind == CONFIG_SCALAR && value->quoted;
}

static bool is_of_type(const ConfigValue *value, ArgumentType type) {
    int64_t number;
    switch (type) {
    case ARGUMENT_TEXT:
        return is_text(value);
    case ARGUMENT_NUMBER:
        return value->kind == CONFIG_SCALAR && value->is_number && str_to_int64(value->text, &number) && number >= 1;
    case ARGUMENT_FLAG:
        return value->kind == CONFIG_SCALAR && value->is_boolean;
    case ARGUMENT_LIST:
        for (size_t i = 0; value->kind == CONFIG_LIST && i < value->count; i++) {
            if (!is_text(value->items[i])) {
                return false;
            }
        }
        return value->kind == CONFIG_LIST;
    case ARGUMENT_TYPE_COUNT:
        break;
    }
    return false;
}

static const ToolArgument *find_argument(const McpTool *tool, Str name) {
    for (const ToolArgument *argument = tool->arguments; argument->name != NULL; argument++) {
        if (str_equal(name, str_from(argument->name))) {
            return argument;
        }
    }
    return NULL;
}

/* An absent flag is false: a call without `confirm` is refused by the tool, in words for its caller. */
Status mcp_tool_check(const McpTool *tool, const ConfigValue *arguments, Error *err) {
    if (arguments != NULL && arguments->kind != CONFIG_MAP) {
        return error_set(err, ERROR_USAGE, "arguments must be an object");
    }
    for (size_t i = 0; arguments != NULL && i < arguments->count; i++) {
        const ConfigEntry *entry = &arguments->entries[i];
        const ToolArgument *argument = find_argument(tool, entry->key);
        if (argument == NULL) {
            return error_set(err, ERROR_USAGE, "tool %s has no argument '" STR_FMT "'", tool->name,
                             STR_ARG(entry->key));
        }
        if (!is_of_type(entry->value, argument->type)) {
            return error_set(err, ERROR_USAGE, "argument %s of %s must be %s", argument->name, tool->name,
                             type_names[argument->type].words);
        }
    }
    for (const ToolArgument *argument = tool->arguments; argument->name != NULL; argument++) {
        bool is_missing = config_find(arguments, str_from(argument->name)) == NULL;
        if (is_missing && argument->is_required && argument->type != ARGUMENT_FLAG) {
            return error_set(err, ERROR_USAGE, "tool %s needs the argument '%s'", tool->name, argument->name);
        }
    }
    return OK;
}

static bool is_true(const ConfigValue *value) {
    return value != NULL && str_equal(value->text, STR("true"));
}

/* --- Calls -----------------------------------------------------------------------------------------------------------
 */

static void add_option(const char *option, const ConfigValue *value, Arena *arena, StrVec *words) {
    if (value->is_boolean) {
        if (is_true(value)) {
            str_vec_push(arena, words, str_format(arena, "--%s", option));
        }
    } else if (value->kind == CONFIG_LIST) {
        for (size_t i = 0; i < value->count; i++) {
            add_option(option, value->items[i], arena, words);
        }
    } else {
        str_vec_push(arena, words, str_format(arena, "--%s=" STR_FMT, option, STR_ARG(value->text)));
    }
}

static StrVec words_of_call(const McpTool *tool, const ConfigValue *arguments, Arena *arena) {
    StrVec words = {0}, positional = {0};
    for (const ToolArgument *argument = tool->arguments; argument->name != NULL; argument++) {
        const ConfigValue *value = config_find(arguments, str_from(argument->name));
        if (value == NULL || argument->option == NULL) {
            continue;
        }
        if (*argument->option == '\0') {
            str_vec_push(arena, &positional, value->text);
        } else {
            add_option(argument->option, value, arena, &words);
        }
    }
    str_vec_push(arena, &words, STR("--"));
    for (Str rest = str_from(tool->command); rest.size > 0;) { /* a command's words are arguments too */
        size_t blank = str_find_char(rest, ' ');
        str_vec_push(arena, &words, str_slice(rest, 0, blank));
        rest = blank == STR_NOT_FOUND ? STR_EMPTY : str_skip(rest, blank + 1);
    }
    for (size_t i = 0; i < positional.count; i++) {
        str_vec_push(arena, &words, positional.items[i]);
    }
    return words;
}

static char *word_copy(Arena *arena, Str word) {
    char *copy = ARENA_NEW_ARRAY(arena, char, word.size + 1);
    for (size_t i = 0; i < word.size; i++) {
        copy[i] = word.ptr[i];
    }
    return copy;
}

Status mcp_cli_open(const Cli *server, StrVec *words, Arena *arena, Cli *cli_out, Error *err) {
    Invocation *invocation = ARENA_NEW(arena, Invocation);
    char **argv = ARENA_NEW_ARRAY(arena, char *, words->count + 2);
    argv[0] = word_copy(arena, STR("interlace"));
    for (size_t i = 0; i < words->count; i++) {
        argv[i + 1] = word_copy(arena, words->items[i]);
    }
    TRY(invocation_parse((int)words->count + 1, argv, arena, invocation, err));
    for (size_t id = 0; id < OPTION_COUNT; id++) {
        if (id == OPTION_PATH || (global_options & OPTION_BIT(id)) != 0) {
            invocation->options[id] = server->invocation->options[id];
        }
    }
    invocation->options[OPTION_JSON].is_given = true;
    invocation->options[OPTION_JSON_OR_LINES].text = STR("document");
    *cli_out = (Cli){.invocation = invocation, .arena = arena, .out = server->out, .console = server->console};
    return OK;
}

static Status refuse_without_confirm(const McpTool *tool, const ConfigValue *arguments, Error *err) {
    if (tool->needs_confirm && !is_true(config_find(arguments, STR("confirm")))) {
        Status status = error_set(err, ERROR_PLAN, "%s changes the environment: it needs confirm: true", tool->name);
        error_hint(err, "call plan first, and look at what it says");
        return status;
    }
    return OK;
}

static Status run_call(const McpTool *tool, const ConfigValue *arguments, const Cli *server, Cli *cli,
                       ErrorList *faults) {
    AUTO(error) Error err = {0};
    StrVec words = words_of_call(tool, arguments, cli->arena);
    EventSink observer = cli->observer;
    CLI_TRY(refuse_without_confirm(tool, arguments, &err));
    CLI_TRY(mcp_cli_open(server, &words, cli->arena, cli, &err));
    cli->observer = observer;
    McpCall call = {.tool = tool, .arguments = arguments, .cli = cli};
    return tool->run != NULL ? tool->run(&call, faults) : cli->invocation->command->run(cli, faults);
}

static Str failure_text(const ErrorList *faults, Arena *arena) {
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < faults->count; i++) {
        strbuf_text(&text, i == 0 ? "" : "\n");
        strbuf_append(&text, error_line(&faults->items[i], arena));
        if (faults->items[i].hint.size > 0) {
            strbuf_text(&text, "\nhint: ");
            strbuf_append(&text, faults->items[i].hint);
        }
    }
    return strbuf_copy(&text, arena);
}

Status mcp_tool_call(const McpTool *tool, const ConfigValue *arguments, const Cli *server, EventSink events,
                     Arena *arena, Str *text_out) {
    AUTO(error_list) ErrorList faults = {0};
    error_list_init(&faults);
    Cli cli = {.arena = arena, .observer = events};
    Status status = run_call(tool, arguments, server, &cli, &faults);
    console_end_live(server->console);
    cli_send_notices(&cli);
    *text_out = failed(status) ? failure_text(&faults, arena) : str_trim(strbuf_copy(&cli.text, arena));
    strbuf_deinit(&cli.text);
    return status;
}
