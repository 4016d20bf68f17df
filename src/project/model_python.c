/* Python models and checks: from the manifest that discovery gives (spec 10 §6). Its form is the worker's work and is
 * trusted no further than user code is: what is missing is an error, never a crash. Keys go through the same table as
 * those of SQL files. */
#include "project/project_load.h"

#include "config/json_writer.h"
#include "project/input_scan.h"
#include "project/model_keys.h"
#include "project/model_refusal.h"

/* ---- Pieces of the manifest; absent and of another type is empty. */

static bool flag_of(const ConfigValue *map, Str key) {
    return str_equal(config_text(map, key), STR("true"));
}

/* Text as it is; anything else as its JSON. */
static Str json_of(const ConfigValue *map, Str key, Arena *arena) {
    const ConfigValue *value = config_find(map, key);
    if (value == NULL || value->kind == CONFIG_NULL) {
        return STR_EMPTY;
    }
    if (value->kind == CONFIG_SCALAR) {
        return value->text;
    }
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_config(&json, value);
    return strbuf_copy(&text, arena);
}

static SourceSpan place_of(const ConfigValue *entry) {
    int64_t line = 0;
    if (!str_to_int64(config_text(entry, STR("line")), &line) || line < 0) {
        line = 0;
    }
    return (SourceSpan){.file = config_text(entry, STR("file")), .line = (size_t)line};
}

static size_t list_count(const ConfigValue *value) {
    return value != NULL && value->kind == CONFIG_LIST ? value->count : 0;
}

/* ---- Models */

static FunctionParameterVec read_parameters(const ConfigValue *entry, Arena *arena) {
    FunctionParameterVec parameters = {0};
    const ConfigValue *list = config_find(entry, STR("params"));
    for (size_t i = 0; i < list_count(list); i++) {
        const ConfigValue *item = list->items[i];
        FunctionParameter parameter = {
            .name = config_text(item, STR("name")),
            .has_default = flag_of(item, STR("has_default")),
            .is_keyword_only =
                flag_of(item, STR("keyword_only")) || str_equal(config_text(item, STR("kind")), STR("keyword_only")),
        };
        function_parameter_vec_push(arena, &parameters, parameter);
    }
    return parameters;
}

static PythonDefinition *read_definition(const ConfigValue *entry, Arena *arena) {
    PythonDefinition *python = ARENA_NEW(arena, PythonDefinition);
    python->module_path = config_text(entry, STR("file"));
    python->function = config_text(entry, STR("function"));
    python->source = config_text(entry, STR("source"));
    python->canonical = json_of(entry, STR("canonical"), arena);
    python->captured = json_of(entry, STR("captured"), arena);
    return python;
}

static ModelDraft *draft_of_entry(ProjectLoad *load, const ConfigValue *entry) {
    Model *model = ARENA_NEW(load->arena, Model);
    model->name = config_text(entry, STR("name"));
    model->index = load->drafts.count;
    model->place = place_of(entry);
    ModelDraft *draft = ARENA_NEW(load->arena, ModelDraft);
    draft->model = model;
    Str sql = config_text(entry, STR("sql"));
    if (sql.size > 0) {
        model->kind = MODEL_SQL;
        draft->source = sql_text_own(load->arena, sql);
        return draft;
    }
    model->kind = MODEL_PYTHON;
    draft->parameters = read_parameters(entry, load->arena);
    draft->python = read_definition(entry, load->arena);
    model->python = draft->python;
    return draft;
}

static Status check_entry(const ModelDraft *draft, Error *err) {
    const Model *model = draft->model;
    bool is_whole = model->name.size > 0 && model->place.file.size > 0 &&
                    (draft->python == NULL || draft->python->function.size > 0);
    return is_whole ? OK
                    : error_set_at(err, ERROR_INTERNAL, model->place,
                                   "the Python worker described a model without name, file or function");
}

static void read_model(ProjectLoad *load, const ConfigValue *entry) {
    ModelDraft *draft = draft_of_entry(load, entry);
    AUTO(error) Error err;
    error_init(&err);
    if (failed(check_entry(draft, &err))) {
        project_fault(load, &err);
        return;
    }
    model_draft_vec_push(load->arena, &load->drafts, draft);
    ModelReader reader = {.arena = load->arena, .config = load->config, .model = draft->model, .faults = load->faults};
    model_keys_read(&reader, entry);
    load->has_fault |= reader.has_fault;
}

static void read_check(ProjectLoad *load, const ConfigValue *entry) {
    PythonCheck check = {
        .model = config_text(entry, STR("model")),
        .name = config_text(entry, STR("name")),
        .module_path = config_text(entry, STR("file")),
        .function = config_text(entry, STR("function")),
        .description = config_text(entry, STR("description")),
        .severity = config_find(entry, STR("severity")),
        .place = place_of(entry),
    };
    python_check_vec_push(load->arena, &load->python_checks, check);
}

void project_read_manifest(ProjectLoad *load, const ConfigValue *manifest) {
    const ConfigValue *models = config_find(manifest, STR("models"));
    for (size_t i = 0; i < list_count(models); i++) {
        read_model(load, models->items[i]);
    }
    const ConfigValue *checks = config_find(manifest, STR("checks"));
    for (size_t i = 0; i < list_count(checks); i++) {
        read_check(load, checks->items[i]);
    }
    const ConfigValue *streams = config_find(manifest, STR("streams"));
    load->project->streams = list_count(streams) > 0 ? streams : NULL;
}

/* ---- What each parameter stands for (spec 01 §8.2) */

/* Models by how a parameter can spell them: "raw.orders" as raw_orders. */
typedef struct Spellings {
    StrMap *by_spelling; /* exact → ModelVec * */
} Spellings;

static Spellings spellings_of_models(const ProjectLoad *load, Arena *arena) {
    Spellings spellings = {str_map_create(arena, STR_MAP_EXACT)};
    for (size_t i = 0; i < load->drafts.count; i++) {
        Model *model = load->drafts.items[i]->model;
        Str spelling = str_replace_char(arena, model->name, '.', '_');
        ModelVec *models = str_map_find(spellings.by_spelling, spelling);
        if (models == NULL) {
            models = ARENA_NEW(arena, ModelVec);
            str_map_put(spellings.by_spelling, spelling, models);
        }
        model_vec_push(arena, models, model);
    }
    return spellings;
}

static Status refuse_ambiguous(const Model *model, Str name, const ModelVec *models, Error *err) {
    AUTO(strbuf) StrBuf names = {0};
    for (size_t i = 0; i < models->count; i++) {
        strbuf_format(&names, "%s'" STR_FMT "'", i == 0 ? "" : ", ", STR_ARG(models->items[i]->name));
    }
    model_refuse(model, model->place, "parameter.ambiguous", err, "parameter '" STR_FMT "' may be any of %s",
                 STR_ARG(name), strbuf_c(&names));
    error_hint(err, "list the one that is meant in depends_on");
    return FAILED;
}

/* An exact name wins; else the one declared upstream that is spelled so; else the one model that is. */
static Status find_upstream(const Spellings *spellings, const Model *model, Str name, Model **upstream_out,
                            Error *err) {
    const ModelVec *models = str_map_find(spellings->by_spelling, name);
    Model *declared = NULL;
    size_t declared_count = 0;
    *upstream_out = NULL;
    for (size_t i = 0; models != NULL && i < models->count; i++) {
        if (str_equal(models->items[i]->name, name)) {
            *upstream_out = models->items[i];
            return OK;
        }
        if (str_vec_contains_fold(&model->depends_on, models->items[i]->name)) {
            declared = models->items[i];
            declared_count++;
        }
    }
    if (declared_count == 1) {
        *upstream_out = declared;
    } else if (models != NULL && models->count == 1) {
        *upstream_out = models->items[0];
    } else if (models != NULL) {
        return refuse_ambiguous(model, name, models, err);
    }
    return OK;
}

typedef struct ReservedParameter {
    Str name;
    ParameterKind kind;
    bool is_keyword_only;
} ReservedParameter;

/* clang-format off */
static const ReservedParameter reserved_parameters[] = {
    {STR_INIT("cursor"), PARAMETER_CURSOR, false},
    {STR_INIT("this"),   PARAMETER_THIS,   false},
    {STR_INIT("window"), PARAMETER_WINDOW, true},
    {STR_INIT("ctx"),    PARAMETER_CTX,    true},
};
/* clang-format on */

static const ReservedParameter *find_reserved(const FunctionParameter *parameter) {
    for (size_t i = 0; i < COUNT_OF(reserved_parameters); i++) {
        const ReservedParameter *reserved = &reserved_parameters[i];
        if (str_equal(reserved->name, parameter->name) && (!reserved->is_keyword_only || parameter->is_keyword_only)) {
            return reserved;
        }
    }
    return NULL;
}

#define SPELLINGS_LISTED_MAX 20

/* "accepted are raw_orders (raw.orders), customers, …, cursor, this, and behind * window and ctx" */
static void write_accepted(StrBuf *text, const ProjectLoad *load, const Model *model) {
    size_t listed = 0;
    for (size_t i = 0; i < load->drafts.count && listed < SPELLINGS_LISTED_MAX; i++) {
        const Model *other = load->drafts.items[i]->model;
        if (other == model) {
            continue;
        }
        Str spelling = str_replace_char(load->arena, other->name, '.', '_');
        strbuf_format(text, STR_FMT, STR_ARG(spelling));
        if (!str_equal(spelling, other->name)) {
            strbuf_format(text, " (" STR_FMT ")", STR_ARG(other->name));
        }
        strbuf_text(text, ", ");
        listed++;
    }
    strbuf_text(text, listed == SPELLINGS_LISTED_MAX ? "…, " : "");
    strbuf_text(text, "cursor, this, and keyword-only window and ctx");
}

static Str nearest_spelling(const Spellings *spellings, Str name, Arena *arena) {
    size_t count = str_map_count(spellings->by_spelling);
    const StrMapEntry *entries = str_map_entries(spellings->by_spelling);
    Str *names = ARENA_NEW_ARRAY(arena, Str, count);
    for (size_t i = 0; i < count; i++) {
        names[i] = entries[i].key;
    }
    const Str *nearest = str_nearest(name, names, count);
    return nearest == NULL ? STR_EMPTY : *nearest;
}

static Status refuse_parameter(const ProjectLoad *load, const Spellings *spellings, const Model *model, Str name,
                               Error *err) {
    AUTO(strbuf) StrBuf accepted = {0};
    write_accepted(&accepted, load, model);
    model_refuse(model, model->place, "parameter.unknown", err, "parameter '" STR_FMT "' is no model; accepted are %s",
                 STR_ARG(name), strbuf_c(&accepted));
    Str nearest = nearest_spelling(spellings, name, load->arena);
    if (input_exists(load->config, name)) {
        error_hint(err, "'" STR_FMT "' is an input, which SQL alone reads: let a SQL model select from it",
                   STR_ARG(name));
    } else if (nearest.size > 0) {
        error_hint(err, "did you mean '" STR_FMT "'?", STR_ARG(nearest));
    }
    return FAILED;
}

static void add_parameter(ProjectLoad *load, ModelDraft *draft, Str name, ParameterKind kind, Model *upstream) {
    PythonParameterVec *parameters = &draft->python->parameters;
    draft->parameter_models[parameters->count] = upstream;
    python_parameter_vec_push(load->arena, parameters,
                              (PythonParameter){.name = name, .kind = kind, .model = MODEL_NONE});
}

static Status check_reserved(const Model *model, ParameterKind kind, Error *err) {
    if (kind == PARAMETER_CURSOR && model->cursor.size == 0) {
        return model_refuse(
            model, model->place, "parameter.cursor", err,
            "the parameter 'cursor' needs the key cursor:, which names the column it is the maximum of");
    }
    return OK;
}

static Status resolve_parameter(ProjectLoad *load, const Spellings *spellings, ModelDraft *draft,
                                const FunctionParameter *parameter, Error *err) {
    const Model *model = draft->model;
    const ReservedParameter *reserved = find_reserved(parameter);
    if (reserved != NULL) {
        TRY(check_reserved(model, reserved->kind, err));
        add_parameter(load, draft, parameter->name, reserved->kind, NULL);
        return OK;
    }
    Model *upstream;
    TRY(find_upstream(spellings, model, parameter->name, &upstream, err));
    if (upstream != NULL) {
        add_parameter(load, draft, parameter->name, PARAMETER_UPSTREAM, upstream);
        return OK;
    }
    bool may_be_unknown = parameter->has_default || load->has_hidden_models;
    return may_be_unknown ? OK : refuse_parameter(load, spellings, model, parameter->name, err);
}

static void note_unused_cursor(ProjectLoad *load, const ModelDraft *draft) {
    const Model *model = draft->model;
    if (model->cursor.size == 0) {
        return;
    }
    for (size_t i = 0; i < draft->parameters.count; i++) {
        if (str_equal(draft->parameters.items[i].name, STR("cursor"))) {
            return;
        }
    }
    str_vec_push(load->arena, &load->project->notes,
                 str_format(load->arena, "model '" STR_FMT "' declares cursor: but takes no parameter 'cursor'",
                            STR_ARG(model->name)));
}

static void resolve_draft(ProjectLoad *load, const Spellings *spellings, ModelDraft *draft) {
    draft->parameter_models = ARENA_NEW_ARRAY(load->arena, Model *, draft->parameters.count);
    for (size_t i = 0; i < draft->parameters.count; i++) {
        AUTO(error) Error err;
        error_init(&err);
        if (failed(resolve_parameter(load, spellings, draft, &draft->parameters.items[i], &err))) {
            project_fault(load, &err);
        }
    }
    note_unused_cursor(load, draft);
}

static bool has_python_models(const ProjectLoad *load) {
    for (size_t i = 0; i < load->drafts.count; i++) {
        if (load->drafts.items[i]->python != NULL) {
            return true;
        }
    }
    return false;
}

void project_resolve_parameters(ProjectLoad *load) {
    if (!has_python_models(load)) {
        return;
    }
    AUTO(arena) Arena *scratch = arena_create();
    Spellings spellings = spellings_of_models(load, scratch);
    for (size_t i = 0; i < load->drafts.count; i++) {
        if (load->drafts.items[i]->python != NULL) {
            resolve_draft(load, &spellings, load->drafts.items[i]);
        }
    }
}
