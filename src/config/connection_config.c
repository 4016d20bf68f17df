#include "config/connection_config.h"

#include "config/engine_config.h"
#include "config/project_keys.h"
#include "config/variables.h"

static const struct {
    Str type;
    const KeyTable *keys;
} connection_types[] = {
    {STR_INIT("http"), &http_connection_keys},
    {STR_INIT("postgres"), &postgres_connection_keys},
};

static const KeyTable *keys_of_type(Str type) {
    for (size_t i = 0; i < COUNT_OF(connection_types); i++) {
        if (str_equal(connection_types[i].type, type)) {
            return connection_types[i].keys;
        }
    }
    return NULL;
}

static void add_type_fault(const KeyCheck *check, const ConfigEntry *entry, Str type) {
    AUTO(error) Error err;
    error_init(&err);
    if (type.size == 0) {
        error_set_at(&err, ERROR_CONFIGURATION, entry->place, "connections." STR_FMT " needs 'type': http or postgres",
                     STR_ARG(entry->key));
    } else {
        error_set_at(&err, ERROR_CONFIGURATION, entry->place,
                     "connections." STR_FMT ": type '" STR_FMT "' is not one of http, postgres", STR_ARG(entry->key),
                     STR_ARG(type));
    }
    error_code(&err, STR("connection.type"));
    error_list_take(check->faults, &err);
}

static void collect_variables(const ConfigValue *value, Arena *arena, StrVec *names) {
    if (value->kind == CONFIG_SCALAR) {
        variables_collect(value->text, arena, names);
    }
    for (size_t i = 0; value->kind == CONFIG_MAP && i < value->count; i++) {
        collect_variables(value->entries[i].value, arena, names);
    }
}

static void check_variables(const KeyCheck *check, const ConfigEntry *entry) {
    StrVec names = {0};
    collect_variables(entry->value, check->arena, &names);
    if (names.count == 0) {
        return;
    }
    Str list = str_join(check->arena, names.items, names.count, STR(", "));
    AUTO(error) Error err;
    error_init(&err);
    error_set_at(&err, ERROR_CONFIGURATION, entry->place,
                 "connections." STR_FMT ": " STR_FMT " %s not set, neither in the environment nor in .env",
                 STR_ARG(entry->key), STR_ARG(list), names.count == 1 ? "is" : "are");
    error_code(&err, STR("variable.unset"));
    error_list_take(check->faults, &err);
}

/* A required text that a variable left empty is as good as absent. */
static void check_not_empty(const KeyCheck *check, const ConfigEntry *entry, const KeyTable *keys) {
    for (size_t i = 0; i < keys->count; i++) {
        const ConfigValue *value = config_find(entry->value, keys->rules[i].name);
        if (!keys->rules[i].required || value == NULL || value->kind != CONFIG_SCALAR || value->text.size > 0) {
            continue;
        }
        AUTO(error) Error err;
        error_init(&err);
        error_set_at(&err, ERROR_CONFIGURATION, value->place, "connections." STR_FMT ": '" STR_FMT "' is empty",
                     STR_ARG(entry->key), STR_ARG(keys->rules[i].name));
        error_list_take(check->faults, &err);
    }
}

static void check_connection(const KeyCheck *check, const ConfigEntry *entry) {
    Str type = config_text(entry->value, STR("type"));
    const KeyTable *keys = keys_of_type(type);
    if (keys == NULL) {
        add_type_fault(check, entry, type);
        return;
    }
    Str path = str_format(check->arena, "connections." STR_FMT, STR_ARG(entry->key));
    key_table_check(check, keys, entry->value, path, path);
    check_not_empty(check, entry, keys);
    check_variables(check, entry);
}

void connections_check(const KeyCheck *check, const ConfigValue *connections) {
    for (size_t i = 0; i < connections->count; i++) {
        const ConfigEntry *entry = &connections->entries[i];
        if (!key_is_free(entry->key) && entry->value->kind == CONFIG_MAP) {
            check_connection(check, entry);
        }
    }
}
