/* What a model reads (spec 01 §7): tables of its query and declared names to models, and the rules between the two. */
#include "project/project_load.h"

#include "base/files.h"
#include "project/input_scan.h"
#include "project/model_refusal.h"

/* ---- One table. First match wins: a model, then an input; what nothing matches is external and left as it is written.
 */

/* Unquoted identifiers match in any letter case, quoted ones exactly. */
static bool matches(Str written, bool is_quoted, Str name) {
    return is_quoted ? str_equal(written, name) : str_equal_fold(written, name);
}

static Model *find_relation(const ProjectLoad *load, Str schema, Str name, StrBuf *key) {
    strbuf_clear(key);
    strbuf_append(key, schema);
    strbuf_char(key, '.');
    strbuf_append(key, name);
    return str_map_find(load->relations, strbuf_str(key));
}

/* The engine calls its own database after the file, up to the first dot; three names it keeps for itself. */
static Str catalog_of_file(Str path, Arena *arena) {
    static const Str reserved[] = {STR_INIT("main"), STR_INIT("temp"), STR_INIT("system")};
    Str name = path_base_name(path);
    name = str_slice(name, 0, str_find_char(name, '.'));
    for (size_t i = 0; i < COUNT_OF(reserved); i++) {
        if (str_equal(reserved[i], name)) {
            return str_format(arena, STR_FMT "_db", STR_ARG(name));
        }
    }
    return name;
}

static Str own_catalog(const EngineConfig *engine, Arena *arena) {
    if (engine == NULL) {
        return STR_EMPTY;
    }
    if (str_equal(engine->type, STR("ducklake"))) {
        return engine->alias;
    }
    bool is_memory = str_equal(engine->database_path, STR(":memory:"));
    return is_memory ? STR("memory") : catalog_of_file(engine->database_path, arena);
}

/* The reader's engine; NULL when it names an unknown one. */
static const EngineConfig *engine_of(const ProjectLoad *load, const Model *model) {
    return project_config_engine(load->config, model->engine);
}

static bool is_attached(const EngineConfig *engine, Str alias) {
    for (size_t i = 0; engine != NULL && i < engine->attach.count; i++) {
        if (str_equal_fold(engine->attach.items[i].alias, alias)) {
            return true;
        }
    }
    return false;
}

static Model *find_in_schema(const ProjectLoad *load, const SqlTableRef *table, StrBuf *key) {
    Model *model = find_relation(load, table->schema, table->name, key);
    if (model == NULL || !matches(table->schema, table->schema_quoted, model->schema) ||
        !matches(table->name, table->name_quoted, model->base)) {
        return NULL;
    }
    return model;
}

static Model *find_in_main(const ProjectLoad *load, const SqlTableRef *table, StrBuf *key) {
    Model *model = find_relation(load, STR("main"), table->name, key);
    return model != NULL && matches(table->name, table->name_quoted, model->base) ? model : NULL;
}

/* a.b.c may be the model `a.b.c`, whose schema is `a.b`, as long as `a` is no database. */
static Model *find_deep(const ProjectLoad *load, const EngineConfig *engine, const SqlTableRef *table) {
    if (is_attached(engine, table->catalog)) {
        return NULL;
    }
    Str name = str_format(load->arena, STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(table->catalog), STR_ARG(table->schema),
                          STR_ARG(table->name));
    return str_map_find(load->relations, name);
}

static Model *resolve_table(const ProjectLoad *load, const Model *reader, const SqlTableRef *table, StrBuf *key) {
    if (table->is_file) {
        return NULL;
    }
    if (table->catalog.size > 0) {
        const EngineConfig *engine = engine_of(load, reader);
        return str_equal_fold(table->catalog, own_catalog(engine, load->arena)) ? find_in_schema(load, table, key)
                                                                                : find_deep(load, engine, table);
    }
    if (table->schema.size == 0) {
        return find_in_main(load, table, key);
    }
    Model *model = find_in_schema(load, table, key);
    if (model != NULL) {
        return model;
    }
    /* The engine reads warehouse.orders as warehouse.main.orders. */
    return str_equal_fold(table->schema, own_catalog(engine_of(load, reader), load->arena))
               ? find_in_main(load, table, key)
               : NULL;
}

Model **resolve_tables(const ProjectLoad *load, const Model *model, const SqlFacts *facts, Arena *arena) {
    AUTO(strbuf) StrBuf key = {0};
    Model **tables = ARENA_NEW_ARRAY(arena, Model *, facts->tables.count);
    for (size_t i = 0; i < facts->tables.count; i++) {
        tables[i] = resolve_table(load, model, &facts->tables.items[i], &key);
    }
    return tables;
}

/* ---- Inputs */

/* Files are read where the engine runs in this process. */
static Status check_input_engine(const ProjectLoad *load, const Model *model, const InputConfig *input, Error *err) {
    const EngineConfig *engine = engine_of(load, model);
    bool reads_files =
        engine == NULL || str_equal(engine->type, STR("duckdb")) || str_equal(engine->type, STR("ducklake"));
    if (reads_files) {
        return OK;
    }
    error_set_at(err, ERROR_COMPILATION, model->place,
                 "model '" STR_FMT "' reads the input '" STR_FMT "' on engine '" STR_FMT "' of type " STR_FMT
                 "; inputs are read on engines of type duckdb and ducklake",
                 STR_ARG(model->name), STR_ARG(input->name), STR_ARG(engine->name), STR_ARG(engine->type));
    error_code(err, STR("input.engine"));
    error_detail(err, STR("model"), model->name);
    return FAILED;
}

static void resolve_table_input(ProjectLoad *load, const Model *model, const SqlTableRef *table) {
    size_t input = input_find(load->config, table);
    AUTO(error) Error err;
    error_init(&err);
    if (input != INPUT_NONE && failed(check_input_engine(load, model, &load->config->inputs.items[input], &err))) {
        project_fault(load, &err);
    }
}

/* ---- Rules between a model and one upstream */

static Status refuse_self(const ModelDraft *draft, SourceSpan place, Error *err) {
    const Model *model = draft->model;
    model_refuse(model, place, "reference.self", err, "it reads itself");
    error_hint(err,
               model->kind == MODEL_SQL
                   ? "SQL has no `this`: use a strategy to build upon earlier rows, or read `this` in a Python model"
                   : "take the parameter `this` to read what was built before");
    return FAILED;
}

static Status check_upstream(const Model *model, const Model *upstream, SourceSpan place, Error *err) {
    bool same_engine = str_equal(model->engine, upstream->engine);
    if (upstream->materialise == MATERIALISE_FILE) {
        return model_refuse(model, place, "combo.file_dep", err,
                            "it reads '" STR_FMT "', which is delivered as a file and leaves no table to read",
                            STR_ARG(upstream->name));
    }
    if (upstream->materialise == MATERIALISE_TABLE && !same_engine) {
        return model_refuse(model, place, "combo.table_cross_engine", err,
                            "it runs on engine '" STR_FMT "' and reads the table '" STR_FMT
                            "' delivered on engine '" STR_FMT "'; both must use one engine",
                            STR_ARG(model->engine), STR_ARG(upstream->name), STR_ARG(upstream->engine));
    }
    if (upstream->materialise == MATERIALISE_EPHEMERAL && !same_engine && model->kind == MODEL_SQL) {
        return model_refuse(model, place, "combo.ephemeral_engine", err,
                            "it runs on engine '" STR_FMT "' and inlines the ephemeral '" STR_FMT
                            "' of engine '" STR_FMT "'; they must share an engine",
                            STR_ARG(model->engine), STR_ARG(upstream->name), STR_ARG(upstream->engine));
    }
    return OK;
}

/* Where a reference stands; worked out only when there is something to say about it. */
typedef struct ReferencePlace {
    const SqlText *text; /* NULL: `otherwise` */
    size_t offset;
    SourceSpan otherwise;
} ReferencePlace;

static SourceSpan reference_span(const ReferencePlace *place, Arena *arena) {
    SourceSpan span = place->text == NULL ? place->otherwise : sql_text_place(place->text, place->offset, arena);
    return span.file.size > 0 ? span : place->otherwise;
}

static Status check_reference(const ModelDraft *draft, const Model *upstream, const ReferencePlace *place, Arena *arena,
                              Error *err) {
    if (upstream == draft->model) {
        return refuse_self(draft, reference_span(place, arena), err);
    }
    if (failed(check_upstream(draft->model, upstream, place->otherwise, err))) {
        return check_upstream(draft->model, upstream, reference_span(place, arena), err);
    }
    return OK;
}

static bool has_upstream(const ModelDraft *draft, const Model *upstream) {
    for (size_t i = 0; i < draft->upstreams.count; i++) {
        if (draft->upstreams.items[i] == upstream) {
            return true;
        }
    }
    return false;
}

static void add_upstream(ProjectLoad *load, ModelDraft *draft, Model *upstream, const ReferencePlace *place) {
    if (has_upstream(draft, upstream)) {
        return;
    }
    AUTO(error) Error err;
    error_init(&err);
    if (failed(check_reference(draft, upstream, place, load->arena, &err))) {
        project_fault(load, &err);
        return;
    }
    model_vec_push(load->arena, &draft->upstreams, upstream);
}

/* ---- Notes */

/* The model whose name ends like that of an external table, and which a hasty reader may take it for. */
static const Model *find_tail(const StrMap *tails, const Model *reader, Str name) {
    const ModelVec *models = str_map_find(tails, name);
    for (size_t i = 0; models != NULL && i < models->count; i++) {
        if (models->items[i] != reader) {
            return models->items[i];
        }
    }
    return NULL;
}

/* Most projects have nothing to note: both maps are made when the first external table asks for them. */
typedef struct Notes {
    Arena *arena;
    StrMap *tails; /* base in any letter case → ModelVec * */
    StrMap *told;  /* external tables that have their note */
} Notes;

static void notes_prepare(const ProjectLoad *load, Notes *notes) {
    if (notes->tails != NULL) {
        return;
    }
    notes->tails = str_map_create(notes->arena, STR_MAP_FOLD);
    notes->told = str_map_create(notes->arena, STR_MAP_FOLD);
    for (size_t i = 0; i < load->drafts.count; i++) {
        Model *model = load->drafts.items[i]->model;
        ModelVec *models = str_map_find(notes->tails, model->base);
        if (models == NULL) {
            models = ARENA_NEW(notes->arena, ModelVec);
            str_map_put(notes->tails, model->base, models);
        }
        model_vec_push(notes->arena, models, model);
    }
}

static void note_external(ProjectLoad *load, Notes *notes, const Model *reader, const SqlTableRef *table) {
    if (table->is_file || table->schema.size == 0 || table->catalog.size > 0) {
        return;
    }
    notes_prepare(load, notes);
    const Model *model = find_tail(notes->tails, reader, table->name);
    if (model == NULL) {
        return;
    }
    Str external = str_format(load->arena, STR_FMT "." STR_FMT, STR_ARG(table->schema), STR_ARG(table->name));
    if (str_map_contains(notes->told, external)) {
        return;
    }
    str_map_put(notes->told, external, notes);
    Str note = str_format(
        load->arena, "model '" STR_FMT "' reads the external table " STR_FMT ", which is not the model '" STR_FMT "'",
        STR_ARG(reader->name), STR_ARG(external), STR_ARG(model->name));
    str_vec_push(load->arena, &load->project->notes, note);
}

/* ---- All */

static void resolve_query(ProjectLoad *load, ModelDraft *draft, Notes *notes) {
    const Model *model = draft->model;
    const SqlTableRefVec *tables = &model->facts->tables;
    draft->tables = resolve_tables(load, model, model->facts, load->arena);
    for (size_t i = 0; i < tables->count; i++) {
        if (draft->tables[i] == NULL) {
            resolve_table_input(load, model, &tables->items[i]);
            note_external(load, notes, model, &tables->items[i]);
            continue;
        }
        ReferencePlace place = {&model->query, tables->items[i].start, model->place};
        add_upstream(load, draft, draft->tables[i], &place);
    }
}

static void resolve_declared(ProjectLoad *load, ModelDraft *draft) {
    const Model *model = draft->model;
    ReferencePlace place = {.otherwise = model_key_place(model, STR("depends_on"))};
    for (size_t i = 0; i < model->depends_on.count; i++) {
        Str name = model->depends_on.items[i];
        Model *upstream = str_map_find(load->project->by_name, name);
        if (upstream != NULL) {
            add_upstream(load, draft, upstream, &place);
            continue;
        }
        if (load->has_hidden_models) {
            continue;
        }
        AUTO(error) Error err;
        error_init(&err);
        bool is_input = input_exists(load->config, name);
        Str nearest = is_input ? STR(": it is an input, which SQL alone reads") : project_nearest_model(load, name);
        (void)model_refuse(model, place.otherwise, "reference.unknown", &err,
                           "depends_on names '" STR_FMT "', which is no model" STR_FMT, STR_ARG(name),
                           STR_ARG(nearest));
        project_fault(load, &err);
    }
}

static void resolve_parameters(ProjectLoad *load, ModelDraft *draft) {
    const Model *model = draft->model;
    ReferencePlace place = {.otherwise = model->place};
    for (size_t i = 0; draft->python != NULL && i < draft->python->parameters.count; i++) {
        if (draft->parameter_models[i] != NULL) {
            add_upstream(load, draft, draft->parameter_models[i], &place);
        }
    }
}

void project_resolve_references(ProjectLoad *load) {
    AUTO(arena) Arena *scratch = arena_create();
    Notes notes = {.arena = scratch};
    for (size_t i = 0; i < load->drafts.count; i++) {
        ModelDraft *draft = load->drafts.items[i];
        if (draft->is_analyzed) {
            resolve_query(load, draft, &notes);
        }
        resolve_parameters(load, draft);
        resolve_declared(load, draft);
    }
}
