/* ChangeProof: what the changes of a project do to the rows of each model, as far as it can be proven (spec 03 §3.1,
 * §3.2). Upstreams first: a model's own edit, then what its changed upstreams do to it; the worst verdict wins, and
 * what is not proven counts as the worst.
 *
 * A proof compares with what the environment shows. It holds only when that was built from just the versions of its
 * upstreams that the environment shows too, which the fingerprint itself tells. Pure. */
#ifndef INTERLACE_PLAN_CHANGE_PROOF_H
#define INTERLACE_PLAN_CHANGE_PROOF_H

#include "project/project.h"
#include "state/state_store.h"

typedef enum ChangeImpact {
    IMPACT_NONE,     /* the model did not change */
    IMPACT_CLEAN,    /* its rows are proven to be the same */
    IMPACT_ADDITIVE, /* its old columns are; it has new ones */
    IMPACT_TOUCHED,  /* its rows and all columns but `touched` are; it may have new ones */
    IMPACT_ALL       /* anything may differ */
} ChangeImpact;

typedef struct ChangeProof {
    ChangeImpact impact;
    bool is_breaking; /* asks for --force: an edit that readers may not expect is behind it, or it would lose rows */
    StrVec added, touched;
    StrVec impacted;       /* columns that the change is about, where they are known */
    const Model *upstream; /* whose change decides; NULL: its own */
    Str reason;            /* of the verdict, for a person: "column 'y' changed", "reads 'y' of up, which changed" */
    SourceSpan place;      /* in the project, of an own edit; no file: nowhere in particular */
} ChangeProof;

typedef struct ProofRequest {
    const Project *project; /* without `queries` nothing can be proven */
    const bool *is_modified;
    const Pointer *const *promoted; /* a model's pointer; NULL: not in the environment */
    const Snapshot *const *current; /* … its snapshot; NULL: none on record */
    const bool *keeps_history;      /* a model that goes on from a copy of its rows (forward-only) */
} ProofRequest;

/* One for each model of the project, in `arena`. */
MUST_CHECK Status change_proofs(const ProofRequest *request, Arena *arena, const ChangeProof **proofs_out, Error *err);

#endif
