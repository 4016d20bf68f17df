/* Plan: what a command will do to one environment: project × state. Pure: computed from its inputs, no I/O, no clock.
 * Owns its arena; borrows the project and the arena of the state it was given, which must outlive it. */
#ifndef INTERLACE_PLAN_PLAN_H
#define INTERLACE_PLAN_PLAN_H

#include "config/json_writer.h"
#include "plan/change_proof.h"
#include "project/project.h"
#include "project/selector.h"
#include "state/state_store.h"
#include "strategy/history.h"

typedef enum ChangeType { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_REMOVED } ChangeType;
typedef enum ChangeCategory {
    CATEGORY_NONE,
    CATEGORY_BREAKING,
    CATEGORY_NON_BREAKING,
    CATEGORY_FORWARD_ONLY
} ChangeCategory;

/* Why a model is in the plan, for --explain. */
typedef enum ChangeReason {
    REASON_NEW,           /* not in the environment */
    REASON_DEFINITION,    /* its own text or configuration changed */
    REASON_UPSTREAM,      /* an upstream changed */
    REASON_SNAPSHOT_GONE, /* the promoted snapshot's record is missing */
    REASON_REMOVED
} ChangeReason;

typedef struct PlanChange {
    const Model *model; /* NULL for removed ones */
    Str name;
    ChangeType type;
    ChangeCategory category;
    ChangeReason reason;
    Str reason_upstream;                       /* REASON_UPSTREAM: the first changed upstream */
    Str previous_fingerprint, new_fingerprint; /* empty: null */
    Str previous_sql, new_sql;
    bool reused;
    StrVec impacted_columns;  /* that the change is about, as far as it is known */
    const ChangeProof *proof; /* why it is what it is; NULL: removed */
    Str blocking;             /* why a delivery refuses it, whatever --force says; empty: nothing does */
} PlanChange;
DEFINE_VEC(PlanChangeVec, plan_change_vec, PlanChange)

typedef enum TaskAction {
    TASK_BUILD,    /* compute the relation (or create the view of a `view` model) and check it */
    TASK_REUSE,    /* the relation of `snapshot` holds the rows already: check it, then move the view; build when it is
                      gone */
    TASK_RECREATE, /* a `view` model whose rows are proven to be the same: it is made anew over the present relations */
    TASK_RECORD    /* ephemeral: only the pointer moves */
} TaskAction;

/* One changed, selected model. */
typedef struct PlanTask {
    const Model *model;
    TaskAction action;
    /* REUSE: of this very version, or of an earlier one whose rows are proven to be the same. BUILD (`run`): of such an
     * earlier one, whose relation the strategy goes on from; else NULL. */
    const Snapshot *snapshot;
    ChangeCategory category;
    /* BUILD over a copy of what the environment shows (Plan.current): what is known of it (spec 02 §13). Else NULL. */
    const History *history;
} PlanTask;
DEFINE_VEC(PlanTaskVec, plan_task_vec, PlanTask)

/* A pointer beside the snapshot that it names. */
typedef struct KnownPointer {
    const Pointer *pointer;
    const Snapshot *snapshot; /* NULL: ephemeral, or its record is gone */
} KnownPointer;
DEFINE_VEC(KnownPointerVec, known_pointer_vec, KnownPointer)

typedef struct Plan {
    Arena *arena;
    const Project *project;
    Str environment;
    Str compared_with;       /* whose pointers the project is compared with: `environment`, or another one's */
    KnownPointerVec adopted; /* those that a new environment starts with (PlanOptions.from), without the removed */
    PlanChangeVec changes;   /* dependency order, then removed by name */
    PlanTaskVec tasks;       /* dependency order */
    StrVec metadata;         /* models of which only metadata changed (checks, owner, contract, …) */
    StrVec physical;         /* "+ index il__m__a", "- constraint …": a line for each object that comes or goes */
    StrVec physical_models;  /* unchanged models of which objects come or go, or lost their meaning, without a build */
    StrVec warnings;         /* one line each */
    bool is_breaking, is_empty; /* empty: no change, no metadata, no physical line */
    const bool *is_modified;    /* a flag a model: compiled fingerprint is not the promoted one */
    const Snapshot **current;   /* a model's snapshot that is promoted in this environment; NULL: none */
} Plan;

typedef struct PlanOptions {
    Str environment;
    const StrVec *select, *exclude; /* may be NULL */
    bool rebuild_all;               /* `run`: every selected model is scheduled whatever its fingerprint */
    bool forward_only;              /* changed models that accumulate go on from a copy of their history */
    /* Of another environment; empty: none. */
    Str from;    /* the environment starts with what this one serves, when it serves nothing itself */
    Str against; /* the comparison is with this one's pointers, for looking only */
} PlanOptions;

/* What the state holds, as loaded by the caller. */
typedef struct PlanState {
    SnapshotVec snapshots;
    PointerVec pointers; /* of the environment that the project is compared with */
    Str compared_with;   /* its name; empty: the plan's own */
    bool is_adopted;     /* the plan's own has none: it starts with `pointers` */
    PointerVec shown; /* of all environments (state_load_all_pointers); may be empty while no model has two revisions */
} PlanState;

/* SelectionError for a bad selector; PlanError for a definition that forward-only cannot carry history into. What
 * a change means is proven by plan/change_proof.h; one of a delivery is judged by plan/delivery.h, as far as its text
 * tells which columns it has. */
MUST_CHECK Status plan_build(const Project *project, const PlanState *state, const PlanOptions *options,
                             Plan **plan_out, Error *err);
void plan_destroy(Plan *plan); /* NULL is fine */
DEFINE_AUTO(Plan, plan, plan_destroy)

/* PlanError about a change with `blocking`, --force or not; then BreakingPlanError naming the models when the plan is
 * breaking and `force` is not set. */
MUST_CHECK Status plan_check_gate(const Plan *plan, bool force, Error *err);

Str plan_environment_text(const Plan *plan, Arena *arena); /* "dev", "dev against prod" */
const char *change_type_name(ChangeType type);             /* "added", … */
const char *change_category_name(ChangeCategory category); /* NULL for none */
const char *change_build_name(const PlanChange *change);   /* "rebuild", "copy + run", "reuse", "—" */

/* Shapes of spec 03 §5. */
void plan_write_json(const Plan *plan, JsonWriter *writer);
void plan_write_markdown(const Plan *plan, StrBuf *out);

#endif
