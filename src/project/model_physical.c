/* The keys `indexes`, `constraints` and `schema`: their form (spec 01 §12.3, §12.4). Creating the objects is the
 * business of whoever writes the table. */
#include "project/model_key_readers.h"

#include "config/scalar.h"

#define NAME_SIZE_MAX 63 /* of an index or a constraint: the shortest limit among the engines */

static Status check_column(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Str name,
                           Error *err) {
    return str_is_identifier(name) ? OK
                                   : key_refuse(reader, key, value, err,
                                                "names a column '" STR_FMT "', which is no identifier", STR_ARG(name));
}

static Status check_columns(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    StrVec columns;
    TRY(key_list(reader, key, "as the name of a column", value, &columns, err));
    if (columns.count == 0) {
        return key_refuse(reader, key, value, err, "must name at least one column");
    }
    for (size_t i = 0; i < columns.count; i++) {
        TRY(check_column(reader, key, value, columns.items[i], err));
    }
    return OK;
}

static Status check_object_name(const ModelReader *reader, const ModelKey *key, const ConfigValue *map, Error *err) {
    const ConfigValue *value = config_find(map, STR("name"));
    if (value == NULL || value->kind == CONFIG_NULL) {
        return OK;
    }
    Str name;
    TRY(key_text(reader, key, "as a name", value, &name, err));
    if (!str_is_identifier(name) || name.size > NAME_SIZE_MAX) {
        return key_refuse(reader, key, value, err,
                          "must have an identifier of at most %d bytes as a name, not '" STR_FMT "'", NAME_SIZE_MAX,
                          STR_ARG(name));
    }
    return OK;
}

static Status check_flag(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    bool flag;
    bool is_sound = value == NULL || value->kind == CONFIG_NULL ||
                    (value->kind == CONFIG_SCALAR && scalar_to_bool(value->text, &flag));
    return is_sound ? OK : key_refuse(reader, key, value, err, "must have true or false for unique");
}

/* ---- Indexes: a column, a list of columns, or a map. */

static Status check_index_map(const ModelReader *reader, const ModelKey *key, const ConfigValue *map, Error *err) {
    static const Str known[] = {STR_INIT("columns"), STR_INIT("unique"), STR_INIT("name")};
    TRY(key_known(reader, key, map, known, COUNT_OF(known), err));
    const ConfigValue *columns = config_find(map, STR("columns"));
    if (columns == NULL) {
        return key_refuse(reader, key, map, err, "must have columns in each index");
    }
    TRY(check_columns(reader, key, columns, err));
    TRY(check_flag(reader, key, config_find(map, STR("unique")), err));
    return check_object_name(reader, key, map, err);
}

Status read_indexes(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    if (value->kind == CONFIG_MAP) {
        return key_refuse(reader, key, value, err, "must be a list, not a map");
    }
    bool is_list = value->kind == CONFIG_LIST;
    size_t count = is_list ? value->count : 1;
    for (size_t i = 0; i < count; i++) {
        const ConfigValue *index = is_list ? value->items[i] : value;
        TRY(index->kind == CONFIG_MAP ? check_index_map(reader, key, index, err)
                                      : check_columns(reader, key, index, err));
    }
    return read_value(reader, key, value, err);
}

/* ---- Constraints: {type: parameters}, or {type: …, parameters …} */

typedef enum ConstraintForm {
    CONSTRAINT_COLUMNS,    /* one or several columns */
    CONSTRAINT_EXPRESSION, /* {expression} */
    CONSTRAINT_REFERENCE   /* {columns, to, fields} */
} ConstraintForm;

typedef struct ConstraintType {
    Str name;
    ConstraintForm form;
} ConstraintType;

/* clang-format off */
static const ConstraintType constraint_types[] = {
    {STR_INIT("primary_key"), CONSTRAINT_COLUMNS},
    {STR_INIT("unique"),      CONSTRAINT_COLUMNS},
    {STR_INIT("not_null"),    CONSTRAINT_COLUMNS},
    {STR_INIT("check"),       CONSTRAINT_EXPRESSION},
    {STR_INIT("foreign_key"), CONSTRAINT_REFERENCE},
};

typedef struct ConstraintParameter {
    ConstraintForm form;
    Str name;
} ConstraintParameter;

static const ConstraintParameter constraint_parameters[] = {
    {CONSTRAINT_COLUMNS,    STR_INIT("columns")},
    {CONSTRAINT_EXPRESSION, STR_INIT("expression")},
    {CONSTRAINT_REFERENCE,  STR_INIT("columns")},
    {CONSTRAINT_REFERENCE,  STR_INIT("to")},
    {CONSTRAINT_REFERENCE,  STR_INIT("fields")},
};
/* clang-format on */

static const ConstraintType *find_constraint(Str name) {
    for (size_t i = 0; i < COUNT_OF(constraint_types); i++) {
        if (str_equal(constraint_types[i].name, name)) {
            return &constraint_types[i];
        }
    }
    return NULL;
}

static bool is_parameter_of(ConstraintForm form, Str name) {
    for (size_t i = 0; i < COUNT_OF(constraint_parameters); i++) {
        if (constraint_parameters[i].form == form && str_equal(constraint_parameters[i].name, name)) {
            return true;
        }
    }
    return str_equal(name, STR("name"));
}

static Status check_parameter(const ModelReader *reader, const ModelKey *key, Str name, const ConfigValue *value,
                              Error *err) {
    Str text;
    if (str_equal(name, STR("columns")) || str_equal(name, STR("fields"))) {
        return check_columns(reader, key, value, err);
    }
    return key_text(reader, key, "in a constraint", value, &text, err);
}

/* `map` holds the parameters, and `type` too in the explicit form. */
static Status check_parameters(const ModelReader *reader, const ModelKey *key, const ConstraintType *type,
                               const ConfigValue *map, Error *err) {
    for (size_t i = 0; i < map->count; i++) {
        const ConfigEntry *entry = &map->entries[i];
        if (str_equal(entry->key, STR("type"))) {
            continue;
        }
        if (!is_parameter_of(type->form, entry->key)) {
            return key_refuse(reader, key, map, err, "has no '" STR_FMT "' in a " STR_FMT " constraint",
                              STR_ARG(entry->key), STR_ARG(type->name));
        }
        TRY(check_parameter(reader, key, entry->key, entry->value, err));
    }
    for (size_t i = 0; i < COUNT_OF(constraint_parameters); i++) {
        const ConstraintParameter *parameter = &constraint_parameters[i];
        if (parameter->form == type->form && config_find(map, parameter->name) == NULL) {
            return key_refuse(reader, key, map, err, "must have " STR_FMT " in a " STR_FMT " constraint",
                              STR_ARG(parameter->name), STR_ARG(type->name));
        }
    }
    const ConfigValue *columns = config_find(map, STR("columns"));
    bool has_several = columns != NULL && columns->kind == CONFIG_LIST && columns->count > 1;
    if (has_several && str_equal(type->name, STR("not_null")) && config_find(map, STR("name")) != NULL) {
        return key_refuse(reader, key, map, err,
                          "has one name for a not_null of several columns: write one entry for each column");
    }
    return check_object_name(reader, key, map, err);
}

static Status unknown_constraint(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Str name,
                                 Error *err) {
    return key_refuse(reader, key, value, err,
                      "has no constraint '" STR_FMT "'; there are primary_key, unique, not_null, check, foreign_key",
                      STR_ARG(name));
}

static Status check_constraint(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    if (value->kind != CONFIG_MAP || value->count == 0) {
        return key_refuse(reader, key, value, err, "must be a list of maps");
    }
    const ConfigValue *type_value = config_find(value, STR("type"));
    Str name = value->entries[0].key;
    if (type_value != NULL) {
        TRY(key_text(reader, key, "as the type of a constraint", type_value, &name, err));
    } else if (value->count != 1) {
        return key_refuse(reader, key, value, err, "must have one type in each constraint, or write `type:`");
    }
    const ConstraintType *type = find_constraint(name);
    if (type == NULL) {
        return unknown_constraint(reader, key, value, name, err);
    }
    const ConfigValue *parameters = type_value != NULL ? value : value->entries[0].value;
    if (parameters->kind == CONFIG_MAP) {
        return check_parameters(reader, key, type, parameters, err);
    }
    return type->form == CONSTRAINT_COLUMNS
               ? check_columns(reader, key, parameters, err)
               : key_refuse(reader, key, parameters, err, "must have a map in a " STR_FMT " constraint", STR_ARG(name));
}

Status read_constraints(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    if (value->kind != CONFIG_LIST) {
        return key_refuse(reader, key, value, err, "must be a list, not %s", config_kind_name(value->kind));
    }
    for (size_t i = 0; i < value->count; i++) {
        TRY(check_constraint(reader, key, value->items[i], err));
    }
    return read_value(reader, key, value, err);
}

/* ---- Policy */

typedef struct PolicyWord {
    Str part, word;
} PolicyWord;

/* clang-format off */
static const PolicyWord policy_words[] = {
    {STR_INIT("columns"),     STR_INIT("additive")},
    {STR_INIT("columns"),     STR_INIT("reject")},
    {STR_INIT("columns"),     STR_INIT("ignore")},
    {STR_INIT("indexes"),     STR_INIT("manage")},
    {STR_INIT("indexes"),     STR_INIT("ignore")},
    {STR_INIT("constraints"), STR_INIT("manage")},
    {STR_INIT("constraints"), STR_INIT("ignore")},
};
/* clang-format on */

static bool is_policy_word(Str part, Str word) {
    for (size_t i = 0; i < COUNT_OF(policy_words); i++) {
        if (str_equal(policy_words[i].part, part) && str_equal(policy_words[i].word, word)) {
            return true;
        }
    }
    return false;
}

Status read_schema_policy(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    static const Str known[] = {STR_INIT("columns"), STR_INIT("indexes"), STR_INIT("constraints")};
    TRY(key_known(reader, key, value, known, COUNT_OF(known), err));
    for (size_t i = 0; i < value->count; i++) {
        const ConfigEntry *entry = &value->entries[i];
        Str word;
        TRY(key_text(reader, key, "as a policy", entry->value, &word, err));
        if (!is_policy_word(entry->key, word)) {
            return key_refuse(reader, key, entry->value, err, "has no policy '" STR_FMT "' for " STR_FMT, STR_ARG(word),
                              STR_ARG(entry->key));
        }
    }
    return read_value(reader, key, value, err);
}
