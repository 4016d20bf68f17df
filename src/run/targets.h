/* Where the rows of each task go, and which windows it fills: decided under the lock, before anything is built. */
#ifndef INTERLACE_RUN_TARGETS_H
#define INTERLACE_RUN_TARGETS_H

#include "plan/snapshot_index.h"
#include "plan/window_plan.h"
#include "run/relations.h"
#include "run/session.h"

#define BATCH_AUTO INT64_MAX /* as many adjacent grains as stay below batch_rows (build_batches.c) */

/* One task's. Without a relation (ephemeral) only zeros. */
typedef struct BuildTarget {
    SqlRelation relation;
    int64_t revision;
    bool is_aside;       /* rows beside a version's own (backfill/): nothing is recorded of them but the ledger */
    SqlRelation checked; /* … and what their checks look at: that version with these rows in it */
    bool is_external;    /* a table of another database, which is never dropped */
    bool is_gated;       /* a terminal model that does not deliver in this environment */
    bool is_there;       /* holds checked rows of this very version: the strategy goes on from them */
    bool is_served;      /* some environment shows it: every commit is visible to readers */
    bool is_recorded;    /* of a gated one: this version is known, perhaps by its delivery elsewhere */
    bool is_shown;       /* of a terminal model: an environment has this very version */
    TimeUs last_shown;   /* … when an environment last took over a version of it; 0: never */
    const Snapshot *last_delivery; /* of a terminal model, to its present place; NULL: none yet */
    SqlRelation previous;          /* what `this` and `cursor` of a Python model read; empty name: nothing yet */
    SqlRelation seed;              /* copied into `relation` first; empty name: none */
    Str owner;                     /* copy-on-write: the environment whose relation `seed` is */

    bool is_windowed; /* incremental; the rest is zero otherwise */
    Grain grain;
    int64_t batch;       /* most grains of one statement; BATCH_AUTO */
    int64_t concurrency; /* most batches at once */
    bool binds_clock;    /* reads of the clock are bound to each window */
    IntervalSet filled;  /* what the ledger of `relation` (of `seed`) says */
    WindowWork work;
    int64_t change;  /* draft of the change record that its build adds to; 0: none */
    bool is_skipped; /* nothing due: the task builds nothing and keeps what the environment shows */
} BuildTarget;

typedef struct TargetRequest {
    const Plan *plan;
    const EngineCatalog *catalog; /* NULL: what the state records is there */
    EngineConnection *connection; /* asked for external tables; NULL: the ledger tells whether they are there */
    const WindowRequest *windows;
    int64_t batch;       /* most grains of one statement; 0: the model's own */
    int64_t concurrency; /* most batches of a model at once; 0: the model's own, and never more than that */
    bool keeps_shown;    /* a version that the environment does not show goes to a table of its own, whoever has it */
} TargetRequest;

/* An array, a task each, in `arena`. */
MUST_CHECK Status targets_decide(StateStore *state, const TargetRequest *request, Arena *arena,
                                 BuildTarget **targets_out, Error *err);

/* As relation_map_from_plan, but a task's relation is that of its target. */
RelationMap relation_map_from_targets(const Plan *plan, const BuildTarget *targets, Arena *arena);

/* The model reads what its earlier windows have written: as `this` or `cursor`, or, of an external table, by its name.
 */
bool target_reads_itself(const Model *model, const BuildTarget *target);

/* Who owns a relation: prod where it shows it, else the environment that showed it first (spec 04 §2). `shown` is the
 * first of its model's pointers among those that state_load_all_pointers gives, `end` behind the last of all. Empty:
 * nobody shows it. */
Str target_owner(const SnapshotIndex *index, const Pointer *shown, const Pointer *end, SqlRelation relation);

LedgerKey ledger_key(const Model *model, SqlRelation relation);

#endif
