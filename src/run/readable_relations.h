/* ReadableRelations: what a query of an environment may read, and what its names mean there: the views of environments,
 * interlace's own tables behind them, and what the configuration attaches. Nothing else in the warehouse. */
#ifndef INTERLACE_RUN_READABLE_RELATIONS_H
#define INTERLACE_RUN_READABLE_RELATIONS_H

#include "project/project.h"
#include "sql/sql_buf.h"
#include "state/state_store.h"

typedef struct ReadableRelations ReadableRelations; /* in an arena; keeps `project` */

MUST_CHECK Status readable_relations_load(const Project *project, StateStore *state, Str environment, Arena *arena,
                                          ReadableRelations **readable_out, Error *err);

/* Nothing is promoted in the environment. */
bool readable_relations_is_empty(const ReadableRelations *readable);

/* The relation a table name of the query stands for; one with an empty name: it is to be left as written. NULL: it may
 * not be read. `orders` and `silver.orders` mean the environment's views of these models; `main.orders` and
 * `dev__main.orders` are views by their own names. */
const SqlRelation *readable_relations_find(const ReadableRelations *readable, const SqlTableRef *table);

#endif
