/* The tasks of `run` and `restate` as JSON: {environment, command, models, stale} (spec 06 §4). */
#ifndef INTERLACE_CLI_RUN_JSON_H
#define INTERLACE_CLI_RUN_JSON_H

#include "config/json_writer.h"
#include "run/run_preview.h"

/* As the value that the writer waits for. */
void run_json_write_tasks(const Plan *plan, const BuildTarget *targets, WindowVerb verb, const ModelResult *results,
                          JsonWriter *writer);

/* As window_write_json, with its number of grains behind the times. */
void run_json_write_batch(Window batch, Grain grain, JsonWriter *writer);

#endif
