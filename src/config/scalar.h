/* What a plain scalar means by itself. YAML 1.1 as PyYAML resolves it (yes, on, 0x1F, 1_000), which existing projects
 * rely on, and the spellings of YAML 1.2 (0o17, 1e3). Not resolved: base 60 (10:30 is text here) and dates (text as
 * well). */
#ifndef INTERLACE_CONFIG_SCALAR_H
#define INTERLACE_CONFIG_SCALAR_H

#include "config/config_value.h"

typedef enum ScalarShape { SCALAR_TEXT, SCALAR_NULL, SCALAR_BOOLEAN, SCALAR_INTEGER, SCALAR_FLOAT } ScalarShape;

ScalarShape scalar_shape(Str text);

/* Each is false when the text is of another shape, or too large. */
bool scalar_to_bool(Str text, bool *flag_out);
bool scalar_to_int(Str text, int64_t *number_out);
bool scalar_to_double(Str text, double *number_out); /* integers too; not .inf and .nan */

/* Sets kind, is_number and is_boolean of a scalar from its text; a quoted one stays text. */
void config_resolve_scalar(ConfigValue *value);

/* The shortest decimal that reads back as the same number, never looking like an integer. Finite numbers only. */
void scalar_append_double(StrBuf *out, double number);

#endif
