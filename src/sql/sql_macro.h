/* Project macros and vars: expansion of a query's text before anything else looks at it (spec: macros are replaced by
 * the parenthesised body, var('x') by a typed literal). Works on tokens; positions stay mapped to the user's files. */
#ifndef INTERLACE_SQL_SQL_MACRO_H
#define INTERLACE_SQL_SQL_MACRO_H

#include "base/str_map.h"
#include "sql/sql_text.h"

typedef struct SqlMacro {
    Str name;
    StrVec parameters;
    SqlText body; /* the scalar expression */
    SourceSpan place;
} SqlMacro;

typedef struct SqlMacroSet SqlMacroSet; /* in an arena; const after loading */
SqlMacroSet *sql_macro_set_create(Arena *arena);
size_t sql_macro_set_count(const SqlMacroSet *set);

/* Reads the CREATE MACRO statements of one file. DefinitionError: another statement, a table macro or query as body,
 * default values, a name defined before (both files named), a body with unmatched brackets or a cut-off end. Any other
 * fault of a body is found by the engine where the macro is used, and is then shown in the macro's file. */
MUST_CHECK Status sql_macro_set_read(SqlMacroSet *set, const SourceFile *file, Error *err);

/* A var as the SQL literal that stands for it: 'EU', 42, DATE '2026-01-01', … */
typedef struct SqlVar {
    Str name;
    Str literal;
} SqlVar;

/* DefinitionError with its place: wrong argument count (lists the parameters), recursion (more than 10 passes), unknown
 * var (lists the known), named arguments. When there is nothing to expand the text itself is given back. */
MUST_CHECK Status sql_expand(const SqlText *text, const SqlMacroSet *macros, const SqlVar *vars, size_t var_count,
                             Arena *arena, SqlText *expanded_out, Error *err);

#endif
