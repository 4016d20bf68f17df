/* The output contract (`columns:`): demanded names and types against the columns a query or stream gives. Compared
 * before a row is written (spec 01 §11). */
#ifndef INTERLACE_RUN_CONTRACT_H
#define INTERLACE_RUN_CONTRACT_H

#include "duck/duck_connection.h"
#include "project/model.h"

/* SchemaError listing what is missing and, for each other type, what was expected and found. Extra columns are fine;
 * names compare without case, types after their synonyms (INT = INTEGER, …). */
MUST_CHECK Status contract_check(const Model *model, const DuckColumnVec *columns, Error *err);

/* JSON list of {name, type}, as snapshots record it. */
Str columns_to_json(const DuckColumnVec *columns, Arena *arena);
MUST_CHECK Status columns_from_json(Str json, Arena *arena, DuckColumnVec *columns_out, Error *err); /* appends */

#endif
