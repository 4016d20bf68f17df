/* Status and Error: what every function that can fail returns and fills.
 *
 * Error is kind, message, place in the user's project, hint, details for --json, the failing SQL, and one note for each
 * layer that knew something new. It owns its memory. A function writes `err` only when it fails. `err` is never NULL.
 * An Error is set once; setting it again replaces all of it. Not for two threads at once. */
#ifndef INTERLACE_BASE_ERROR_H
#define INTERLACE_BASE_ERROR_H

#include "base/arena.h"
#include "base/macros.h"
#include "base/str.h"
#include "base/vec.h"

/* A struct, so that an int cannot stand in for it. */
typedef struct Status {
    int failure; /* 0 = done */
} Status;
#define OK ((Status){0})
#define FAILED ((Status){1})
static inline bool failed(Status status) {
    return status.failure != 0;
}

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        Status try_status_ = (call);                                                                                   \
        if (failed(try_status_)) {                                                                                     \
            return try_status_;                                                                                        \
        }                                                                                                              \
    } while (0)

/* Error kinds are part of the interface (--json, HTTP): names in error_kind_name. */
typedef enum ErrorKind {
    ERROR_INTERNAL, /* a fault of ours: exit 70 */
    ERROR_USAGE,    /* bad command line or malformed value: exit 2 */
    ERROR_CONFIGURATION,
    ERROR_DEFINITION,
    ERROR_COMPILATION,
    ERROR_DEPENDENCY,
    ERROR_SELECTION,
    ERROR_PLAN,
    ERROR_BREAKING_PLAN,
    ERROR_EXECUTION,
    ERROR_QUERY,
    ERROR_SCHEMA,
    ERROR_STREAM,
    ERROR_CHECK,
    ERROR_LOCK,
    ERROR_INTERRUPTED, /* Ctrl-C or TERM: exit 130 or 143 */
    ERROR_KIND_COUNT
} ErrorKind;

/* A place in the user's project. An empty file means: no place. */
typedef struct SourceSpan {
    Str file;            /* relative to the project root */
    size_t line, column; /* from 1; 0 = unknown */
} SourceSpan;

typedef struct ErrorDetail {
    Str key, value; /* `code` is the stable code of a refusal, e.g. key.unknown */
    bool is_json;   /* the value is a JSON value, else a text */
} ErrorDetail;
DEFINE_VEC(ErrorDetailVec, error_detail_vec, ErrorDetail)

typedef struct Error {
    Arena *arena; /* owns all texts below; made by the first error_set */
    ErrorKind kind;
    Str message;
    SourceSpan place;
    Str hint;
    Str sql;           /* the statement that failed, as it was sent to the engine */
    size_t sql_offset; /* byte in `sql` the engine pointed at; STR_NOT_FOUND when unknown */
    int engine_type;   /* the engine's own error number; 0 = none */
    StrVec notes;      /* outermost last */
    ErrorDetailVec details;
    Str traceback; /* user frames of a Python error, for --debug; may be empty */
} Error;

void error_init(Error *err);
void error_deinit(Error *err);
DEFINE_AUTO_VALUE(Error, error, error_deinit)
void error_clear(Error *err);

/* Each returns FAILED, so `return error_set(…)` works. */
Status error_set(Error *err, ErrorKind kind, const char *format, ...) PRINTF_LIKE(3, 4);
Status error_set_at(Error *err, ErrorKind kind, SourceSpan place, const char *format, ...) PRINTF_LIKE(4, 5);
Status error_wrap(Error *err, const char *format, ...) PRINTF_LIKE(2, 3); /* adds a note: what was being tried */
/* errno of the moment as text: "cannot open 'x': Permission denied". */
Status error_set_errno(Error *err, ErrorKind kind, const char *format, ...) PRINTF_LIKE(3, 4);

/* Additions to an error that is set. */
void error_hint(Error *err, const char *format, ...) PRINTF_LIKE(2, 3);
void error_code(Error *err, Str code); /* the same as error_detail(err, STR("code"), code) */
void error_detail(Error *err, Str key, Str value);
void error_detail_json(Error *err, Str key, Str json);
/* `value` is the detail's own without its secrets: what is left of JSON then is a text. */
void error_detail_hide(ErrorDetail *detail, Str value);
void error_details_copy(Error *target, const Error *source);
void error_place(Error *err, SourceSpan place);   /* keeps a place that is already there */
Str error_detail_find(const Error *err, Str key); /* empty when absent */

void error_copy(Error *target, const Error *source);
void error_move(Error *target, Error *source); /* `source` is empty afterwards */

const char *error_kind_name(ErrorKind kind); /* "ConfigurationError", … */
int error_exit_code(ErrorKind kind);

/* One line, never wrapped: "message (models/a.sql:3:7)", notes joined. Without "error: ". */
Str error_line(const Error *err, Arena *arena);

/* Faults found together: loading a project goes on after a fault and reports all of them. */
typedef struct ErrorList {
    Error *items; /* heap; each owned */
    size_t count, capacity;
} ErrorList;
void error_list_init(ErrorList *list);
void error_list_deinit(ErrorList *list);
DEFINE_AUTO_VALUE(ErrorList, error_list, error_list_deinit)
/* Takes the content of `err` (which is empty afterwards); a fault with the same line as an earlier one is dropped. */
void error_list_take(ErrorList *list, Error *err);
/* Sorted by file (byte order), then line; places unknown come first, in order of arrival. */
void error_list_sort(ErrorList *list);

#endif
