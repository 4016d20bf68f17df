/* The column lineage that a Python model declares: lineage={"revenue": ["raw.amount"]}. Its sources are columns of
 * models that it reads; whether those have such columns is known when they are bound (run/bound_schemas.c). */
#include "project/project_load.h"

#include "project/model_refusal.h"

static void refuse_source(ProjectLoad *load, const Model *model, Str output, Str source) {
    AUTO(error) Error err = {0};
    size_t dot = str_find_last_char(source, '.');
    Str name = dot == STR_NOT_FOUND ? source : str_slice(source, 0, dot);
    Str nearest = project_nearest_model(load, name);
    (void)model_refuse(model, model_key_place(model, STR("lineage")), "reference.unknown", &err,
                       "lineage of '" STR_FMT "' names '" STR_FMT "', which is no <model>.<column>" STR_FMT,
                       STR_ARG(output), STR_ARG(source), STR_ARG(nearest));
    project_fault(load, &err);
}

static void refuse_unread(ProjectLoad *load, const Model *model, Str output, Str source, const Model *named) {
    AUTO(error) Error err = {0};
    (void)model_refuse(model, model_key_place(model, STR("lineage")), "reference.unread", &err,
                       "lineage of '" STR_FMT "' names '" STR_FMT "', but the model does not read '" STR_FMT "'",
                       STR_ARG(output), STR_ARG(source), STR_ARG(named->name));
    error_hint(&err, "a function reads the models that its parameters name, and those in depends_on");
    project_fault(load, &err);
}

static void read_source(ProjectLoad *load, Model *model, Str output, Str source) {
    Str column;
    const Model *named = project_split_column(load->project, source, &column);
    if (named == NULL) {
        if (!load->has_hidden_models) {
            refuse_source(load, model, output, source);
        }
    } else if (!index_vec_contains(&model->upstreams, named->index)) {
        refuse_unread(load, model, output, source, named);
    } else {
        declared_source_vec_push(load->arena, &model->declared_sources,
                                 (DeclaredSource){.output = output, .model = named->index, .column = column});
    }
}

static void read_output(ProjectLoad *load, Model *model, const ConfigEntry *entry) {
    AUTO(error) Error err = {0};
    StrVec sources = {0};
    if (failed(config_as_text_list(entry->value, "lineage", load->arena, &sources, &err))) {
        project_fault(load, &err);
        return;
    }
    str_vec_push(load->arena, &model->declared_outputs, entry->key);
    for (size_t i = 0; i < sources.count; i++) {
        read_source(load, model, entry->key, sources.items[i]);
    }
}

void project_read_lineage(ProjectLoad *load) {
    for (size_t i = 0; i < load->project->model_count; i++) {
        Model *model = load->project->models[i];
        for (size_t e = 0; model->lineage != NULL && e < model->lineage->count; e++) {
            read_output(load, model, &model->lineage->entries[e]);
        }
    }
}
