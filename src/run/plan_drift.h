/* The look of `plan` at live targets (spec 03 §5): what a delivery with `schema: {columns: reject}` would refuse. */
#ifndef INTERLACE_RUN_PLAN_DRIFT_H
#define INTERLACE_RUN_PLAN_DRIFT_H

#include "run/session.h"

/* Sets `blocking` of changes whose target lacks a column, as far as the text of the query or the contract names them.
 * Opens the warehouse only when such a model is in the plan; one that cannot be opened gives a warning. */
void plan_look_at_targets(Session *session, Plan *plan);

#endif
