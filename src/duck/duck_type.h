/* Types of columns as text, for files of this folder. */
#ifndef INTERLACE_DUCK_DUCK_TYPE_H
#define INTERLACE_DUCK_DUCK_TYPE_H

#include "duck/duck_internal.h"

/* As the engine spells it: DECIMAL(18,2), STRUCT("name" VARCHAR)[] … Of a nested type the engine is asked by a small
 * statement on `connection`, because which field names it quotes is its own matter. */
MUST_CHECK Status duck_type_name(DuckConnection *connection, duckdb_logical_type type, Arena *arena, Str *name_out,
                                 Error *err);

/* The nearest type that Arrow IPC can carry: VARCHAR in place of ENUM, BIT, TIMETZ and VARIANT, at any depth. Empty
 * when the type can be carried as it is. */
Str duck_type_streamable(duckdb_logical_type type, Arena *arena);

#endif
