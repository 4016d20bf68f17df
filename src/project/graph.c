#include "project/graph.h"

static const IndexVec *neighbours(const Model *model, GraphDirection direction) {
    return direction == GRAPH_UPSTREAM ? &model->upstreams : &model->downstreams;
}

void graph_reach(const Project *project, size_t start, GraphDirection direction, bool *reached) {
    AUTO(arena) Arena *arena = arena_create();
    IndexVec pending = {0};
    index_vec_push(arena, &pending, start);
    while (pending.count > 0) {
        const IndexVec *next = neighbours(project->models[pending.items[--pending.count]], direction);
        for (size_t i = 0; i < next->count; i++) {
            if (!reached[next->items[i]]) {
                reached[next->items[i]] = true;
                index_vec_push(arena, &pending, next->items[i]);
            }
        }
    }
}

void graph_names(const Project *project, size_t start, GraphDirection direction, Arena *arena, StrVec *names_out) {
    StrVec names = {0};
    bool *reached = ARENA_NEW_ARRAY(arena, bool, project->model_count);
    graph_reach(project, start, direction, reached);
    for (size_t i = 0; i < project->model_count; i++) {
        if (reached[i]) {
            str_vec_push(arena, &names, project->models[i]->name);
        }
    }
    str_vec_sort(&names);
    *names_out = names;
}

static bool is_ephemeral(const Model *model) {
    return model->materialise == MATERIALISE_EPHEMERAL;
}

static bool reads_ephemeral(const Project *project, const Model *model) {
    for (size_t i = 0; model->facts != NULL && i < model->facts->tables.count; i++) {
        size_t upstream = model->references[i].model;
        if (upstream != MODEL_NONE && is_ephemeral(project->models[upstream])) {
            return true;
        }
    }
    return false;
}

/* Models are in dependency order, so one walk from `model` down to the first finds chains of any length. */
IndexVec graph_inlined(const Project *project, const Model *model, Arena *arena) {
    IndexVec inlined = {0};
    if (!reads_ephemeral(project, model)) {
        return inlined;
    }
    bool *needed = ARENA_NEW_ARRAY(arena, bool, project->model_count);
    needed[model->index] = true;
    for (size_t i = model->index + 1; i-- > 0;) {
        const Model *reader = project->models[i];
        if (!needed[i] || (reader != model && !is_ephemeral(reader))) {
            continue;
        }
        for (size_t u = 0; u < reader->upstreams.count; u++) {
            needed[reader->upstreams.items[u]] = true;
        }
    }
    for (size_t i = 0; i < model->index; i++) {
        if (needed[i] && is_ephemeral(project->models[i])) {
            index_vec_push(arena, &inlined, i);
        }
    }
    return inlined;
}

Str physical_schema(Arena *arena, const Model *model) {
    return str_format(arena, "interlace__" STR_FMT, STR_ARG(model->schema));
}

Str physical_name(Arena *arena, const Model *model, Str fingerprint) {
    return str_format(arena, STR_FMT "__" STR_FMT, STR_ARG(model->base), STR_ARG(fingerprint));
}

Str environment_view_schema(Arena *arena, Str environment, Str schema) {
    if (str_equal(environment, STR("prod"))) {
        return schema;
    }
    return str_format(arena, STR_FMT "__" STR_FMT, STR_ARG(environment), STR_ARG(schema));
}

#define ENVIRONMENT_NAME_SIZE_MAX 32

/* Their view schemas would be interlace's own, or look like a schema of production. Without case, as schemas are. */
static bool is_reserved_environment(Str name) {
    static const Str reserved[] = {STR_INIT("interlace"), STR_INIT("streams"), STR_INIT("main")};
    for (size_t i = 0; i < COUNT_OF(reserved); i++) {
        if (str_equal_fold(reserved[i], name)) {
            return true;
        }
    }
    return false;
}

Status environment_check_name(Str environment, Error *err) {
    const char *rule = NULL;
    if (!str_is_identifier(environment) || environment.ptr[0] == '_') {
        rule = "must be a letter followed by letters, digits and underscores";
    } else if (environment.size > ENVIRONMENT_NAME_SIZE_MAX) {
        rule = "must have at most 32 characters";
    } else if (str_find(environment, STR("__")) != STR_NOT_FOUND) {
        rule = "must not have two underscores in a row";
    } else if (is_reserved_environment(environment)) {
        rule = "must not be interlace, streams or main";
    }
    return rule == NULL ? OK
                        : error_set(err, ERROR_USAGE, "environment name '" STR_FMT "' %s", STR_ARG(environment), rule);
}
