/* Finds text in an Arrow batch that is not UTF-8, at any depth. The engine finds it too, but late, and without saying
 * where. Pure. */
#ifndef INTERLACE_DUCK_ARROW_TEXT_H
#define INTERLACE_DUCK_ARROW_TEXT_H

#include "base/arrow_abi.h"
#include "base/str.h"

/* What of a column's layout matters for its text. */
typedef struct ArrowShape ArrowShape;

/* Keeps nothing of `schema`. NULL when there is no text in it. */
const ArrowShape *arrow_shape_create(const struct ArrowSchema *schema, Arena *arena);

/* `batch` is a struct array of the shape's schema. True when all its text is sound; else the first unsound place. */
bool arrow_text_is_sound(const ArrowShape *shape, const struct ArrowArray *batch, size_t *column_out, int64_t *row_out);

#endif
