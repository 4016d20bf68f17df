/* Small texts about models that several commands print. */
#ifndef INTERLACE_CLI_MODEL_TEXT_H
#define INTERLACE_CLI_MODEL_TEXT_H

#include "config/json_writer.h"
#include "project/project.h"
#include "run/event.h"

/* Direct upstreams, in dependency order. */
StrVec model_upstream_names(const Project *project, const Model *model, Arena *arena);
Str model_upstream_text(const Project *project, const Model *model, Arena *arena); /* "a, b" */

/* The fields of the object that tells what a model is, into the open object. */
void model_write_fields(const Project *project, const Model *model, Arena *arena, JsonWriter *writer);

/* An engine column says something only then. */
bool project_uses_several_engines(const Project *project);

/* 12345 as "12,345". */
Str number_text(Arena *arena, int64_t number);
/* "+25,000,000", "+1 ~2"; empty when nothing changed. */
Str row_count_text(Arena *arena, const RowCounts *rows);

#endif
