/* History: what an older version of a model left in its table, and whether the next version can go on from a copy of it
 * (spec 02 §13). Pure. What is refused is a PlanError, at the model's place. */
#ifndef INTERLACE_STRATEGY_HISTORY_H
#define INTERLACE_STRATEGY_HISTORY_H

#include "strategy/strategy.h"

typedef struct History {
    StrategyKind strategy;
    StrVec key;
    Str time_column;
    DuckColumnVec given; /* the columns of its query; empty: not known */
} History;

/* Another strategy (but for merge to hash_merge), or another time column where it decides what the rows mean. */
MUST_CHECK Status history_check_definition(const History *history, const Model *model, Error *err);

/* A column whose type changes to one that does not hold the old values; a new key over a column that the old table does
 * not have. `stored`: of the table; `given`: of the new query. */
MUST_CHECK Status history_check_columns(const History *history, const Model *model, const DuckColumnVec *stored,
                                        const DuckColumnVec *given, Error *err);

/* The rows have to be looked at: they must be unique and not NULL under a key that was not theirs. */
bool history_has_other_key(const History *history, const Model *model);
/* Rows mean that they are not. Repeats: the key columns, how many rows have them; at most five, the most frequent
 * first. Of scd only open versions count. */
SqlText history_repeats_query(const Model *model, SqlRelation table, Arena *arena);
/* NULLs: the key columns of at most five rows. */
SqlText history_nulls_query(const Model *model, SqlRelation table, Arena *arena);

#endif
