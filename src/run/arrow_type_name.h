/* The Arrow name of a column's type, as pyarrow writes it: int64, decimal128(10, 2), list<item: string> … */
#ifndef INTERLACE_RUN_ARROW_TYPE_NAME_H
#define INTERLACE_RUN_ARROW_TYPE_NAME_H

#include "base/str.h"

/* `type` as the engine spells it (DuckColumn.type). A type that Arrow has no name for is `string`: its cells are text.
 */
Str arrow_type_name(Str type, Arena *arena);

/* The engine's name of a plain type or decimal that Arrow calls so; `name` itself when it calls none so. */
Str arrow_type_parse(Str name, Arena *arena);

#endif
