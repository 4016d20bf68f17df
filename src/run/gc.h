/* Garbage collection (spec 03 §10): snapshots that no environment shows, and their relations. */
#ifndef INTERLACE_RUN_GC_H
#define INTERLACE_RUN_GC_H

#include "run/session.h"

#define GC_RECORD_DAYS 30 /* events and check results are kept so long */

typedef struct GcRequest {
    int64_t grace_us; /* since a snapshot was made or last shown, and since a relation without one was first seen */
    bool dry_run;     /* the same sets; nothing is touched, and no lock taken */
    int64_t lock_timeout_us;
} GcRequest;

typedef struct GcResult {
    ReclaimedSnapshotVec removed;
    int64_t kept;
    StrVec dropped; /* "engine:schema.name", relations and what was left in the scratch schema */
    StrVec failed;  /* the same with the reason behind it: tried again by the next gc */
    StrVec skipped; /* engines of snapshots that are not configured any more */
    GcTrimmed trimmed;
} GcResult;

MUST_CHECK Status gc_run(Session *session, const GcRequest *request, Arena *arena, GcResult *result_out, Error *err);

#endif
