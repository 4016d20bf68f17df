#include "config/key_table.h"

typedef void KeyChecker(const KeyCheck *check, const KeyRule *rule, const ConfigValue *value, Str path);

bool key_is_free(Str key) {
    return str_starts_with(key, STR("x-"));
}

static void take(const KeyCheck *check, Error *err, Status status) {
    if (failed(status)) {
        error_list_take(check->faults, err);
    }
}

static void add_fault(const KeyCheck *check, const ConfigValue *value, Str path, const char *expected) {
    AUTO(error) Error err;
    error_init(&err);
    error_set_at(&err, ERROR_CONFIGURATION, value->place, STR_FMT " must be %s, not %s", STR_ARG(path), expected,
                 config_kind_name(value->kind));
    error_code(&err, STR("value.type"));
    error_list_take(check->faults, &err);
}

static void check_text(const KeyCheck *check, const KeyRule *rule, const ConfigValue *value, Str path) {
    (void)rule;
    Str text;
    AUTO(error) Error err;
    error_init(&err);
    take(check, &err, config_as_text(value, str_to_c(check->arena, path), &text, &err));
}

static void check_int(const KeyCheck *check, const KeyRule *rule, const ConfigValue *value, Str path) {
    int64_t number;
    AUTO(error) Error err;
    error_init(&err);
    take(check, &err, config_as_int(value, str_to_c(check->arena, path), rule->minimum, &number, &err));
}

static void check_bool(const KeyCheck *check, const KeyRule *rule, const ConfigValue *value, Str path) {
    (void)rule;
    bool flag;
    AUTO(error) Error err;
    error_init(&err);
    take(check, &err, config_as_bool(value, str_to_c(check->arena, path), &flag, &err));
}

static Status choice_error(const KeyRule *rule, const ConfigValue *value, Str path, Arena *arena, Error *err) {
    Str list = str_join(arena, rule->choices, rule->choice_count, STR(", "));
    error_set_at(err, ERROR_CONFIGURATION, value->place, STR_FMT ": '" STR_FMT "' is not one of " STR_FMT,
                 STR_ARG(path), STR_ARG(value->text), STR_ARG(list));
    error_code(err, STR("value.choice"));
    const Str *nearest = str_nearest(value->text, rule->choices, rule->choice_count);
    if (nearest != NULL) {
        error_hint(err, "did you mean " STR_FMT "?", STR_ARG(*nearest));
    }
    return FAILED;
}

static Status check_chosen(const KeyRule *rule, const ConfigValue *value, Str path, Arena *arena, Error *err) {
    Str text;
    TRY(config_as_text(value, str_to_c(arena, path), &text, err));
    for (size_t i = 0; i < rule->choice_count; i++) {
        if (str_equal(text, rule->choices[i])) {
            return OK;
        }
    }
    return choice_error(rule, value, path, arena, err);
}

static void check_choice(const KeyCheck *check, const KeyRule *rule, const ConfigValue *value, Str path) {
    AUTO(error) Error err;
    error_init(&err);
    /* "${NAME:-}" leaves an empty text, which is as good as not set. */
    bool is_set = rule->required || value->kind != CONFIG_SCALAR || value->text.size > 0;
    take(check, &err, is_set ? check_chosen(rule, value, path, check->arena, &err) : OK);
}

static void check_text_list(const KeyCheck *check, const KeyRule *rule, const ConfigValue *value, Str path) {
    (void)rule;
    StrVec list;
    AUTO(error) Error err;
    error_init(&err);
    take(check, &err, config_as_text_list(value, str_to_c(check->arena, path), check->arena, &list, &err));
}

static void check_map(const KeyCheck *check, const KeyRule *rule, const ConfigValue *value, Str path) {
    if (value->kind != CONFIG_MAP) {
        add_fault(check, value, path, "a map");
        return;
    }
    key_table_check(check, rule->keys, value, path, path);
}

static void check_text_or_map(const KeyCheck *check, const KeyRule *rule, const ConfigValue *value, Str path) {
    if (value->kind == CONFIG_MAP) {
        key_table_check(check, rule->keys, value, path, path);
    } else if (value->kind != CONFIG_SCALAR) {
        add_fault(check, value, path, "text or a map");
    }
}

static Str path_below(Arena *arena, Str path, Str name) {
    return path.size == 0 ? name : str_format(arena, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(name));
}

static void check_named_maps(const KeyCheck *check, const KeyRule *rule, const ConfigValue *value, Str path) {
    if (value->kind != CONFIG_MAP) {
        add_fault(check, value, path, "a map of names");
        return;
    }
    for (size_t i = 0; i < value->count; i++) {
        const ConfigEntry *entry = &value->entries[i];
        Str entry_path = path_below(check->arena, path, entry->key);
        if (key_is_free(entry->key) || entry->value->kind == CONFIG_NULL) {
            continue;
        }
        if (entry->value->kind != CONFIG_MAP) {
            add_fault(check, entry->value, entry_path, "a map");
        } else if (rule->keys != NULL) {
            key_table_check(check, rule->keys, entry->value, entry_path, entry_path);
        }
    }
}

static void check_named_texts(const KeyCheck *check, const KeyRule *rule, const ConfigValue *value, Str path) {
    if (value->kind != CONFIG_MAP) {
        add_fault(check, value, path, "a map of names");
        return;
    }
    for (size_t i = 0; i < value->count; i++) {
        const ConfigEntry *entry = &value->entries[i];
        if (!key_is_free(entry->key) && entry->value->kind != CONFIG_NULL) {
            check_text(check, rule, entry->value, path_below(check->arena, path, entry->key));
        }
    }
}

static void check_nothing(const KeyCheck *check, const KeyRule *rule, const ConfigValue *value, Str path) {
    (void)check;
    (void)rule;
    (void)value;
    (void)path;
}

typedef struct ShapeRow {
    KeyChecker *check;
    const char *name; /* on the reference page */
} ShapeRow;

/* clang-format off */
static const ShapeRow shapes[] = {
    [KEY_TEXT]        = {check_text,        "text"},
    [KEY_INT]         = {check_int,         "whole number"},
    [KEY_BOOL]        = {check_bool,        "true or false"},
    [KEY_CHOICE]      = {check_choice,      "one of"},
    [KEY_TEXT_LIST]   = {check_text_list,   "list of text"},
    [KEY_MAP]         = {check_map,         "map"},
    [KEY_TEXT_OR_MAP] = {check_text_or_map, "text or map"},
    [KEY_NAMED_MAPS]  = {check_named_maps,  "map of names"},
    [KEY_NAMED_TEXTS] = {check_named_texts, "map of names to values"},
    [KEY_ANY]         = {check_nothing,     "any"},
};
/* clang-format on */
static_assert(COUNT_OF(shapes) == KEY_SHAPE_COUNT, "one row per KeyShape");

static bool is_empty(const ConfigValue *value) {
    return value->kind == CONFIG_NULL || (value->kind == CONFIG_SCALAR && value->text.size == 0) ||
           ((value->kind == CONFIG_MAP || value->kind == CONFIG_LIST) && value->count == 0);
}

static void add_later_fault(const KeyCheck *check, const KeyRule *rule, const ConfigEntry *entry, Str path) {
    ErrorKind kind = rule->release == KEY_REFUSED_AS_CONFIG ? ERROR_CONFIGURATION : ERROR_PLAN;
    AUTO(error) Error err;
    error_init(&err);
    error_set_at(&err, kind, entry->place, "%s: '" STR_FMT "' is not in this release", rule->meaning, STR_ARG(path));
    error_code(&err, STR("feature.later"));
    error_detail(&err, STR("key"), path);
    error_list_take(check->faults, &err);
}

static void apply_release(const KeyCheck *check, const KeyRule *rule, const ConfigEntry *entry, Str path) {
    if (is_empty(entry->value)) {
        return;
    }
    switch (rule->release) {
    case KEY_READY:
    case KEY_REFUSED_ON_USE:
        break;
    case KEY_WITHOUT_EFFECT:
        str_vec_push(check->arena, check->warnings,
                     str_format(check->arena, "'" STR_FMT "' has no effect in this release (" STR_FMT ":%zu)",
                                STR_ARG(path), STR_ARG(entry->place.file), entry->place.line));
        break;
    case KEY_REFUSED:
    case KEY_REFUSED_AS_CONFIG:
        add_later_fault(check, rule, entry, path);
        break;
    }
}

static const KeyRule *find_rule(const KeyTable *table, Str name) {
    for (size_t i = 0; i < table->count; i++) {
        if (str_equal(table->rules[i].name, name)) {
            return &table->rules[i];
        }
    }
    return NULL;
}

static void check_required(const KeyCheck *check, const KeyTable *table, const ConfigValue *map, Str path) {
    for (size_t i = 0; i < table->count; i++) {
        const KeyRule *rule = &table->rules[i];
        const ConfigValue *value = config_find(map, rule->name);
        if (!rule->required || (value != NULL && value->kind != CONFIG_NULL)) {
            continue;
        }
        AUTO(error) Error err;
        error_init(&err);
        error_set_at(&err, ERROR_CONFIGURATION, map->place, STR_FMT " needs '" STR_FMT "'", STR_ARG(path),
                     STR_ARG(rule->name));
        error_code(&err, STR("key.missing"));
        error_list_take(check->faults, &err);
    }
}

static void add_unknown_key(const KeyCheck *check, const KeyTable *table, const ConfigEntry *entry, Str where) {
    Str *known = ARENA_NEW_ARRAY(check->arena, Str, table->count);
    for (size_t i = 0; i < table->count; i++) {
        known[i] = table->rules[i].name;
    }
    AUTO(error) Error err;
    error_init(&err);
    take(check, &err,
         config_check_key(entry, known, table->count, str_to_c(check->arena, where), ERROR_CONFIGURATION, &err));
}

void key_table_check(const KeyCheck *check, const KeyTable *table, const ConfigValue *map, Str where, Str path) {
    for (size_t i = 0; i < map->count; i++) {
        const ConfigEntry *entry = &map->entries[i];
        const KeyRule *rule = find_rule(table, entry->key);
        if (rule == NULL) {
            add_unknown_key(check, table, entry, where);
            continue;
        }
        if (entry->value->kind == CONFIG_NULL) {
            continue;
        }
        Str entry_path = path_below(check->arena, path, entry->key);
        shapes[rule->shape].check(check, rule, entry->value, entry_path);
        apply_release(check, rule, entry, entry_path);
    }
    check_required(check, table, map, path);
}

static void write_shape(const KeyRule *rule, StrBuf *out) {
    strbuf_text(out, shapes[rule->shape].name);
    if (rule->shape == KEY_INT) {
        strbuf_format(out, " ≥ %lld", (long long)rule->minimum);
    }
    for (size_t i = 0; i < rule->choice_count; i++) {
        strbuf_format(out, "%s`" STR_FMT "`", i == 0 ? " " : ", ", STR_ARG(rule->choices[i]));
    }
}

static const char *release_note(KeyRelease release) {
    switch (release) {
    case KEY_READY:
        return "";
    case KEY_WITHOUT_EFFECT:
        return " Accepted, without effect in this release.";
    case KEY_REFUSED:
    case KEY_REFUSED_AS_CONFIG:
    case KEY_REFUSED_ON_USE:
        return " Not in this release: refused.";
    }
    return "";
}

static void write_default(const KeyRule *rule, StrBuf *out) {
    if (rule->required) {
        strbuf_text(out, "required");
    } else if (rule->standard != NULL) {
        strbuf_format(out, "`%s`", rule->standard);
    } else {
        strbuf_text(out, "not set");
    }
}

void key_table_write_reference(const KeyTable *table, StrBuf *out) {
    strbuf_format(out, "## %s\n\n%s\n\n| Key | Type | Default | Meaning |\n|---|---|---|---|\n", table->title,
                  table->about);
    for (size_t i = 0; i < table->count; i++) {
        const KeyRule *rule = &table->rules[i];
        strbuf_format(out, "| `" STR_FMT "` | ", STR_ARG(rule->name));
        write_shape(rule, out);
        strbuf_text(out, " | ");
        write_default(rule, out);
        strbuf_format(out, " | %s.%s |\n", rule->meaning, release_note(rule->release));
    }
}
