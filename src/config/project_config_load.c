/* The disk side of loading: which files there are, and what they hold. */
#include "config/project_config_parse.h"

#include "base/files.h"

#include <stdlib.h>

#define CONFIG_FILE_SIZE_MAX ((size_t)4 * 1024 * 1024)

static const char *process_environment(const char *name) {
    return getenv(name);
}

static Status configuration_error(Error *err, Str file) {
    err->kind = ERROR_CONFIGURATION;
    error_place(err, (SourceSpan){.file = file});
    return FAILED;
}

static Status read_text(Str root, Str file, Arena *arena, Str *text_out, Error *err) {
    Str path = path_join(arena, root, file);
    if (file_is_directory(path)) {
        return error_set_at(err, ERROR_CONFIGURATION, (SourceSpan){.file = file},
                            "'" STR_FMT "' is a directory, not a file", STR_ARG(path));
    }
    if (failed(file_read(path, CONFIG_FILE_SIZE_MAX, arena, text_out, err))) {
        return configuration_error(err, file);
    }
    return OK;
}

static Status read_main_file(Arena *arena, ConfigSources *sources, Error *err) {
    Str file = STR("interlace.yaml");
    if (!file_exists(path_join(arena, sources->root, file))) {
        return OK;
    }
    return read_text(sources->root, file, arena, &sources->text, err);
}

/* A folder called .env is somebody's virtual environment, not a file of variables. */
static Status read_dotenv(Arena *arena, ConfigSources *sources, Error *err) {
    Str path = path_join(arena, sources->root, STR(".env"));
    if (!file_exists(path) || file_is_directory(path)) {
        return OK;
    }
    return read_text(sources->root, STR(".env"), arena, &sources->dotenv, err);
}

static bool is_overlay_name(Str name) {
    for (size_t i = 0; i < name.size; i++) {
        if (!str_is_identifier(str_slice(name, i, i + 1)) && !(name.ptr[i] >= '0' && name.ptr[i] <= '9') &&
            name.ptr[i] != '-' && name.ptr[i] != '.') {
            return false;
        }
    }
    return true;
}

static Status read_overlay(Str name, Arena *arena, ConfigSources *sources, Error *err) {
    if (!is_overlay_name(name)) {
        return error_set(err, ERROR_CONFIGURATION,
                         "overlay '" STR_FMT "': a name is made of letters, digits, '_', '-' and '.'", STR_ARG(name));
    }
    sources->overlay_file = str_format(arena, "interlace." STR_FMT ".yaml", STR_ARG(name));
    if (!file_exists(path_join(arena, sources->root, sources->overlay_file))) {
        error_set(err, ERROR_CONFIGURATION, "overlay '" STR_FMT "': there is no file " STR_FMT " in '" STR_FMT "'",
                  STR_ARG(name), STR_ARG(sources->overlay_file), STR_ARG(sources->root));
        error_code(err, STR("overlay.missing"));
        return FAILED;
    }
    return read_text(sources->root, sources->overlay_file, arena, &sources->overlay_text, err);
}

static Status read_sources(const ConfigOptions *options, Arena *arena, ConfigSources *sources, Error *err) {
    sources->root = path_absolute(arena, options->root);
    sources->environment = process_environment;
    if (!file_is_directory(sources->root)) {
        return error_set(err, ERROR_CONFIGURATION, "there is no project directory '" STR_FMT "'",
                         STR_ARG(options->root));
    }
    TRY(read_main_file(arena, sources, err));
    TRY(read_dotenv(arena, sources, err));
    Str overlay = options->overlay.size > 0 ? options->overlay : str_from(getenv("INTERLACE_OVERLAY"));
    return overlay.size == 0 ? OK : read_overlay(overlay, arena, sources, err);
}

/* `interlace.yml` would be ignored in silence, and with it all that it says. */
static void warn_of_other_name(const ConfigSources *sources, Arena *arena, ProjectConfig *config) {
    bool other = file_exists(path_join(arena, sources->root, STR("interlace.yml"))) &&
                 !file_exists(path_join(arena, sources->root, STR("interlace.yaml")));
    if (other) {
        str_vec_push(arena, &config->warnings,
                     STR("interlace.yml is not read: the file must be called interlace.yaml"));
    }
}

Status project_config_check_root(Str root, Error *err) {
    return file_is_directory(root)
               ? OK
               : error_set(err, ERROR_CONFIGURATION, "no interlace project at " STR_FMT, STR_ARG(root));
}

Status project_config_load(const ConfigOptions *options, Arena *arena, ProjectConfig **config_out, ErrorList *faults) {
    ConfigSources sources = {0};
    AUTO(error) Error err;
    error_init(&err);
    if (failed(read_sources(options, arena, &sources, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    TRY(project_config_parse(&sources, arena, config_out, faults));
    warn_of_other_name(&sources, arena, *config_out);
    return OK;
}
