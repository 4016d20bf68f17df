#include "backfill/campaign_deliver.h"

#include "base/test_hooks.h"
#include "run/apply.h"

static Status list_owed(const Campaign *campaign, bool anew, CampaignBatchRecordVec *owed, Error *err) {
    CampaignBatchRecordVec batches = {0};
    TRY(state_load_campaign_batches(campaign->state, campaign->id, campaign->arena, &batches, err));
    for (size_t i = 0; i < batches.count; i++) {
        const CampaignBatchRecord *batch = &batches.items[i];
        bool is_delivery = campaign_find_model(campaign, batch->model)->part == PART_TERMINAL;
        if (is_delivery && (anew || !str_equal(batch->state, STR("done")))) {
            campaign_batch_record_vec_push(campaign->arena, owed, *batch);
        }
    }
    return OK;
}

Status campaign_owes_delivery(const Campaign *campaign, bool anew, bool *owes_out, Error *err) {
    CampaignBatchRecordVec owed = {0};
    TRY(list_owed(campaign, anew, &owed, err));
    *owes_out = owed.count > 0;
    return OK;
}

static Status restate(const Campaign *campaign, CampaignBatchRecord *delivery, int64_t lock_timeout_us,
                      ErrorList *faults) {
    AUTO(apply_result) ApplyResult *result = NULL;
    StrVec select = {.items = &delivery->model, .count = 1};
    ApplyOptions options = {
        .environment = campaign->options.environment,
        .select = &select,
        .verb = WINDOW_RESTATE,
        .start = wall_format(campaign->arena, campaign->range.start, true),
        .end = wall_format(campaign->arena, campaign->range.end, true),
        .note = campaign->record.note,
        .lock_timeout_us = lock_timeout_us,
    };
    TRY(apply(campaign->session, &options, &result, faults));
    for (size_t i = 0; i < result->model_count; i++) {
        delivery->rows += result->models[i].rows.inserted + result->models[i].rows.updated;
    }
    return OK;
}

static Status deliver(const Campaign *campaign, StateLock *lock, CampaignBatchRecord *delivery, int64_t lock_timeout_us,
                      ErrorList *faults) {
    AUTO(error) Error err = {0};
    size_t known = faults->count;
    int64_t started_us = clock_monotonic_us();
    delivery->attempts++;
    delivery->rows = 0;
    Status status = restate(campaign, delivery, lock_timeout_us, faults);
    delivery->seconds = (double)(clock_monotonic_us() - started_us) / 1e6;
    delivery->state = failed(status) ? STR("failed") : STR("done");
    delivery->error = faults->count > known ? str_copy(campaign->arena, faults->items[known].message) : STR_EMPTY;
    if (failed(test_hook("campaign.delivered", &err)) ||
        failed(state_campaign_put_batch(campaign->state, lock, campaign->id, delivery, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    return status;
}

/* All of them first: whoever dies in between still owes the rest. */
static Status record_owed(const Campaign *campaign, StateLock *lock, CampaignBatchRecordVec *owed, Error *err) {
    for (size_t i = 0; i < owed->count; i++) {
        owed->items[i].state = STR("pending");
        TRY(state_campaign_put_batch(campaign->state, lock, campaign->id, &owed->items[i], err));
    }
    return OK;
}

Status campaign_deliver(const Campaign *campaign, StateLock *lock, bool anew, int64_t lock_timeout_us,
                        ErrorList *faults) {
    AUTO(error) Error err = {0};
    CampaignBatchRecordVec owed = {0};
    Status status = OK;
    if (failed(list_owed(campaign, anew, &owed, &err)) || failed(record_owed(campaign, lock, &owed, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    for (size_t i = 0; i < owed.count; i++) {
        if (failed(deliver(campaign, lock, &owed.items[i], lock_timeout_us, faults))) {
            status = FAILED;
        }
    }
    return status;
}
