/* SourceColumns: the columns of tables that are in the warehouse already, for what is bound before anything is built.
 * What was seen before is remembered in the cache folder, so that a plan opens the warehouse only for tables that are
 * new to it; the live columns are asked for again before anything is refused. One thread at a time. */
#ifndef INTERLACE_RUN_SOURCE_COLUMNS_H
#define INTERLACE_RUN_SOURCE_COLUMNS_H

#include "run/session.h"

typedef struct SourceColumns SourceColumns;

/* `read_only`: the warehouse is opened for reading, if at all. */
SourceColumns *source_columns_open(Session *session, bool read_only);
void source_columns_close(SourceColumns *sources); /* keeps what was seen; NULL is fine */
DEFINE_AUTO(SourceColumns, source_columns, source_columns_close)

typedef enum SourceColumnsAge { SOURCE_REMEMBERED, SOURCE_LIVE } SourceColumnsAge;

/* NULL: not known, because there is no such table or the warehouse cannot be read. Until close. */
const DuckColumnVec *source_columns_find(SourceColumns *sources, SqlRelation table, SourceColumnsAge age);

typedef enum FunctionPresence { FUNCTION_ABSENT, FUNCTION_PRESENT, FUNCTION_UNKNOWN } FunctionPresence;
/* Whether the warehouse has a function or macro of this name; one that is not made yet has none. */
FunctionPresence source_columns_has_function(SourceColumns *sources, Str name);

/* Why the warehouse could not be asked; empty: it could, or needed not be. */
Str source_columns_closed_reason(const SourceColumns *sources);

#endif
