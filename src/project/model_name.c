#include "project/model_name.h"

Str model_name_from_path(Str path, Arena *arena) {
    size_t dot = str_find_last_char(path, '.');
    return str_replace_char(arena, str_slice(path, 0, dot), '/', '.');
}

void model_name_split(Model *model) {
    size_t dot = str_find_last_char(model->name, '.');
    model->schema = dot == STR_NOT_FOUND ? STR("main") : str_slice(model->name, 0, dot);
    model->base = dot == STR_NOT_FOUND ? model->name : str_skip(model->name, dot + 1);
}

/* The name was written in the declaration, or else it comes from the file's path: then no line is at fault. */
static SourceSpan name_place(const Model *model) {
    const ConfigValue *name = config_find(model->declaration, STR("name"));
    if (name == NULL) {
        return (SourceSpan){.file = model->place.file};
    }
    return str_equal(name->place.file, model->place.file) ? name->place : model->place;
}

static Status refuse(const Model *model, const char *code, const char *rule, Str part, Error *err) {
    error_set_at(err, ERROR_DEFINITION, name_place(model), "model name '" STR_FMT "' of " STR_FMT ": '" STR_FMT "' %s",
                 STR_ARG(model->name), STR_ARG(model->place.file), STR_ARG(part), rule);
    error_code(err, str_from(code));
    return FAILED;
}

static Status check_parts(const Model *model, Error *err) {
    Str rest = model->name;
    for (;;) {
        size_t dot = str_find_char(rest, '.');
        Str part = str_slice(rest, 0, dot);
        if (!str_is_identifier(part)) {
            return refuse(model, "name.part", "is no identifier (letters, digits and underscores, no digit first)",
                          part, err);
        }
        if (dot == STR_NOT_FOUND) {
            return OK;
        }
        rest = str_skip(rest, dot + 1);
    }
}

/* Schemas compare without case in the engine, so they do here. */
static bool is_reserved_schema(Str schema) {
    return str_equal_fold(schema, STR("interlace")) || str_equal_fold(schema, STR("streams")) ||
           str_starts_with_fold(schema, STR("interlace__"));
}

Status model_name_check(const Model *model, Error *err) {
    TRY(check_parts(model, err));
    return is_reserved_schema(model->schema)
               ? refuse(model, "name.reserved", "is a schema that belongs to interlace", model->schema, err)
               : OK;
}
