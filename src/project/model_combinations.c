#include "project/model_combinations.h"

#include "config/path_tokens.h"
#include "project/model_file_options.h"
#include "project/model_key_readers.h"
#include "project/model_refusal.h"

/* ---- The cells */

typedef enum CellRule {
    CELL_ALLOWED,
    NEEDS_KEY,          /* K1 */
    NEEDS_TIME,         /* T1 */
    NEEDS_TIME_AND_KEY, /* T1 and K2 */
    NO_APPEND,          /* A1 and below: refused whatever else is written */
    NO_VIEW_STRATEGY,
    NO_EPHEMERAL_STRATEGY,
    NO_FILE_STRATEGY,
    NO_PYTHON_VIEW,
    NO_PYTHON_EPHEMERAL,
    CELL_RULE_COUNT
} CellRule;

/* clang-format off */
static const unsigned char cells[2][MATERIALISE_COUNT][STRATEGY_COUNT] = {
    [MODEL_SQL] = {                /* replace              append               merge                  full_merge             hash_merge             scd                    incremental */
        [MATERIALISE_VIRTUAL]   = {CELL_ALLOWED,        NO_APPEND,           NEEDS_KEY,             NEEDS_KEY,             NEEDS_KEY,             NEEDS_KEY,             NEEDS_TIME},
        [MATERIALISE_VIEW]      = {CELL_ALLOWED,        NO_APPEND,           NO_VIEW_STRATEGY,      NO_VIEW_STRATEGY,      NO_VIEW_STRATEGY,      NO_VIEW_STRATEGY,      NO_VIEW_STRATEGY},
        [MATERIALISE_EPHEMERAL] = {CELL_ALLOWED,        NO_APPEND,           NO_EPHEMERAL_STRATEGY, NO_EPHEMERAL_STRATEGY, NO_EPHEMERAL_STRATEGY, NO_EPHEMERAL_STRATEGY, NO_EPHEMERAL_STRATEGY},
        [MATERIALISE_TABLE]     = {CELL_ALLOWED,        CELL_ALLOWED,        NEEDS_KEY,             NEEDS_KEY,             NEEDS_KEY,             NEEDS_KEY,             NEEDS_TIME},
        [MATERIALISE_FILE]      = {CELL_ALLOWED,        NO_APPEND,           NO_FILE_STRATEGY,      NO_FILE_STRATEGY,      NO_FILE_STRATEGY,      NO_FILE_STRATEGY,      NO_FILE_STRATEGY},
    },
    [MODEL_PYTHON] = {
        [MATERIALISE_VIRTUAL]   = {CELL_ALLOWED,        NO_APPEND,           NEEDS_KEY,             NEEDS_KEY,             NEEDS_KEY,             NEEDS_KEY,             NEEDS_TIME_AND_KEY},
        [MATERIALISE_VIEW]      = {NO_PYTHON_VIEW,      NO_PYTHON_VIEW,      NO_PYTHON_VIEW,        NO_PYTHON_VIEW,        NO_PYTHON_VIEW,        NO_PYTHON_VIEW,        NO_PYTHON_VIEW},
        [MATERIALISE_EPHEMERAL] = {NO_PYTHON_EPHEMERAL, NO_PYTHON_EPHEMERAL, NO_PYTHON_EPHEMERAL,   NO_PYTHON_EPHEMERAL,   NO_PYTHON_EPHEMERAL,   NO_PYTHON_EPHEMERAL,   NO_PYTHON_EPHEMERAL},
        [MATERIALISE_TABLE]     = {CELL_ALLOWED,        CELL_ALLOWED,        NEEDS_KEY,             NEEDS_KEY,             NEEDS_KEY,             NEEDS_KEY,             NEEDS_TIME_AND_KEY},
        [MATERIALISE_FILE]      = {CELL_ALLOWED,        NO_APPEND,           NO_FILE_STRATEGY,      NO_FILE_STRATEGY,      NO_FILE_STRATEGY,      NO_FILE_STRATEGY,      NO_FILE_STRATEGY},
    },
};

typedef struct Refusal {
    const char *code, *message, *key; /* `key`: whose place the fault has */
} Refusal;

static const Refusal refusals[CELL_RULE_COUNT] = {
    [NO_APPEND]             = {"combo.append",       "strategy append needs materialise: table, because an owned table is rebuilt from its definition and would forget or repeat what was appended", "strategy"},
    [NO_VIEW_STRATEGY]      = {"combo.view",         "a view stores no rows, so it takes no strategy", "strategy"},
    [NO_EPHEMERAL_STRATEGY] = {"combo.ephemeral",    "an ephemeral model is inlined into its readers and takes no strategy", "strategy"},
    [NO_FILE_STRATEGY]      = {"combo.file_strategy", "a file is overwritten as a whole, so only strategy replace applies; use materialise: table to accumulate", "strategy"},
    [NO_PYTHON_VIEW]        = {"combo.py_view",      "a Python function cannot back a view, which the engine must be able to evaluate by itself", "materialise"},
    [NO_PYTHON_EPHEMERAL]   = {"combo.py_ephemeral", "only SQL can be inlined, so a Python model cannot be ephemeral", "materialise"},
};
/* clang-format on */

static void report(ModelReader *reader, const char *key, const char *code, const char *message) {
    AUTO(error) Error err;
    error_init(&err);
    (void)model_refuse(reader->model, model_key_place(reader->model, str_from(key)), code, &err, "%s", message);
    model_reader_fault(reader, &err);
}

static void demand_key(ModelReader *reader) {
    if (reader->model->key.count > 0) {
        return;
    }
    AUTO(error) Error err;
    error_init(&err);
    (void)model_refuse(reader->model, model_key_place(reader->model, STR("strategy")), "combo.key", &err,
                       "strategy %s needs key:", strategy_name(reader->model->strategy));
    error_hint(&err, "name the columns that identify a row, as in `key: [id]`, or use `strategy: replace`");
    model_reader_fault(reader, &err);
}

static void demand_time_column(ModelReader *reader) {
    if (reader->model->time_column.size == 0) {
        report(reader, "strategy", "combo.time_column", "strategy incremental needs time_column:");
    }
}

static void demand_python_key(ModelReader *reader) {
    if (reader->model->key.count == 0) {
        report(
            reader, "strategy", "combo.py_incremental",
            "a Python model can be incremental only with key: — its function has already computed everything before a "
            "window could be cut from it; add key:, or bound the fetch with cursor");
    }
}

bool model_check_combination(ModelReader *reader) {
    const Model *model = reader->model;
    CellRule rule = (CellRule)cells[model->kind][model->materialise][model->strategy];
    if (rule >= NO_APPEND) {
        report(reader, refusals[rule].key, refusals[rule].code, refusals[rule].message);
        return false;
    }
    if (rule == NEEDS_KEY) {
        demand_key(reader);
    }
    if (rule == NEEDS_TIME || rule == NEEDS_TIME_AND_KEY) {
        demand_time_column(reader);
    }
    if (rule == NEEDS_TIME_AND_KEY) {
        demand_python_key(reader);
    }
    return true;
}

Status model_refuse_physical(const Model *model, Str key, Error *err) {
    return model_refuse(model, model_key_place(model, key), "combo.physical", err,
                        "indexes, constraints and schema act on a stored table, which materialise: %s does not have",
                        materialise_name(model->materialise));
}

Status model_refuse_checks(const Model *model, Str key, Error *err) {
    if (model->materialise != MATERIALISE_FILE) {
        return OK;
    }
    return model_refuse(model, model_key_place(model, key), "combo.file_checks", err,
                        "a file has no table for checks to query; put them on the model it selects from");
}

/* ---- Tables that are delivered into */

static size_t count_parts(Str target) {
    size_t count = 1;
    for (size_t i = 0; i < target.size; i++) {
        count += target.ptr[i] == '.';
    }
    return count;
}

static bool has_empty_part(Str target) {
    return str_starts_with(target, STR(".")) || str_ends_with(target, STR(".")) ||
           str_find(target, STR("..")) != STR_NOT_FOUND;
}

/* "; attached are 'a', 'b'" */
static void write_aliases(StrBuf *text, const EngineConfig *engine) {
    if (engine->attach.count == 0) {
        strbuf_text(text, "; nothing is attached");
        return;
    }
    const char *separator = "; attached: ";
    for (size_t i = 0; i < engine->attach.count; i++) {
        strbuf_format(text, "%s" STR_FMT, separator, STR_ARG(engine->attach.items[i].alias));
        separator = ", ";
    }
}

static bool has_alias(const EngineConfig *engine, Str alias) {
    for (size_t i = 0; i < engine->attach.count; i++) {
        if (str_equal_fold(engine->attach.items[i].alias, alias)) {
            return true;
        }
    }
    return false;
}

/* The engine is looked up by name again when references are resolved; an unknown one is reported there. */
static const EngineConfig *engine_of(const ModelReader *reader) {
    const Model *model = reader->model;
    return project_config_engine(reader->config,
                                 model->engine.size > 0 ? model->engine : reader->config->default_engine);
}

static Status check_target(const ModelReader *reader, Error *err) {
    const Model *model = reader->model;
    SourceSpan place = model_key_place(model, STR("target"));
    if (model->target.size == 0) {
        return model_refuse(model, model_key_place(model, STR("materialise")), "combo.target", err,
                            "an external table must be named by target: <alias>.<schema>.<table> (for an owned table "
                            "write materialise: virtual)");
    }
    size_t parts = count_parts(model->target);
    if (parts < 2 || parts > 3 || has_empty_part(model->target)) {
        return model_refuse(model, place, "combo.target_shape", err,
                            "target '" STR_FMT "' must be <alias>.<schema>.<table> or <alias>.<table>",
                            STR_ARG(model->target));
    }
    const EngineConfig *engine = engine_of(reader);
    Str alias = str_slice(model->target, 0, str_find_char(model->target, '.'));
    if (engine == NULL || has_alias(engine, alias)) {
        return OK;
    }
    AUTO(strbuf) StrBuf known = {0};
    write_aliases(&known, engine);
    return model_refuse(model, place, "combo.target_shape", err,
                        "target '" STR_FMT "' names the alias '" STR_FMT "', which no attach: declares%s",
                        STR_ARG(model->target), STR_ARG(alias), strbuf_c(&known));
}

/* ---- Files */

typedef struct FileEnding {
    Str ending, format;
} FileEnding;

/* clang-format off */
static const FileEnding file_endings[] = {
    {STR_INIT(".csv"),     STR_INIT("csv")},
    {STR_INIT(".json"),    STR_INIT("json")},
    {STR_INIT(".ndjson"),  STR_INIT("json")},
    {STR_INIT(".parquet"), STR_INIT("parquet")},
};

/* clang-format on */

static Str format_of_path(Str path) {
    for (size_t i = 0; i < COUNT_OF(file_endings); i++) {
        if (str_ends_with(path, file_endings[i].ending)) {
            return file_endings[i].format;
        }
    }
    return STR_EMPTY;
}

static bool is_format(Str format) {
    for (size_t i = 0; i < COUNT_OF(file_endings); i++) {
        if (str_equal(file_endings[i].format, format)) {
            return true;
        }
    }
    return false;
}

static Status check_format(const ModelReader *reader, Error *err) {
    Model *model = reader->model;
    if (model->format.size == 0) {
        model->format = format_of_path(model->path);
    }
    return is_format(model->format) ? OK
                                    : model_refuse(model, model_key_place(model, STR("format")), "combo.format", err,
                                                   "format: must be csv, json or parquet");
}

static Status check_path_tokens(const Model *model, Error *err) {
    Str token = path_tokens_unknown(model->path);
    return token.size == 0
               ? OK
               : model_refuse(model, model_key_place(model, STR("path")), "key.value", err,
                              "path: has no value for '" STR_FMT "'; there are ${date}, ${datetime} and ${workspace}",
                              STR_ARG(token));
}

/* A relative path that climbs above its start at any point. */
static bool leaves_root(Str path) {
    if (str_starts_with(path, STR("/"))) {
        return false;
    }
    long depth = 0;
    while (path.size > 0) {
        size_t end = str_find_char(path, '/');
        Str part = str_slice(path, 0, end);
        path = str_skip(path, end == STR_NOT_FOUND ? path.size : end + 1);
        if (str_equal(part, STR(".."))) {
            depth--;
        } else if (part.size > 0 && !str_equal(part, STR("."))) {
            depth++;
        }
        if (depth < 0) {
            return true;
        }
    }
    return false;
}

static Status check_path(const ModelReader *reader, Error *err) {
    const Model *model = reader->model;
    if (model->path.size == 0) {
        return model_refuse(model, model_key_place(model, STR("materialise")), "combo.path", err,
                            "no path: says where its file goes");
    }
    if (leaves_root(model->path)) {
        return model_refuse(model, model_key_place(model, STR("path")), "key.value", err,
                            "path '" STR_FMT "' leaves the project's folder; write an absolute path for a file outside",
                            STR_ARG(model->path));
    }
    return check_path_tokens(model, err);
}

/* ---- Both */

typedef Status (*TerminalCheck)(const ModelReader *reader, Error *err);

static void run_checks(ModelReader *reader, const TerminalCheck *checks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        AUTO(error) Error err;
        error_init(&err);
        if (failed(checks[i](reader, &err))) {
            model_reader_fault(reader, &err);
        }
    }
}

/* An absent list means production alone. */
static void set_default_environments(ModelReader *reader) {
    if (reader->model->environments.count == 0) {
        str_vec_push(reader->arena, &reader->model->environments, STR("prod"));
    }
}

void model_check_terminal(ModelReader *reader) {
    static const TerminalCheck table_checks[] = {check_target};
    static const TerminalCheck file_checks[] = {check_path, check_format, model_check_file_options};
    switch (reader->model->materialise) {
    case MATERIALISE_TABLE:
        set_default_environments(reader);
        run_checks(reader, table_checks, COUNT_OF(table_checks));
        return;
    case MATERIALISE_FILE:
        set_default_environments(reader);
        run_checks(reader, file_checks, COUNT_OF(file_checks));
        return;
    case MATERIALISE_VIRTUAL:
    case MATERIALISE_VIEW:
    case MATERIALISE_EPHEMERAL:
    case MATERIALISE_COUNT:
        return;
    }
}
