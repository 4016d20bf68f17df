/* ConfigValue: a value that knows where it was written. Read from YAML (interlace.yaml, header blocks) and from JSON (a
 * Python model's declaration), so that one piece of code validates both. Open data in an arena; const after reading.
 *
 * Scalars keep their text; a key's declared type decides what it means (`backfill: 2026-01-01`, `interval: 1d` and
 * their quoted forms are the same). */
#ifndef INTERLACE_CONFIG_CONFIG_VALUE_H
#define INTERLACE_CONFIG_CONFIG_VALUE_H

#include "base/error.h"

typedef enum ConfigKind { CONFIG_NULL, CONFIG_SCALAR, CONFIG_LIST, CONFIG_MAP } ConfigKind;

typedef struct ConfigValue ConfigValue;

typedef struct ConfigEntry {
    Str key;
    SourceSpan place; /* of the key */
    ConfigValue *value;
} ConfigEntry;

struct ConfigValue {
    ConfigKind kind;
    SourceSpan place;
    Str text;    /* scalar: its text, after interpolation */
    bool quoted; /* scalar: written in quotes (or a JSON string): never a number, boolean or null by itself */
    bool is_number, is_boolean; /* scalar from JSON, or a plain YAML scalar of that shape */
    ConfigValue **items;        /* list */
    ConfigEntry *entries;       /* map, in the order written; keys are unique */
    size_t count;               /* items or entries */
};

const ConfigValue *config_find(const ConfigValue *map, Str key); /* NULL when absent or when `map` is no map */
/* The text below `key`; empty, or `standard`, when it is not set, empty, or no single value. */
Str config_text(const ConfigValue *map, Str key);
Str config_text_or(const ConfigValue *map, Str key, Str standard);
const char *config_kind_name(ConfigKind kind); /* "a map", "a list", … for messages */

/* Typed reading. Each names `what` (the key, e.g. "parallelism") in its error, at the value's place. */
MUST_CHECK Status config_as_text(const ConfigValue *value, const char *what, Str *text_out, Error *err);
MUST_CHECK Status config_as_int(const ConfigValue *value, const char *what, int64_t minimum, int64_t *number_out,
                                Error *err);
MUST_CHECK Status config_as_bool(const ConfigValue *value, const char *what, bool *flag_out, Error *err);
/* A scalar is taken as a list of one; null is the empty list. */
MUST_CHECK Status config_as_text_list(const ConfigValue *value, const char *what, Arena *arena, StrVec *list_out,
                                      Error *err);

/* Fails with ConfigurationError or DefinitionError (`kind`), code key.unknown, naming key, place and nearest known key,
 * for the first key of `map` that is not in `known` and does not start with "x-". */
MUST_CHECK Status config_check_keys(const ConfigValue *map, const Str *known, size_t known_count, const char *where,
                                    ErrorKind kind, Error *err);

/* The same for one entry, for callers that report every unknown key. */
MUST_CHECK Status config_check_key(const ConfigEntry *entry, const Str *known, size_t known_count, const char *where,
                                   ErrorKind kind, Error *err);

/* Reads one YAML document. `file` names it in places; `first_line` is the line of the text's first line in that file.
 * Errors (ConfigurationError with line and column): bad syntax, tabs, duplicate keys, several documents, anchors and
 * tags, nesting over 64. An empty document gives CONFIG_NULL. */
MUST_CHECK Status yaml_read(Str text, Str file, size_t first_line, Arena *arena, ConfigValue **value_out, Error *err);

/* The same for JSON (nesting limit 200). */
MUST_CHECK Status json_read(Str text, Str file, Arena *arena, ConfigValue **value_out, Error *err);

#endif
