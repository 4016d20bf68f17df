/* What a function of the engine does to rows, as far as a proof that a query's result has not changed must know. */
#ifndef INTERLACE_SQL_SQL_FUNCTION_CLASS_H
#define INTERLACE_SQL_SQL_FUNCTION_CLASS_H

#include "base/str.h"

typedef enum SqlFunctionClass {
    SQL_FUNCTION_UNKNOWN,   /* not built in: of a macro, an extension, or newer than this table */
    SQL_FUNCTION_SCALAR,    /* one value for each row, always the same one; RANK and its like, too */
    SQL_FUNCTION_AGGREGATE, /* one value for many rows, whatever their order */
    SQL_FUNCTION_CHOICE,  /* aggregate or window function whose value depends on the order of rows: first, list, lag */
    SQL_FUNCTION_ROWS,    /* gives more or fewer rows: unnest */
    SQL_FUNCTION_VOLATILE /* another value at another time, for another user, by chance */
} SqlFunctionClass;

SqlFunctionClass sql_function_class(Str name, Arena *scratch); /* any letter case */
/* A bare word that the engine takes for a call when no column has its name: current_date, user, … */
bool sql_function_is_bare(Str name);

#endif
