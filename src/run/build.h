/* Builds one model: its rows land in its snapshot's relation, are checked inside the same transaction, and the snapshot
 * is recorded. What a blocked check leaves is in run/README.md. */
#ifndef INTERLACE_RUN_BUILD_H
#define INTERLACE_RUN_BUILD_H

#include "run/apply.h"
#include "run/relations.h"
#include "run/schedule.h"
#include "run/window_scan.h"

#include <pthread.h>

/* Shared by all builders of one command. */
typedef struct BuildContext {
    Session *session;
    const Plan *plan;
    const RelationMap *relations;
    Engine *engine;
    const EngineCatalog *catalog; /* as it was before the first build */
    const BuildTarget *targets;   /* a task each */
    const ApplyOptions *options;
    const Zone *zone;
    WallUs now;        /* of the command */
    StateStore *state; /* guarded by state_mutex */
    StateLock *lock;   /* the fence of ledger entries */
    pthread_mutex_t state_mutex;
    bool (*is_stopping)(void *context); /* any thread: the command is being stopped */
    void *stop_context;
    Schedule *schedule; /* its idle threads help with windows */
} BuildContext;

/* The most threads that a task can use beside its own. */
size_t build_helpers(const BuildTarget *target);

/* The strategy adds to rows that are there, be they copied. */
bool build_goes_on(const Model *model, const BuildTarget *target);

/* Carries out one task on a builder thread. On success `result` has outcome, rows and check results (in `arena`). */
MUST_CHECK Status build_task(BuildContext *context, const PlanTask *task, Arena *arena, ModelResult *result,
                             Error *err);
/* The same for a target that is not the one of `context`. */
MUST_CHECK Status build_target(BuildContext *context, const PlanTask *task, const BuildTarget *target, Arena *arena,
                               ModelResult *result, Error *err);
/* Nothing is wrong with the task, but it has to be carried out while no other runs. */
bool build_must_be_alone(const Error *err);

/* ---- For campaigns (backfill/), which do the parts of a build at moments of their own. */

typedef struct BuildOutlook {
    WindowVec batches;     /* that the due windows of the target make, oldest first; none: it is not windowed */
    WindowScanVec scans;   /* what a window cuts of its sources */
    DuckColumnVec columns; /* of SQL models */
    SqlText query;         /* of SQL models: all of its rows */
} BuildOutlook;

/* What carrying the task out would be; writes nothing. `connection`: which knows the relations of `context`. */
MUST_CHECK Status build_outlook(BuildContext *context, const PlanTask *task, const BuildTarget *target,
                                EngineConnection *connection, Arena *arena, BuildOutlook *outlook_out, Error *err);

/* Rows of the model that lie in `rows` go into the target by its strategy, of an incremental model those of `windows`,
 * one after the other. A target that begins as a copy is copied first. In the transaction that is open on `connection`;
 * records nothing. */
MUST_CHECK Status build_put_rows(BuildContext *context, const PlanTask *task, const BuildTarget *target,
                                 EngineConnection *connection, SqlRelation rows, const IntervalSet *windows,
                                 Arena *arena, Error *err);
/* The version is on record at its target, unverified; `columns` are those of its query. */
MUST_CHECK Status build_announce(BuildContext *context, const PlanTask *task, const BuildTarget *target,
                                 const DuckColumnVec *columns, Arena *arena, Error *err);

#endif
