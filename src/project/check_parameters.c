/* What each type of check takes, in one table, and how its values are read (spec 05 §2). */
#include "project/check_read.h"

#include "base/clock.h"
#include "config/scalar.h"
#include "project/check_regex.h"
#include "project/model_refusal.h"

typedef enum CheckParameterKind {
    PARAMETER_VALUES,
    PARAMETER_MINIMUM,
    PARAMETER_MAXIMUM,
    PARAMETER_REGEX,
    PARAMETER_MAX_AGE,
    PARAMETER_TO,
    PARAMETER_FIELD,
    PARAMETER_EXPRESSION,
    PARAMETER_QUERY,
    PARAMETER_WHERE,
    PARAMETER_KIND_COUNT
} CheckParameterKind;

#define BIT(parameter) (1u << (parameter))
#define BOUNDS (BIT(PARAMETER_MINIMUM) | BIT(PARAMETER_MAXIMUM))
#define COLUMNS_ANY SIZE_MAX

typedef struct CheckRule {
    bool has_short_form; /* `not_null: id` */
    size_t columns_max;  /* 0: none; else at least one */
    unsigned allowed, required;
    bool needs_bound;
} CheckRule;

/* clang-format off */
static const CheckRule check_rules[CHECK_PYTHON] = {
    [CHECK_NOT_NULL]        = {true,  COLUMNS_ANY, BIT(PARAMETER_WHERE), 0, false},
    [CHECK_UNIQUE]          = {true,  COLUMNS_ANY, BIT(PARAMETER_WHERE), 0, false},
    [CHECK_ACCEPTED_VALUES] = {true,  1, BIT(PARAMETER_WHERE) | BIT(PARAMETER_VALUES), BIT(PARAMETER_VALUES), false},
    [CHECK_RANGE]           = {true,  1, BIT(PARAMETER_WHERE) | BOUNDS, 0, true},
    [CHECK_PATTERN]         = {true,  1, BIT(PARAMETER_WHERE) | BIT(PARAMETER_REGEX), BIT(PARAMETER_REGEX), false},
    [CHECK_FRESHNESS]       = {true,  1, BIT(PARAMETER_WHERE) | BIT(PARAMETER_MAX_AGE), BIT(PARAMETER_MAX_AGE), false},
    [CHECK_RELATIONSHIPS]   = {false, 1, BIT(PARAMETER_WHERE) | BIT(PARAMETER_TO) | BIT(PARAMETER_FIELD),
                               BIT(PARAMETER_TO) | BIT(PARAMETER_FIELD), false},
    [CHECK_ROW_COUNT]       = {false, 0, BOUNDS, 0, true},
    [CHECK_EXPRESSION]      = {false, 0, BIT(PARAMETER_EXPRESSION), BIT(PARAMETER_EXPRESSION), false},
    [CHECK_SQL]             = {false, 0, BIT(PARAMETER_QUERY), BIT(PARAMETER_QUERY), false},
};
/* clang-format on */

/* ---- Readers of parameters */

static Status read_word(const CheckReader *reader, const char *name, const ConfigValue *value, Str *text_out,
                        Error *err) {
    if (value->kind != CONFIG_SCALAR || value->text.size == 0) {
        return check_refuse(reader, value, err, "needs a text in '%s'", name);
    }
    *text_out = value->text;
    return OK;
}

/* A plain scalar as YAML reads numbers, or a decimal number in quotes. Infinities are none. */
static bool is_number(const ConfigValue *value) {
    int64_t whole;
    double number;
    return str_to_double(value->text, &number) || (!value->quoted && scalar_to_int(value->text, &whole));
}

static Status read_values(CheckReader *reader, const ConfigValue *value, Error *err) {
    if (value->kind != CONFIG_LIST) {
        return check_refuse(reader, value, err, "needs a list in 'values', not %s", config_kind_name(value->kind));
    }
    for (size_t i = 0; i < value->count; i++) {
        const ConfigValue *item = value->items[i];
        if (item->kind != CONFIG_SCALAR) {
            return check_refuse(reader, item, err, "needs texts, numbers or booleans in 'values', not %s",
                                config_kind_name(item->kind));
        }
        if (item->is_number && !item->quoted && !is_number(item)) {
            return check_refuse(reader, item, err, "needs decimal numbers in 'values', not '" STR_FMT "'",
                                STR_ARG(item->text));
        }
    }
    reader->check->values = value;
    return OK;
}

static bool is_iso_time(const ConfigValue *value) {
    AUTO(error) Error ignored;
    error_init(&ignored);
    TimeUs time_us;
    return !failed(time_parse_iso(value->text, &time_us, &ignored));
}

static Status read_bound(CheckReader *reader, const char *name, const ConfigValue *value, Error *err) {
    bool counts = reader->check->type == CHECK_ROW_COUNT;
    int64_t number;
    bool is_sound = value->kind == CONFIG_SCALAR && (counts ? str_to_int64(value->text, &number) && number >= 0
                                                            : is_number(value) || is_iso_time(value));
    return is_sound ? OK
                    : check_refuse(reader, value, err,
                                   counts ? "needs a whole number of at least 0 in '%s'"
                                          : "needs a number, a date or a timestamp in '%s'",
                                   name);
}

static Status read_minimum(CheckReader *reader, const ConfigValue *value, Error *err) {
    reader->check->minimum = value;
    return read_bound(reader, "min", value, err);
}

static Status read_maximum(CheckReader *reader, const ConfigValue *value, Error *err) {
    reader->check->maximum = value;
    return read_bound(reader, "max", value, err);
}

static Status read_regex(CheckReader *reader, const ConfigValue *value, Error *err) {
    TRY(read_word(reader, "regex", value, &reader->check->regex, err));
    const char *fault = regex_find_fault(value->text);
    return fault == NULL
               ? OK
               : check_refuse(reader, value, err, "has a regex '" STR_FMT "' with %s", STR_ARG(value->text), fault);
}

static Status read_max_age(CheckReader *reader, const ConfigValue *value, Error *err) {
    Str text;
    TRY(read_word(reader, "max_age", value, &text, err));
    AUTO(error) Error cause;
    error_init(&cause);
    if (failed(duration_parse(text, &reader->check->max_age_us, &cause)) || reader->check->max_age_us == 0) {
        return check_refuse(reader, value, err, "needs a duration as in `24h` in 'max_age', not '" STR_FMT "'",
                            STR_ARG(text));
    }
    return OK;
}

static Status read_to(CheckReader *reader, const ConfigValue *value, Error *err) {
    Str name;
    TRY(read_word(reader, "to", value, &name, err));
    const Model *parent = str_map_find(reader->load->project->by_name, name);
    if (parent == NULL && reader->load->has_hidden_models) {
        return OK; /* the project does not load in any case */
    }
    if (parent == NULL) {
        Str nearest = project_nearest_model(reader->load, name);
        return check_refuse(reader, value, err, "refers in 'to' to '" STR_FMT "', which is no model" STR_FMT,
                            STR_ARG(name), STR_ARG(nearest));
    }
    reader->check->to = parent->index;
    return check_add_read(reader, parent, err);
}

static Status read_field(CheckReader *reader, const ConfigValue *value, Error *err) {
    return read_word(reader, "field", value, &reader->check->field, err);
}

static Status read_expression(CheckReader *reader, const ConfigValue *value, Error *err) {
    TRY(read_word(reader, "expression", value, &reader->check->expression, err));
    return check_read_predicate(reader, value, &reader->check->expression_sql, err);
}

static Status read_query(CheckReader *reader, const ConfigValue *value, Error *err) {
    TRY(read_word(reader, "query", value, &reader->check->query, err));
    return check_read_query(reader, value, err);
}

static Status read_where(CheckReader *reader, const ConfigValue *value, Error *err) {
    TRY(read_word(reader, "where", value, &reader->check->where, err));
    return check_read_predicate(reader, value, &reader->check->where_sql, err);
}

typedef struct CheckParameter {
    Str name;
    Status (*read)(CheckReader *reader, const ConfigValue *value, Error *err);
} CheckParameter;

/* clang-format off */
static const CheckParameter check_parameters[] = {
    [PARAMETER_VALUES]     = {STR_INIT("values"),     read_values},
    [PARAMETER_MINIMUM]    = {STR_INIT("min"),        read_minimum},
    [PARAMETER_MAXIMUM]    = {STR_INIT("max"),        read_maximum},
    [PARAMETER_REGEX]      = {STR_INIT("regex"),      read_regex},
    [PARAMETER_MAX_AGE]    = {STR_INIT("max_age"),    read_max_age},
    [PARAMETER_TO]         = {STR_INIT("to"),         read_to},
    [PARAMETER_FIELD]      = {STR_INIT("field"),      read_field},
    [PARAMETER_EXPRESSION] = {STR_INIT("expression"), read_expression},
    [PARAMETER_QUERY]      = {STR_INIT("query"),      read_query},
    [PARAMETER_WHERE]      = {STR_INIT("where"),      read_where},
};
static_assert(COUNT_OF(check_parameters) == PARAMETER_KIND_COUNT, "one row per CheckParameterKind");

/* What every check takes. */
static const Str common_keys[] = {
    STR_INIT("type"), STR_INIT("column"), STR_INIT("columns"), STR_INIT("severity"), STR_INIT("name"),
    STR_INIT("description"),
};
/* clang-format on */

/* ---- Columns */

static Status add_column(CheckReader *reader, const ConfigValue *value, Error *err) {
    StrVec *columns = &reader->check->columns;
    if (value->kind != CONFIG_SCALAR || value->text.size == 0) {
        return check_refuse(reader, value, err, "needs names of columns, not %s",
                            value->kind == CONFIG_SCALAR ? "an empty text" : config_kind_name(value->kind));
    }
    if (str_vec_contains(columns, value->text)) {
        return check_refuse(reader, value, err, "names the column '" STR_FMT "' twice", STR_ARG(value->text));
    }
    str_vec_push(reader->load->arena, columns, value->text);
    return OK;
}

static Status add_columns(CheckReader *reader, const ConfigValue *value, Error *err) {
    if (value == NULL || value->kind == CONFIG_NULL) {
        return OK;
    }
    if (value->kind != CONFIG_LIST) {
        return add_column(reader, value, err);
    }
    for (size_t i = 0; i < value->count; i++) {
        TRY(add_column(reader, value->items[i], err));
    }
    return OK;
}

static Status check_column_count(const CheckReader *reader, const CheckRule *rule, Error *err) {
    size_t count = reader->check->columns.count;
    if (rule->columns_max == 0) {
        return count == 0 ? OK : check_refuse(reader, NULL, err, "looks at the whole table and takes no column");
    }
    if (count == 0) {
        return check_refuse(reader, NULL, err, "needs a column");
    }
    return count <= rule->columns_max ? OK : check_refuse(reader, NULL, err, "takes one column, not %zu", count);
}

static Status read_columns(CheckReader *reader, const CheckRule *rule, const CheckEntry *entry, Error *err) {
    if (entry->columns != NULL && !rule->has_short_form) {
        return check_refuse(reader, entry->columns, err, "needs a map, as in `%s: {…}`",
                            check_type_name(reader->check->type));
    }
    const ConfigValue *column = config_find(entry->parameters, STR("column"));
    const ConfigValue *columns = config_find(entry->parameters, STR("columns"));
    if (column != NULL && columns != NULL) {
        return check_refuse(reader, columns, err, "has both 'column' and 'columns'");
    }
    TRY(add_columns(reader, entry->columns, err));
    TRY(add_columns(reader, column, err));
    TRY(add_columns(reader, columns, err));
    return check_column_count(reader, rule, err);
}

/* ---- Parameters */

static const CheckParameter *find_parameter(const CheckRule *rule, Str name) {
    for (size_t i = 0; i < COUNT_OF(check_parameters); i++) {
        if ((rule->allowed & BIT(i)) && str_equal(check_parameters[i].name, name)) {
            return &check_parameters[i];
        }
    }
    return NULL;
}

static bool is_common(Str name) {
    for (size_t i = 0; i < COUNT_OF(common_keys); i++) {
        if (str_equal(common_keys[i], name)) {
            return true;
        }
    }
    return false;
}

static Status refuse_parameter(const CheckReader *reader, const CheckRule *rule, const ConfigEntry *entry, Error *err) {
    AUTO(strbuf) StrBuf known = {0};
    for (size_t i = 0; i < COUNT_OF(check_parameters); i++) {
        if (rule->allowed & BIT(i)) {
            strbuf_format(&known, STR_FMT ", ", STR_ARG(check_parameters[i].name));
        }
    }
    SourceSpan place = model_place_of(reader->model, entry->place);
    return model_refuse(reader->model, place, "check.value", err,
                        "check '%s' has no '" STR_FMT "'; it takes %s%sseverity, name, description",
                        check_type_name(reader->check->type), STR_ARG(entry->key), strbuf_c(&known),
                        rule->columns_max > 0 ? "column, " : "");
}

static Status read_given(CheckReader *reader, const CheckRule *rule, const ConfigValue *map, Error *err) {
    for (size_t i = 0; map != NULL && i < map->count; i++) {
        const ConfigEntry *entry = &map->entries[i];
        if (is_common(entry->key)) {
            continue;
        }
        const CheckParameter *parameter = find_parameter(rule, entry->key);
        if (parameter == NULL) {
            return refuse_parameter(reader, rule, entry, err);
        }
        if (entry->value->kind != CONFIG_NULL) {
            TRY(parameter->read(reader, entry->value, err));
        }
    }
    return OK;
}

static bool is_given(const ConfigValue *map, Str name) {
    const ConfigValue *value = config_find(map, name);
    return value != NULL && value->kind != CONFIG_NULL;
}

static Status check_bounds(const CheckReader *reader, Error *err) {
    const Check *check = reader->check;
    double low, high;
    if (check->minimum == NULL && check->maximum == NULL) {
        return check_refuse(reader, NULL, err, "needs min: or max:");
    }
    if (check->minimum != NULL && check->maximum != NULL && str_to_double(check->minimum->text, &low) &&
        str_to_double(check->maximum->text, &high) && low > high) {
        return check_refuse(reader, check->minimum, err, "has a min above its max");
    }
    return OK;
}

static Status check_required(const CheckReader *reader, const CheckRule *rule, const ConfigValue *map, Error *err) {
    for (size_t i = 0; i < COUNT_OF(check_parameters); i++) {
        if ((rule->required & BIT(i)) && !is_given(map, check_parameters[i].name)) {
            return check_refuse(reader, NULL, err, "needs " STR_FMT ":", STR_ARG(check_parameters[i].name));
        }
    }
    return rule->needs_bound ? check_bounds(reader, err) : OK;
}

static Status read_common(CheckReader *reader, const ConfigValue *map, Error *err) {
    const ConfigValue *severity = config_find(map, STR("severity"));
    SourceSpan place = severity == NULL ? reader->check->place : model_place_of(reader->model, severity->place);
    TRY(check_read_severity(reader->model, severity, place, &reader->check->severity, err));
    if (is_given(map, STR("name"))) {
        TRY(read_word(reader, "name", config_find(map, STR("name")), &reader->check->name, err));
    }
    if (is_given(map, STR("description"))) {
        TRY(read_word(reader, "description", config_find(map, STR("description")), &reader->check->description, err));
    }
    return OK;
}

Status check_read_entry(CheckReader *reader, const CheckEntry *entry, Error *err) {
    const CheckRule *rule = &check_rules[reader->check->type];
    TRY(read_columns(reader, rule, entry, err));
    TRY(read_common(reader, entry->parameters, err));
    TRY(read_given(reader, rule, entry->parameters, err));
    return check_required(reader, rule, entry->parameters, err);
}
