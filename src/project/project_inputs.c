/* Inputs of the configuration, where they meet the models and the disk. */
#include "project/project_load.h"

#include "base/files.h"
#include "base/hash.h"
#include "project/input_scan.h"

/* `orders` and `main.orders` are one name. */
static Status check_name(const ProjectLoad *load, const InputConfig *input, Error *err) {
    Str name = str_format(load->arena, "main." STR_FMT, STR_ARG(input->name));
    const Model *model = str_map_find(load->relations, name);
    if (model == NULL) {
        return OK;
    }
    error_set_at(err, ERROR_CONFIGURATION, input->place,
                 "input '" STR_FMT "' has the name of the model '" STR_FMT "' (" STR_FMT ")", STR_ARG(input->name),
                 STR_ARG(model->name), STR_ARG(model->place.file));
    error_hint(err, "call one of them something else: a query that names it can mean one only");
    error_code(err, STR("name.duplicate"));
    return FAILED;
}

/* Names count as well, since they may hold values (`year=2026/`) and order the rows; below the root as they are there,
 * so that the project may lie anywhere. */
static Str name_in_project(const ProjectConfig *config, Str path) {
    bool is_below =
        str_starts_with(path, config->root) && path.size > config->root.size && path.ptr[config->root.size] == '/';
    return is_below ? str_skip(path, config->root.size + 1) : path;
}

static Status digest_files(const ProjectLoad *load, const InputConfig *input, Str *digest_out, Error *err) {
    Arena *arena = load->arena;
    Str path = input_path(load->config, input, clock_now_us(), arena);
    StrVec files = {0};
    StrVec parts = {0};
    TRY(path_glob(path, arena, &files, err));
    if (files.count == 0) {
        return error_set(err, ERROR_CONFIGURATION, "no file matches '" STR_FMT "'", STR_ARG(path));
    }
    for (size_t i = 0; i < files.count; i++) {
        Str digest = STR_EMPTY;
        TRY(sha256_of_file(files.items[i], arena, &digest, err));
        str_vec_push(arena, &parts, name_in_project(load->config, files.items[i]));
        str_vec_push(arena, &parts, digest);
    }
    *digest_out = fingerprint_of_parts(arena, parts.items, parts.count);
    return OK;
}

static Status watch(const ProjectLoad *load, const InputConfig *input, Str *digest_out, Error *err) {
    *digest_out = STR_EMPTY;
    AUTO(error) Error reason;
    error_init(&reason);
    if (!input->watch || !failed(digest_files(load, input, digest_out, &reason))) {
        return OK;
    }
    error_set_at(err, ERROR_CONFIGURATION, input->place, "input '" STR_FMT "' is watched, but " STR_FMT,
                 STR_ARG(input->name), STR_ARG(reason.message));
    error_code(err, STR("input.watch"));
    return FAILED;
}

static Status prepare(ProjectLoad *load, const InputConfig *input, Error *err) {
    Str digest = STR_EMPTY;
    Status status = check_name(load, input, err);
    status = failed(status) ? status : watch(load, input, &digest, err);
    str_vec_push(load->arena, &load->input_digests, digest);
    return status;
}

void project_prepare_inputs(ProjectLoad *load) {
    for (size_t i = 0; i < load->config->inputs.count; i++) {
        AUTO(error) Error err;
        error_init(&err);
        if (failed(prepare(load, &load->config->inputs.items[i], &err))) {
            project_fault(load, &err);
        }
    }
}
