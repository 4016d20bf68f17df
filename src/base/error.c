#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct ErrorKindRow {
    const char *name;
    int exit_code;
} ErrorKindRow;

/* clang-format off */
static const ErrorKindRow error_kinds[] = {
    [ERROR_INTERNAL]      = {"InternalError",      70},
    [ERROR_USAGE]         = {"UsageError",          2},
    [ERROR_CONFIGURATION] = {"ConfigurationError",  1},
    [ERROR_DEFINITION]    = {"DefinitionError",     1},
    [ERROR_COMPILATION]   = {"CompilationError",    1},
    [ERROR_DEPENDENCY]    = {"DependencyError",     1},
    [ERROR_SELECTION]     = {"SelectionError",      1},
    [ERROR_PLAN]          = {"PlanError",           1},
    [ERROR_BREAKING_PLAN] = {"BreakingPlanError",   1},
    [ERROR_EXECUTION]     = {"ExecutionError",      1},
    [ERROR_QUERY]         = {"QueryError",          1},
    [ERROR_SCHEMA]        = {"SchemaError",         1},
    [ERROR_STREAM]        = {"StreamError",         1},
    [ERROR_CHECK]         = {"CheckError",          1},
    [ERROR_LOCK]          = {"LockError",           1},
    [ERROR_INTERRUPTED]   = {"InterruptedError",  130},
};
/* clang-format on */
static_assert(COUNT_OF(error_kinds) == ERROR_KIND_COUNT, "one row per ErrorKind");

void error_init(Error *err) {
    *err = (Error){.message = STR_EMPTY, .hint = STR_EMPTY, .sql = STR_EMPTY, .sql_offset = STR_NOT_FOUND};
}

void error_deinit(Error *err) {
    arena_destroy(err->arena);
    error_init(err);
}

void error_clear(Error *err) {
    error_deinit(err);
}

/* The new text is made before the old arena goes: an argument may point into the error that is replaced. */
static void replace_error(Error *err, ErrorKind kind, const char *format, va_list arguments) {
    Error fresh;
    error_init(&fresh);
    fresh.arena = arena_create();
    fresh.kind = kind;
    fresh.message = str_format_v(fresh.arena, format, arguments);
    error_deinit(err);
    *err = fresh;
}

static SourceSpan copy_place(Arena *arena, SourceSpan place) {
    return (SourceSpan){.file = str_copy(arena, place.file), .line = place.line, .column = place.column};
}

Status error_set(Error *err, ErrorKind kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    replace_error(err, kind, format, arguments);
    va_end(arguments);
    return FAILED;
}

Status error_set_at(Error *err, ErrorKind kind, SourceSpan place, const char *format, ...) {
    AUTO(arena) Arena *scratch = arena_create();
    SourceSpan kept = copy_place(scratch, place);
    va_list arguments;
    va_start(arguments, format);
    replace_error(err, kind, format, arguments);
    va_end(arguments);
    err->place = copy_place(err->arena, kept);
    return FAILED;
}

Status error_wrap(Error *err, const char *format, ...) {
    assert(err->arena != NULL);
    va_list arguments;
    va_start(arguments, format);
    str_vec_push(err->arena, &err->notes, str_format_v(err->arena, format, arguments));
    va_end(arguments);
    return FAILED;
}

Status error_set_errno(Error *err, ErrorKind kind, const char *format, ...) {
    int number = errno;
    va_list arguments;
    va_start(arguments, format);
    replace_error(err, kind, format, arguments);
    va_end(arguments);
    err->message = str_format(err->arena, STR_FMT ": %s", STR_ARG(err->message), strerror(number));
    return FAILED;
}

void error_hint(Error *err, const char *format, ...) {
    assert(err->arena != NULL);
    va_list arguments;
    va_start(arguments, format);
    err->hint = str_format_v(err->arena, format, arguments);
    va_end(arguments);
}

void error_code(Error *err, Str code) {
    error_detail(err, STR("code"), code);
}

static ErrorDetail *find_detail(const Error *err, Str key) {
    for (size_t i = 0; i < err->details.count; i++) {
        if (str_equal(err->details.items[i].key, key)) {
            return &err->details.items[i];
        }
    }
    return NULL;
}

static void set_detail(Error *err, ErrorDetail detail) {
    assert(err->arena != NULL);
    ErrorDetail *present = find_detail(err, detail.key);
    detail.value = str_copy(err->arena, detail.value);
    if (present != NULL) {
        present->value = detail.value;
        present->is_json = detail.is_json;
        return;
    }
    detail.key = str_copy(err->arena, detail.key);
    error_detail_vec_push(err->arena, &err->details, detail);
}

void error_detail(Error *err, Str key, Str value) {
    set_detail(err, (ErrorDetail){.key = key, .value = value});
}

void error_detail_json(Error *err, Str key, Str json) {
    set_detail(err, (ErrorDetail){.key = key, .value = json, .is_json = true});
}

void error_detail_hide(ErrorDetail *detail, Str value) {
    detail->is_json = detail->is_json && str_equal(detail->value, value);
    detail->value = value;
}

void error_details_copy(Error *target, const Error *source) {
    for (size_t i = 0; i < source->details.count; i++) {
        set_detail(target, source->details.items[i]);
    }
}

void error_place(Error *err, SourceSpan place) {
    assert(err->arena != NULL);
    if (err->place.file.size == 0) {
        err->place = copy_place(err->arena, place);
    }
}

Str error_detail_find(const Error *err, Str key) {
    const ErrorDetail *detail = find_detail(err, key);
    return detail == NULL ? STR_EMPTY : detail->value;
}

void error_copy(Error *target, const Error *source) {
    if (target == source) {
        return;
    }
    error_deinit(target);
    if (source->arena == NULL) {
        return;
    }
    Arena *arena = arena_create();
    target->arena = arena;
    target->kind = source->kind;
    target->message = str_copy(arena, source->message);
    target->place = copy_place(arena, source->place);
    target->hint = str_copy(arena, source->hint);
    target->sql = str_copy(arena, source->sql);
    target->sql_offset = source->sql_offset;
    target->engine_type = source->engine_type;
    target->traceback = str_copy(arena, source->traceback);
    for (size_t i = 0; i < source->notes.count; i++) {
        str_vec_push(arena, &target->notes, str_copy(arena, source->notes.items[i]));
    }
    error_details_copy(target, source);
}

void error_move(Error *target, Error *source) {
    if (target == source) {
        return;
    }
    error_deinit(target);
    *target = *source;
    error_init(source);
}

const char *error_kind_name(ErrorKind kind) {
    assert((unsigned)kind < ERROR_KIND_COUNT);
    return error_kinds[kind].name;
}

int error_exit_code(ErrorKind kind) {
    assert((unsigned)kind < ERROR_KIND_COUNT);
    return error_kinds[kind].exit_code;
}

/* Line breaks, with the blanks around them, become one blank: engines answer in several lines, we in one. */
static void append_in_one_line(StrBuf *buf, Str text) {
    Str rest = str_trim(text);
    while (rest.size > 0) {
        size_t end = 0;
        while (end < rest.size && rest.ptr[end] != '\n' && rest.ptr[end] != '\r') {
            end++;
        }
        strbuf_append(buf, str_trim(str_slice(rest, 0, end)));
        rest = str_trim(str_skip(rest, end));
        if (rest.size > 0) {
            strbuf_char(buf, ' ');
        }
    }
}

static void append_place(StrBuf *buf, SourceSpan place) {
    if (place.file.size == 0) {
        return;
    }
    strbuf_text(buf, " (");
    append_in_one_line(buf, place.file);
    if (place.line > 0) {
        strbuf_format(buf, ":%zu", place.line);
    }
    if (place.line > 0 && place.column > 0) {
        strbuf_format(buf, ":%zu", place.column);
    }
    strbuf_char(buf, ')');
}

Str error_line(const Error *err, Arena *arena) {
    AUTO(strbuf) StrBuf buf = {0};
    append_in_one_line(&buf, err->message);
    append_place(&buf, err->place);
    for (size_t i = 0; i < err->notes.count; i++) {
        strbuf_text(&buf, "; while ");
        append_in_one_line(&buf, err->notes.items[i]);
    }
    return strbuf_copy(&buf, arena);
}
