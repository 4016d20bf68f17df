/* Two models that deliver to one place would overwrite each other (spec 01 §12.1, §12.2). */
#include "project/project_load.h"

#include "base/files.h"
#include "project/model_refusal.h"

/* Several models may add to one table as long as none of them replaces what the others wrote. */
static bool may_share_target(const Model *model) {
    return model->strategy == STRATEGY_MERGE || model->strategy == STRATEGY_HASH_MERGE ||
           model->strategy == STRATEGY_APPEND;
}

static Status refuse_shared(const Model *first, const Model *second, const char *key, Str place, Error *err) {
    return model_refuse(second, model_key_place(second, str_from(key)), "combo.shared", err,
                        "%s '" STR_FMT "' is that of model '" STR_FMT "' (" STR_FMT ") too", key, STR_ARG(place),
                        STR_ARG(first->name), STR_ARG(first->place.file));
}

static Status claim_target(StrMap *targets, Model *model, Error *err) {
    const Model *present = str_map_find(targets, model->target);
    if (present == NULL) {
        str_map_put(targets, model->target, model);
        return OK;
    }
    return may_share_target(present) && may_share_target(model)
               ? OK
               : refuse_shared(present, model, "target", model->target, err);
}

static Status claim_path(const ProjectLoad *load, StrMap *paths, Model *model, Error *err) {
    Str path = path_absolute(load->arena, path_join(load->arena, load->config->root, model->path));
    const Model *present = str_map_find(paths, path);
    if (present == NULL) {
        str_map_put(paths, path, model);
        return OK;
    }
    return refuse_shared(present, model, "path", model->path, err);
}

void project_check_terminals(ProjectLoad *load) {
    StrMap *targets = str_map_create(load->arena, STR_MAP_FOLD);
    StrMap *paths = str_map_create(load->arena, STR_MAP_EXACT);
    for (size_t i = 0; i < load->drafts.count; i++) {
        Model *model = load->drafts.items[i]->model;
        AUTO(error) Error err;
        error_init(&err);
        Status status = OK;
        if (model->materialise == MATERIALISE_TABLE && model->target.size > 0) {
            status = claim_target(targets, model, &err);
        } else if (model->materialise == MATERIALISE_FILE && model->path.size > 0) {
            status = claim_path(load, paths, model, &err);
        }
        if (failed(status)) {
            project_fault(load, &err);
        }
    }
}
