/* Reset: an environment's views, interlace's own schemas and what the state remembers of them go; what was delivered
 * outside, and that it was, stays (spec 03 §10). */
#ifndef INTERLACE_RUN_RESET_H
#define INTERLACE_RUN_RESET_H

#include "run/session.h"

typedef struct ResetRequest {
    bool dry_run; /* only says what would go: no lock */
    int64_t lock_timeout_us;
} ResetRequest;

typedef struct ResetResult {
    StrVec environments;
    StrVec dropped_views, dropped_schemas; /* "schema.name"; schemas of interlace and empty ones of sandboxes */
    int64_t cleared_snapshots;
    StrVec kept_terminals; /* models that are not delivered again */
} ResetResult;

MUST_CHECK Status reset_run(Session *session, const ResetRequest *request, Arena *arena, ResetResult *result_out,
                            Error *err);

#endif
