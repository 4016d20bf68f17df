/* Forward-only builds (spec 02 §13): whether the rows that an environment shows can be carried into a model's new
 * version. What the definitions alone tell, plan_build has refused already. All refusals are PlanErrors. */
#ifndef INTERLACE_RUN_FORWARD_ONLY_H
#define INTERLACE_RUN_FORWARD_ONLY_H

#include "engine/engine.h"
#include "plan/plan.h"

bool plan_goes_on_from_copies(const Plan *plan);

/* Asks the warehouse before anything is built: old tables against new queries, and new keys against old rows. Writes
 * nothing; opens a transaction of its own and ends it. What cannot be known yet (the columns of a Python model, a query
 * over them) is left to the build. */
MUST_CHECK Status forward_only_check(const Plan *plan, EngineConnection *connection, Error *err);

/* The same for one task, in the transaction that copies `seed`; `given` are the columns of what the model gives, none
 * when it gave nothing. */
MUST_CHECK Status forward_only_check_seed(const PlanTask *task, SqlRelation seed, const DuckColumnVec *given,
                                          EngineConnection *connection, Arena *arena, Error *err);

Status forward_only_missing(const Model *model, SqlRelation seed,
                            Error *err); /* the old table is not in the warehouse */

#endif
