/* Windows in JSON, wherever a command prints one. */
#ifndef INTERLACE_RUN_WINDOW_JSON_H
#define INTERLACE_RUN_WINDOW_JSON_H

#include "config/json_writer.h"
#include "window/interval_set.h"

/* One pair of ISO times, wall time of the project's zone. */
void window_write_json(Window window, JsonWriter *writer);
void windows_write_json(Str key, const IntervalSet *windows, JsonWriter *writer); /* a field: a list of pairs */

#endif
