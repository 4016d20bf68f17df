/* What a Python function asks for of an upstream's rows, as a query: only that crosses the pipe (spec 10 §3). */
#ifndef INTERLACE_RUN_PYTHON_PART_H
#define INTERLACE_RUN_PYTHON_PART_H

#include "engine/engine.h"
#include "python/python_runtime.h"

/* Makes `*query`, which gives the rows of the parameter `name`, that of the part. DefinitionError: a column that the
 * rows do not have (code handle.column), a filter that is no predicate over them (code handle.filter). */
MUST_CHECK Status python_part_query(EngineConnection *connection, Str name, const PythonPart *part, Arena *arena,
                                    SqlText *query, Error *err);

#endif
