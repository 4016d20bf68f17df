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

typedef enum SchemaKnowledge {
    SCHEMA_OPAQUE, /* nothing is known */
    SCHEMA_PART,   /* it has these columns, and perhaps others */
    SCHEMA_EXACT
} SchemaKnowledge;

typedef struct BoundSchema {
    SchemaKnowledge knowledge;
    DuckColumnVec columns; /* as readers of the model see them, those of its strategy among them */
} BoundSchema;

/* `schemas_out` (may be NULL): one for each model of the project, in the plan's arena; of models that the plan leaves
 * alone only what was needed. FAILED: `faults` has a CompilationError for each model that cannot be prepared, or a
 * SchemaError. A warehouse that cannot be read for what is not known yet gives the plan a warning. */
MUST_CHECK Status plan_bind(Session *session, Plan *plan, bool read_only, const BoundSchema **schemas_out,
                            ErrorList *faults);

#endif
