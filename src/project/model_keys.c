#include "project/model_keys.h"

#include "project/model_combinations.h"
#include "project/model_key_readers.h"
#include "project/model_refusal.h"
#include "project/project.h"

#define BIT(value) (1u << (value))
#define ANY (~0u)
#define SQL BIT(MODEL_SQL)
#define PYTHON BIT(MODEL_PYTHON)
#define OWNED (BIT(MATERIALISE_VIRTUAL) | BIT(MATERIALISE_VIEW) | BIT(MATERIALISE_EPHEMERAL))
#define STORED (BIT(MATERIALISE_VIRTUAL) | BIT(MATERIALISE_TABLE))
#define TABLE BIT(MATERIALISE_TABLE)
#define FILE_ BIT(MATERIALISE_FILE)
#define NOT_EPHEMERAL (ANY & ~BIT(MATERIALISE_EPHEMERAL))
#define INCREMENTAL BIT(STRATEGY_INCREMENTAL)
#define FIELD(name) offsetof(Model, name)

/* clang-format off */
static const ModelKey model_keys[] = {
    {STR_INIT("name"), "string", "file path, function name", KEY_SQL_AND_PYTHON, ANY, ANY, ANY, NULL,
     read_name, FIELD(name), "Model name; dots separate the schema from the base."},
    {STR_INIT("materialise"), "virtual, view, ephemeral, table or file", "virtual", KEY_SQL_AND_PYTHON, ANY, ANY, ANY, NULL,
     read_materialise, FIELD(materialise), "What becomes of the result."},
    {STR_INIT("strategy"), "replace, append, merge, full_merge, hash_merge, scd or incremental", "replace", KEY_SQL_AND_PYTHON, ANY, ANY, ANY, NULL,
     read_strategy, FIELD(strategy), "How the result is reconciled with what the table holds."},
    {STR_INIT("key"), "list of columns", "[]", KEY_SQL_AND_PYTHON, ANY, NOT_EPHEMERAL & ~FILE_, ANY, NULL,
     read_unique_list, FIELD(key), "Business key; needed by merge, full_merge, hash_merge and scd, elsewhere the join key of `diff`."},
    {STR_INIT("time_column"), "column", "", KEY_SQL_AND_PYTHON, ANY, ANY, INCREMENTAL | BIT(STRATEGY_SCD), NULL,
     read_word, FIELD(time_column), "Column of the output that says when a row happened."},
    {STR_INIT("interval"), "grain", "1d", KEY_SQL_AND_PYTHON, ANY, ANY, INCREMENTAL, NULL,
     read_interval, FIELD(interval), "Length of the smallest window: a whole number and one of s, m, h, d, w, mo."},
    {STR_INIT("backfill"), "auto, none, date or timestamp", "auto", KEY_SQL_AND_PYTHON, ANY, ANY, INCREMENTAL, NULL,
     read_backfill, FIELD(backfill), "Which windows the first build loads."},
    {STR_INIT("cursor"), "column", "", KEY_ONLY_PYTHON, PYTHON, ANY, ANY, NULL,
     read_word, FIELD(cursor), "Column of the output whose maximum is given to the parameter `cursor`."},
    {STR_INIT("dialect"), "string", "the engine's", KEY_SQL_AND_PYTHON, SQL, ANY, ANY, NULL,
     read_word, FIELD(dialect), "Dialect the query is written in."},
    {STR_INIT("engine"), "string", "default_engine", KEY_SQL_AND_PYTHON, ANY, ANY, ANY, NULL,
     read_word, FIELD(engine), "Engine that runs the model and stores its rows."},
    {STR_INIT("depends_on"), "list of models", "inferred", KEY_SQL_AND_PYTHON, ANY, ANY, ANY, NULL,
     read_list, FIELD(depends_on), "Further models to build first."},
    {STR_INIT("tags"), "list", "[]", KEY_SQL_AND_PYTHON, ANY, ANY, ANY, NULL,
     read_list, FIELD(tags), "Words for `tag:` selection."},
    {STR_INIT("owner"), "string", "", KEY_SQL_AND_PYTHON, ANY, ANY, ANY, NULL,
     read_text, FIELD(owner), "Who answers for the model."},
    {STR_INIT("description"), "string", "", KEY_SQL_AND_PYTHON, ANY, ANY, ANY, NULL,
     read_text, FIELD(description), "What the model is."},
    {STR_INIT("columns"), "list of names, or map of name to type", "", KEY_SQL_AND_PYTHON, ANY, NOT_EPHEMERAL, ANY, NULL,
     read_columns, FIELD(contract), "Contract: columns the output must have, further ones are allowed."},
    {STR_INIT("schedule"), "map", "", KEY_SQL_AND_PYTHON, ANY, NOT_EPHEMERAL, ANY, NULL,
     read_schedule, FIELD(schedule), "Trigger: exactly one of cron, every, watch, on_change, fresh, after, webhook."},
    {STR_INIT("checks"), "list", "[]", KEY_SQL_AND_PYTHON, ANY, STORED | BIT(MATERIALISE_VIEW), ANY, model_refuse_checks,
     read_value, MODEL_FIELD_NONE, "Data checks."},
    {STR_INIT("target"), "string", "", KEY_SQL_AND_PYTHON, ANY, TABLE, ANY, NULL,
     read_word, FIELD(target), "Table to deliver into: `<alias>.<schema>.<table>` or `<alias>.<table>`."},
    {STR_INIT("path"), "string", "", KEY_SQL_AND_PYTHON, ANY, FILE_, ANY, NULL,
     read_word, FIELD(path), "File to write, under the project's root unless absolute."},
    {STR_INIT("format"), "csv, json or parquet", "the path's ending", KEY_SQL_AND_PYTHON, ANY, FILE_, ANY, NULL,
     read_word, FIELD(format), "Format of the file."},
    {STR_INIT("options"), "map", "{}", KEY_SQL_AND_PYTHON, ANY, FILE_, ANY, NULL,
     read_map, FIELD(options), "Options of the format."},
    {STR_INIT("environments"), "list", "[prod]", KEY_SQL_AND_PYTHON, ANY, TABLE | FILE_, ANY, NULL,
     read_environments, FIELD(environments), "Environments in which the model really delivers."},
    {STR_INIT("indexes"), "list", "[]", KEY_SQL_AND_PYTHON, ANY, STORED, ANY, model_refuse_physical,
     read_indexes, FIELD(indexes), "Indexes of the stored table."},
    {STR_INIT("constraints"), "list", "[]", KEY_SQL_AND_PYTHON, ANY, STORED, ANY, model_refuse_physical,
     read_constraints, FIELD(constraints), "Constraints of the stored table."},
    {STR_INIT("schema"), "map", "", KEY_SQL_AND_PYTHON, ANY, STORED, ANY, model_refuse_physical,
     read_schema_policy, FIELD(schema_policy), "Policy for drift of an external table."},
    {STR_INIT("batch"), "int >= 1, or auto", "auto", KEY_SQL_AND_PYTHON, ANY, ANY, INCREMENTAL, NULL,
     read_batch, FIELD(batch), "Most grains done by one statement; never changes results."},
    {STR_INIT("batch_rows"), "int >= 1", "5000000", KEY_SQL_AND_PYTHON, ANY, ANY, INCREMENTAL, NULL,
     read_positive, FIELD(batch_rows), "Most rows of the sources in an automatic batch of several windows."},
    {STR_INIT("concurrency"), "int >= 1", "1", KEY_SQL_AND_PYTHON, ANY, ANY, INCREMENTAL, NULL,
     read_positive, FIELD(concurrency), "Batches of this model at once; never changes results."},
    {STR_INIT("clock"), "forbid, window or wall", "", KEY_ONLY_SQL, SQL, ANY, INCREMENTAL, NULL,
     read_clock, FIELD(clock), "What reads of the clock get in a windowed run."},
    {STR_INIT("clock_columns"), "list of columns", "[]", KEY_ONLY_SQL, SQL, ANY, INCREMENTAL, NULL,
     read_list, FIELD(clock_columns), "Columns of the output that may come from the wall clock."},
    {STR_INIT("audit"), "map", "", KEY_SQL_AND_PYTHON, ANY, OWNED, ANY, NULL,
     read_audit, FIELD(audit), "Thresholds of a campaign's audit."},
    {STR_INIT("reads"), "map", "", KEY_SQL_AND_PYTHON, ANY, ANY, INCREMENTAL, NULL,
     read_reads, FIELD(reads), "What a window reads of each upstream: {time_column, before, after}."},
    {STR_INIT("lineage"), "map of column to list of columns", "", KEY_ONLY_PYTHON, PYTHON, ANY, ANY, NULL,
     read_lineage, FIELD(lineage), "Column lineage of a Python model."},
    {STR_INIT("timeout"), "duration", "", KEY_ONLY_PYTHON, PYTHON, ANY, ANY, NULL,
     read_duration, MODEL_FIELD_NONE, "How long the function may run."},
    {STR_INIT("retries"), "int >= 0", "", KEY_ONLY_PYTHON, PYTHON, ANY, ANY, NULL,
     read_count, MODEL_FIELD_NONE, "How often a failed build is tried again."},
    {STR_INIT("memory_limit"), "string", "", KEY_ONLY_PYTHON, PYTHON, ANY, ANY, NULL,
     read_word, MODEL_FIELD_NONE, "Memory the worker may use."},
    {STR_INIT("pool"), "string", "", KEY_ONLY_PYTHON, PYTHON, ANY, ANY, NULL,
     read_word, MODEL_FIELD_NONE, "Pool of the scheduler the model takes a place in."},
    {STR_INIT("env"), "list", "[]", KEY_ONLY_PYTHON, PYTHON, ANY, ANY, NULL,
     read_list, MODEL_FIELD_NONE, "Environment variables the function may read; their values are fingerprinted."},
    {STR_INIT("requires"), "list", "[]", KEY_ONLY_PYTHON, PYTHON, ANY, ANY, NULL,
     read_list, MODEL_FIELD_NONE, "Packages the function needs."},
    {STR_INIT("enabled"), "bool", "true", KEY_ONLY_PYTHON, PYTHON, ANY, ANY, NULL,
     read_flag, MODEL_FIELD_NONE, "Whether the model is part of the project."},
    {STR_INIT("commit_every"), "int >= 1", "", KEY_ONLY_PYTHON, PYTHON, ANY, ANY, NULL,
     read_positive, MODEL_FIELD_NONE, "Batches after which a long pull commits."},
    {STR_INIT("lookback"), "int >= 0", "0", KEY_SQL_AND_PYTHON, ANY, ANY, INCREMENTAL, NULL,
     read_count, FIELD(lookback), "Complete grains that a routine run does again."},
};
/* clang-format on */

static const ModelKey *find_key(Str name) {
    for (size_t i = 0; i < COUNT_OF(model_keys); i++) {
        if (str_equal(model_keys[i].name, name)) {
            return &model_keys[i];
        }
    }
    return NULL;
}

void model_reader_fault(ModelReader *reader, Error *err) {
    reader->has_fault = true;
    error_list_take(reader->faults, err);
}

/* ---- Keys that are not read */

/* What the manifest says of a function beside its declaration. */
/* clang-format off */
static const Str manifest_facts[] = {
    STR_INIT("file"), STR_INIT("line"), STR_INIT("module"), STR_INIT("function"), STR_INIT("params"), STR_INIT("sql"),
    STR_INIT("is_async"), STR_INIT("is_generator"), STR_INIT("source"), STR_INIT("canonical"), STR_INIT("captured"),
    STR_INIT("helpers"),
};
/* clang-format on */

static bool is_manifest_fact(const Model *model, const ConfigEntry *entry) {
    /* A value of a header block stands in the model's own file. */
    if (str_equal(entry->place.file, model->place.file)) {
        return false;
    }
    for (size_t i = 0; i < COUNT_OF(manifest_facts); i++) {
        if (str_equal(manifest_facts[i], entry->key)) {
            return true;
        }
    }
    return false;
}

static bool is_writable(const ModelKey *key, ModelKind kind) {
    return key->origin != (kind == MODEL_SQL ? KEY_ONLY_PYTHON : KEY_ONLY_SQL);
}

static const Str *nearest_key(Str name, ModelKind kind) {
    Str names[COUNT_OF(model_keys)];
    const Str *known[COUNT_OF(model_keys)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(model_keys); i++) {
        if (is_writable(&model_keys[i], kind)) {
            names[count] = model_keys[i].name;
            known[count++] = &model_keys[i].name;
        }
    }
    const Str *nearest = str_nearest(name, names, count);
    return nearest == NULL ? NULL : known[nearest - names];
}

static Status refuse_removed(const ModelReader *reader, const ConfigEntry *entry, Error *err) {
    model_refuse(reader->model, model_place_of(reader->model, entry->place), "key.removed", err,
                 "key 'export' is gone: a model delivers by how it is materialised");
    error_hint(err, "write `materialise: table` with `target:`, or `materialise: file` with `path:` and `format:`");
    return FAILED;
}

static Status refuse_unknown(const ModelReader *reader, const ConfigEntry *entry, Error *err) {
    const Str *nearest = nearest_key(entry->key, reader->model->kind);
    SourceSpan place = model_place_of(reader->model, entry->place);
    if (nearest == NULL) {
        return model_refuse(reader->model, place, "key.unknown", err, "unknown key '" STR_FMT "'", STR_ARG(entry->key));
    }
    model_refuse(reader->model, place, "key.unknown", err, "unknown key '" STR_FMT "'; did you mean '" STR_FMT "'?",
                 STR_ARG(entry->key), STR_ARG(*nearest));
    error_detail(err, STR("nearest"), *nearest);
    return FAILED;
}

static Status check_is_known(const ModelReader *reader, const ConfigEntry *entry, Error *err) {
    if (find_key(entry->key) != NULL || is_manifest_fact(reader->model, entry)) {
        return OK;
    }
    return str_equal(entry->key, STR("export")) ? refuse_removed(reader, entry, err)
                                                : refuse_unknown(reader, entry, err);
}

/* ---- Keys that stand where they have no effect */

/* null, and an empty list or map, are a way to write that nothing is declared. */
static bool is_declared(const ConfigValue *value) {
    return value != NULL && value->kind != CONFIG_NULL && (value->kind == CONFIG_SCALAR || value->count > 0);
}

typedef struct Dimension {
    unsigned allowed; /* bits of the values below `count` */
    size_t count;
    const char *(*name)(size_t value);
    const char *noun;
} Dimension;

static const char *name_of_kind(size_t kind) {
    return kind == MODEL_SQL ? "SQL" : "Python";
}
static const char *name_of_materialise(size_t value) {
    return materialise_name((Materialise)value);
}
static const char *name_of_strategy(size_t value) {
    return strategy_name((StrategyKind)value);
}

/* "it is for strategy incremental or scd, and this model has strategy merge" */
static void write_reason(StrBuf *text, const Dimension *dimension, size_t actual) {
    strbuf_format(text, "it is for %s", dimension->noun);
    const char *separator = " ";
    for (size_t value = 0; value < dimension->count; value++) {
        if (dimension->allowed & BIT(value)) {
            strbuf_format(text, "%s%s", separator, dimension->name(value));
            separator = " or ";
        }
    }
    strbuf_format(text, ", and this model has %s %s", dimension->noun, dimension->name(actual));
}

static Status refuse_misplaced(const ModelReader *reader, const ModelKey *key, const Dimension *dimension,
                               size_t actual, Error *err) {
    AUTO(strbuf) StrBuf reason = {0};
    write_reason(&reason, dimension, actual);
    Str why = strbuf_str(&reason);
    return model_refuse(reader->model, model_key_place(reader->model, key->name), "key.misplaced", err,
                        "key '" STR_FMT "' has no effect here: " STR_FMT, STR_ARG(key->name), STR_ARG(why));
}

static Status check_placement(const ModelReader *reader, const ModelKey *key, Error *err) {
    const Model *model = reader->model;
    if (!(key->kinds & BIT(model->kind)) || !is_writable(key, model->kind)) {
        unsigned kinds = key->kinds == ANY ? BIT(model->kind == MODEL_SQL ? MODEL_PYTHON : MODEL_SQL) : key->kinds;
        Dimension dimension = {kinds, 2, name_of_kind, "a definition in"};
        return refuse_misplaced(reader, key, &dimension, model->kind, err);
    }
    if (!(key->materialise & BIT(model->materialise))) {
        if (key->refuse != NULL && failed(key->refuse(model, key->name, err))) {
            return FAILED;
        }
        Dimension dimension = {key->materialise, MATERIALISE_COUNT, name_of_materialise, "materialise:"};
        return refuse_misplaced(reader, key, &dimension, model->materialise, err);
    }
    if (!(key->strategies & BIT(model->strategy))) {
        Dimension dimension = {key->strategies, STRATEGY_COUNT, name_of_strategy, "strategy"};
        return refuse_misplaced(reader, key, &dimension, model->strategy, err);
    }
    return OK;
}

/* ---- Reading */

static void read_entry(ModelReader *reader, const ConfigEntry *entry) {
    AUTO(error) Error err;
    error_init(&err);
    if (failed(check_is_known(reader, entry, &err))) {
        model_reader_fault(reader, &err);
        return;
    }
    const ModelKey *key = find_key(entry->key);
    if (key == NULL || entry->value->kind == CONFIG_NULL) {
        return;
    }
    if (failed(key->read(reader, key, entry->value, &err))) {
        model_reader_fault(reader, &err);
    }
}

static void check_placements(ModelReader *reader, const ConfigValue *map) {
    for (size_t i = 0; i < map->count; i++) {
        const ModelKey *key = find_key(map->entries[i].key);
        if (key == NULL || !is_declared(map->entries[i].value)) {
            continue;
        }
        AUTO(error) Error err;
        error_init(&err);
        if (failed(check_placement(reader, key, &err))) {
            model_reader_fault(reader, &err);
        }
    }
}

/* A name given in the block is the one that all other messages use. */
static void read_name_first(ModelReader *reader, const ConfigValue *map) {
    const ConfigValue *name = config_find(map, STR("name"));
    if (name != NULL && name->kind == CONFIG_SCALAR && name->text.size > 0) {
        reader->model->name = name->text;
    }
}

#define BATCH_ROWS_DEFAULT 5000000

/* A default that is written out and one that is not are the same model. */
static void complete_defaults(Model *model) {
    if (model->strategy != STRATEGY_INCREMENTAL) {
        return;
    }
    if (model->interval.size == 0) {
        model->interval = STR("1d");
    }
    if (model->backfill.size == 0) {
        model->backfill = STR("auto");
    }
    if (model->batch.size == 0) {
        model->batch = STR("auto");
    }
    if (model->batch_rows == 0) {
        model->batch_rows = BATCH_ROWS_DEFAULT;
    }
}

static void read_map_entries(ModelReader *reader, const ConfigValue *map) {
    read_name_first(reader, map);
    for (size_t i = 0; i < map->count; i++) {
        read_entry(reader, &map->entries[i]);
    }
    if (!reader->has_materialise || !reader->has_strategy) {
        return; /* what may stand beside them is not known */
    }
    if (model_check_combination(reader)) {
        check_placements(reader, map);
    }
    model_check_terminal(reader);
}

void model_keys_read(ModelReader *reader, const ConfigValue *map) {
    reader->has_materialise = reader->has_strategy = true;
    reader->model->declaration = map;
    if (map != NULL) {
        read_map_entries(reader, map);
    }
    complete_defaults(reader->model);
}

/* ---- Reference */

static void write_words(StrBuf *out, unsigned allowed, size_t count, const char *(*name)(size_t)) {
    const char *separator = "";
    for (size_t value = 0; value < count; value++) {
        if (allowed & BIT(value)) {
            strbuf_format(out, "%s`%s`", separator, name(value));
            separator = ", ";
        }
    }
}

static void write_validity(StrBuf *out, const ModelKey *key) {
    const char *separator = "";
    if (key->kinds != ANY) {
        strbuf_text(out, key->kinds == SQL ? "SQL" : "Python");
        separator = "; ";
    }
    if (key->materialise != ANY) {
        strbuf_text(out, separator);
        write_words(out, key->materialise, MATERIALISE_COUNT, name_of_materialise);
        separator = "; ";
    }
    if (key->strategies != ANY) {
        strbuf_text(out, separator);
        write_words(out, key->strategies, STRATEGY_COUNT, name_of_strategy);
        separator = "; ";
    }
    if (*separator == '\0') {
        strbuf_text(out, "all");
    }
}

void model_keys_write_reference(StrBuf *out) {
    static const char *const origins[] = {
        [KEY_SQL_AND_PYTHON] = "yes", [KEY_ONLY_SQL] = "no", [KEY_ONLY_PYTHON] = "only"};
    strbuf_text(out, "| Key | Type | Default | Python | Valid for | Meaning |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < COUNT_OF(model_keys); i++) {
        const ModelKey *key = &model_keys[i];
        strbuf_format(out, "| `" STR_FMT "` | %s | %s | %s | ", STR_ARG(key->name), key->type, key->default_text,
                      origins[key->origin]);
        write_validity(out, key);
        strbuf_format(out, " | %s |\n", key->description);
    }
}
