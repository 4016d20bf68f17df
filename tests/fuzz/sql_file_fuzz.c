/* A model file: its block and query come apart, or the fault has a place in the file; what a block declares is read or
 * refused with a code. Nothing of it may depend on what stands outside the file. */
#include "project/check_regex.h"
#include "project/model_keys.h"
#include "project/sql_file.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition) {
    if (!condition) {
        abort();
    }
}

static void check_place(SourceSpan place) {
    demand(str_equal(place.file, STR("models/m.sql")) && place.line >= 1);
}

static void read_keys(Arena *arena, const SqlFile *file) {
    EngineConfig engine = {.name = STR("default"), .dialect = STR("duckdb")};
    ProjectConfig config = {.default_engine = STR("default"), .engines = {.items = &engine, .count = 1}};
    AUTO(error_list) ErrorList faults;
    error_list_init(&faults);
    Model model = {
        .name = STR("m"), .kind = MODEL_SQL, .place = {.file = file->source->path, .line = file->header_line}};
    ModelReader reader = {.arena = arena, .config = &config, .model = &model, .faults = &faults};
    model_keys_read(&reader, file->header);
    demand(reader.has_fault == (faults.count > 0));
    for (size_t i = 0; i < faults.count; i++) {
        demand(error_detail_find(&faults.items[i], STR("code")).size > 0);
        check_place(faults.items[i].place);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    SourceFile source = {.path = STR("models/m.sql"), .content = {.ptr = (const char *)data, .size = size}};
    (void)regex_find_fault(source.content);

    SqlFile file;
    if (failed(sql_file_split(&source, NULL, arena, &file, &err))) {
        demand(err.kind == ERROR_CONFIGURATION);
        check_place(err.place);
        return 0;
    }
    demand(str_ends_with(source.content, file.body.text));
    demand(file.has_header || file.body.text.size == size);
    if (file.header != NULL) {
        read_keys(arena, &file);
    }
    return 0;
}
