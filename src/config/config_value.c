#include "config/config_value.h"

#include "config/scalar.h"

const ConfigValue *config_find(const ConfigValue *map, Str key) {
    if (map == NULL || map->kind != CONFIG_MAP) {
        return NULL;
    }
    for (size_t i = 0; i < map->count; i++) {
        if (str_equal(map->entries[i].key, key)) {
            return map->entries[i].value;
        }
    }
    return NULL;
}

Str config_text(const ConfigValue *map, Str key) {
    const ConfigValue *value = config_find(map, key);
    return value != NULL && value->kind == CONFIG_SCALAR ? value->text : STR_EMPTY;
}

Str config_text_or(const ConfigValue *map, Str key, Str standard) {
    Str text = config_text(map, key);
    return text.size > 0 ? text : standard;
}

const char *config_kind_name(ConfigKind kind) {
    static const char *const names[] = {
        [CONFIG_NULL] = "null",
        [CONFIG_SCALAR] = "a single value",
        [CONFIG_LIST] = "a list",
        [CONFIG_MAP] = "a map",
    };
    return names[kind];
}

/* "parallelism must be a whole number of at least 1, not 'many'" */
static Status type_error(const ConfigValue *value, const char *what, const char *expected, Error *err) {
    if (value->kind == CONFIG_SCALAR) {
        error_set_at(err, ERROR_CONFIGURATION, value->place, "%s must be %s, not '" STR_FMT "'", what, expected,
                     STR_ARG(value->text));
    } else {
        error_set_at(err, ERROR_CONFIGURATION, value->place, "%s must be %s, not %s", what, expected,
                     config_kind_name(value->kind));
    }
    error_code(err, STR("value.type"));
    return FAILED;
}

Status config_as_text(const ConfigValue *value, const char *what, Str *text_out, Error *err) {
    if (value->kind != CONFIG_SCALAR) {
        return type_error(value, what, "text", err);
    }
    *text_out = value->text;
    return OK;
}

Status config_as_int(const ConfigValue *value, const char *what, int64_t minimum, int64_t *number_out, Error *err) {
    int64_t number;
    if (value->kind == CONFIG_SCALAR && scalar_to_int(value->text, &number) && number >= minimum) {
        *number_out = number;
        return OK;
    }
    AUTO(strbuf) StrBuf expected = {0};
    strbuf_text(&expected, "a whole number");
    if (minimum != INT64_MIN) {
        strbuf_format(&expected, " of at least %lld", (long long)minimum);
    }
    return type_error(value, what, strbuf_c(&expected), err);
}

Status config_as_bool(const ConfigValue *value, const char *what, bool *flag_out, Error *err) {
    if (value->kind == CONFIG_SCALAR && scalar_to_bool(value->text, flag_out)) {
        return OK;
    }
    return type_error(value, what, "true or false", err);
}

Status config_as_text_list(const ConfigValue *value, const char *what, Arena *arena, StrVec *list_out, Error *err) {
    StrVec list = {0};
    if (value->kind == CONFIG_MAP) {
        return type_error(value, what, "a list of texts", err);
    }
    if (value->kind == CONFIG_SCALAR) {
        str_vec_push(arena, &list, value->text);
    }
    for (size_t i = 0; value->kind == CONFIG_LIST && i < value->count; i++) {
        if (value->items[i]->kind != CONFIG_SCALAR) {
            return type_error(value->items[i], what, "a list of texts", err);
        }
        str_vec_push(arena, &list, value->items[i]->text);
    }
    *list_out = list;
    return OK;
}

static bool is_known(Str key, const Str *known, size_t known_count) {
    for (size_t i = 0; i < known_count; i++) {
        if (str_equal(key, known[i])) {
            return true;
        }
    }
    return str_starts_with(key, STR("x-"));
}

static void hint_known_keys(Error *err, const Str *known, size_t known_count) {
    AUTO(arena) Arena *scratch = arena_create();
    Str list = str_join(scratch, known, known_count, STR(", "));
    error_hint(err, "known keys: " STR_FMT, STR_ARG(list));
}

Status config_check_key(const ConfigEntry *entry, const Str *known, size_t known_count, const char *where,
                        ErrorKind kind, Error *err) {
    if (is_known(entry->key, known, known_count)) {
        return OK;
    }
    const Str *nearest = str_nearest(entry->key, known, known_count);
    if (nearest != NULL) {
        error_set_at(err, kind, entry->place, "unknown key '" STR_FMT "' in %s: did you mean " STR_FMT "?",
                     STR_ARG(entry->key), where, STR_ARG(*nearest));
        error_detail(err, STR("nearest"), *nearest);
    } else {
        error_set_at(err, kind, entry->place, "unknown key '" STR_FMT "' in %s", STR_ARG(entry->key), where);
        hint_known_keys(err, known, known_count);
    }
    error_code(err, STR("key.unknown"));
    error_detail(err, STR("key"), entry->key);
    return FAILED;
}

Status config_check_keys(const ConfigValue *map, const Str *known, size_t known_count, const char *where,
                         ErrorKind kind, Error *err) {
    for (size_t i = 0; map->kind == CONFIG_MAP && i < map->count; i++) {
        TRY(config_check_key(&map->entries[i], known, known_count, where, kind, err));
    }
    return OK;
}
