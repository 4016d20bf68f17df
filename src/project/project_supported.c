/* What a project may declare, but this build does not do yet: refused with model and feature, so that nothing that was
 * written is without effect. A piece of work that brings a feature removes its row. */
#include "project/project.h"

#include "project/model_refusal.h"

/* Does the model need the feature? `key` is the row's. */
typedef bool (*FeatureTest)(const Project *project, const Model *model, Str key);

typedef struct LaterFeature {
    const char *feature; /* completes "model 'M' needs …" */
    FeatureTest is_needed;
    Str key; /* whose place the fault has; empty: the model's */
} LaterFeature;

static bool is_declared(const Project *project, const Model *model, Str key) {
    (void)project;
    const ConfigValue *value = config_find(model->declaration, key);
    return value != NULL && value->kind != CONFIG_NULL && (value->kind == CONFIG_SCALAR || value->count > 0);
}

static bool has_other_dialect(const Project *project, const Model *model, Str key) {
    (void)key;
    return model->kind == MODEL_SQL &&
           !str_equal(model->dialect, project_config_engine(project->config, model->engine)->dialect);
}

static bool has_other_engine(const Project *project, const Model *model, Str key) {
    (void)key;
    return !str_equal(model->engine, project->config->default_engine);
}

static bool reads_stream(const Project *project, const Model *model, Str key) {
    (void)project, (void)key;
    for (size_t i = 0; model->facts != NULL && i < model->facts->tables.count; i++) {
        const SqlTableRef *table = &model->facts->tables.items[i];
        if (table->catalog.size == 0 && str_equal_fold(table->schema, STR("streams"))) {
            return true;
        }
    }
    return false;
}

/* clang-format off */
static const LaterFeature later_features[] = {
    {"a timeout",                                      is_declared,       STR_INIT("timeout")},
    {"retries",                                        is_declared,       STR_INIT("retries")},
    {"a memory limit of its own",                      is_declared,       STR_INIT("memory_limit")},
    {"a pool",                                         is_declared,       STR_INIT("pool")},
    {"environment variables in its fingerprint",       is_declared,       STR_INIT("env")},
    {"a check of the packages it requires",            is_declared,       STR_INIT("requires")},
    {"the switch enabled:",                            is_declared,       STR_INIT("enabled")},
    {"commits during a pull",                          is_declared,       STR_INIT("commit_every")},
    {"a stream",                                       reads_stream,      STR_INIT("")},
    {"a dialect that is not its engine's",             has_other_dialect, STR_INIT("dialect")},
    {"an engine other than the default one",           has_other_engine,  STR_INIT("engine")},
};
/* clang-format on */

static void refuse_feature(const Model *model, const LaterFeature *feature, ErrorList *faults) {
    AUTO(error) Error err;
    error_init(&err);
    error_set_at(&err, ERROR_PLAN, model_key_place(model, feature->key),
                 "model '" STR_FMT "' needs %s, which this version does not have yet", STR_ARG(model->name),
                 feature->feature);
    error_code(&err, STR("feature.later"));
    error_detail(&err, STR("model"), model->name);
    error_detail(&err, STR("feature"), str_from(feature->feature));
    error_list_take(faults, &err);
}

/* Its reasons are better than ours: what the configuration of the engine lacks. Said once for each engine. */
static Status check_engine(const Project *project, const Model *model, StrMap *checked, Error *err) {
    const EngineConfig *engine = project_config_engine(project->config, model->engine);
    if (str_map_contains(checked, engine->name)) {
        return OK;
    }
    str_map_put(checked, engine->name, checked);
    if (failed(engine_config_check_usable(engine, err))) {
        return error_wrap(err, "preparing the engine of model '" STR_FMT "'", STR_ARG(model->name));
    }
    return OK;
}

static bool check_model(const Project *project, const Model *model, StrMap *checked, ErrorList *faults) {
    AUTO(error) Error err;
    error_init(&err);
    if (failed(check_engine(project, model, checked, &err))) {
        error_list_take(faults, &err);
        return false;
    }
    for (size_t i = 0; i < COUNT_OF(later_features); i++) {
        if (later_features[i].is_needed(project, model, later_features[i].key)) {
            refuse_feature(model, &later_features[i], faults);
            return false; /* the first is enough: it says which piece of work the model waits for */
        }
    }
    return true;
}

static bool check_streams(const Project *project, ErrorList *faults) {
    size_t count = project->streams == NULL ? 0 : project->streams->count;
    for (size_t i = 0; i < count; i++) {
        const ConfigValue *name = config_find(project->streams->items[i], STR("name"));
        const ConfigValue *file = config_find(project->streams->items[i], STR("file"));
        Str name_text = name == NULL ? STR_EMPTY : name->text;
        AUTO(error) Error err;
        error_init(&err);
        error_set_at(&err, ERROR_PLAN, (SourceSpan){.file = file == NULL ? STR_EMPTY : file->text},
                     "stream '" STR_FMT "' needs streams, which this version does not have yet", STR_ARG(name_text));
        error_code(&err, STR("feature.later"));
        error_list_take(faults, &err);
    }
    return count == 0;
}

Status project_check_supported(const Project *project, ErrorList *faults) {
    AUTO(arena) Arena *scratch = arena_create();
    StrMap *checked = str_map_create(scratch, STR_MAP_EXACT);
    bool is_supported = check_streams(project, faults);
    for (size_t i = 0; i < project->model_count; i++) {
        is_supported = check_model(project, project->models[i], checked, faults) && is_supported;
    }
    error_list_sort(faults);
    return is_supported ? OK : FAILED;
}
