#include "project/model_refusal.h"

Status model_refuse(const Model *model, SourceSpan place, const char *code, Error *err, const char *format, ...) {
    AUTO(strbuf) StrBuf text = {0};
    va_list arguments;
    va_start(arguments, format);
    strbuf_format_v(&text, format, arguments);
    va_end(arguments);
    Str what = strbuf_str(&text);
    error_set_at(err, ERROR_DEFINITION, place, "model '" STR_FMT "': " STR_FMT, STR_ARG(model->name), STR_ARG(what));
    error_code(err, str_from(code));
    return FAILED;
}

SourceSpan model_place_of(const Model *model, SourceSpan place) {
    return model->place.file.size > 0 && str_equal(place.file, model->place.file) ? place : model->place;
}

SourceSpan model_key_place(const Model *model, Str key) {
    const ConfigValue *map = model->declaration;
    for (size_t i = 0; map != NULL && i < map->count; i++) {
        if (str_equal(map->entries[i].key, key)) {
            return model_place_of(model, map->entries[i].place);
        }
    }
    return model->place;
}
