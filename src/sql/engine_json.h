/* The JSON that the engine's parser gives, as a flat tree. It is the engine's own output, so a fault in it is an
 * internal error, not a user's; but nothing in it is trusted: sizes, nesting and escapes are checked. Nodes lie in one
 * array in document order (children behind their parent), so that a walk from the last node to the first is bottom-up
 * without recursion. About ten times as fast as a general reader, which the budget of the first plan needs. */
#ifndef INTERLACE_SQL_ENGINE_JSON_H
#define INTERLACE_SQL_ENGINE_JSON_H

#include "base/error.h"

typedef enum EngineJsonKind {
    ENGINE_JSON_NULL,
    ENGINE_JSON_FALSE,
    ENGINE_JSON_TRUE,
    ENGINE_JSON_NUMBER,
    ENGINE_JSON_STRING,
    ENGINE_JSON_ARRAY,
    ENGINE_JSON_OBJECT
} EngineJsonKind;

typedef struct EngineJson EngineJson;
struct EngineJson {
    EngineJsonKind kind;
    Str key;           /* of a member of an object */
    Str text;          /* string: without escapes; number: as written; borrowed from the JSON where it can be */
    EngineJson *first; /* first item or member */
    EngineJson *next;  /* next item or member of the parent */
    uint64_t hash;     /* 0; for the reader's use */
};

typedef struct EngineJsonDocument {
    EngineJson *nodes; /* nodes[0] is the root */
    size_t count;
} EngineJsonDocument;

#define ENGINE_JSON_DEPTH_MAX 16000
#define ENGINE_JSON_SIZE_MAX ((size_t)512 << 20)

/* Borrows `json`. ERROR_INTERNAL: no JSON; ERROR_COMPILATION: larger or deeper than the limits. */
MUST_CHECK Status engine_json_parse(Str json, Arena *arena, EngineJsonDocument *document_out, Error *err);

/* A member; NULL when absent or when `object` is none. */
const EngineJson *engine_json_find(const EngineJson *object, Str key);
/* Text of a string member; empty when there is none. */
Str engine_json_text(const EngineJson *object, Str key);
/* Number member; `absent` when there is none or it does not fit. */
size_t engine_json_size(const EngineJson *object, Str key, size_t absent);
bool engine_json_true(const EngineJson *object, Str key);

#endif
