/* YAML of a header block or of interlace.yaml: it is read or refused with a place, and what was read is written as JSON
 * that reads back to the same JSON. */
#include "config/config_value.h"
#include "config/json_writer.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Str json_of(Arena *arena, const ConfigValue *value) {
    AUTO(strbuf) StrBuf out = {0};
    JsonWriter writer;
    json_writer_init(&writer, &out, JSON_COMPACT);
    json_config(&writer, value);
    return strbuf_copy(&out, arena);
}

/* Numbers too large for a reader, and NUL characters, cannot be read back. */
static void check_json_reads_back(Arena *arena, const ConfigValue *value) {
    AUTO(error) Error err;
    error_init(&err);
    ConfigValue *again;
    Str json = json_of(arena, value);
    if (!failed(json_read(json, STR("again.json"), arena, &again, &err)) && !str_equal(json_of(arena, again), json)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    ConfigValue *value;
    Str text = {.ptr = (const char *)data, .size = size};
    if (failed(yaml_read(text, STR("m.sql"), 3, arena, &value, &err))) {
        if (err.place.line < 3 || err.place.column < 1 || error_line(&err, arena).size == 0) {
            abort();
        }
        return 0;
    }
    check_json_reads_back(arena, value);
    return 0;
}
