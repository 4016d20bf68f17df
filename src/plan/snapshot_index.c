#include "plan/snapshot_index.h"

SnapshotIndex snapshot_index_create(const SnapshotVec *snapshots, Arena *arena) {
    SnapshotIndex index = {.by_model = str_map_create(arena, STR_MAP_FOLD)};
    for (size_t i = 0; i < snapshots->count; i++) {
        SnapshotNode *node = ARENA_NEW(arena, SnapshotNode);
        node->snapshot = &snapshots->items[i];
        node->next = str_map_find(index.by_model, node->snapshot->name);
        str_map_put(index.by_model, node->snapshot->name, node);
    }
    return index;
}

const SnapshotNode *snapshot_index_list(const SnapshotIndex *index, Str model) {
    return str_map_find(index->by_model, model);
}

const Snapshot *snapshot_index_find(const SnapshotIndex *index, Str model, Str fingerprint, int64_t revision) {
    for (const SnapshotNode *node = snapshot_index_list(index, model); node != NULL; node = node->next) {
        if (str_equal(node->snapshot->fingerprint, fingerprint) && node->snapshot->revision == revision) {
            return node->snapshot;
        }
    }
    return NULL;
}

static size_t rank_of(const PointerVec *shown, const Snapshot *snapshot) {
    for (size_t i = 0; i < shown->count; i++) {
        const Pointer *pointer = &shown->items[i];
        if (pointer->revision == snapshot->revision && str_equal(pointer->fingerprint, snapshot->fingerprint) &&
            str_equal_fold(pointer->model, snapshot->name)) {
            return i;
        }
    }
    return SIZE_MAX;
}

static const Snapshot *preferred(const PointerVec *shown, const Snapshot *a, const Snapshot *b) {
    size_t rank_a = rank_of(shown, a), rank_b = rank_of(shown, b);
    if (rank_a != rank_b) {
        return rank_a < rank_b ? a : b;
    }
    return a->revision < b->revision ? a : b;
}

const Snapshot *snapshot_index_find_checked(const SnapshotIndex *index, const PointerVec *shown, Str model,
                                            Str fingerprint) {
    const Snapshot *found = NULL;
    for (const SnapshotNode *node = snapshot_index_list(index, model); node != NULL; node = node->next) {
        const Snapshot *snapshot = node->snapshot;
        if (str_equal(snapshot->fingerprint, fingerprint) && snapshot->verified_at != 0) {
            found = found == NULL ? snapshot : preferred(shown, found, snapshot);
        }
    }
    return found;
}
