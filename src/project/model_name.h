/* Names of models (spec 01 §1): from the path of a file, their form, what is reserved. */
#ifndef INTERLACE_PROJECT_MODEL_NAME_H
#define INTERLACE_PROJECT_MODEL_NAME_H

#include "project/model.h"

/* "silver/orders.sql" is "silver.orders". */
Str model_name_from_path(Str path, Arena *arena);

/* Sets schema and base from the name. */
void model_name_split(Model *model);

/* DefinitionError naming the file: a part that is no identifier, a schema that belongs to interlace. */
MUST_CHECK Status model_name_check(const Model *model, Error *err);

#endif
