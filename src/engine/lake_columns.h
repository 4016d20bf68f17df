/* Which column types a DuckLake can store. */
#ifndef INTERLACE_ENGINE_LAKE_COLUMNS_H
#define INTERLACE_ENGINE_LAKE_COLUMNS_H

#include "duck/duck_connection.h"

/* CompilationError (code column.type) for the first column of a type it cannot: ENUM, UNION, BIT, BIGNUM, arrays of
 * fixed size, also inside others. Names the column and a cast. */
MUST_CHECK Status lake_columns_check(const DuckColumnVec *columns, Error *err);

#endif
