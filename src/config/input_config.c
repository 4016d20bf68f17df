#include "config/input_config.h"

#include "config/engine_config.h"
#include "config/path_tokens.h"
#include "config/variables.h"

typedef struct InputReader {
    const KeyCheck *check;
    const ConfigValue *keys; /* the whole configuration */
} InputReader;

static const Str remote_schemes[] = {
    STR_INIT("s3"), STR_INIT("gs"), STR_INIT("gcs"), STR_INIT("r2"), STR_INIT("http"), STR_INIT("https"),
};

/* "s3" of s3://bucket/x; empty: a path of this machine. */
static Str scheme_of(Str path) {
    size_t end = str_find(path, STR("://"));
    return end == STR_NOT_FOUND ? STR_EMPTY : str_slice(path, 0, end);
}

static bool is_known_scheme(Str scheme) {
    for (size_t i = 0; i < COUNT_OF(remote_schemes); i++) {
        if (str_equal_fold(remote_schemes[i], scheme)) {
            return true;
        }
    }
    return false;
}

static Status refuse(const InputConfig *input, SourceSpan place, const char *code, Error *err, const char *format, ...)
    PRINTF_LIKE(5, 6);
static Status refuse(const InputConfig *input, SourceSpan place, const char *code, Error *err, const char *format,
                     ...) {
    AUTO(arena) Arena *scratch = arena_create();
    va_list arguments;
    va_start(arguments, format);
    Str text = str_format_v(scratch, format, arguments);
    va_end(arguments);
    error_set_at(err, ERROR_CONFIGURATION, place, "input '" STR_FMT "': " STR_FMT, STR_ARG(input->name), STR_ARG(text));
    error_code(err, str_from(code));
    return FAILED;
}

static SourceSpan place_of(const ConfigValue *map, Str key) {
    const ConfigValue *value = config_find(map, key);
    return value == NULL ? map->place : value->place;
}

static Status check_name(const InputConfig *input, const InputConfigVec *others, Error *err) {
    if (!str_is_identifier(input->name)) {
        return refuse(input, input->place, "input.name", err, "the name must be letters, digits and _");
    }
    for (size_t i = 0; i < others->count; i++) {
        if (str_equal_fold(others->items[i].name, input->name)) {
            return refuse(input, input->place, "input.name", err, "'" STR_FMT "' differs from it only in letter case",
                          STR_ARG(others->items[i].name));
        }
    }
    return OK;
}

static Status check_path(const InputReader *reader, const InputConfig *input, SourceSpan place, Error *err) {
    StrVec names = {0};
    Str unknown = path_tokens_unknown(input->path);
    if (input->path.size == 0) {
        return refuse(input, place, "key.value", err, "'path' is empty");
    }
    variables_collect(unknown, reader->check->arena, &names);
    if (names.count > 0) {
        refuse(input, place, "variable.unset", err, STR_FMT " is not set, neither in the environment nor in .env",
               STR_ARG(unknown));
        error_hint(err, "what every build fills in are ${date}, ${datetime} and ${workspace}");
        return FAILED;
    }
    Str scheme = scheme_of(input->path);
    if (scheme.size > 0 && !is_known_scheme(scheme)) {
        return refuse(input, place, "input.scheme", err,
                      "a path at '" STR_FMT "://' cannot be read; there are s3, gs, gcs, r2, http and https",
                      STR_ARG(scheme));
    }
    return OK;
}

static bool has_secret(const ConfigValue *keys, Str name) {
    return config_find(config_find(keys, STR("secrets")), name) != NULL;
}

static bool is_secret(const ConfigValue *keys, Str name) {
    const ConfigValue *engines = config_find(keys, STR("engines"));
    bool found = has_secret(keys, name);
    for (size_t i = 0; engines != NULL && engines->kind == CONFIG_MAP && i < engines->count; i++) {
        found = found || has_secret(engines->entries[i].value, name);
    }
    return found;
}

static Status check_connection(const InputReader *reader, const InputConfig *input, SourceSpan place, Error *err) {
    if (input->connection.size == 0) {
        return OK;
    }
    const ConfigValue *connection = config_find(config_find(reader->keys, STR("connections")), input->connection);
    Str type = config_text(connection, STR("type"));
    bool is_http = str_equal(type, STR("http"));
    if (connection != NULL && !is_http) {
        return refuse(input, place, "input.connection", err,
                      "connection '" STR_FMT "' is of type " STR_FMT "; files come over an http one or with a secret",
                      STR_ARG(input->connection), STR_ARG(type));
    }
    if (connection == NULL && !is_secret(reader->keys, input->connection)) {
        return refuse(input, place, "input.connection", err,
                      "connection: there is no connection or secret '" STR_FMT "'", STR_ARG(input->connection));
    }
    bool is_web = str_starts_with_fold(input->path, STR("http"));
    if (!input->is_remote || (is_http && !is_web)) {
        return refuse(input, place, "input.connection", err,
                      "connection '" STR_FMT "' has no effect on a path that is no %s", STR_ARG(input->connection),
                      is_http ? "http:// or https:// address" : "address");
    }
    return OK;
}

static Status check_watch(const InputConfig *input, SourceSpan place, Error *err) {
    if (input->watch && input->is_remote) {
        return refuse(input, place, "input.watch", err, "watch: only files of this machine can be watched");
    }
    return OK;
}

static Status check_options(const InputConfig *input, Error *err) {
    if (input->options != NULL && input->options->count > 0 && !str_equal(input->format, STR("csv"))) {
        return refuse(input, input->options->place, "key.misplaced", err,
                      "options: only csv has any, and the format is " STR_FMT, STR_ARG(input->format));
    }
    return OK;
}

static bool watch_of(const ConfigValue *map) {
    const ConfigValue *value = config_find(map, STR("watch"));
    bool watch = false;
    AUTO(error) Error ignored; /* a wrong shape was reported by the check of keys */
    error_init(&ignored);
    bool is_read = value != NULL && value->kind == CONFIG_SCALAR && value->text.size > 0 &&
                   !failed(config_as_bool(value, "", &watch, &ignored));
    return is_read && watch;
}

static const ConfigValue *options_of(const ConfigValue *map) {
    const ConfigValue *options = config_find(map, STR("options"));
    return options != NULL && options->kind == CONFIG_MAP ? options : NULL;
}

static Status read_input(const InputReader *reader, const ConfigEntry *entry, const InputConfigVec *others,
                         InputConfig *input_out, Error *err) {
    const ConfigValue *map = entry->value;
    Str path = config_text(map, STR("path"));
    *input_out = (InputConfig){
        .name = entry->key,
        .format = config_text(map, STR("format")),
        .path = path,
        .connection = config_text(map, STR("connection")),
        .watch = watch_of(map),
        .is_remote = scheme_of(path).size > 0,
        .options = options_of(map),
        .place = entry->place,
    };
    TRY(check_name(input_out, others, err));
    TRY(check_path(reader, input_out, place_of(map, STR("path")), err));
    TRY(check_connection(reader, input_out, place_of(map, STR("connection")), err));
    TRY(check_watch(input_out, place_of(map, STR("watch")), err));
    return check_options(input_out, err);
}

/* Without a path the check of keys has said so. */
static bool is_complete(const ConfigEntry *entry) {
    const ConfigValue *path = config_find(entry->value, STR("path"));
    return !key_is_free(entry->key) && entry->value->kind == CONFIG_MAP && path != NULL && path->kind == CONFIG_SCALAR;
}

void inputs_read(const KeyCheck *check, const ConfigValue *keys, const ConfigValue *inputs,
                 InputConfigVec *inputs_out) {
    InputReader reader = {.check = check, .keys = keys};
    for (size_t i = 0; i < inputs->count; i++) {
        if (!is_complete(&inputs->entries[i])) {
            continue;
        }
        InputConfig input;
        AUTO(error) Error err;
        error_init(&err);
        if (failed(read_input(&reader, &inputs->entries[i], inputs_out, &input, &err))) {
            error_list_take(check->faults, &err);
        } else {
            input_config_vec_push(check->arena, inputs_out, input);
        }
    }
}
