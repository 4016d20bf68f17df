#include "python/worker_error.h"

#include "python/frame.h"

#define LINES_TEXT_MAX ((size_t)64 << 10)

/* Errors that the package raises for the user to read as they are. */
static bool find_kind(Str name, ErrorKind *kind_out) {
    static const ErrorKind kinds[] = {
        ERROR_CONFIGURATION, ERROR_DEFINITION, ERROR_COMPILATION, ERROR_DEPENDENCY, ERROR_SELECTION, ERROR_PLAN,
        ERROR_QUERY,         ERROR_SCHEMA,     ERROR_STREAM,      ERROR_CHECK,      ERROR_LOCK,      ERROR_EXECUTION,
    };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (str_equal(name, str_from(error_kind_name(kinds[i])))) {
            *kind_out = kinds[i];
            return true;
        }
    }
    return false;
}

static SourceSpan place_of(const ConfigValue *fields) {
    int64_t line = frame_int(fields, STR("line"));
    return (SourceSpan){.file = config_text(fields, STR("file")), .line = line > 0 ? (size_t)line : 0};
}

/* One line: line breaks become blanks. */
static Str one_line(Str text, Arena *arena) {
    return str_trim(str_replace_char(arena, str_replace_char(arena, text, '\n', ' '), '\r', ' '));
}

/* As Python prints it. */
static void write_frame(StrBuf *text, const ConfigValue *frame) {
    Str source = config_text(frame, STR("text"));
    strbuf_format(text, "  File \"" STR_FMT "\", line %lld, in " STR_FMT "\n", STR_ARG(config_text(frame, STR("file"))),
                  (long long)frame_int(frame, STR("line")), STR_ARG(config_text(frame, STR("function"))));
    if (source.size > 0) {
        strbuf_format(text, "    " STR_FMT "\n", STR_ARG(source));
    }
}

static void set_traceback(const ConfigValue *fields, Error *err) {
    const ConfigValue *frames = config_find(fields, STR("traceback"));
    if (frames == NULL || frames->kind != CONFIG_LIST || frames->count == 0) {
        return;
    }
    AUTO(strbuf) StrBuf text = {0};
    strbuf_text(&text, "Traceback (most recent call last):\n");
    for (size_t i = 0; i < frames->count && text.size < LINES_TEXT_MAX; i++) {
        write_frame(&text, frames->items[i]);
    }
    strbuf_format(&text, STR_FMT ": " STR_FMT "\n", STR_ARG(config_text(fields, STR("type"))),
                  STR_ARG(config_text(fields, STR("message"))));
    err->traceback = strbuf_copy(&text, err->arena);
}

/* A refusal has the type of its kind; anything else was raised by user code, and is told with its type. */
static void set_message(const ConfigValue *fields, const WorkerErrorForm *form, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    Str message = one_line(config_text(fields, STR("message")), arena);
    Str type = config_text(fields, STR("type"));
    ErrorKind kind;
    if (find_kind(config_text(fields, STR("kind")), &kind) && str_equal(type, config_text(fields, STR("kind")))) {
        error_set_at(err, kind, place_of(fields), STR_FMT STR_FMT, STR_ARG(form->refused), STR_ARG(message));
    } else {
        error_set_at(err, form->raised_kind, place_of(fields), STR_FMT STR_FMT "%s" STR_FMT, STR_ARG(form->raised),
                     STR_ARG(type), message.size > 0 ? ": " : "", STR_ARG(message));
    }
}

Status worker_error_set(const ConfigValue *fields, const WorkerErrorForm *form, Error *err) {
    set_message(fields, form, err);
    Str hint = config_text(fields, STR("hint"));
    Str code = config_text(fields, STR("code"));
    Str cause = config_text(fields, STR("cause"));
    if (hint.size > 0) {
        error_hint(err, STR_FMT, STR_ARG(hint));
    }
    if (code.size > 0) {
        error_code(err, code);
    }
    if (cause.size > 0) {
        error_detail(err, STR("cause"), cause);
    }
    set_traceback(fields, err);
    return FAILED;
}
