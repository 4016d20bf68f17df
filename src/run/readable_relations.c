#include "run/readable_relations.h"

#include "project/graph.h"

struct ReadableRelations {
    const Project *project;
    StrMap *models; /* of the environment: the model's name → SqlRelation * of its view */
    StrMap *views;  /* of all environments: "schema.name" → SqlRelation * */
};

static const SqlRelation as_written = {{0}, {0}, {0}};

static Str schema_of(Str model) {
    size_t dot = str_find_last_char(model, '.');
    return dot == STR_NOT_FOUND ? STR("main") : str_slice(model, 0, dot);
}

static Str base_of(Str model) {
    size_t dot = str_find_last_char(model, '.');
    return dot == STR_NOT_FOUND ? model : str_skip(model, dot + 1);
}

static bool has_view(const Project *project, Str name) {
    const Model *model = project_find(project, name);
    return model == NULL || model_has_relation(model);
}

static Status add_environment(ReadableRelations *readable, StateStore *state, Str environment, bool is_asked,
                              Arena *arena, Error *err) {
    PointerVec pointers = {0};
    TRY(state_load_pointers(state, environment, arena, &pointers, err));
    for (size_t i = 0; i < pointers.count; i++) {
        Str model = pointers.items[i].model;
        if (!has_view(readable->project, model)) {
            continue;
        }
        SqlRelation *view = ARENA_NEW(arena, SqlRelation);
        view->schema = environment_view_schema(arena, environment, schema_of(model));
        view->name = base_of(model);
        Str key = str_format(arena, STR_FMT "." STR_FMT, STR_ARG(view->schema), STR_ARG(view->name));
        str_map_put(readable->views, key, view);
        if (is_asked) {
            str_map_put(readable->models, model, view);
        }
    }
    return OK;
}

Status readable_relations_load(const Project *project, StateStore *state, Str environment, Arena *arena,
                               ReadableRelations **readable_out, Error *err) {
    ReadableRelations *readable = ARENA_NEW(arena, ReadableRelations);
    *readable = (ReadableRelations){
        .project = project,
        .models = str_map_create(arena, STR_MAP_FOLD),
        .views = str_map_create(arena, STR_MAP_FOLD),
    };
    EnvironmentSummaryVec environments = {0};
    TRY(state_load_environments(state, arena, &environments, err));
    for (size_t i = 0; i < environments.count; i++) {
        Str name = environments.items[i].name;
        TRY(add_environment(readable, state, name, str_equal(name, environment), arena, err));
    }
    *readable_out = readable;
    return OK;
}

bool readable_relations_is_empty(const ReadableRelations *readable) {
    return str_map_count(readable->models) == 0;
}

/* --- Names -----------------------------------------------------------------------------------------------------------
 */

static const SqlRelation *find_joined(const StrMap *map, Str schema, Str name) {
    AUTO(strbuf) StrBuf key = {0};
    strbuf_append(&key, schema);
    strbuf_char(&key, '.');
    strbuf_append(&key, name);
    return str_map_find(map, strbuf_str(&key));
}

static bool is_attached(const Project *project, Str alias) {
    const EngineConfig *engine = project_config_engine(project->config, project->config->default_engine);
    for (size_t i = 0; engine != NULL && i < engine->attach.count; i++) {
        if (str_equal_fold(engine->attach.items[i].alias, alias)) {
            return true;
        }
    }
    return false;
}

/* Every attached database shows the engine's own catalog as well: it tells of more than the project. */
static bool is_of_system(Str schema, Str name) {
    static const Str schemas[] = {STR_INIT("information_schema"), STR_INIT("pg_catalog")};
    static const Str prefixes[] = {STR_INIT("duckdb_"), STR_INIT("pragma_"), STR_INIT("sqlite_"), STR_INIT("pg_")};
    bool found = false;
    for (size_t i = 0; i < COUNT_OF(schemas); i++) {
        found = found || str_equal_fold(schema, schemas[i]);
    }
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        found = found || str_starts_with_fold(name, prefixes[i]);
    }
    return found;
}

static const SqlRelation *find_qualified(const ReadableRelations *readable, const SqlTableRef *table) {
    /* A model `orders` is called by that name; its schema, main, is the name of prod's views. */
    if (!str_equal_fold(table->schema, STR("main"))) {
        const SqlRelation *view = find_joined(readable->models, table->schema, table->name);
        if (view != NULL) {
            return view;
        }
    }
    bool is_own = str_starts_with_fold(table->schema, STR("interlace__"));
    bool is_changes = str_equal_fold(table->schema, STR("interlace")) && str_equal_fold(table->name, STR("changes"));
    bool is_foreign = is_attached(readable->project, table->schema) && !is_of_system(STR_EMPTY, table->name);
    bool is_view = find_joined(readable->views, table->schema, table->name) != NULL;
    return is_own || is_changes || is_foreign || is_view ? &as_written : NULL;
}

const SqlRelation *readable_relations_find(const ReadableRelations *readable, const SqlTableRef *table) {
    if (table->is_file) {
        return NULL;
    }
    if (table->catalog.size > 0) {
        bool may_read = is_attached(readable->project, table->catalog) && !is_of_system(table->schema, table->name);
        return may_read ? &as_written : NULL;
    }
    if (table->schema.size > 0) {
        return find_qualified(readable, table);
    }
    return str_map_find(readable->models, table->name);
}
