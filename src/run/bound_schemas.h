/* The columns of models before anything is built (architecture §5): the changed models of a plan are prepared over
 * empty tables in dependency order, so that a misspelt column, an ambiguous name, types that do not go together and a
 * broken contract are told with their places, for all models at once, before the warehouse is touched.
 *
 * A refusal is a proof. Where columns are not known for certain (a Python model, a table that cannot be read), the
 * model is opaque, and what reads it too: nothing is said of it, and the engine decides when it is built. */
#ifndef INTERLACE_RUN_BOUND_SCHEMAS_H
#define INTERLACE_RUN_BOUND_SCHEMAS_H

#include "plan/plan.h"
#include "run/session.h"

/* FAILED: `faults` has a CompilationError for each model that cannot be prepared or declares the lineage of a column
 * that is not there, or a SchemaError. A warehouse that cannot be read for what is not known yet gives the plan a
 * warning. `read_only`: it is opened for reading, if at all. */
MUST_CHECK Status plan_bind(Session *session, Plan *plan, bool read_only, ErrorList *faults);

#endif
