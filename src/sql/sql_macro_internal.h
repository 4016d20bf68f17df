/* Shared by sql_macro.c (definitions) and sql_expand.c (use). */
#ifndef INTERLACE_SQL_SQL_MACRO_INTERNAL_H
#define INTERLACE_SQL_SQL_MACRO_INTERNAL_H

#include "sql/sql_macro.h"
#include "sql/sql_macro_body.h"

/* A macro, and what is only worth finding out once. */
typedef struct MacroDefinition {
    SqlMacro macro;
    SqlParameterUseVec uses;
} MacroDefinition;

struct SqlMacroSet {
    Arena *arena;
    StrMap *macros; /* by name, case folded: MacroDefinition */
};

#endif
