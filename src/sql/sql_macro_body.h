/* Where in a macro's body a parameter stands for its argument. Works on tokens, so it tells expressions from names by
 * the words around: a parameter is replaced where an unqualified column may stand, and not
 *   - as part of a qualified name (x.a, a.x), as a function's name, as the name of an argument or a struct's key;
 *   - as a type, collation, window or date part, as an alias, as a table;
 *   - inside a lambda or list comprehension that has a variable of that name;
 *   - inside a subquery in which something gets that name by an alias. */
#ifndef INTERLACE_SQL_SQL_MACRO_BODY_H
#define INTERLACE_SQL_SQL_MACRO_BODY_H

#include "sql/sql_tokens.h"

typedef struct SqlParameterUse {
    size_t start, end;  /* bytes of the body */
    size_t parameter;   /* index */
    StrVec inner_names; /* lambda variables in scope here: an argument that uses one of these names would be captured */
} SqlParameterUse;
DEFINE_VEC(SqlParameterUseVec, sql_parameter_use_vec, SqlParameterUse)

SqlParameterUseVec sql_macro_parameter_uses(const SqlTokens *body, const StrVec *parameters, Arena *arena);

#endif
