#include "run/dynamic.h"

#include "base/files.h"
#include "project/dynamic_models.h"
#include "run/bound_schemas.h"

#include <errno.h>
#include <unistd.h>

/* ---- What was registered, against the files that are there. */

typedef struct Collection {
    Apply *apply;
    Arena *arena;
    DynamicModelVec models; /* all that were registered, and all that are retired */
} Collection;

static DynamicModel *find(const DynamicModelVec *models, Str name) {
    for (size_t i = 0; i < models->count; i++) {
        if (str_equal_fold(models->items[i].name, name)) {
            return &models->items[i];
        }
    }
    return NULL;
}

static SourceSpan place_of(const ConfigValue *registration) {
    int64_t line = 0;
    const ConfigValue *file = config_find(registration, STR("file"));
    const ConfigValue *text = config_find(registration, STR("line"));
    bool has_line = text != NULL && str_to_int64(text->text, &line) && line > 0;
    return (SourceSpan){.file = file == NULL ? STR_EMPTY : file->text, .line = has_line ? (size_t)line : 0};
}

static Status refuse_name(Str name, Str owner, const ConfigValue *registration, Str taken_by, Error *err) {
    error_set_at(err, ERROR_DEFINITION, place_of(registration),
                 "model '" STR_FMT "' registers '" STR_FMT "', which is a name of " STR_FMT, STR_ARG(owner),
                 STR_ARG(name), STR_ARG(taken_by));
    error_hint(err, "register it under another name");
    error_code(err, STR("dynamic.taken"));
    return FAILED;
}

static Status add_registration(Collection *collection, const Model *owner, const ConfigValue *registration,
                               Error *err) {
    Str name = config_find(registration, STR("name"))->text;
    const Model *present = project_find(collection->apply->session->project, name);
    if (present != NULL && present->registered_by.size == 0) {
        return refuse_name(name, owner->name, registration, present->place.file, err);
    }
    DynamicModel model = {
        .name = name,
        .owner = owner->name,
        .text = dynamic_model_text(registration, owner->name, collection->arena),
    };
    DynamicModel *earlier = find(&collection->models, name);
    if (earlier == NULL) {
        dynamic_model_vec_push(collection->arena, &collection->models, model);
        return OK;
    }
    if (!str_equal(earlier->owner, owner->name)) {
        Str other =
            str_format(collection->arena, "what model '" STR_FMT "' registered in this run", STR_ARG(earlier->owner));
        return refuse_name(name, owner->name, registration, other, err);
    }
    *earlier = model; /* one of a later window */
    return OK;
}

static Status add_registrations(Collection *collection, const ModelResult *result, Error *err) {
    for (size_t i = 0; i < result->registrations.count; i++) {
        const ConfigValue *list = result->registrations.items[i];
        for (size_t k = 0; k < list->count; k++) {
            TRY(add_registration(collection, result->model, list->items[k], err));
        }
    }
    return OK;
}

static bool has_run(const ModelResult *result) {
    return result->outcome == OUTCOME_BUILT && result->model->kind == MODEL_PYTHON;
}

/* What an owner that ran does not register any more goes, as if its file had been deleted. */
static void retire_others(Collection *collection, const Model *owner) {
    const Project *project = collection->apply->session->project;
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i];
        if (str_equal(model->registered_by, owner->name) && find(&collection->models, model->name) == NULL) {
            dynamic_model_vec_push(collection->arena, &collection->models,
                                   (DynamicModel){.name = model->name, .owner = owner->name});
        }
    }
}

static Status collect(Collection *collection, Error *err) {
    const Apply *apply = collection->apply;
    for (size_t i = 0; i < apply->model_count; i++) {
        if (has_run(&apply->models[i])) {
            TRY(add_registrations(collection, &apply->models[i], err));
        }
    }
    for (size_t i = 0; i < apply->model_count; i++) {
        if (has_run(&apply->models[i])) {
            retire_others(collection, apply->models[i].model);
        }
    }
    return OK;
}

static Str path_of(const Session *session, Str name, Arena *arena) {
    return path_join(arena, session->project->config->root, dynamic_model_path(arena, name));
}

static bool is_saved(const Session *session, const DynamicModel *model) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    Str path = path_of(session, model->name, arena);
    Str content;
    if (model->text.size == 0 || !file_exists(path)) {
        return model->text.size == 0 && !file_exists(path);
    }
    return !failed(file_read(path, SQL_TEXT_MAX, arena, &content, &err)) && str_equal(content, model->text);
}

static void keep_changes(Collection *collection) {
    Apply *apply = collection->apply;
    StrVec *names = &apply->result->registered;
    for (size_t i = 0; i < collection->models.count; i++) {
        const DynamicModel *model = &collection->models.items[i];
        if (model->text.size > 0 && !str_vec_contains(names, model->name)) {
            str_vec_push(apply->result->arena, names, model->name);
        }
        if (!is_saved(apply->session, model)) {
            dynamic_model_vec_push(collection->arena, &apply->registered, *model);
        }
    }
}

/* ---- The project that holds them. */

static Status check_depth(const Apply *apply, Error *err) {
    if (apply->depth < DYNAMIC_DEPTH_MAX) {
        return OK;
    }
    const DynamicModel *model = &apply->registered.items[0];
    error_set(err, ERROR_PLAN,
              "model '" STR_FMT "' registers '" STR_FMT "' anew in each of the %d plans that follow one command",
              STR_ARG(model->owner), STR_ARG(model->name), DYNAMIC_DEPTH_MAX);
    error_hint(err, "a model that reads what it registers must come to an end");
    error_code(err, STR("dynamic.depth"));
    return FAILED;
}

/* The files are read again: what somebody wrote since would come along unseen. */
static Status check_unedited(const Apply *apply, const Project *next, Error *err) {
    const Project *project = apply->session->project;
    for (size_t i = 0; i < next->model_count; i++) {
        const Model *model = next->models[i];
        const Model *earlier = project_find(project, model->name);
        bool is_source = model->registered_by.size == 0;
        if (is_source && (earlier == NULL || !str_equal(earlier->local_fingerprint, model->local_fingerprint))) {
            error_set_at(err, ERROR_PLAN, model->place, "model '" STR_FMT "' was edited while this command ran",
                         STR_ARG(model->name));
            error_hint(err, "start the command again");
            return FAILED;
        }
    }
    return OK;
}

/* Checked here, while nothing is promoted yet. The plan at hand has passed: what is breaking now was registered. */
static Status check_plan(const Apply *apply, const Project *next, ErrorList *faults, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(plan) Plan *plan = NULL;
    ApplyOptions follow_up = dynamic_options(apply, arena);
    PlanOptions options = {.environment = follow_up.environment, .select = follow_up.select};
    TRY(plan_from_state(next, apply->state, &options, arena, &plan, err));
    TRY(plan_bind(apply->session, plan, false, faults));
    bool is_gated = !apply->options->force && apply->options->verb == WINDOW_APPLY;
    return is_gated ? plan_check_gate(plan, false, err) : OK;
}

static Status load_next(Apply *apply, ErrorList *faults, Error *err) {
    Project *next = NULL;
    TRY(check_depth(apply, err));
    TRY(session_load_again(apply->session, &apply->registered, &next, faults));
    TRY(project_check_supported(next, faults));
    TRY(check_unedited(apply, next, err));
    TRY(check_plan(apply, next, faults, err));
    apply->next_project = next;
    return OK;
}

void dynamic_note_lost(const Apply *apply) {
    StrVec owners = {0};
    for (size_t i = 0; i < apply->registered.count; i++) {
        if (!str_vec_contains(&owners, apply->registered.items[i].owner)) {
            str_vec_push(apply->result->arena, &owners, apply->registered.items[i].owner);
        }
    }
    Str names = str_join(apply->result->arena, owners.items, owners.count, STR(" "));
    session_note(
        apply->session,
        "what was registered is not saved; once that is mended, register it by: interlace run --select " STR_FMT,
        STR_ARG(names));
}

Status dynamic_prepare(Apply *apply, ErrorList *faults, Error *err) {
    Collection collection = {.apply = apply, .arena = apply->result->arena};
    TRY(collect(&collection, err));
    keep_changes(&collection);
    if (apply->registered.count == 0) {
        return OK;
    }
    Status status = load_next(apply, faults, err);
    if (failed(status)) {
        dynamic_note_lost(apply);
    }
    return status;
}

/* ---- The plan that follows. */

static bool is_empty(const StrVec *names) {
    return names == NULL || names->count == 0;
}

/* All of the project, when the command took all of it: models that read what was registered change with it. Else what
 * was registered alone. */
ApplyOptions dynamic_options(const Apply *apply, Arena *arena) {
    ApplyOptions options = *apply->options;
    bool is_all = is_empty(options.select) && is_empty(options.exclude);
    options.select = NULL;
    options.force = options.force || options.verb != WINDOW_APPLY;
    options.verb = WINDOW_APPLY;
    options.start = options.end = STR_EMPTY;
    options.exclude = NULL;
    if (!is_all) {
        StrVec *names = ARENA_NEW(arena, StrVec);
        for (size_t i = 0; i < apply->registered.count; i++) {
            if (apply->registered.items[i].text.size > 0) {
                str_vec_push(arena, names, apply->registered.items[i].name);
            }
        }
        options.select = names;
    }
    return options;
}

/* ---- Files. */

static Status write_file(const Session *session, const DynamicModel *model, Arena *arena, Error *err) {
    Str path = path_of(session, model->name, arena);
    TRY(directory_create_all(path_directory(path), err));
    return file_write_atomic(path, model->text, true, err);
}

static Status remove_file(const Session *session, const DynamicModel *model, Arena *arena, Error *err) {
    Str path = path_of(session, model->name, arena);
    if (unlink(str_to_c(arena, path)) != 0 && errno != ENOENT) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot remove " STR_FMT, STR_ARG(path));
    }
    return OK;
}

Status dynamic_save(const Apply *apply, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    for (size_t i = 0; i < apply->planned.count; i++) {
        const DynamicModel *model = &apply->planned.items[i];
        if (model->text.size > 0) {
            TRY(write_file(apply->session, model, arena, err));
        } else {
            TRY(remove_file(apply->session, model, arena, err));
        }
    }
    return OK;
}
