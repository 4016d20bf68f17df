/* Which functions the read-only fence lets through. */
#ifndef INTERLACE_SQL_SQL_FENCE_FUNCTIONS_H
#define INTERLACE_SQL_SQL_FENCE_FUNCTIONS_H

#include "base/str.h"

bool sql_fence_allows_function(Str name, Arena *arena); /* any case */
bool sql_fence_allows_sign(Str sign);                   /* a function written as an operator sign */

/* Index of the first entry out of order; STR_NOT_FOUND when the list is sound. For tests. */
size_t sql_fence_functions_check(void);

#endif
