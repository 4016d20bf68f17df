/* The keys of a configuration map as a table: what is checked, what the reference page prints, and what an unknown key
 * is compared with are one description. */
#ifndef INTERLACE_CONFIG_KEY_TABLE_H
#define INTERLACE_CONFIG_KEY_TABLE_H

#include "config/config_value.h"

typedef enum KeyShape {
    KEY_TEXT,
    KEY_INT, /* of at least `minimum` */
    KEY_BOOL,
    KEY_CHOICE,      /* one of `choices` */
    KEY_TEXT_LIST,   /* a single text stands for a list of one */
    KEY_MAP,         /* of the keys in `keys` */
    KEY_TEXT_OR_MAP, /* a text, or a map of the keys in `keys` */
    KEY_NAMED_MAPS,  /* name to map of the keys in `keys`; without `keys` their reader checks them */
    KEY_NAMED_TEXTS, /* name to single value */
    KEY_ANY,         /* checked by who reads it */
    KEY_SHAPE_COUNT
} KeyShape;

/* What becomes of a key whose feature is not in this release. */
typedef enum KeyRelease {
    KEY_READY,
    KEY_WITHOUT_EFFECT,    /* accepted with a warning */
    KEY_REFUSED,           /* PlanError when the project loads */
    KEY_REFUSED_AS_CONFIG, /* ConfigurationError when the project loads */
    KEY_REFUSED_ON_USE,    /* by engine_config_check_usable */
} KeyRelease;

typedef struct KeyTable KeyTable;

typedef struct KeyRule {
    Str name;
    KeyShape shape;
    KeyRelease release;
    int64_t minimum;
    const Str *choices;
    size_t choice_count;
    const KeyTable *keys;
    bool required;
    const char *standard; /* the default, as the reference page prints it; NULL: not set */
    const char *meaning;
} KeyRule;

struct KeyTable {
    const char *title; /* of its section on the reference page */
    const char *about; /* one sentence under the title */
    const KeyRule *rules;
    size_t count;
};

/* Where a check puts what it finds; each fault is added, none ends the check. */
typedef struct KeyCheck {
    Arena *arena;
    ErrorList *faults;
    StrVec *warnings;
} KeyCheck;

/* `where` is what messages call the map: "interlace.yaml", "engines.pg". `path` is put before its keys: "",
 * "engines.pg". Null stands for a key that is not set, and so does a key that begins with "x-". */
void key_table_check(const KeyCheck *check, const KeyTable *table, const ConfigValue *map, Str where, Str path);

bool key_is_free(Str key); /* begins with "x-" */

/* One section: title, sentence, table. */
void key_table_write_reference(const KeyTable *table, StrBuf *out);

#endif
