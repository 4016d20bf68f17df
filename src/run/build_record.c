/* What the state store learns of a build. One connection for all builders, guarded by the context's mutex. */
#include "plan/delivery.h"
#include "run/build_step.h"

static Snapshot snapshot_of(const Build *build, TimeUs verified_at) {
    const Model *model = build->task->model;
    bool is_sql = model->kind == MODEL_SQL;
    SqlRelation relation = model->materialise == MATERIALISE_FILE ? delivery_place(model) : build->target.relation;
    const char *category = change_category_name(build->task->category);
    return (Snapshot){
        .name = model->name,
        .fingerprint = model->fingerprint,
        .revision = build->target.revision,
        .local_fingerprint = model->local_fingerprint,
        .metadata_hash = model->metadata_hash,
        .physical_hash = model->physical_hash,
        .definition_sql = is_sql ? model->query.text : STR_EMPTY,
        .definition_source = is_sql ? STR_EMPTY : model->python->source,
        .physical_catalog = relation.catalog,
        .physical_schema = relation.schema,
        .physical_name = relation.name,
        .is_view = model->materialise == MATERIALISE_VIEW,
        .change_category = str_from(category),
        .engine = model->engine,
        .created_at = clock_now_us(),
        .verified_at = verified_at,
        .columns_json = build->columns_json,
        .config_json = model->config_json,
        .physical_objects = physical_record(&build->physical, build->arena),
    };
}

Status build_store_snapshot(BuildContext *context, const Snapshot *snapshot, Error *err) {
    pthread_mutex_lock(&context->state_mutex);
    Status status = state_record_snapshot(context->state, snapshot, err);
    pthread_mutex_unlock(&context->state_mutex);
    return status;
}

Status build_record_snapshot(Build *build, bool is_verified, Error *err) {
    Snapshot snapshot = snapshot_of(build, is_verified ? clock_now_us() : 0);
    return build_store_snapshot(build->context, &snapshot, err);
}

static bool is_recorded(const Build *build, Str objects) {
    const Snapshot *reused = build->task->snapshot;
    const Model *model = build->task->model;
    return str_equal(reused->fingerprint, model->fingerprint) && reused->revision == build->target.revision &&
           str_equal(reused->physical_objects, objects) && str_equal(reused->physical_hash, model->physical_hash);
}

Status build_record_reused(Build *build, Error *err) {
    const Snapshot *reused = build->task->snapshot;
    TRY(physical_reconcile(&build->physical, build->connection, build->arena, err));
    Str objects = physical_record(&build->physical, build->arena);
    if (is_recorded(build, objects)) {
        return OK;
    }
    build->columns_json = reused->columns_json;
    Snapshot snapshot = snapshot_of(build, clock_now_us());
    if (str_equal(reused->fingerprint, snapshot.fingerprint)) { /* the version itself is what it was */
        snapshot = *reused;
        snapshot.physical_hash = build->task->model->physical_hash;
        snapshot.physical_objects = objects;
    }
    return build_store_snapshot(build->context, &snapshot, err);
}

Status build_record_checks(Build *build, Error *err) {
    BuildContext *context = build->context;
    if (build->result->checks.count == 0) {
        return OK;
    }
    for (size_t i = 0; i < build->result->checks.count; i++) {
        session_emit(
            context->session,
            (Event){.type = EVENT_CHECK, .model = build->task->model, .check = &build->result->checks.items[i]});
    }
    pthread_mutex_lock(&context->state_mutex);
    Status status = state_record_checks(context->state, &build->result->checks, err);
    pthread_mutex_unlock(&context->state_mutex);
    return status;
}

/* What the transaction at hand did, for the change record. A second attempt does windows again: then rows that were
 * there before are not told from those of the first. */
static ChangeProgress change_progress(const Build *build) {
    const BuildTarget *target = &build->target;
    const RowCounts *rows = &build->rows;
    bool is_known = rows->is_known && build->result->attempts <= 1;
    bool is_window = build->window != NULL;
    bool is_upsert = is_window && build->task->model->key.count > 0;
    bool has_before = target->is_there || target->seed.name.size > 0;
    ChangeProgress progress = {.draft = target->change, .rows_after = rows->inserted};
    if (is_window) {
        progress.window = *build->window;
        progress.rows_before = has_before ? rows->deleted : CHANGE_ROWS_UNKNOWN;
    } else if (build_goes_on(build->task->model, target)) {
        progress.rows_after -= rows->deleted;
    }
    if (!is_known || is_upsert) {
        progress.rows_before = progress.rows_after = CHANGE_ROWS_UNKNOWN;
    }
    return progress;
}

static Status take_out(BuildContext *context, const LedgerKey *key, const IntervalSet *windows, Error *err) {
    for (size_t i = 0; i < windows->count; i++) {
        TRY(state_ledger_remove(context->state, context->lock, key, windows->items[i], err));
    }
    return OK;
}

static Status write_ledger(Build *build, const ChangeProgress *change, Error *err) {
    BuildContext *context = build->context;
    LedgerKey key = ledger_key(build->task->model, build->target.relation);
    if (build->target.seed.name.size > 0) {
        LedgerKey seed = ledger_key(build->task->model, build->target.seed);
        TRY(state_ledger_copy(context->state, context->lock, &seed, &key, err));
        TRY(take_out(context, &key, &build->target.work.take_out, err));
    } else if (!build->target.is_there) {
        TRY(state_ledger_clear(context->state, context->lock, &key, err));
    }
    bool is_filled = build->filled.start < build->filled.end;
    return is_filled ? state_ledger_add_change(context->state, context->lock, &key, build->filled, change, err)
                     : state_change_add(context->state, context->lock, change, err);
}

Status build_record_ledger(Build *build, Error *err) {
    BuildContext *context = build->context;
    if (!build->target.is_windowed && build->target.change == 0) {
        return OK;
    }
    ChangeProgress change = change_progress(build);
    pthread_mutex_lock(&context->state_mutex);
    Status status = build->target.is_windowed ? write_ledger(build, &change, err)
                                              : state_change_add(context->state, context->lock, &change, err);
    pthread_mutex_unlock(&context->state_mutex);
    return status;
}

Status build_take_out(Build *build, Error *err) {
    bool is_in_place = build->target.is_there && build->target.seed.name.size == 0;
    if (!is_in_place) {
        return OK;
    }
    LedgerKey key = ledger_key(build->task->model, build->target.relation);
    pthread_mutex_lock(&build->context->state_mutex);
    Status status = take_out(build->context, &key, &build->target.work.take_out, err);
    pthread_mutex_unlock(&build->context->state_mutex);
    return status;
}
