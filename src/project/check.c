/* Checks of all models: forms of an entry, names, Python checks. */
#include "project/check.h"

#include "project/check_read.h"
#include "project/model_refusal.h"

/* clang-format off */
static const Str check_type_names[] = {
    [CHECK_NOT_NULL]        = STR_INIT("not_null"),
    [CHECK_UNIQUE]          = STR_INIT("unique"),
    [CHECK_ACCEPTED_VALUES] = STR_INIT("accepted_values"),
    [CHECK_RANGE]           = STR_INIT("range"),
    [CHECK_PATTERN]         = STR_INIT("pattern"),
    [CHECK_FRESHNESS]       = STR_INIT("freshness"),
    [CHECK_RELATIONSHIPS]   = STR_INIT("relationships"),
    [CHECK_ROW_COUNT]       = STR_INIT("row_count"),
    [CHECK_EXPRESSION]      = STR_INIT("expression"),
    [CHECK_SQL]             = STR_INIT("sql"),
    [CHECK_PYTHON]          = STR_INIT("python"),
};
static_assert(COUNT_OF(check_type_names) == CHECK_TYPE_COUNT, "one row per CheckType");

static const Str severity_names[] = {
    [SEVERITY_ERROR] = STR_INIT("error"),
    [SEVERITY_WARN]  = STR_INIT("warn"),
    [SEVERITY_INFO]  = STR_INIT("info"),
};
/* clang-format on */

const char *check_type_name(CheckType type) {
    assert((unsigned)type < CHECK_TYPE_COUNT);
    return check_type_names[type].ptr;
}

const char *check_severity_name(CheckSeverity severity) {
    assert((unsigned)severity < COUNT_OF(severity_names));
    return severity_names[severity].ptr;
}

Status check_refuse(const CheckReader *reader, const ConfigValue *value, Error *err, const char *format, ...) {
    AUTO(strbuf) StrBuf text = {0};
    va_list arguments;
    va_start(arguments, format);
    strbuf_format_v(&text, format, arguments);
    va_end(arguments);
    SourceSpan place = value == NULL ? reader->check->place : model_place_of(reader->model, value->place);
    return model_refuse(reader->model, place, "check.value", err, "check '%s' %s", check_type_name(reader->check->type),
                        strbuf_c(&text));
}

Status check_read_severity(const Model *model, const ConfigValue *value, SourceSpan place, CheckSeverity *severity_out,
                           Error *err) {
    if (value == NULL || value->kind == CONFIG_NULL) {
        *severity_out = SEVERITY_ERROR;
        return OK;
    }
    for (size_t i = 0; value->kind == CONFIG_SCALAR && i < COUNT_OF(severity_names); i++) {
        if (str_equal(severity_names[i], value->text)) {
            *severity_out = (CheckSeverity)i;
            return OK;
        }
    }
    Str given = value->kind == CONFIG_SCALAR ? value->text : str_from(config_kind_name(value->kind));
    return model_refuse(model, place, "check.severity", err, "severity '" STR_FMT "' is not one of error, warn, info",
                        STR_ARG(given));
}

/* ---- Forms of an entry */

static Status refuse_form(const Model *model, SourceSpan place, Error *err, const char *what) {
    return model_refuse(model, place, "check.form", err, "checks: %s", what);
}

/* Two keys and no `type`: which of them is the check? */
static Status refuse_ambiguous(const Model *model, SourceSpan place, const ConfigValue *value, Error *err) {
    model_refuse(model, place, "check.form", err, "checks: '" STR_FMT "' and '" STR_FMT "' in one entry are ambiguous",
                 STR_ARG(value->entries[0].key), STR_ARG(value->entries[1].key));
    error_hint(err, "write `{type: …, column: …, severity: …}`");
    return FAILED;
}

static Status read_form(const Model *model, const ConfigValue *value, CheckEntry *entry_out, Error *err) {
    SourceSpan place = model_place_of(model, value->place);
    CheckEntry entry = {.place = place};
    if (value->kind == CONFIG_SCALAR) {
        return model_refuse(model, place, "check.form", err,
                            "checks: '" STR_FMT "' alone is no check; write `- " STR_FMT ": <column>`",
                            STR_ARG(value->text), STR_ARG(value->text));
    }
    if (value->kind != CONFIG_MAP || value->count == 0) {
        return refuse_form(model, place, err, "each entry must be a map that names a type");
    }
    const ConfigValue *type = config_find(value, STR("type"));
    if (type != NULL) {
        if (type->kind != CONFIG_SCALAR) {
            return refuse_form(model, place, err, "`type` must be a text");
        }
        entry.type_name = type->text;
        entry.parameters = value;
    } else if (value->count > 1) {
        return refuse_ambiguous(model, place, value, err);
    } else {
        const ConfigValue *inside = value->entries[0].value;
        entry.type_name = value->entries[0].key;
        entry.parameters = inside->kind == CONFIG_MAP ? inside : NULL;
        entry.columns = inside->kind == CONFIG_SCALAR || inside->kind == CONFIG_LIST ? inside : NULL;
    }
    *entry_out = entry;
    return OK;
}

static Status find_type(const Model *model, const CheckEntry *entry, CheckType *type_out, Error *err) {
    for (size_t i = 0; i < CHECK_PYTHON; i++) {
        if (str_equal(check_type_names[i], entry->type_name)) {
            *type_out = (CheckType)i;
            return OK;
        }
    }
    AUTO(strbuf) StrBuf known = {0};
    for (size_t i = 0; i < CHECK_PYTHON; i++) {
        strbuf_text(&known, i == 0 ? "" : ", ");
        strbuf_append(&known, check_type_names[i]);
    }
    return model_refuse(model, entry->place, "check.type", err, "check type '" STR_FMT "' is not one of %s",
                        STR_ARG(entry->type_name), strbuf_c(&known));
}

/* ---- Names */

static bool is_taken(const CheckVec *checks, Str name) {
    for (size_t i = 0; i < checks->count; i++) {
        if (str_equal(checks->items[i]->name, name)) {
            return true;
        }
    }
    return false;
}

/* The type with its columns, unless a name is given; the second of one name is `…_2`. */
static void name_check(Check *check, const CheckVec *others, Arena *arena) {
    Str name = check->name;
    if (name.size == 0) {
        name = check_type_names[check->type];
        for (size_t i = 0; i < check->columns.count; i++) {
            name = str_format(arena, STR_FMT "_" STR_FMT, STR_ARG(name), STR_ARG(check->columns.items[i]));
        }
    }
    Str first = name;
    for (size_t number = 2; is_taken(others, name); number++) {
        name = str_format(arena, STR_FMT "_%zu", STR_ARG(first), number);
    }
    check->name = name;
}

/* ---- Declared checks */

static Check *new_check(const ProjectLoad *load, const Model *model, CheckType type, SourceSpan place) {
    Check *check = ARENA_NEW(load->arena, Check);
    check->model = model->index;
    check->alias = model->base;
    check->type = type;
    check->place = place;
    check->to = MODEL_NONE;
    return check;
}

static Status read_check(ProjectLoad *load, const ModelDraft *draft, const ConfigValue *value, Error *err) {
    Model *model = draft->model;
    CheckEntry entry;
    CheckType type;
    TRY(read_form(model, value, &entry, err));
    TRY(find_type(model, &entry, &type, err));
    CheckReader reader = {
        .load = load, .draft = draft, .model = model, .check = new_check(load, model, type, entry.place)};
    TRY(check_read_entry(&reader, &entry, err));
    name_check(reader.check, &model->checks, load->arena);
    check_vec_push(load->arena, &model->checks, reader.check);
    return OK;
}

static void read_model_checks(ProjectLoad *load, const ModelDraft *draft) {
    const Model *model = draft->model;
    const ConfigValue *value = config_find(model->declaration, STR("checks"));
    if (value == NULL || value->kind == CONFIG_NULL ||
        !(model_has_relation(model) || model->materialise == MATERIALISE_TABLE)) {
        return; /* where checks have no table, they are refused already */
    }
    AUTO(error) Error err;
    error_init(&err);
    if (value->kind != CONFIG_LIST) {
        (void)refuse_form(model, model_place_of(model, value->place), &err, "must be a list of checks");
        project_fault(load, &err);
        return;
    }
    for (size_t i = 0; i < value->count; i++) {
        if (failed(read_check(load, draft, value->items[i], &err))) {
            project_fault(load, &err);
        }
    }
}

/* ---- Python checks */

static Status python_check_error(const PythonCheck *check, Error *err, const char *what) {
    error_set_at(err, ERROR_DEFINITION, check->place, "check '" STR_FMT "' of model '" STR_FMT "' %s",
                 STR_ARG(check->name), STR_ARG(check->model), what);
    error_code(err, STR("check.value"));
    return FAILED;
}

static Status find_checked_model(const ProjectLoad *load, const PythonCheck *check, Model **model_out, Error *err) {
    Model *model = str_map_find(load->project->by_name, check->model);
    if (model == NULL) {
        Str nearest = project_nearest_model(load, check->model);
        error_set_at(err, ERROR_DEFINITION, check->place,
                     "check '" STR_FMT "' is for the model '" STR_FMT "', which does not exist" STR_FMT,
                     STR_ARG(check->name), STR_ARG(check->model), STR_ARG(nearest));
        error_code(err, STR("check.model"));
        return FAILED;
    }
    if (!model_has_relation(model) && model->materialise != MATERIALISE_TABLE) {
        return python_check_error(check, err, "has no table to look at");
    }
    *model_out = model;
    return OK;
}

static Status read_python_check(ProjectLoad *load, const PythonCheck *declared, Error *err) {
    if (load->has_hidden_models && !str_map_contains(load->project->by_name, declared->model)) {
        return OK;
    }
    Model *model;
    TRY(find_checked_model(load, declared, &model, err));
    if (is_taken(&model->checks, declared->name)) {
        return python_check_error(declared, err, "has the name of another check of that model");
    }
    Check *check = new_check(load, model, CHECK_PYTHON, declared->place);
    TRY(check_read_severity(model, declared->severity, declared->place, &check->severity, err));
    check->name = declared->name;
    check->description = declared->description;
    check->module_path = declared->module_path;
    check->function = declared->function;
    check_vec_push(load->arena, &model->checks, check);
    return OK;
}

void project_read_checks(ProjectLoad *load) {
    for (size_t i = 0; i < load->drafts.count; i++) {
        read_model_checks(load, load->drafts.items[i]);
    }
    for (size_t i = 0; i < load->python_checks.count; i++) {
        AUTO(error) Error err;
        error_init(&err);
        if (failed(read_python_check(load, &load->python_checks.items[i], &err))) {
            project_fault(load, &err);
        }
    }
}
