/* How a fault of a model's declaration is worded: "model 'M': …", at the place of what is wrong. One voice for SQL
 * header blocks and Python declarations. */
#ifndef INTERLACE_PROJECT_MODEL_REFUSAL_H
#define INTERLACE_PROJECT_MODEL_REFUSAL_H

#include "project/model.h"

/* DefinitionError with `code`. Returns FAILED. */
Status model_refuse(const Model *model, SourceSpan place, const char *code, Error *err, const char *format, ...)
    PRINTF_LIKE(5, 6);

/* Where a value of the declaration stands for the user. Values of a Python declaration come from a manifest, whose
 * lines mean nothing to anyone: they stand where the function is defined. */
SourceSpan model_place_of(const Model *model, SourceSpan place);

/* The place of a key of the declaration; the model's own when the key was not written. */
SourceSpan model_key_place(const Model *model, Str key);

#endif
