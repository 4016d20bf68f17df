/* Queries that Python models registered while they ran (spec 01 §9): one file each below DYNAMIC_FOLDER, which loads as
 * any other SQL file does. Its first line says who registered it, so that a model that is registered no more can go. */
#ifndef INTERLACE_PROJECT_DYNAMIC_MODELS_H
#define INTERLACE_PROJECT_DYNAMIC_MODELS_H

#include "project/project.h"

/* Relative to the root. */
Str dynamic_model_path(Arena *arena, Str name);

/* The text of the file of a registration: a map with `name`, `sql` and the keys that were given. */
Str dynamic_model_text(const ConfigValue *registration, Str owner, Arena *arena);

#endif
