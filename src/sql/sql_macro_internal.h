/* Shared by sql_macro.c (definitions) and sql_expand.c (use). */
#ifndef INTERLACE_SQL_SQL_MACRO_INTERNAL_H
#define INTERLACE_SQL_SQL_MACRO_INTERNAL_H

#include "sql/sql_macro.h"
#include "sql/sql_macro_body.h"

/* A macro, and what is only worth finding out once. */
typedef struct MacroDefinition {
    SqlMacro macro;
    SqlParameterUseVec uses;
    size_t index; /* in the order of definition */
} MacroDefinition;

struct SqlMacroSet {
    Arena *arena;
    StrMap *macros; /* by name, case folded: MacroDefinition */
};

/* Puts vars in their places (sql_vars.c). All of it is of the arena; a text without vars is given back as it is. */
MUST_CHECK Status sql_vars_expand(const SqlText *text, const SqlVar *vars, size_t var_count, Arena *arena,
                                  SqlText *expanded_out, Error *err);

#endif
