/* SQL models: from a file to a query with its facts. */
#include "project/project_load.h"

#include "project/model_keys.h"
#include "project/model_refusal.h"

/* ---- Reading */

static ModelDraft *add_draft(ProjectLoad *load, Str path, Str name) {
    Model *model = ARENA_NEW(load->arena, Model);
    model->kind = MODEL_SQL;
    model->name = name;
    model->index = load->drafts.count;
    model->place = (SourceSpan){.file = path, .line = 1};
    ModelDraft *draft = ARENA_NEW(load->arena, ModelDraft);
    draft->model = model;
    model_draft_vec_push(load->arena, &load->drafts, draft);
    return draft;
}

/* With a block that does not read, the rest is examined as if it had none, so that all faults of the file show at once.
 */
static SqlFile split(ProjectLoad *load, const SourceFile *source) {
    AUTO(error) Error err;
    error_init(&err);
    SqlFile file;
    if (failed(sql_file_split(source, load->blocks, load->arena, &file, &err))) {
        project_fault(load, &err);
        file = (SqlFile){.source = source, .body = sql_text_from_file(load->arena, source, 0, source->content.size)};
    }
    return file;
}

static void read_source(ProjectLoad *load, ModelDraft *draft, const SourceFile *source) {
    SqlFile parts = split(load, source);
    draft->source = parts.body;
    draft->model->has_header = parts.has_header;
    if (parts.has_header) {
        draft->model->place.line = parts.header_line;
    }
    ModelReader reader = {.arena = load->arena, .config = load->config, .model = draft->model, .faults = load->faults};
    model_keys_read(&reader, parts.header);
    load->has_fault |= reader.has_fault;
}

Model *project_read_sql_source(ProjectLoad *load, Str name, const SourceFile *source) {
    ModelDraft *draft = add_draft(load, source->path, name);
    read_source(load, draft, source);
    return draft->model;
}

static void read_sql_model(ProjectLoad *load, const ModelFile *file) {
    ModelDraft *draft = add_draft(load, file->path, file->name);
    AUTO(error) Error err;
    error_init(&err);
    const SourceFile *source;
    if (failed(source_file_read(load->config->root, file->path, load->arena, &source, &err))) {
        project_fault(load, &err);
        return;
    }
    read_source(load, draft, source);
}

void project_read_sql_models(ProjectLoad *load, const ModelFileVec *files) {
    for (size_t i = 0; i < files->count; i++) {
        read_sql_model(load, &files->items[i]);
    }
}

/* ---- Engine and dialect */

static Str engine_names(const ProjectLoad *load) {
    StrVec names = {0};
    for (size_t i = 0; i < load->config->engines.count; i++) {
        str_vec_push(load->arena, &names, load->config->engines.items[i].name);
    }
    return str_join(load->arena, names.items, names.count, STR(", "));
}

static Status resolve_engine(const ProjectLoad *load, ModelDraft *draft, Error *err) {
    Model *model = draft->model;
    if (model->engine.size == 0) {
        model->engine = load->config->default_engine;
    }
    draft->engine = project_config_engine(load->config, model->engine);
    if (draft->engine != NULL) {
        model->engine = draft->engine->name;
        return OK;
    }
    Str known = engine_names(load);
    return model_refuse(model, model_key_place(model, STR("engine")), "key.value", err,
                        "engine '" STR_FMT "' is not configured; there are " STR_FMT, STR_ARG(model->engine),
                        STR_ARG(known));
}

/* clang-format off */
static const Str dialects[] = {
    STR_INIT("duckdb"), STR_INIT("postgres"), STR_INIT("redshift"), STR_INIT("snowflake"), STR_INIT("bigquery"),
    STR_INIT("spark"),
};
/* clang-format on */

static Status resolve_dialect(const ProjectLoad *load, const ModelDraft *draft, Error *err) {
    Model *model = draft->model;
    if (model->dialect.size == 0) {
        model->dialect = draft->engine == NULL ? load->config->default_dialect : draft->engine->dialect;
        return OK;
    }
    for (size_t i = 0; i < COUNT_OF(dialects); i++) {
        if (str_equal(dialects[i], model->dialect)) {
            return OK;
        }
    }
    Str known = str_join(load->arena, dialects, COUNT_OF(dialects), STR(", "));
    return model_refuse(model, model_key_place(model, STR("dialect")), "key.value", err,
                        "dialect '" STR_FMT "' is not one of " STR_FMT, STR_ARG(model->dialect), STR_ARG(known));
}

/* ---- The query */

static Status name_model(const Model *model, Error *err) {
    error_place(err, model->place);
    error_detail(err, STR("model"), model->name);
    return error_wrap(err, "reading model '" STR_FMT "' in dialect " STR_FMT, STR_ARG(model->name),
                      STR_ARG(model->dialect));
}

/* A text in another dialect may be sound and yet not read: what is missing then is the translation. */
static Status explain_dialect(const ModelDraft *draft, Error *err) {
    const Model *model = draft->model;
    if (draft->engine != NULL && !str_equal(model->dialect, draft->engine->dialect)) {
        error_hint(err, "the query is in dialect " STR_FMT ", which only a build with -Ddialects=true translates",
                   STR_ARG(model->dialect));
    }
    return name_model(model, err);
}

static Status analyze(ProjectLoad *load, ModelDraft *draft, Error *err) {
    Model *model = draft->model;
    if (failed(
            sql_expand(&draft->source, load->macros, load->vars, load->var_count, load->arena, &model->query, err))) {
        return name_model(model, err);
    }
    SqlAnalysis analysis;
    if (failed(sql_analyze(load->analyzer, model->query.text, load->arena, &analysis, err))) {
        sql_text_locate_error(&model->query, err);
        return explain_dialect(draft, err);
    }
    model->facts = analysis.facts;
    model->canonical_digest = analysis.canonical_digest;
    draft->is_analyzed = true;
    return OK;
}

static void analyze_model(ProjectLoad *load, ModelDraft *draft) {
    AUTO(error) Error err;
    error_init(&err);
    if (failed(resolve_engine(load, draft, &err))) {
        project_fault(load, &err);
    }
    if (failed(resolve_dialect(load, draft, &err))) {
        project_fault(load, &err);
    }
    if (draft->source.text.ptr != NULL && failed(analyze(load, draft, &err))) {
        project_fault(load, &err);
    }
}

void project_analyze_models(ProjectLoad *load) {
    for (size_t i = 0; i < load->drafts.count; i++) {
        analyze_model(load, load->drafts.items[i]);
    }
}
