/* Models of which only the metadata changed (checks, owner, contract): nothing is built, their checks run once against
 * the promoted rows, and the new metadata is recorded when they pass. Private to run/apply*.c. */
#ifndef INTERLACE_RUN_METADATA_CHECKS_H
#define INTERLACE_RUN_METADATA_CHECKS_H

#include "run/apply_steps.h"

/* CheckError or SchemaError when the promoted rows do not hold what is demanded now; nothing moves. */
MUST_CHECK Status metadata_checks_run(Apply *apply, Error *err);

#endif
