/* Environments as mappings: going back to an earlier one, taking over another's, dropping one (spec 03 §9). Each moves
 * views and pointers as a promotion does, under the lock, and builds nothing. */
#ifndef INTERLACE_RUN_ENVIRONMENTS_H
#define INTERLACE_RUN_ENVIRONMENTS_H

#include "plan/plan.h"
#include "run/session.h"

typedef struct EnvironmentMove {
    int64_t target;       /* rollback: the generation that was gone back to */
    int64_t generation;   /* the newest one, after the move */
    StrVec repointed;     /* models whose view shows something else now, by name */
    StrVec removed_views; /* models whose view is gone */
    StrVec skipped;       /* delivered models: what was delivered stays */
    StrVec in_place;      /* rollback: models whose rows were changed after that generation, and are not undone */
    StrVec kept_schemas;  /* drop: schemas that hold what interlace did not make */
} EnvironmentMove;

typedef struct EnvironmentRequest {
    Str environment;
    int64_t lock_timeout_us;
    bool dry_run; /* only says what would move */
    Str note;     /* why: goes into the change records. Empty: none */
} EnvironmentRequest;

/* `generation` 0: the one before the newest, or the newest of an environment that was dropped. PlanError: no such
 * generation (names those there are), no history, or a snapshot that gc took (names the models; nothing moves). */
MUST_CHECK Status environment_rollback(Session *session, const EnvironmentRequest *request, int64_t generation,
                                       Arena *arena, EnvironmentMove *move_out, Error *err);

/* Pointers of the selected models of `from`, all when nothing is selected, once the checks of their relations have
 * passed (CheckError). SelectionError: a name that is not in `from`. */
MUST_CHECK Status environment_promote(Session *session, const EnvironmentRequest *request, Str from,
                                      const StrVec *names, Arena *arena, EnvironmentMove *move_out, Error *err);

/* Views and pointers; then the schemas of a sandbox that are empty. PlanError: no such environment; prod without
 * `force`. Its history stays. */
MUST_CHECK Status environment_drop(Session *session, const EnvironmentRequest *request, bool force, Arena *arena,
                                   EnvironmentMove *move_out, Error *err);

/* A pointer beside the snapshot that it names. */
typedef struct ShownModel {
    Pointer pointer;
    const Snapshot *snapshot; /* NULL: ephemeral */
    bool is_reused;           /* its relation was built as another version */
} ShownModel;
DEFINE_VEC(ShownModelVec, shown_model_vec, ShownModel)

/* By name. PlanError: nothing was promoted there. */
MUST_CHECK Status environment_models(Session *session, Str environment, Arena *arena, ShownModelVec *models_out,
                                     Error *err);

#endif
