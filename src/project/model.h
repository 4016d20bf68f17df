/* Model: one named query or Python function of the project, a node of the graph. Open data, built once by project_load
 * and then const; lives in the project's arena. */
#ifndef INTERLACE_PROJECT_MODEL_H
#define INTERLACE_PROJECT_MODEL_H

#include "config/config_value.h"
#include "sql/sql_facts.h"
#include "sql/sql_text.h"

typedef enum Materialise {
    MATERIALISE_VIRTUAL,
    MATERIALISE_VIEW,
    MATERIALISE_EPHEMERAL,
    MATERIALISE_TABLE,
    MATERIALISE_FILE,
    MATERIALISE_COUNT
} Materialise;

typedef enum StrategyKind {
    STRATEGY_REPLACE,
    STRATEGY_APPEND,
    STRATEGY_MERGE,
    STRATEGY_FULL_MERGE,
    STRATEGY_HASH_MERGE,
    STRATEGY_SCD,
    STRATEGY_INCREMENTAL,
    STRATEGY_COUNT
} StrategyKind;

typedef enum ModelKind { MODEL_SQL, MODEL_PYTHON } ModelKind;

const char *materialise_name(Materialise materialise);
const char *strategy_name(StrategyKind strategy);
bool materialise_parse(Str text, Materialise *materialise_out);
bool strategy_parse(Str text, StrategyKind *strategy_out); /* incremental_by_time is incremental */

typedef struct Check Check; /* project/check.h */
DEFINE_VEC(CheckVec, check_vec, Check *)

/* One column of the output contract. */
typedef struct ContractColumn {
    Str name, type; /* type empty: any */
} ContractColumn;
DEFINE_VEC(ContractColumnVec, contract_column_vec, ContractColumn)

#define MODEL_NONE SIZE_MAX /* also the index of a model that is not ordered yet */
#define INPUT_NONE SIZE_MAX

/* What one table of a SQL model's query stands for. */
typedef struct ModelReference {
    size_t model; /* index in Project.models; MODEL_NONE: no model */
    size_t input; /* index in ProjectConfig.inputs; INPUT_NONE: no input. Neither: external, left as written */
} ModelReference;

typedef enum ParameterKind {
    PARAMETER_UPSTREAM,
    PARAMETER_THIS,
    PARAMETER_CURSOR,
    PARAMETER_WINDOW,
    PARAMETER_CTX
} ParameterKind;
typedef struct PythonParameter {
    Str name;
    ParameterKind kind;
    size_t model; /* of an UPSTREAM */
} PythonParameter;
DEFINE_VEC(PythonParameterVec, python_parameter_vec, PythonParameter)

typedef struct PythonDefinition {
    Str module_path; /* the .py file, relative to the root */
    Str function;
    Str source;    /* as in the file, for --diff */
    Str canonical; /* syntax tree of the function and of all helpers it reaches, as text */
    Str captured;  /* JSON of captured values and vars */
    PythonParameterVec parameters;
} PythonDefinition;

/* A column of an upstream that an output of a Python model is made of, as it declares. */
typedef struct DeclaredSource {
    Str output;
    size_t model; /* an upstream */
    Str column;
} DeclaredSource;
DEFINE_VEC(DeclaredSourceVec, declared_source_vec, DeclaredSource)

typedef struct Model {
    size_t index;     /* position in Project.models, which is in dependency order */
    Str name;         /* "silver.orders" */
    Str schema, base; /* "silver", "orders"; schema "main" when the name has no dot */
    ModelKind kind;
    SourceSpan place;  /* file and line of the definition */
    Str registered_by; /* the Python model that registered it while running; empty: it has a source file */

    Materialise materialise;
    StrategyKind strategy;
    StrVec key;
    Str time_column, interval, backfill, cursor;
    Str engine, dialect; /* resolved names */
    StrVec depends_on;   /* as declared */
    StrVec tags;
    Str owner, description;
    bool has_contract;
    ContractColumnVec contract;
    CheckVec checks;             /* declared ones, then Python checks, in order */
    const ConfigValue *schedule; /* NULL when absent; kept for `models --json` */

    /* Terminals, windows and physical objects; a value is NULL (a text empty) when it was not declared. */
    Str target, path, format;
    const ConfigValue *options;
    StrVec environments; /* table and file: where the model delivers; sorted */
    const ConfigValue *indexes, *constraints, *schema_policy;
    Str batch, clock;
    StrVec clock_columns;
    int64_t batch_rows;
    int64_t concurrency; /* 0: not declared, as 1 unless the command says otherwise */
    int64_t lookback;
    const ConfigValue *reads, *audit, *lineage;
    const ConfigValue *declaration; /* all keys as they were written; NULL: a SQL file without a block */

    /* The JSON parts that fingerprints hash (spec 03 §1), compact, keys sorted, defaults written out. */
    Str config_json, metadata_json, physical_json; /* physical_json is empty when nothing is declared */

    /* SQL: the query after macros and vars, without its header block; facts of it; one reference for each table. */
    SqlText query;
    const SqlFacts *facts;
    const ModelReference *references;
    Str canonical_digest;
    bool has_header;

    const PythonDefinition *python; /* Python models only */
    StrVec declared_outputs;        /* Python: columns whose lineage is declared; some have no sources */
    DeclaredSourceVec declared_sources;

    IndexVec upstreams;   /* direct, each once, ascending */
    IndexVec downstreams; /* direct, each once, ascending */

    /* Set by fingerprint_project (plan/fingerprint.h); 16 hex digits each. */
    Str local_fingerprint, fingerprint, metadata_hash, physical_hash;
} Model;
DEFINE_VEC(ModelVec, model_vec, Model *)

/* True for models that have rows of their own or a view in the warehouse: virtual and view. */
static inline bool model_has_relation(const Model *model) {
    return model->materialise == MATERIALISE_VIRTUAL || model->materialise == MATERIALISE_VIEW;
}

/* True when a table of its own query is that input. */
bool model_reads_input(const Model *model, size_t input);

/* Delivered outside of the warehouse: no snapshot relation, no environment view. */
static inline bool model_is_terminal(const Model *model) {
    return model->materialise == MATERIALISE_TABLE || model->materialise == MATERIALISE_FILE;
}

/* The environment gate (spec 01 §12.5): where a terminal model does not deliver, nothing leaves the warehouse. */
static inline bool model_delivers_in(const Model *model, Str environment) {
    return model_is_terminal(model) && str_vec_contains(&model->environments, environment);
}

#endif
