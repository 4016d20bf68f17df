/* Each name belongs to one model, in any letter case: their views would collide otherwise. */
#include "project/project_load.h"

#include "project/model_name.h"

/* "main.orders" for the model `orders`: both spellings mean one view. */
static Str relation_key(const ProjectLoad *load, const Model *model) {
    return str_find_char(model->name, '.') != STR_NOT_FOUND
               ? model->name
               : str_format(load->arena, "main." STR_FMT, STR_ARG(model->name));
}

static const char *why_equal(const Model *a, const Model *b) {
    if (str_equal(a->name, b->name)) {
        return "one name";
    }
    return str_equal_fold(a->name, b->name) ? "names that differ only in letter case" : "names of one table";
}

static Status refuse_duplicate(const Model *first, const Model *second, Error *err) {
    error_set_at(err, ERROR_DEFINITION, second->place,
                 "models '" STR_FMT "' (" STR_FMT ") and '" STR_FMT "' (" STR_FMT ") have %s", STR_ARG(first->name),
                 STR_ARG(first->place.file), STR_ARG(second->name), STR_ARG(second->place.file),
                 why_equal(first, second));
    error_code(err, STR("name.duplicate"));
    return FAILED;
}

static Status claim(ProjectLoad *load, Model *model, Error *err) {
    model_name_split(model);
    TRY(model_name_check(model, err));
    Str key = relation_key(load, model);
    const Model *present = str_map_find(load->relations, key);
    if (present != NULL) {
        return refuse_duplicate(present, model, err);
    }
    str_map_put(load->relations, key, model);
    str_map_put(load->project->by_name, model->name, model);
    return OK;
}

void project_claim_names(ProjectLoad *load) {
    ModelDraftVec *drafts = &load->drafts;
    size_t kept = 0;
    for (size_t i = 0; i < drafts->count; i++) {
        AUTO(error) Error err;
        error_init(&err);
        ModelDraft *draft = drafts->items[i];
        if (failed(claim(load, draft->model, &err))) {
            project_fault(load, &err);
            continue;
        }
        draft->model->index = kept;
        drafts->items[kept++] = draft;
    }
    drafts->count = kept;
}

Str project_nearest_model(const ProjectLoad *load, Str name) {
    Str *names = ARENA_NEW_ARRAY(load->arena, Str, load->drafts.count);
    for (size_t i = 0; i < load->drafts.count; i++) {
        names[i] = load->drafts.items[i]->model->name;
    }
    const Str *nearest = str_nearest(name, names, load->drafts.count);
    return nearest == NULL ? STR_EMPTY : str_format(load->arena, "; did you mean '" STR_FMT "'?", STR_ARG(*nearest));
}
