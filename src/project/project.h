/* Project: the models of a folder as one graph, loaded whole and then const. Owns its arena.
 * Invariants: models are in dependency order (ties by name); every reference and upstream is an index into it; there is
 * no cycle; no two models share a name in any letter case. */
#ifndef INTERLACE_PROJECT_PROJECT_H
#define INTERLACE_PROJECT_PROJECT_H

#include "base/str_map.h"
#include "config/project_config.h"
#include "project/check.h"
#include "project/model.h"
#include "sql/query_reader.h"
#include "sql/sql_analyzer.h"

typedef struct Project {
    Arena *arena;
    const ProjectConfig *config;
    Model **models;
    size_t model_count;
    StrMap *by_name;            /* name, in any letter case → Model * */
    const ConfigValue *streams; /* of the Python manifest, as it is; NULL: none */
    QueryReader *queries;       /* reads texts anew, for whoever compares two; costs nothing until then */
    StrVec notes;               /* one line each: external `x.orders` with the tail of a model's name, … */
} Project;

/* A .py file that may declare models. */
typedef struct PythonFile {
    Str path; /* relative to the root */
    Str content;
    bool is_helper; /* name starts with `_` */
} PythonFile;
DEFINE_VEC(PythonFileVec, python_file_vec, PythonFile)

/* Gives the manifest of the Python files (spec 10 §6, message `manifest`, as one map with `files`, `models`, `checks`).
 * Implemented by python/discovery.h; called only when there are files. Faults of single files go to `faults`. */
typedef struct PythonDiscovery {
    Status (*discover)(void *context, const ProjectConfig *config, const PythonFileVec *files, Arena *arena,
                       const ConfigValue **manifest_out, ErrorList *faults);
    void *context;
} PythonDiscovery;

/* A query that a Python model registered while it ran, as its file below DYNAMIC_FOLDER holds it. */
typedef struct DynamicModel {
    Str name, owner;
    Str text; /* empty: the model is retired */
} DynamicModel;
DEFINE_VEC(DynamicModelVec, dynamic_model_vec, DynamicModel)
#define DYNAMIC_FOLDER ".interlace/dynamic" /* relative to the root */

typedef struct ProjectOptions {
    ConfigOptions config;
    PythonDiscovery python;         /* .discover NULL: a project with Python files is refused */
    const DynamicModelVec *dynamic; /* in place of the files of these names; NULL: the files as they are */
    bool no_cache;
} ProjectOptions;

/* Loads configuration, macros, model files and Python declarations; validates every key and combination; resolves
 * references; orders the graph. All faults are reported together, sorted by file and line; FAILED when there was one.
 * Writes nothing but the cache folder. */
MUST_CHECK Status project_load(const ProjectOptions *options, Project **project_out, ErrorList *faults);
void project_destroy(Project *project); /* NULL is fine */
DEFINE_AUTO(Project, project, project_destroy)

const Model *project_find(const Project *project, Str name); /* any letter case; NULL when absent */
/* SelectionError-style fault "unknown model 'x'" with the nearest name. */
MUST_CHECK Status project_get(const Project *project, Str name, const Model **model_out, Error *err);

/* `text` is MODEL.COLUMN, split at the last dot that leaves a model's name; NULL: at none. */
const Model *project_split_column(const Project *project, Str text, Str *column_out);

/* Features of models that a later piece of work brings: one PlanError (code feature.later) naming model and feature,
 * for every model that needs one (strategies other than replace, materialise table and file, dialects, indexes, …). */
MUST_CHECK Status project_check_supported(const Project *project, ErrorList *faults);

/* Markdown of the model-key table for docs/reference/models.md. */
void model_keys_write_reference(StrBuf *out);

#endif
