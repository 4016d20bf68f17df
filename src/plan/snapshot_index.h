/* SnapshotIndex: recorded versions by their model's name, in any letter case. Borrows the snapshots. Pure. */
#ifndef INTERLACE_PLAN_SNAPSHOT_INDEX_H
#define INTERLACE_PLAN_SNAPSHOT_INDEX_H

#include "base/str_map.h"
#include "state/state_store.h"

typedef struct SnapshotNode {
    const Snapshot *snapshot;
    const struct SnapshotNode *next;
} SnapshotNode;

typedef struct SnapshotIndex {
    StrMap *by_model; /* → SnapshotNode * */
} SnapshotIndex;

SnapshotIndex snapshot_index_create(const SnapshotVec *snapshots, Arena *arena);
/* All versions of a model, in no order; NULL: none. */
const SnapshotNode *snapshot_index_list(const SnapshotIndex *index, Str model);
const Snapshot *snapshot_index_find(const SnapshotIndex *index, Str model, Str fingerprint, int64_t revision);

/* A relation that holds this very version and whose checks passed, for who takes it over: what prod shows, else what an
 * environment shows (`shown`: as state_load_all_pointers gives them), else the first revision: a later one is
 * somebody's private copy, perhaps one that a dead command left half restated. NULL: none. */
const Snapshot *snapshot_index_find_checked(const SnapshotIndex *index, const PointerVec *shown, Str model,
                                            Str fingerprint);

#endif
