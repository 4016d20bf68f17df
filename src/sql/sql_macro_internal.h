/* Shared by sql_macro.c (definitions) and sql_expand.c (use). */
#ifndef INTERLACE_SQL_SQL_MACRO_INTERNAL_H
#define INTERLACE_SQL_SQL_MACRO_INTERNAL_H

#include "sql/sql_macro.h"

struct SqlMacroSet {
    Arena *arena;
    StrMap *macros; /* by name, case folded: SqlMacro */
};

#endif
