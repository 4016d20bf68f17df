/* First the snapshots go, in one transaction of the state, each leaving a record in its place; then the relations, many
 * in a transaction, each once more looked up in the state; then all records are marked. So a process that dies anywhere
 * leaves only work for the next gc, and nothing that a pointer, a snapshot or a view of one needs is ever dropped. */
#include "run/gc.h"

#include "base/test_hooks.h"
#include "run/apply.h"
#include "run/command_lock.h"
#include "state/state_campaigns.h"

#define SCRATCH_SCHEMA "interlace__xfer"
#define DAY_US (INT64_C(86400) * 1000000)
#define DROPS_A_TRANSACTION ((size_t)100) /* a transaction each costs three times the drops themselves */

typedef struct Gc {
    Session *session;
    const GcRequest *request;
    StateStore *state;
    StateLock *lock;              /* NULL: a dry run */
    EngineConnection *connection; /* NULL: there is no warehouse */
    Str engine;
    OwnedRelationVec owned;
    StrMap *owned_by_key;    /* relation_key → OwnedRelation */
    bool *is_doomed;         /* an owned relation each: it goes */
    DroppedRelationVec gone; /* what the state is told in the end */
    TimeUs now;
    Arena *arena;
    GcResult *out;
} Gc;

static Status begin(Gc *gc, Error *err) {
    gc->now = clock_now_us();
    if (gc->request->dry_run) {
        TRY(recovery_finish_if_needed(gc->session, err));
        return session_state_for_reading(gc->session, &gc->state, err);
    }
    return command_lock(gc->session, STR("gc"), gc->request->lock_timeout_us, &gc->state, &gc->lock, err);
}

static Str relation_key(const Gc *gc, Str schema, Str name) {
    return str_format(gc->arena, STR_FMT "." STR_FMT, STR_ARG(schema), STR_ARG(name));
}

static Status open_warehouse(Gc *gc, Error *err) {
    Engine *engine = NULL;
    TRY(session_engine(gc->session, gc->request->dry_run, &engine, err));
    gc->engine = engine_name(engine);
    gc->owned_by_key = str_map_create(gc->arena, STR_MAP_FOLD);
    if (!engine_database_exists(engine)) {
        return OK;
    }
    TRY(engine_connect(engine, &gc->connection, err));
    TRY(engine_owned_relations(gc->connection, gc->arena, &gc->owned, err));
    for (size_t i = 0; i < gc->owned.count; i++) {
        SqlRelation relation = gc->owned.items[i].relation;
        str_map_put(gc->owned_by_key, relation_key(gc, relation.schema, relation.name), &gc->owned.items[i]);
    }
    return OK;
}

/* ---- Which relations go */

/* Its index; the count when there is none. */
static size_t find_owned(const Gc *gc, Str schema, Str name) {
    const OwnedRelation *found = str_map_find(gc->owned_by_key, relation_key(gc, schema, name));
    return found == NULL ? gc->owned.count : (size_t)(found - gc->owned.items);
}

static bool is_read_by_kept_view(const Gc *gc, size_t index) {
    for (size_t i = 0; i < gc->owned.count; i++) {
        const OwnedRelation *view = &gc->owned.items[i];
        if (i != index && view->kind == RELATION_VIEW && !gc->is_doomed[i] &&
            view_text_reads(view->sql, gc->owned.items[index].relation.name)) {
            return true;
        }
    }
    return false;
}

/* What a view that stays reads stays too, and what that reads. The next gc asks again. */
static void spare_what_views_read(Gc *gc) {
    bool has_changed = true;
    while (has_changed) {
        has_changed = false;
        for (size_t i = 0; i < gc->owned.count; i++) {
            if (gc->is_doomed[i] && is_read_by_kept_view(gc, i)) {
                gc->is_doomed[i] = false;
                has_changed = true;
            }
        }
    }
}

static void skip_engine(Gc *gc, Str engine) {
    if (!str_vec_contains(&gc->out->skipped, engine)) {
        str_vec_push(gc->arena, &gc->out->skipped, engine);
    }
}

static void note_gone(Gc *gc, Str schema, Str name) {
    dropped_relation_vec_push(gc->arena, &gc->gone,
                              (DroppedRelation){.engine = gc->engine, .schema = schema, .name = name});
}

/* A relation that another snapshot has too stays with it. */
static void doom_reclaimed(Gc *gc, const ReclaimedSnapshotVec *reclaimed, const StrMap *kept) {
    for (size_t i = 0; i < reclaimed->count; i++) {
        const ReclaimedSnapshot *snapshot = &reclaimed->items[i];
        Str key = relation_key(gc, snapshot->physical_schema, snapshot->physical_name);
        size_t relation = find_owned(gc, snapshot->physical_schema, snapshot->physical_name);
        bool is_own = str_starts_with(snapshot->physical_schema, STR("interlace__"));
        if (is_own && !str_equal(snapshot->engine, gc->engine)) {
            skip_engine(gc, snapshot->engine);
        } else if (is_own && relation < gc->owned.count && !str_map_contains(kept, key)) {
            gc->is_doomed[relation] = true;
        } else if (is_own) {
            note_gone(gc, snapshot->physical_schema, snapshot->physical_name);
        }
    }
}

/* What no snapshot has, and none had that gc knows of: left by a process that died, or by a deleted state. */
static Status doom_orphans(Gc *gc, const StrMap *kept, const StrMap *reclaimed, Error *err) {
    for (size_t i = 0; i < gc->owned.count; i++) {
        const OwnedRelation *relation = &gc->owned.items[i];
        Str schema = relation->relation.schema, name = relation->relation.name;
        Str key = relation_key(gc, schema, name);
        if (str_equal_fold(schema, STR(SCRATCH_SCHEMA))) {
            gc->is_doomed[i] = true;
            continue;
        }
        if (str_map_contains(kept, key) || str_map_contains(reclaimed, key)) {
            continue;
        }
        TimeUs seen_at = gc->now;
        if (gc->lock != NULL) {
            TRY(state_orphan_note(gc->state, gc->lock, gc->engine, schema, name, gc->now, &seen_at, err));
        }
        gc->is_doomed[i] = seen_at <= gc->now - gc->request->grace_us;
    }
    return OK;
}

static StrMap *relations_of_snapshots(const Gc *gc, const SnapshotVec *snapshots, const ReclaimedSnapshotVec *without) {
    StrMap *gone = str_map_create(gc->arena, STR_MAP_FOLD);
    StrMap *kept = str_map_create(gc->arena, STR_MAP_FOLD);
    for (size_t i = 0; i < without->count; i++) {
        const ReclaimedSnapshot *row = &without->items[i];
        Str key = str_format(gc->arena, STR_FMT " " STR_FMT " %lld", STR_ARG(row->name), STR_ARG(row->fingerprint),
                             (long long)row->revision);
        str_map_put(gone, key, gone);
    }
    for (size_t i = 0; i < snapshots->count; i++) {
        const Snapshot *row = &snapshots->items[i];
        Str key = str_format(gc->arena, STR_FMT " " STR_FMT " %lld", STR_ARG(row->name), STR_ARG(row->fingerprint),
                             (long long)row->revision);
        if (!str_map_contains(gone, key)) {
            str_map_put(kept, relation_key(gc, row->physical_schema, row->physical_name), kept);
        }
    }
    return kept;
}

/* What campaigns that are under way have made, and what those that were published lately have replaced. */
static Status add_campaigns(const Gc *gc, StrMap *kept, Error *err) {
    static const char *const kinds[] = {CAMPAIGN_AUDIT, CAMPAIGN_OVERLAY, CAMPAIGN_BEFORE};
    CampaignRecordVec campaigns = {0};
    TRY(state_campaigns_kept(gc->state, gc->now - gc->request->grace_us, gc->arena, &campaigns, err));
    for (size_t c = 0; c < campaigns.count; c++) {
        int64_t id = campaigns.items[c].id;
        CampaignModelRecordVec models = {0};
        TRY(state_load_campaign_models(gc->state, id, gc->arena, &models, err));
        for (size_t m = 0; m < models.count; m++) {
            for (size_t k = 0; k < COUNT_OF(kinds); k++) {
                Str name = campaign_relation_name(models.items[m].name, kinds[k], id, gc->arena);
                str_map_put(kept, relation_key(gc, models.items[m].schema, name), kept);
            }
        }
    }
    return OK;
}

static StrMap *relations_of_reclaimed(const Gc *gc, const ReclaimedSnapshotVec *rows) {
    StrMap *relations = str_map_create(gc->arena, STR_MAP_FOLD);
    for (size_t i = 0; i < rows->count; i++) {
        str_map_put(relations, relation_key(gc, rows->items[i].physical_schema, rows->items[i].physical_name),
                    relations);
    }
    return relations;
}

/* ---- Dropping */

static Status drop_relation(Gc *gc, const OwnedRelation *relation, Error *err) {
    TRY(test_hook("gc.drop", err));
    return engine_drop_relation(gc->connection, relation->kind, relation->relation, err);
}

static Str shown_relation(const Gc *gc, const OwnedRelation *relation) {
    return str_format(gc->arena, STR_FMT ":" STR_FMT "." STR_FMT, STR_ARG(gc->engine),
                      STR_ARG(relation->relation.schema), STR_ARG(relation->relation.name));
}

static void note_dropped(Gc *gc, const OwnedRelation *relation) {
    str_vec_push(gc->arena, &gc->out->dropped, shown_relation(gc, relation));
    note_gone(gc, relation->relation.schema, relation->relation.name);
}

static void drop_alone(Gc *gc, const OwnedRelation *relation) {
    AUTO(error) Error reason = {0};
    if (failed(drop_relation(gc, relation, &reason))) {
        Str shown = shown_relation(gc, relation);
        str_vec_push(gc->arena, &gc->out->failed,
                     str_format(gc->arena, STR_FMT ": " STR_FMT, STR_ARG(shown), STR_ARG(reason.message)));
        return;
    }
    note_dropped(gc, relation);
}

static Status drop_each(Gc *gc, const OwnedRelationVec *relations, Error *err) {
    for (size_t i = 0; i < relations->count; i++) {
        TRY(drop_relation(gc, &relations->items[i], err));
    }
    return OK;
}

static Status drop_together(Gc *gc, const OwnedRelationVec *relations, Error *err) {
    TRY(engine_begin(gc->connection, err));
    if (failed(drop_each(gc, relations, err))) {
        engine_rollback(gc->connection);
        return FAILED;
    }
    return engine_commit(gc->connection, err);
}

/* One that a snapshot has got since is not dropped. */
static Status without_recorded(Gc *gc, OwnedRelationVec *relations, Error *err) {
    DroppedRelationVec listed = {0}, recorded = {0};
    StrMap *kept = str_map_create(gc->arena, STR_MAP_FOLD);
    size_t count = 0;
    for (size_t i = 0; i < relations->count; i++) {
        SqlRelation relation = relations->items[i].relation;
        dropped_relation_vec_push(
            gc->arena, &listed,
            (DroppedRelation){.engine = gc->engine, .schema = relation.schema, .name = relation.name});
    }
    TRY(state_recorded_relations(gc->state, &listed, gc->arena, &recorded, err));
    for (size_t i = 0; i < recorded.count; i++) {
        note_gone(gc, recorded.items[i].schema, recorded.items[i].name);
        str_map_put(kept, relation_key(gc, recorded.items[i].schema, recorded.items[i].name), kept);
    }
    for (size_t i = 0; i < relations->count; i++) {
        SqlRelation relation = relations->items[i].relation;
        if (!str_map_contains(kept, relation_key(gc, relation.schema, relation.name))) {
            relations->items[count++] = relations->items[i];
        }
    }
    relations->count = count;
    return OK;
}

/* When one cannot be dropped, the others still are. */
static Status drop_some(Gc *gc, OwnedRelationVec *relations, Error *err) {
    AUTO(error) Error reason = {0};
    TRY(state_lock_check(gc->lock, err));
    TRY(without_recorded(gc, relations, err));
    bool is_done = !failed(drop_together(gc, relations, &reason));
    for (size_t i = 0; i < relations->count; i++) {
        if (is_done) {
            note_dropped(gc, &relations->items[i]);
        } else {
            drop_alone(gc, &relations->items[i]);
        }
    }
    return OK;
}

static Status drop_all_of(Gc *gc, RelationKind kind, Error *err) {
    OwnedRelationVec batch = {0};
    for (size_t i = 0; i < gc->owned.count; i++) {
        const OwnedRelation *relation = &gc->owned.items[i];
        if (!gc->is_doomed[i] || relation->kind != kind) {
            continue;
        }
        if (gc->lock == NULL) {
            str_vec_push(gc->arena, &gc->out->dropped, shown_relation(gc, relation));
            continue;
        }
        owned_relation_vec_push(gc->arena, &batch, *relation);
        if (batch.count == DROPS_A_TRANSACTION) {
            TRY(drop_some(gc, &batch, err));
            batch.count = 0;
        }
    }
    return batch.count == 0 ? OK : drop_some(gc, &batch, err);
}

/* ---- All */

static Status take(Gc *gc, ReclaimedSnapshotVec *undropped_out, Error *err) {
    TimeUs before = gc->now - gc->request->grace_us;
    TRY(state_gc_candidates(gc->state, before, gc->arena, &gc->out->removed, &gc->out->kept, err));
    TRY(state_gc_undropped(gc->state, gc->arena, undropped_out, err));
    if (gc->lock == NULL) {
        for (size_t i = 0; i < gc->out->removed.count; i++) {
            reclaimed_snapshot_vec_push(gc->arena, undropped_out, gc->out->removed.items[i]);
        }
        return OK;
    }
    TRY(state_orphans_forget(gc->state, gc->lock, gc->now - GC_RECORD_DAYS * DAY_US, err));
    TRY(state_gc_take(gc->state, gc->lock, before, err));
    return state_gc_undropped(gc->state, gc->arena, undropped_out, err);
}

static Status collect(Gc *gc, Error *err) {
    ReclaimedSnapshotVec undropped = {0};
    SnapshotVec snapshots = {0};
    TRY(begin(gc, err));
    TRY(open_warehouse(gc, err));
    TRY(take(gc, &undropped, err));
    TRY(state_load_snapshots(gc->state, gc->arena, &snapshots, err));
    StrMap *kept = relations_of_snapshots(gc, &snapshots, &gc->out->removed);
    TRY(add_campaigns(gc, kept, err));
    StrMap *reclaimed = relations_of_reclaimed(gc, &undropped);
    gc->is_doomed = ARENA_NEW_ARRAY(gc->arena, bool, gc->owned.count);
    doom_reclaimed(gc, &undropped, kept);
    TRY(doom_orphans(gc, kept, reclaimed, err));
    spare_what_views_read(gc);
    TRY(drop_all_of(gc, RELATION_VIEW, err)); /* first: a table may be read by one that goes with it */
    TRY(drop_all_of(gc, RELATION_TABLE, err));
    if (gc->lock == NULL) {
        return OK;
    }
    TRY(state_gc_dropped(gc->state, gc->lock, &gc->gone, err));
    return state_gc_trim(gc->state, gc->lock, gc->now - GC_RECORD_DAYS * DAY_US, &gc->out->trimmed, err);
}

Status gc_run(Session *session, const GcRequest *request, Arena *arena, GcResult *result_out, Error *err) {
    Gc gc = {.session = session, .request = request, .arena = arena, .out = result_out};
    Status status = collect(&gc, err);
    engine_release(gc.connection);
    command_release(session, gc.lock);
    return status;
}
