/* `options:` of a delivered file: each belongs to a format and has values of its own (spec 01 §12.1). */
#ifndef INTERLACE_PROJECT_MODEL_FILE_OPTIONS_H
#define INTERLACE_PROJECT_MODEL_FILE_OPTIONS_H

#include "project/model_keys.h"

/* DefinitionError at the option. The format must be set. */
MUST_CHECK Status model_check_file_options(const ModelReader *reader, Error *err);

#endif
