/* Reads from a snapshot's record the History that a forward-only build goes on from. */
#ifndef INTERLACE_PLAN_PLAN_HISTORY_H
#define INTERLACE_PLAN_PLAN_HISTORY_H

#include "state/state_store.h"
#include "strategy/history.h"

/* PlanError at `model`, the next version: the record is of a format that did not keep it. */
MUST_CHECK Status plan_history(const Snapshot *snapshot, const Model *model, Arena *arena, const History **history_out,
                               Error *err);

/* Appends the columns of a snapshot that recorded some; to `key_out` (may be NULL) those that were a delivery's key. */
MUST_CHECK Status plan_recorded_columns(const Snapshot *snapshot, Arena *arena, DuckColumnVec *columns_out,
                                        StrVec *key_out, Error *err);

#endif
