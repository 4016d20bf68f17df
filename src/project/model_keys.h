/* The keys of a model (spec 01 §4): one table that reads, validates and documents them, for the header block of a SQL
 * file and for the manifest entry of a Python model alike. */
#ifndef INTERLACE_PROJECT_MODEL_KEYS_H
#define INTERLACE_PROJECT_MODEL_KEYS_H

#include "config/project_config.h"
#include "project/model.h"

/* What reading one declaration needs. */
typedef struct ModelReader {
    Arena *arena; /* of the project */
    const ProjectConfig *config;
    Model *model; /* name, kind and place are set; the keys fill the rest */
    ErrorList *faults;
    bool has_fault;                     /* one of this declaration */
    bool has_materialise, has_strategy; /* false: given, but not a word that exists */
} ModelReader;

typedef struct ModelKey ModelKey;
typedef Status (*ModelKeyRead)(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);

/* Who may write the key. */
typedef enum ModelKeyOrigin { KEY_SQL_AND_PYTHON, KEY_ONLY_SQL, KEY_ONLY_PYTHON } ModelKeyOrigin;

struct ModelKey {
    Str name;
    const char *type, *default_text;
    ModelKeyOrigin origin;
    unsigned kinds; /* bits of ModelKind, Materialise and StrategyKind it is for */
    unsigned materialise;
    unsigned strategies;
    /* A refusal of its own for a model that is materialised otherwise; NULL, or when it gives OK: key.misplaced. */
    Status (*refuse)(const Model *model, Str key, Error *err);
    ModelKeyRead read;
    size_t field; /* offset in Model of what the plain readers fill; MODEL_FIELD_NONE: the value is only checked */
    const char *description;
};

#define MODEL_FIELD_NONE SIZE_MAX

/* Reads all keys of `map` (NULL: all defaults) into reader->model and reports every fault: key.unknown, key.removed,
 * key.value, then what only the combination shows (key.misplaced, combo.*). */
void model_keys_read(ModelReader *reader, const ConfigValue *map);

/* Reports the fault in `err` as one of this declaration. */
void model_reader_fault(ModelReader *reader, Error *err);

#endif
