#include "backfill/campaign_finish.h"

#include "run/change_log.h"
#include "run/notify.h"

#include <math.h>

static SqlRelation shown_relation(const CampaignModelRecord *model) {
    return (SqlRelation){.schema = model->schema, .name = model->name};
}

static LedgerKey key_of(const CampaignModelRecord *model, SqlRelation relation) {
    return (LedgerKey){.engine = model->engine, .schema = relation.schema, .name = relation.name};
}

static IntervalSet windows_of(const CampaignModelRecord *model, const CampaignBatchRecordVec *batches, Arena *arena) {
    IntervalSet windows = {0};
    for (size_t i = 0; i < batches->count; i++) {
        if (str_equal_fold(batches->items[i].model, model->model)) {
            interval_set_add(arena, &windows, batches->items[i].window);
        }
    }
    return windows;
}

/* What of `set` lies in `windows`. */
static IntervalSet common(const IntervalSet *set, const IntervalSet *windows, Arena *arena) {
    IntervalSet inside = {0};
    for (size_t i = 0; i < windows->count; i++) {
        IntervalSet missing = interval_set_missing(arena, set, windows->items[i]);
        IntervalSet there = interval_set_missing(arena, &missing, windows->items[i]);
        interval_set_add_all(arena, &inside, &there);
    }
    return inside;
}

bool campaign_record_moves(const CampaignModelRecord *model) {
    return model->put_name.size > 0 || !str_equal(model->fingerprint, model->shown_fingerprint);
}

/* What is new has the windows of the copy, and those that the campaign filled. The old one keeps what it has. */
static Status add_copied(StateStore *state, int64_t id, const CampaignModelRecord *model,
                         const CampaignBatchRecordVec *batches, Arena *arena, CampaignLedgerChangeVec *changes,
                         Error *err) {
    SqlRelation shown = shown_relation(model);
    LedgerKey key = key_of(model, shown);
    LedgerKey audit = key_of(model, campaign_relation(shown, CAMPAIGN_AUDIT, id, arena));
    LedgerKey put = key_of(model, (SqlRelation){.schema = model->put_schema, .name = model->put_name});
    IntervalSet windows = windows_of(model, batches, arena), leftover, filled, then;
    TRY(state_ledger_load(state, &put, arena, &leftover, err));
    TRY(state_ledger_load(state, &key, arena, &filled, err));
    TRY(state_ledger_load(state, &audit, arena, &then, err));
    for (size_t i = 0; i < windows.count; i++) {
        interval_set_remove(arena, &filled, windows.items[i]);
    }
    interval_set_add_all(arena, &filled, &then);
    campaign_ledger_change_vec_push(arena, changes,
                                    (CampaignLedgerChange){.key = put, .removed = leftover, .added = filled});
    return OK;
}

static Status add_changes(StateStore *state, int64_t id, const CampaignModelRecord *model,
                          const CampaignBatchRecordVec *batches, bool is_revert, Arena *arena,
                          CampaignLedgerChangeVec *changes, Error *err) {
    if (campaign_record_moves(model)) {
        return is_revert ? OK : add_copied(state, id, model, batches, arena, changes, err);
    }
    SqlRelation shown = shown_relation(model);
    LedgerKey key = key_of(model, shown);
    LedgerKey audit = key_of(model, campaign_relation(shown, CAMPAIGN_AUDIT, id, arena));
    LedgerKey before = key_of(model, campaign_relation(shown, CAMPAIGN_BEFORE, id, arena));
    IntervalSet windows = windows_of(model, batches, arena), filled, then;
    TRY(state_ledger_load(state, &key, arena, &filled, err));
    TRY(state_ledger_load(state, is_revert ? &before : &audit, arena, &then, err));
    campaign_ledger_change_vec_push(arena, changes,
                                    (CampaignLedgerChange){.key = key, .removed = windows, .added = then});
    if (is_revert) {
        campaign_ledger_change_vec_push(arena, changes, (CampaignLedgerChange){.key = before, .removed = windows});
    } else {
        campaign_ledger_change_vec_push(
            arena, changes, (CampaignLedgerChange){.key = before, .added = common(&filled, &windows, arena)});
    }
    return OK;
}

/* A content begins with the number of rows. */
static int64_t rows_of(Str content) {
    int64_t rows = CHANGE_ROWS_UNKNOWN;
    size_t end = str_find_char(content, ':');
    return end != STR_NOT_FOUND && str_to_int64(str_slice(content, 0, end), &rows) ? rows : CHANGE_ROWS_UNKNOWN;
}

static int64_t rows_replaced(const CampaignModelRecord *model, const CampaignBatchRecordVec *batches) {
    int64_t sum = 0;
    for (size_t i = 0; i < batches->count; i++) {
        if (str_equal_fold(batches->items[i].model, model->model)) {
            sum += rows_of(batches->items[i].published);
        }
    }
    return sum;
}

static ChangeRecord record_of(const CampaignRecord *campaign, const CampaignModelRecord *model,
                              const CampaignBatchRecordVec *batches, bool is_revert, Str who, Arena *arena) {
    int64_t old = rows_replaced(model, batches), new = rows_of(model->audited);
    return (ChangeRecord){
        .kind = is_revert ? CHANGED_BY_REVERT : CHANGED_BY_PUBLICATION,
        .environment = campaign->environment,
        .model = model->model,
        .windows = windows_of(model, batches, arena),
        .rows_before = is_revert ? new : old,
        .rows_after = is_revert ? old : new,
        .note = campaign->note,
        .who = who,
        .campaign = campaign->id,
    };
}

static const ConfigValue *report_of_model(const ConfigValue *report, Str model) {
    const ConfigValue *models = config_find(report, STR("models"));
    for (size_t i = 0; models != NULL && i < models->count; i++) {
        if (str_equal(config_text(models->items[i], STR("name")), model)) {
            return models->items[i];
        }
    }
    return NULL;
}

/* The sum that moved most, measured by what it was. */
static void add_measure(const ConfigValue *report, bool is_revert, ChangeRecord *record) {
    const ConfigValue *columns = config_find(report_of_model(report, record->model), STR("columns"));
    double most = 0;
    for (size_t i = 0; columns != NULL && i < columns->count; i++) {
        double old, new;
        const ConfigValue *column = columns->entries[i].value;
        bool is_measure = str_to_double(config_text(column, STR("sum_old")), &old) &&
                          str_to_double(config_text(column, STR("sum_new")), &new);
        double moved = is_measure ? fabs(new - old) / (fabs(old) + fabs(new)) : 0; /* NaN where both are nothing */
        if (moved > most) {
            most = moved;
            record->measure = columns->entries[i].key;
            record->measure_before = is_revert ? new : old;
            record->measure_after = is_revert ? old : new;
        }
    }
}

static void add_pointers(const CampaignModelRecord *model, bool is_revert, Arena *arena, CampaignFinish *finish) {
    Pointer shown = {.model = model->model, .fingerprint = model->shown_fingerprint, .revision = model->revision};
    Pointer put = {.model = model->model, .fingerprint = model->fingerprint, .revision = model->put_revision};
    if (campaign_record_moves(model)) {
        pointer_vec_push(arena, &finish->intent.put, is_revert ? shown : put);
    }
    if (campaign_record_moves(model) && is_revert) {
        pointer_vec_push(arena, &finish->taken, put);
    }
}

Status campaign_finish(Session *session, int64_t id, StateLock *lock, bool is_revert, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    StateStore *state = NULL;
    CampaignRecord campaign;
    CampaignModelRecordVec models = {0};
    CampaignBatchRecordVec batches = {0};
    CampaignFinish what = {0};
    ConfigValue *report = NULL;
    Str who = change_log_who(arena);
    TRY(session_state_for_writing(session, &state, err));
    TRY(state_load_campaign(state, id, arena, &campaign, err));
    if (campaign.report_json.size > 0) {
        TRY(json_read(campaign.report_json, STR("audit"), arena, &report, err));
    }
    TRY(state_load_campaign_models(state, id, arena, &models, err));
    TRY(state_load_campaign_batches(state, id, arena, &batches, err));
    what.intent.environment = campaign.environment;
    what.intent.command = is_revert ? STR("backfill revert") : STR("backfill publish");
    for (size_t i = 0; i < models.count; i++) {
        const CampaignModelRecord *model = &models.items[i];
        if (str_equal(model->part, campaign_part_name(PART_TERMINAL))) {
            continue; /* its delivery says so itself */
        }
        add_pointers(model, is_revert, arena, &what);
        if (str_equal(model->part, campaign_part_name(PART_VIEW))) {
            continue;
        }
        if (str_equal(model->part, campaign_part_name(PART_WINDOWED))) {
            TRY(add_changes(state, id, model, &batches, is_revert, arena, &what.ledger, err));
        }
        ChangeRecord record = record_of(&campaign, model, &batches, is_revert, who, arena);
        add_measure(report, is_revert, &record);
        notify_choose(session->project, record.environment, record.model, arena, &record.hooks);
        change_record_vec_push(arena, &what.records, record);
    }
    return state_campaign_finish(state, lock, id,
                                 campaign_state_name(is_revert ? CAMPAIGN_REVERTING : CAMPAIGN_PUBLISHING),
                                 campaign_state_name(is_revert ? CAMPAIGN_REVERTED : CAMPAIGN_PUBLISHED), &what, err);
}
