/* Runs the checks of one model against one relation, on one connection: inside the transaction that wrote the rows, or
 * on committed ones. Every check runs, also after one failed. */
#ifndef INTERLACE_RUN_CHECK_RUNNER_H
#define INTERLACE_RUN_CHECK_RUNNER_H

#include "run/relations.h"
#include "run/session.h"

typedef struct CheckRun {
    Session *session;
    EngineConnection *connection;
    const RelationMap *relations;
    const Model *model;
    SqlRelation table; /* where the model's rows are */
    Str environment;
    Str fingerprint;    /* of the rows that are checked */
    Str trigger;        /* apply, run, adhoc, backfill */
    Str window;         /* condition: only these rows changed since `passed` was found; empty: any may have */
    StrVec passed;      /* names of checks that all rows passed then */
    Str only;           /* one check's name; empty: all */
    bool strict;        /* warn blocks as error does */
    bool one_by_one;    /* never several in one scan */
    bool shares_memory; /* with others that run now: one that runs out of it has no outcome, and fails */
    bool (*is_cancelled)(void *context);
    void *cancel_context;
} CheckRun;

/* FAILED only when the outcomes could not be had (interrupted; out of memory that is shared). `transaction_lost_out`
 * (may be NULL outside of one): a check cost the transaction, which can only be rolled back; the outcomes until then
 * are given, or none when it was one of several in one scan: only `one_by_one` tells which. */
MUST_CHECK Status check_runner_run(const CheckRun *run, Arena *arena, CheckResultVec *results_out,
                                   bool *transaction_lost_out, Error *err);

bool check_result_is_blocking(const CheckResult *result, bool strict);
/* CheckError "checks failed — promotion blocked: m.check (n failing); …"; OK when none blocks. */
MUST_CHECK Status check_results_gate(const CheckResultVec *results, bool strict, Error *err);

#endif
