/* Which materialise, strategy and keys go together (spec 01 §5), from one table. */
#ifndef INTERLACE_PROJECT_MODEL_COMBINATIONS_H
#define INTERLACE_PROJECT_MODEL_COMBINATIONS_H

#include "project/model_keys.h"

/* Reports what the cell of (kind, materialise, strategy) refuses, or demands and the model lacks. False when the cell
 * itself is refused: then it says nothing to ask whether single keys fit. */
bool model_check_combination(ModelReader *reader);

/* Reports what a terminal lacks: target, path, format, and what of theirs is malformed. */
void model_check_terminal(ModelReader *reader);

/* combo.physical for `key` of a model without a stored table; combo.file_checks for a file, OK for others. */
Status model_refuse_physical(const Model *model, Str key, Error *err);
Status model_refuse_checks(const Model *model, Str key, Error *err);

#endif
