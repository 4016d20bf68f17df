/* A configuration: interlace.yaml, then perhaps `.env` and an overlay, parted by lines of `=====`. Nothing is written.
 */
#include "config/project_config_parse.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Str take_part(Str *rest) {
    Str separator = STR("\n=====\n");
    size_t end = str_find(*rest, separator);
    Str part = str_slice(*rest, 0, end);
    *rest = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(*rest, end + separator.size);
    return part;
}

static void use_config(const ProjectConfig *config, Arena *arena) {
    if (project_config_engine(config, config->default_engine) == NULL) {
        abort();
    }
    for (size_t i = 0; i < config->engines.count; i++) {
        AUTO(error) Error err;
        error_init(&err);
        Status status = engine_config_check_usable(&config->engines.items[i], &err);
        if (failed(status) && error_line(&err, arena).size == 0) {
            abort();
        }
    }
}

static void use_faults(ErrorList *faults, Arena *arena) {
    if (faults->count == 0) {
        abort();
    }
    error_list_sort(faults);
    for (size_t i = 0; i < faults->count; i++) {
        if (faults->items[i].place.file.size == 0 || error_line(&faults->items[i], arena).size == 0) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error_list) ErrorList faults = {0};
    Str rest = {.ptr = (const char *)data, .size = size};
    ConfigSources sources = {.root = STR("/project")};
    sources.text = take_part(&rest);
    sources.dotenv = take_part(&rest);
    sources.overlay_text = take_part(&rest);
    sources.overlay_file = sources.overlay_text.size > 0 ? STR("interlace.dev.yaml") : STR_EMPTY;

    ProjectConfig *config;
    if (failed(project_config_parse(&sources, arena, &config, &faults))) {
        use_faults(&faults, arena);
    } else {
        use_config(config, arena);
    }
    (void)config_redact_dsn(arena, sources.text);
    return 0;
}
