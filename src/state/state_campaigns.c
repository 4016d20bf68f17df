#include "state/state_campaigns.h"

#include "state/state_sql.h"

/* ---- Writing. */

static Status add_campaign(StateStore *store, CampaignRecord *record, Error *err) {
    TRY(state_execute(
        store,
        "INSERT INTO campaigns (environment, state, options_json, start_us, end_us, note, who, created_at,"
        " published_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0)",
        VALUES(state_text(record->environment), state_text(record->state), state_text(record->options_json),
               state_int(record->start), state_int(record->end), state_optional_text(record->note),
               state_text(record->who), state_int(record->created_at)),
        err));
    return state_query_int(store, "SELECT max(id) FROM campaigns", NO_VALUES, &record->id, err);
}

static Status add_models(StateStore *store, int64_t id, const CampaignModelRecordVec *models, Error *err) {
    AUTO(statement) sqlite3_stmt *insert = NULL;
    TRY(state_prepare(store,
                      "INSERT INTO campaign_models (campaign, model, position, fingerprint, revision, part, schema,"
                      " name, engine, shown_fingerprint) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                      &insert, err));
    for (size_t i = 0; i < models->count; i++) {
        const CampaignModelRecord *model = &models->items[i];
        TRY(state_run(store, insert,
                      VALUES(state_int(id), state_text(model->model), state_int((int64_t)i),
                             state_text(model->fingerprint), state_int(model->revision), state_text(model->part),
                             state_optional_text(model->schema), state_optional_text(model->name),
                             state_text(model->engine), state_optional_text(model->shown_fingerprint)),
                      err));
    }
    return OK;
}

#define PUT_BATCH                                                                                                      \
    "INSERT OR REPLACE INTO campaign_batches (campaign, model, position, start_us, end_us, state, attempts, rows,"     \
    " seconds, error, published) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"

static Status put_batch(StateStore *store, sqlite3_stmt *insert, int64_t id, const CampaignBatchRecord *batch,
                        Error *err) {
    return state_run(store, insert,
                     VALUES(state_int(id), state_text(batch->model), state_int(batch->position),
                            state_int(batch->window.start), state_int(batch->window.end), state_text(batch->state),
                            state_int(batch->attempts), state_int(batch->rows), state_real(batch->seconds),
                            state_optional_text(batch->error), state_optional_text(batch->published)),
                     err);
}

static Status put_batches(StateStore *store, int64_t id, const CampaignBatchRecordVec *batches, Error *err) {
    AUTO(statement) sqlite3_stmt *insert = NULL;
    TRY(state_prepare(store, PUT_BATCH, &insert, err));
    for (size_t i = 0; i < batches->count; i++) {
        TRY(put_batch(store, insert, id, &batches->items[i], err));
    }
    return OK;
}

#define UNDER_WAY "('running', 'paused', 'failed', 'audited', 'publishing')" /* may still be published */

Status state_campaign_is_under_way(StateStore *store, int64_t id, bool *is_out, Error *err) {
    int64_t count = 0;
    TRY(state_query_int(store, "SELECT count(*) FROM campaigns WHERE id = ?1 AND state IN " UNDER_WAY,
                        VALUES(state_int(id)), &count, err));
    *is_out = count > 0;
    return OK;
}

/* Two campaigns of an environment never work on the same windows: of which one would be published last, nobody could
 * tell. Those of two environments do not meet: only the owner of a relation publishes into it. */
static Status refuse_overlap(StateStore *store, Str environment, const CampaignBatchRecord *batch, Error *err) {
    int64_t other = 0;
    TRY(state_query_int(store,
                        "SELECT c.id FROM campaigns AS c JOIN campaign_batches AS b ON b.campaign = c.id"
                        " WHERE c.state IN " UNDER_WAY " AND b.model = ?1"
                        " AND c.environment = ?2"
                        " AND (?4 = 0 OR b.end_us = 0 OR (b.start_us < ?4 AND b.end_us > ?3)) LIMIT 1",
                        VALUES(state_text(batch->model), state_text(environment), state_int(batch->window.start),
                               state_int(batch->window.end)),
                        &other, err));
    if (other != 0) {
        (void)error_set(err, ERROR_PLAN, "campaign %lld is under way over windows of model '" STR_FMT "'",
                        (long long)other, STR_ARG(batch->model));
        AUTO(arena) Arena *arena = arena_create();
        error_code(err, STR("campaign.overlap"));
        error_detail(err, STR("campaign"), str_format(arena, "%lld", (long long)other));
        error_hint(err,
                   "publish, discard or cancel it first (`interlace backfill status %lld`), or `backfill start --wait`",
                   (long long)other);
        return FAILED;
    }
    return OK;
}

static Status refuse_overlaps(StateStore *store, Str environment, const CampaignBatchRecordVec *batches, Error *err) {
    for (size_t i = 0; i < batches->count; i++) {
        TRY(refuse_overlap(store, environment, &batches->items[i], err));
    }
    return OK;
}

Status state_campaign_create(StateStore *store, CampaignRecord *record, const CampaignModelRecordVec *models,
                             const CampaignBatchRecordVec *batches, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_transaction_begin(&transaction, store, err));
    TRY(refuse_overlaps(store, record->environment, batches, err));
    TRY(add_campaign(store, record, err));
    TRY(add_models(store, record->id, models, err));
    TRY(put_batches(store, record->id, batches, err));
    return state_transaction_commit(&transaction, err);
}

Status state_campaign_put_batch(StateStore *store, StateLock *lock, int64_t id, const CampaignBatchRecord *batch,
                                Error *err) {
    CampaignBatchRecordVec one = {.items = (CampaignBatchRecord[]){*batch}, .count = 1};
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(put_batches(store, id, &one, err));
    return state_transaction_commit(&transaction, err);
}

/* ---- Moves. */

static Status move(StateStore *store, int64_t id, Str from, Str to, bool *is_moved_out, Error *err) {
    TRY(state_execute(store, "UPDATE campaigns SET state = ?3 WHERE id = ?1 AND state = ?2",
                      VALUES(state_int(id), state_text(from), state_text(to)), err));
    *is_moved_out = state_changed_count(store) > 0;
    return OK;
}

/* The caller holds the lock that lets nobody else make this move. */
static Status move_surely(StateStore *store, int64_t id, Str from, Str to, Error *err) {
    bool is_moved = false;
    TRY(move(store, id, from, to, &is_moved, err));
    if (!is_moved) {
        return error_set(err, ERROR_PLAN, "campaign %lld is not " STR_FMT " any more: another command has moved it",
                         (long long)id, STR_ARG(from));
    }
    return OK;
}

Status state_campaign_move(StateStore *store, int64_t id, Str from, Str to, bool *is_moved_out, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_transaction_begin(&transaction, store, err));
    TRY(move(store, id, from, to, is_moved_out, err));
    return state_transaction_commit(&transaction, err);
}

Status state_campaign_note(StateStore *store, int64_t id, Str note, Error *err) {
    return state_execute(store, "UPDATE campaigns SET note = ?2 WHERE id = ?1",
                         VALUES(state_int(id), state_optional_text(note)), err);
}

Status state_campaign_fail(StateStore *store, StateLock *lock, int64_t id, Str error, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(move_surely(store, id, STR("running"), STR("failed"), err));
    TRY(state_execute(store, "UPDATE campaigns SET error = ?2 WHERE id = ?1", VALUES(state_int(id), state_text(error)),
                      err));
    return state_transaction_commit(&transaction, err);
}

Status state_campaign_seal(StateStore *store, StateLock *lock, int64_t id, Str from,
                           const CampaignModelRecordVec *models, const CampaignBatchRecordVec *batches, Str report_json,
                           Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(move_surely(store, id, from, STR("audited"), err));
    TRY(put_batches(store, id, batches, err));
    for (size_t i = 0; i < models->count; i++) {
        const CampaignModelRecord *model = &models->items[i];
        TRY(state_execute(store, "UPDATE campaign_models SET audited = ?3 WHERE campaign = ?1 AND model = ?2",
                          VALUES(state_int(id), state_text(model->model), state_optional_text(model->audited)), err));
    }
    TRY(state_execute(store, "UPDATE campaigns SET report_json = ?2, error = NULL WHERE id = ?1",
                      VALUES(state_int(id), state_optional_text(report_json)), err));
    return state_transaction_commit(&transaction, err);
}

Status state_campaign_put_places(StateStore *store, StateLock *lock, int64_t id, const CampaignModelRecordVec *models,
                                 Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    for (size_t i = 0; i < models->count; i++) {
        const CampaignModelRecord *model = &models->items[i];
        TRY(state_execute(store,
                          "UPDATE campaign_models SET put_schema = ?3, put_name = ?4, put_revision = ?5"
                          " WHERE campaign = ?1 AND model = ?2",
                          VALUES(state_int(id), state_text(model->model), state_optional_text(model->put_schema),
                                 state_optional_text(model->put_name), state_int(model->put_revision)),
                          err));
    }
    return state_transaction_commit(&transaction, err);
}

static Status change_ledger(StateStore *store, const CampaignLedgerChange *change, Error *err) {
    for (size_t i = 0; i < change->removed.count; i++) {
        TRY(ledger_remove(store, &change->key, change->removed.items[i], err));
    }
    for (size_t i = 0; i < change->added.count; i++) {
        TRY(ledger_add(store, &change->key, change->added.items[i], err));
    }
    return OK;
}

/* Recorded as built before the publication began, they are true with it. */
static Status verify_versions(StateStore *store, const PointerVec *put, TimeUs now, Error *err) {
    for (size_t i = 0; i < put->count; i++) {
        TRY(state_execute(store,
                          "UPDATE snapshots SET verified_at = ?4 WHERE name = ?1 AND fingerprint = ?2 AND revision = ?3"
                          " AND verified_at = 0",
                          VALUES(state_text(put->items[i].model), state_text(put->items[i].fingerprint),
                                 state_int(put->items[i].revision), state_int(now)),
                          err));
    }
    return OK;
}

static Status take_versions(StateStore *store, const PointerVec *taken, Error *err) {
    for (size_t i = 0; i < taken->count; i++) {
        TRY(state_execute(store,
                          "UPDATE snapshots SET verified_at = 0 WHERE name = ?1 AND fingerprint = ?2 AND revision = ?3"
                          " AND NOT EXISTS (SELECT 1 FROM pointers"
                          "  WHERE model = ?1 AND fingerprint = ?2 AND revision = ?3)",
                          VALUES(state_text(taken->items[i].model), state_text(taken->items[i].fingerprint),
                                 state_int(taken->items[i].revision)),
                          err));
    }
    return OK;
}

static Status move_versions(StateStore *store, CampaignFinish *finish, TimeUs now, Error *err) {
    TRY(verify_versions(store, &finish->intent.put, now, err));
    TRY(state_pointers_move(store, &finish->intent, now, err));
    return take_versions(store, &finish->taken, err);
}

Status state_campaign_finish(StateStore *store, StateLock *lock, int64_t id, Str from, Str to, CampaignFinish *finish,
                             Error *err) {
    TimeUs now = clock_now_us();
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_fenced_begin(&transaction, store, lock, err));
    TRY(move_surely(store, id, from, to, err));
    TRY(state_execute(store, "UPDATE campaigns SET published_at = ?2 WHERE id = ?1",
                      VALUES(state_int(id), state_int(now)), err));
    for (size_t i = 0; i < finish->ledger.count; i++) {
        TRY(change_ledger(store, &finish->ledger.items[i], err));
    }
    TRY(move_versions(store, finish, now, err));
    TRY(state_write_changes(store, &finish->records, now, err));
    return state_transaction_commit(&transaction, err);
}

/* ---- Reading. */

#define CAMPAIGN_COLUMNS                                                                                               \
    "SELECT id, environment, state, options_json, start_us, end_us, note, who, created_at, published_at, error,"       \
    " report_json FROM campaigns "

static void read_campaign(sqlite3_stmt *row, Arena *arena, void *rows) {
    int column = 0;
    CampaignRecord campaign = {0};
    campaign.id = state_column_int(row, column++);
    campaign.environment = state_column_text(row, column++, arena);
    campaign.state = state_column_text(row, column++, arena);
    campaign.options_json = state_column_text(row, column++, arena);
    campaign.start = state_column_int(row, column++);
    campaign.end = state_column_int(row, column++);
    campaign.note = state_column_text(row, column++, arena);
    campaign.who = state_column_text(row, column++, arena);
    campaign.created_at = state_column_int(row, column++);
    campaign.published_at = state_column_int(row, column++);
    campaign.error = state_column_text(row, column++, arena);
    campaign.report_json = state_column_text(row, column++, arena);
    campaign_record_vec_push(arena, rows, campaign);
}

Status state_load_campaigns(StateStore *store, Arena *arena, CampaignRecordVec *campaigns_out, Error *err) {
    CampaignRecordVec campaigns = {0};
    TRY(state_query(store, CAMPAIGN_COLUMNS "ORDER BY id DESC", NO_VALUES, read_campaign, arena, &campaigns, err));
    *campaigns_out = campaigns;
    return OK;
}

Status state_load_campaign(StateStore *store, int64_t id, Arena *arena, CampaignRecord *campaign_out, Error *err) {
    CampaignRecordVec found = {0};
    TRY(state_query(store, CAMPAIGN_COLUMNS "WHERE id = ?1", VALUES(state_int(id)), read_campaign, arena, &found, err));
    if (found.count == 0) {
        (void)error_set(err, ERROR_SELECTION, "there is no campaign %lld", (long long)id);
        error_hint(err, "`interlace backfill list` shows them");
        return FAILED;
    }
    *campaign_out = found.items[0];
    return OK;
}

Status state_campaigns_kept(StateStore *store, TimeUs before, Arena *arena, CampaignRecordVec *campaigns_out,
                            Error *err) {
    CampaignRecordVec campaigns = {0};
    TRY(state_query(store,
                    CAMPAIGN_COLUMNS "WHERE state NOT IN ('cancelled', 'discarded', 'published', 'reverted')"
                                     " OR (state IN ('published', 'reverted') AND published_at >= ?1)",
                    VALUES(state_int(before)), read_campaign, arena, &campaigns, err));
    *campaigns_out = campaigns;
    return OK;
}

Status state_campaigns_interrupted(StateStore *store, Arena *arena, CampaignRecordVec *campaigns_out, Error *err) {
    CampaignRecordVec campaigns = {0};
    TRY(state_query(store, CAMPAIGN_COLUMNS "WHERE state IN ('publishing', 'reverting')", NO_VALUES, read_campaign,
                    arena, &campaigns, err));
    *campaigns_out = campaigns;
    return OK;
}

Str campaign_relation_name(Str shown, const char *what, int64_t id, Arena *arena) {
    return str_format(arena, STR_FMT "__%s_%lld", STR_ARG(shown), what, (long long)id);
}

static void read_state(sqlite3_stmt *row, Arena *arena, void *rows) {
    *(Str *)rows = state_column_text(row, 0, arena);
}

Status state_campaign_state(StateStore *store, int64_t id, Arena *arena, Str *state_out, Error *err) {
    *state_out = STR_EMPTY;
    return state_query(store, "SELECT state FROM campaigns WHERE id = ?1", VALUES(state_int(id)), read_state, arena,
                       state_out, err);
}

static void read_model(sqlite3_stmt *row, Arena *arena, void *rows) {
    int column = 0;
    CampaignModelRecord model = {0};
    model.model = state_column_text(row, column++, arena);
    model.fingerprint = state_column_text(row, column++, arena);
    model.revision = state_column_int(row, column++);
    model.part = state_column_text(row, column++, arena);
    model.schema = state_column_text(row, column++, arena);
    model.name = state_column_text(row, column++, arena);
    model.audited = state_column_text(row, column++, arena);
    model.engine = state_column_text(row, column++, arena);
    model.shown_fingerprint = state_column_text(row, column++, arena);
    if (model.shown_fingerprint.size == 0) {
        model.shown_fingerprint = model.fingerprint;
    }
    model.put_schema = state_column_text(row, column++, arena);
    model.put_name = state_column_text(row, column++, arena);
    model.put_revision = state_column_int(row, column++);
    campaign_model_record_vec_push(arena, rows, model);
}

Status state_load_campaign_models(StateStore *store, int64_t id, Arena *arena, CampaignModelRecordVec *models_out,
                                  Error *err) {
    CampaignModelRecordVec models = {0};
    TRY(state_query(store,
                    "SELECT model, fingerprint, revision, part, schema, name, audited, engine, shown_fingerprint,"
                    " put_schema, put_name, put_revision FROM campaign_models WHERE campaign = ?1 ORDER BY position",
                    VALUES(state_int(id)), read_model, arena, &models, err));
    *models_out = models;
    return OK;
}

static void read_batch(sqlite3_stmt *row, Arena *arena, void *rows) {
    int column = 0;
    CampaignBatchRecord batch = {0};
    batch.model = state_column_text(row, column++, arena);
    batch.position = state_column_int(row, column++);
    batch.window.start = state_column_int(row, column++);
    batch.window.end = state_column_int(row, column++);
    batch.state = state_column_text(row, column++, arena);
    batch.attempts = state_column_int(row, column++);
    batch.rows = state_column_int(row, column++);
    batch.seconds = sqlite3_column_double(row, column++);
    batch.error = state_column_text(row, column++, arena);
    batch.published = state_column_text(row, column++, arena);
    campaign_batch_record_vec_push(arena, rows, batch);
}

Status state_load_campaign_batches(StateStore *store, int64_t id, Arena *arena, CampaignBatchRecordVec *batches_out,
                                   Error *err) {
    CampaignBatchRecordVec batches = {0};
    TRY(state_query(
        store,
        "SELECT b.model, b.position, start_us, end_us, state, attempts, rows, seconds, error, b.published"
        " FROM campaign_batches AS b JOIN campaign_models AS m ON m.campaign = b.campaign AND m.model = b.model"
        " WHERE b.campaign = ?1 ORDER BY m.position, b.position",
        VALUES(state_int(id)), read_batch, arena, &batches, err));
    *batches_out = batches;
    return OK;
}

Status state_load_batch_history(StateStore *store, Str model, Str fingerprint, Arena *arena,
                                CampaignBatchRecordVec *batches_out, Error *err) {
    CampaignBatchRecordVec batches = {0};
    TRY(state_query(
        store,
        "SELECT b.model, b.position, start_us, end_us, state, attempts, rows, seconds, error, b.published"
        " FROM campaign_models AS m JOIN campaign_batches AS b ON m.campaign = b.campaign AND m.model = b.model"
        " WHERE m.model = ?1 AND m.fingerprint = ?2 AND b.state = 'done'",
        VALUES(state_text(model), state_text(fingerprint)), read_batch, arena, &batches, err));
    *batches_out = batches;
    return OK;
}

/* ---- Plans. */

Status state_plan_put(StateStore *store, Str id, Str options_json, Error *err) {
    AUTO(state_transaction) StateTransaction transaction = {0};
    TRY(state_transaction_begin(&transaction, store, err));
    TRY(state_execute(store, "INSERT OR REPLACE INTO campaign_plans (id, options_json) VALUES (?1, ?2)",
                      VALUES(state_text(id), state_text(options_json)), err));
    TRY(state_execute(store, "DELETE FROM campaign_plans WHERE rowid <= (SELECT max(rowid) FROM campaign_plans) - 100",
                      NO_VALUES, err));
    return state_transaction_commit(&transaction, err);
}

Status state_plan_find(StateStore *store, Str id, Arena *arena, Str *options_json_out, Error *err) {
    *options_json_out = STR_EMPTY;
    TRY(state_query(store, "SELECT options_json FROM campaign_plans WHERE id = ?1", VALUES(state_text(id)), read_state,
                    arena, options_json_out, err));
    if (options_json_out->size == 0) {
        (void)error_set(err, ERROR_SELECTION, "there is no plan '" STR_FMT "'", STR_ARG(id));
        error_hint(err, "`interlace backfill plan` shows the id of a plan; only the newest hundred are kept");
        return FAILED;
    }
    return OK;
}
