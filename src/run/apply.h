/* Plan and apply: the steps of spec 03 §6 in their order. run/README.md has the table of what a failure of each leaves.
 */
#ifndef INTERLACE_RUN_APPLY_H
#define INTERLACE_RUN_APPLY_H

#include "run/session.h"
#include "run/targets.h"

typedef enum ModelOutcome {
    OUTCOME_NOT_STARTED,
    OUTCOME_BUILT,
    OUTCOME_REUSED,
    OUTCOME_RECORDED, /* ephemeral */
    OUTCOME_SKIPPED,  /* no window was due */
    OUTCOME_GATED,    /* it delivers in other environments only */
    OUTCOME_FAILED,
    OUTCOME_CANCELLED
} ModelOutcome;

/* Models that a Python model declared while it ran, as in PythonRegistrations: one list a call of its function. */
DEFINE_VEC(RegistrationVec, registration_vec, const ConfigValue *)

typedef struct ModelResult {
    const Model *model;
    const Project *project; /* of the model */
    ModelOutcome outcome;
    double seconds;
    RowCounts rows;
    int64_t tasks;     /* done: grains of windows, or 1 for a first build and a whole model */
    WindowVec batches; /* what was to be done, in its order; nothing for a first build and a whole model */
    Error error;       /* FAILED */
    CheckResultVec checks;
    int64_t attempts; /* so far: 2 when it failed beside others and runs alone (apply_build.c) */
    RegistrationVec registrations;
    Arena *arena; /* of the results' texts */
} ModelResult;

typedef struct RunSummary {
    Str environment;
    const ModelResult *models; /* one a task, dependency order; behind them those of follow-up plans */
    size_t model_count;
    size_t built, reused, cancelled, not_started, failed;
    int64_t tasks;   /* of all models */
    size_t promoted; /* every pointer put, ephemeral ones included */
    size_t checks_passed, checks_total;
    int64_t generation; /* 0: nothing promoted */
    double seconds;
    bool is_empty; /* the plan was empty: "No changes for <env>." */
} RunSummary;

typedef struct ApplyOptions {
    Str environment;
    const StrVec *select, *exclude; /* may be NULL */
    WindowVerb verb;                /* RUN and RESTATE build every selected model, and have no breaking gate */
    Str start, end;                 /* RUN, RESTATE: ISO texts; empty: no bound */
    bool catch_up;                  /* RUN: every complete grain since the ledger's end */
    int64_t batch;                  /* most grains a statement; 0: the model's own */
    int64_t concurrency;            /* most batches of a model at once; 0: the model's own */
    bool newest_first;              /* order of the windows */
    Str from;                       /* PlanOptions.from */
    bool force;                     /* lifts the breaking gate */
    bool forward_only;              /* APPLY: PlanOptions.forward_only */
    bool keep_going;                /* models not downstream of a failure still build; nothing is promoted */
    bool strict;                    /* warn counts as error */
    Str note;                       /* why: goes into the change records. Empty: none */
    size_t parallelism;             /* 0: the project's */
    int64_t lock_timeout_us;
} ApplyOptions;

/* UsageError about `option` when the text is no time at all, in whatever zone: for before anything is opened. */
MUST_CHECK Status window_bound_check(const char *option, Str text, Error *err);
const char *window_verb_name(WindowVerb verb); /* "apply", "run", "restate" */

/* Owns all that the summary points at; the session must outlive it. */
typedef struct ApplyResult ApplyResult;
struct ApplyResult {
    Arena *arena;
    Plan *plan;
    ModelResult *models; /* one a task of `plan` */
    size_t model_count;
    BuildTarget *targets;   /* a task each; NULL when there was nothing to build */
    StrVec registered;      /* models that running ones registered, each once (run/dynamic.h) */
    RunSummary summary;     /* of this plan and of those that followed */
    ApplyResult *follow_up; /* owned; NULL: no plan followed */
};
void apply_result_destroy(ApplyResult *result); /* NULL is fine */
DEFINE_AUTO(ApplyResult, apply_result, apply_result_destroy)

/* Computes the plan for `plan`: no lock, nothing is written. The plan owns the state it was computed from. */
MUST_CHECK Status plan_for_reading(Session *session, const PlanOptions *options, Plan **plan_out, ErrorList *faults);

/* The project's zone, the command's instant, and its bounds. UsageError: a bound that is no time, start not before end.
 */
MUST_CHECK Status window_request_read(Session *session, const ApplyOptions *options, const Zone **zone_out,
                                      WindowRequest *request_out, Error *err);

/* The plan from what the state holds now; its texts live in `arena`. */
MUST_CHECK Status plan_from_state(const Project *project, StateStore *state, const PlanOptions *options, Arena *arena,
                                  Plan **plan_out, Error *err);

/* FAILED: `faults` has one error a failure; `result_out` is set as soon as there was a plan (also on failure). Emits
 * events on the way; EVENT_SUMMARY is the last. */
MUST_CHECK Status apply(Session *session, const ApplyOptions *options, ApplyResult **result_out, ErrorList *faults);

/* `checks run`: runs the current definitions of checks against the environment's promoted relations and records the
 * outcomes; no lock. A model that is not promoted there is listed in `skipped`. */
typedef struct ChecksRunResult {
    Arena *arena;
    Arena **model_arenas; /* of the threads that ran the checks of a model */
    size_t model_arena_count;
    CheckResultVec results; /* dependency order */
    StrVec skipped;         /* "m — not promoted in 'dev'" */
    StrVec skipped_models;  /* their names */
    size_t passed;
    bool is_blocked; /* an outcome of severity error (or warn, when strict) did not pass */
} ChecksRunResult;
void checks_run_result_destroy(ChecksRunResult *result);
DEFINE_AUTO(ChecksRunResult, checks_run_result, checks_run_result_destroy)

typedef struct ChecksRunOptions {
    Str environment, check; /* check empty: all */
    const StrVec *select, *exclude;
    bool strict;
    bool fail_fast;     /* no further model begins after an outcome that blocks */
    size_t parallelism; /* models at once; 0: the project's */
} ChecksRunOptions;
MUST_CHECK Status checks_run(Session *session, const ChecksRunOptions *options, ChecksRunResult **result_out,
                             Error *err);

/* Finishes promotions that a killed command left (under the lock). The number of finished ones is noted once. Commands
 * that only read call recovery_finish_if_needed: it takes the lock for a moment when there is something to finish, and
 * leaves a promotion alone whose command still lives. */
MUST_CHECK Status recovery_finish(Session *session, StateLock *lock, Error *err);
MUST_CHECK Status recovery_finish_if_needed(Session *session, Error *err);

#endif
