/* Readers of single keys. Each refuses a value of another type with code key.value, naming key and value. */
#ifndef INTERLACE_PROJECT_MODEL_KEY_READERS_H
#define INTERLACE_PROJECT_MODEL_KEY_READERS_H

#include "project/model_keys.h"

Status read_text(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err); /* may be empty */
Status read_word(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err); /* text, not empty */
Status read_list(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err); /* of words */
Status read_unique_list(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_count(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);    /* int >= 0 */
Status read_positive(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err); /* int >= 1 */
Status read_flag(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_map(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_value(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err); /* kept as it is */

Status read_name(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_materialise(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_strategy(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_interval(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_backfill(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_duration(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_batch(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_clock(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_environments(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_columns(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_audit(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_reads(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_lineage(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_schedule(ModelReader *reader, const ModelKey *key, const ConfigValue *value,
                     Error *err); /* model_schedule.c */
/* model_physical.c */
Status read_indexes(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_constraints(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);
Status read_schema_policy(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);

/* For readers of nested values. `what` names the place inside the key: "schedule.cron". */
Status key_refuse(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err,
                  const char *format, ...) PRINTF_LIKE(5, 6); /* "key 'interval': …", code key.value */
Status key_text(const ModelReader *reader, const ModelKey *key, const char *what, const ConfigValue *value,
                Str *text_out, Error *err); /* a scalar that is not empty */
Status key_list(const ModelReader *reader, const ModelKey *key, const char *what, const ConfigValue *value,
                StrVec *list_out, Error *err); /* a scalar is a list of one */
Status key_known(const ModelReader *reader, const ModelKey *key, const ConfigValue *map, const Str *known,
                 size_t known_count, Error *err); /* `map` is a map with only these keys */

/* A grain (spec 02 §9.1) in its shortest spelling: " 15 m" is "15m". False when it is none. */
bool grain_normalise(Str text, Arena *arena, Str *grain_out);

#endif
