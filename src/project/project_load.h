/* Loading a project, step by step (project_load.c calls them in this order). What a model still lacks while its project
 * is being loaded stands in its draft; a draft dies with the load, its model lives in the project's arena.
 *
 *     files → macros → drafts of SQL files and of the Python manifest → names → engines, queries → references
 *           → order → clocks → checks → JSON parts
 *
 * A step goes on after a fault, so that all faults are reported together. */
#ifndef INTERLACE_PROJECT_PROJECT_LOAD_H
#define INTERLACE_PROJECT_PROJECT_LOAD_H

#include "project/project.h"
#include "project/sql_file.h"
#include "sql/sql_macro.h"

/* One parameter of a Python function as the manifest tells it. */
typedef struct FunctionParameter {
    Str name;
    bool has_default, is_keyword_only;
} FunctionParameter;
DEFINE_VEC(FunctionParameterVec, function_parameter_vec, FunctionParameter)

/* A Python check before its model is known. */
typedef struct PythonCheck {
    Str model, name, module_path, function, description;
    const ConfigValue *severity; /* NULL: error */
    SourceSpan place;
} PythonCheck;
DEFINE_VEC(PythonCheckVec, python_check_vec, PythonCheck)

typedef struct ModelDraft {
    Model *model;
    SqlText source;                  /* SQL: the query as it was written */
    const EngineConfig *engine;      /* NULL: unknown, reported */
    bool is_analyzed;                /* SQL: model->facts are there */
    Model **tables;                  /* one for each table of the query; NULL: external */
    PythonDefinition *python;        /* Python: what model->python points to, until it is complete */
    FunctionParameterVec parameters; /* Python: as they are written */
    Model **parameter_models;        /* one for each of python->parameters; NULL: none */
    ModelVec upstreams;              /* direct, each once */
    size_t waiting;                  /* while ordering: upstreams that have no place yet */
} ModelDraft;
DEFINE_VEC(ModelDraftVec, model_draft_vec, ModelDraft *)

typedef struct ProjectLoad {
    Project *project;
    Arena *arena; /* the project's */
    const ProjectConfig *config;
    SqlAnalyzer *analyzer;
    SqlCache *blocks;
    SqlMacroSet *macros;
    SqlVar *vars;
    size_t var_count;
    ModelDraftVec drafts; /* in the order of loading; a model's index is its place here until they are ordered */
    StrMap *relations;    /* "schema.base" in any letter case → Model * */
    StrVec input_digests; /* one for each input of the configuration; empty: not watched */
    PythonCheckVec python_checks;
    ErrorList *faults;
    bool has_fault;
    const DynamicModelVec *dynamic; /* NULL: none in place of files */
    bool has_hidden_models; /* a Python file did not load: a name that is no model here may be one of its models */
} ProjectLoad;

/* Reports the fault in `err`, which is empty afterwards. */
void project_fault(ProjectLoad *load, Error *err);

/* project_files.c: the files below model_paths, in the order of loading. */
typedef struct ModelFile {
    Str path; /* relative to the root */
    Str name; /* of the model, from the path */
} ModelFile;
DEFINE_VEC(ModelFileVec, model_file_vec, ModelFile)
void project_find_files(ProjectLoad *load, ModelFileVec *sql_out, PythonFileVec *python_out);
void project_read_macros(ProjectLoad *load);

/* model_sql.c */
void project_read_sql_models(ProjectLoad *load, const ModelFileVec *files);
Model *project_read_sql_source(ProjectLoad *load, Str name, const SourceFile *source);
void project_analyze_models(ProjectLoad *load); /* engines and dialects, expansion, facts */

/* model_python.c */
void project_read_manifest(ProjectLoad *load, const ConfigValue *manifest);
void project_resolve_parameters(ProjectLoad *load);

/* dynamic_models.c: queries that running models registered; after all source files, whose names come first. */
void project_read_dynamic_models(ProjectLoad *load);

/* project_names.c: takes the models that have a sound name of their own into project->by_name and load->relations;
 * drops the drafts of the others. */
void project_claim_names(ProjectLoad *load);

/* references.c: upstreams of each draft; the rules between a model and what it reads; notes. */
void project_resolve_references(ProjectLoad *load);
/* Resolves the tables of a text that `model` owns, as in its own query; NULL where a table is external. */
Model **resolve_tables(const ProjectLoad *load, const Model *model, const SqlFacts *facts, Arena *arena);

/* project_inputs.c: names that are models' too; digests of watched files. After names are claimed. */
void project_prepare_inputs(ProjectLoad *load);

/* model_order.c: sets project->models and all indexes; DependencyError for each cycle. */
void project_order_models(ProjectLoad *load);

/* model_clock.c: after ordering; reads of the clock where `clock: forbid` says there are none. */
void project_check_clocks(ProjectLoad *load);

/* declared_lineage.c: after ordering. */
void project_read_lineage(ProjectLoad *load);

/* check.c: after ordering. */
void project_read_checks(ProjectLoad *load);

/* model_json.c */
void project_write_json_parts(ProjectLoad *load);

/* project_terminals.c: two models that deliver to one place. */
void project_check_terminals(ProjectLoad *load);

/* "; did you mean 'x'?" for a name that is no model, or nothing. */
Str project_nearest_model(const ProjectLoad *load, Str name);

#endif
