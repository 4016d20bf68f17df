#include "config/variables.h"

#include "config/scalar.h"

/* One ${…} inside a text. */
typedef struct Reference {
    Str whole, name;
    bool has_default;
    Str standard;
} Reference;

/* Of the text behind "${". */
static bool parse_reference_body(Str body, Reference *reference) {
    size_t mark = str_find(body, STR(":-"));
    reference->has_default = mark != STR_NOT_FOUND;
    reference->name = str_slice(body, 0, mark);
    reference->standard = reference->has_default ? str_skip(body, mark + 2) : STR_EMPTY;
    return str_is_identifier(reference->name);
}

/* The first reference at or behind `start`; false when there is none. */
static bool find_reference(Str text, size_t start, Reference *reference, size_t *offset_out) {
    for (size_t at = start; at < text.size;) {
        size_t open = str_find(str_skip(text, at), STR("${"));
        if (open == STR_NOT_FOUND) {
            return false;
        }
        at += open;
        size_t close = str_find_char(str_skip(text, at), '}');
        if (close == STR_NOT_FOUND) {
            return false;
        }
        if (parse_reference_body(str_slice(text, at + 2, at + close), reference)) {
            reference->whole = str_slice(text, at, at + close + 1);
            *offset_out = at;
            return true;
        }
        at += 2;
    }
    return false;
}

static bool strip_export(Str *line) {
    if (!str_starts_with(*line, STR("export ")) && !str_starts_with(*line, STR("export\t"))) {
        return false;
    }
    *line = str_trim(str_skip(*line, sizeof "export"));
    return true;
}

static Str without_quotes(Str value) {
    bool quoted =
        value.size >= 2 && (value.ptr[0] == '"' || value.ptr[0] == '\'') && value.ptr[value.size - 1] == value.ptr[0];
    return quoted ? str_slice(value, 1, value.size - 1) : value;
}

static void take_dotenv_line(Arena *arena, StrMap *values, Str line) {
    line = str_trim(line);
    strip_export(&line);
    size_t equals = str_find_char(line, '=');
    if (str_starts_with(line, STR("#")) || equals == STR_NOT_FOUND) {
        return;
    }
    Str key = str_trim(str_slice(line, 0, equals));
    if (!str_is_identifier(key)) {
        return;
    }
    Str *value = ARENA_NEW(arena, Str);
    *value = str_copy(arena, without_quotes(str_trim(str_skip(line, equals + 1))));
    str_map_put(values, str_copy(arena, key), value);
}

StrMap *dotenv_parse(Arena *arena, Str text) {
    StrMap *values = str_map_create(arena, STR_MAP_EXACT);
    Str rest = str_starts_with(text, STR("\xEF\xBB\xBF")) ? str_skip(text, 3) : text;
    while (rest.size > 0) {
        size_t end = str_find_char(rest, '\n');
        take_dotenv_line(arena, values, str_slice(rest, 0, end));
        rest = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(rest, end + 1);
    }
    return values;
}

static Str value_of(const Variables *variables, const Reference *reference) {
    const char *set =
        variables->environment == NULL ? NULL : variables->environment(str_to_c(variables->arena, reference->name));
    if (set != NULL) {
        return str_from(set);
    }
    const Str *from_file = str_map_find(variables->dotenv, reference->name);
    if (from_file != NULL) {
        return *from_file;
    }
    return reference->has_default ? reference->standard : reference->whole;
}

static Str fill_text(const Variables *variables, Str text) {
    AUTO(strbuf) StrBuf filled = {0};
    size_t done = 0;
    size_t offset;
    Reference reference;
    while (find_reference(text, done, &reference, &offset)) {
        strbuf_append(&filled, str_slice(text, done, offset));
        strbuf_append(&filled, value_of(variables, &reference));
        done = offset + reference.whole.size;
    }
    strbuf_append(&filled, str_skip(text, done));
    return strbuf_copy(&filled, variables->arena);
}

static void fill_scalar(const Variables *variables, ConfigValue *scalar) {
    if (str_find(scalar->text, STR("${")) == STR_NOT_FOUND) {
        return;
    }
    scalar->text = fill_text(variables, scalar->text);
    config_resolve_scalar(scalar);
}

void variables_fill(const Variables *variables, ConfigValue *value) {
    switch (value->kind) {
    case CONFIG_NULL:
        break;
    case CONFIG_SCALAR:
        fill_scalar(variables, value);
        break;
    case CONFIG_LIST:
        for (size_t i = 0; i < value->count; i++) {
            variables_fill(variables, value->items[i]);
        }
        break;
    case CONFIG_MAP:
        for (size_t i = 0; i < value->count; i++) {
            variables_fill(variables, value->entries[i].value);
        }
        break;
    }
}

void variables_collect(Str text, Arena *arena, StrVec *names) {
    size_t offset = 0;
    Reference reference;
    while (find_reference(text, offset, &reference, &offset)) {
        Str name = str_format(arena, "${" STR_FMT "}", STR_ARG(reference.name));
        if (!str_vec_contains(names, name)) {
            str_vec_push(arena, names, name);
        }
        offset += reference.whole.size;
    }
}
