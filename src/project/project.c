#include "project/project.h"

#include "project/physical_objects.h"
#include "project/project_load.h"
#include "sql/sql_buf.h"

void project_fault(ProjectLoad *load, Error *err) {
    load->has_fault = true;
    error_list_take(load->faults, err);
}

/* ---- Vars as literals */

/* A negative number gets parentheses: `1-var('x')` must not become a comment. */
static void write_number(StrBuf *sql, Str value) {
    bool is_negative = str_starts_with(value, STR("-"));
    strbuf_text(sql, is_negative ? "(" : "");
    strbuf_append(sql, value);
    strbuf_text(sql, is_negative ? ")" : "");
}

static Str var_literal(const VarConfig *var, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    switch (var->type) {
    case VAR_STRING:
        sql_literal(&sql, var->value);
        break;
    case VAR_INT:
    case VAR_FLOAT:
    case VAR_BOOL:
        write_number(&sql, var->value);
        break;
    case VAR_DATE:
        strbuf_text(&sql, "DATE ");
        sql_literal(&sql, var->value);
        break;
    case VAR_TIMESTAMP:
        strbuf_text(&sql, "TIMESTAMP ");
        sql_literal(&sql, var->value);
        break;
    }
    return strbuf_copy(&sql, arena);
}

static void read_vars(ProjectLoad *load) {
    const VarConfigVec *vars = &load->config->vars;
    load->vars = ARENA_NEW_ARRAY(load->arena, SqlVar, vars->count);
    load->var_count = vars->count;
    for (size_t i = 0; i < vars->count; i++) {
        load->vars[i] = (SqlVar){.name = vars->items[i].name, .literal = var_literal(&vars->items[i], load->arena)};
    }
}

/* ---- Python */

static bool has_declarations(const PythonFileVec *files) {
    for (size_t i = 0; i < files->count; i++) {
        if (!files->items[i].is_helper) {
            return true;
        }
    }
    return false;
}

static void read_python_models(ProjectLoad *load, const PythonDiscovery *python, const PythonFileVec *files) {
    if (!has_declarations(files)) {
        return; /* helpers alone declare nothing, and are never imported by themselves */
    }
    AUTO(error) Error err;
    error_init(&err);
    if (python->discover == NULL) {
        (void)error_set_at(&err, ERROR_DEFINITION, (SourceSpan){.file = files->items[0].path},
                           "the project has Python models, which this command cannot load");
        project_fault(load, &err);
        return;
    }
    const ConfigValue *manifest = NULL;
    size_t faults_before = load->faults->count;
    Status status = python->discover(python->context, load->config, files, load->arena, &manifest, load->faults);
    load->has_hidden_models = failed(status) || load->faults->count > faults_before;
    load->has_fault |= load->has_hidden_models;
    if (manifest != NULL) {
        project_read_manifest(load, manifest);
    }
}

/* ---- Loading */

static Status open_analyzer(Str cache_path, SqlAnalyzer **analyzer_out, ErrorList *faults) {
    AUTO(error) Error err;
    error_init(&err);
    if (failed(sql_analyzer_open(cache_path, analyzer_out, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    return OK;
}

static void read_models(ProjectLoad *load, const PythonDiscovery *python) {
    ModelFileVec sql_files = {0};
    PythonFileVec python_files = {0};
    project_find_files(load, &sql_files, &python_files);
    project_read_sql_models(load, &sql_files);
    read_python_models(load, python, &python_files);
    project_read_dynamic_models(load);
}

static void check_physical_objects(ProjectLoad *load) {
    for (size_t i = 0; i < load->drafts.count; i++) {
        AUTO(error) Error err;
        error_init(&err);
        if (failed(physical_objects_check(load->drafts.items[i]->model, load->arena, &err))) {
            project_fault(load, &err);
        }
    }
}

static void build_graph(ProjectLoad *load) {
    project_claim_names(load);
    project_prepare_inputs(load);
    project_analyze_models(load);
    project_resolve_parameters(load);
    project_resolve_references(load);
    project_check_terminals(load);
    check_physical_objects(load);
    project_order_models(load);
    project_check_clocks(load);
    project_read_lineage(load);
    project_read_checks(load);
    project_write_json_parts(load);
}

static Status load_into(Project *project, const ProjectOptions *options, ErrorList *faults) {
    ProjectConfig *config = NULL;
    TRY(project_config_load(&options->config, project->arena, &config, faults));
    project->config = config;
    project->by_name = str_map_create(project->arena, STR_MAP_FOLD);
    Str cache_path = options->no_cache ? STR_EMPTY : config->cache_path;
    AUTO(sql_analyzer) SqlAnalyzer *analyzer = NULL;
    TRY(open_analyzer(cache_path, &analyzer, faults));
    AUTO(sql_cache) SqlCache *blocks = block_cache_open(cache_path);
    ProjectLoad load = {
        .project = project,
        .arena = project->arena,
        .config = config,
        .analyzer = analyzer,
        .blocks = blocks,
        .macros = sql_macro_set_create(project->arena),
        .relations = str_map_create(project->arena, STR_MAP_FOLD),
        .dynamic = options->dynamic,
        .faults = faults,
    };
    read_vars(&load);
    project_read_macros(&load);
    read_models(&load, &options->python);
    build_graph(&load);
    project->queries = query_reader_create(sql_analyzer_take_parser(analyzer));
    return load.has_fault ? FAILED : OK;
}

Status project_load(const ProjectOptions *options, Project **project_out, ErrorList *faults) {
    AUTO(project) Project *project = heap_alloc_zeroed(1, sizeof *project);
    project->arena = arena_create();
    if (failed(load_into(project, options, faults))) {
        error_list_sort(faults);
        return FAILED;
    }
    *project_out = TAKE(project);
    return OK;
}

void project_destroy(Project *project) {
    if (project == NULL) {
        return;
    }
    query_reader_destroy(project->queries);
    arena_destroy(project->arena);
    free(project);
}

/* ---- Looking up */

const Model *project_find(const Project *project, Str name) {
    return str_map_find(project->by_name, name);
}

static const Str *nearest_name(const Project *project, Str name, Arena *arena) {
    Str *names = ARENA_NEW_ARRAY(arena, Str, project->model_count);
    for (size_t i = 0; i < project->model_count; i++) {
        names[i] = project->models[i]->name;
    }
    return str_nearest(name, names, project->model_count);
}

Status project_get(const Project *project, Str name, const Model **model_out, Error *err) {
    const Model *model = project_find(project, name);
    if (model != NULL) {
        *model_out = model;
        return OK;
    }
    AUTO(arena) Arena *scratch = arena_create();
    const Str *nearest = nearest_name(project, name, scratch);
    error_set(err, ERROR_SELECTION, "unknown model '" STR_FMT "'", STR_ARG(name));
    if (nearest != NULL) {
        error_hint(err, "did you mean '" STR_FMT "'?", STR_ARG(*nearest));
    }
    return FAILED;
}

const Model *project_split_column(const Project *project, Str text, Str *column_out) {
    for (size_t dot = text.size; dot-- > 0;) {
        const Model *model = text.ptr[dot] == '.' ? project_find(project, str_slice(text, 0, dot)) : NULL;
        if (model != NULL && dot + 1 < text.size) {
            *column_out = str_skip(text, dot + 1);
            return model;
        }
    }
    return NULL;
}
