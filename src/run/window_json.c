#include "run/window_json.h"

#include "window/zone.h"

void window_write_json(Window window, JsonWriter *writer) {
    AUTO(arena) Arena *arena = arena_create();
    json_begin_array(writer);
    json_text(writer, wall_format(arena, window.start, true));
    json_text(writer, wall_format(arena, window.end, true));
    json_end_array(writer);
}

void windows_write_json(Str key, const IntervalSet *windows, JsonWriter *writer) {
    json_key(writer, key);
    json_begin_array(writer);
    for (size_t i = 0; i < windows->count; i++) {
        window_write_json(windows->items[i], writer);
    }
    json_end_array(writer);
}
