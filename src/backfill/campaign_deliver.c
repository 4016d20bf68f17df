#include "backfill/campaign_deliver.h"

#include "base/test_hooks.h"
#include "run/apply.h"

static bool is_delivery(const Campaign *campaign, const CampaignBatchRecord *batch) {
    return campaign_find_model(campaign, batch->model)->part == PART_TERMINAL;
}

static Status list_deliveries(const Campaign *campaign, CampaignBatchRecordVec *deliveries, Error *err) {
    CampaignBatchRecordVec batches = {0};
    TRY(state_load_campaign_batches(campaign->state, campaign->id, campaign->arena, &batches, err));
    for (size_t i = 0; i < batches.count; i++) {
        if (is_delivery(campaign, &batches.items[i])) {
            campaign_batch_record_vec_push(campaign->arena, deliveries, batches.items[i]);
        }
    }
    return OK;
}

static bool is_done(const CampaignBatchRecord *delivery) {
    return str_equal(delivery->state, STR("done"));
}

Status campaign_owes_delivery(const Campaign *campaign, bool *owes_out, Error *err) {
    CampaignBatchRecordVec deliveries = {0};
    *owes_out = false;
    TRY(list_deliveries(campaign, &deliveries, err));
    for (size_t i = 0; i < deliveries.count; i++) {
        *owes_out = *owes_out || !is_done(&deliveries.items[i]);
    }
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

Status campaign_deliver(const Campaign *campaign, StateLock *lock, int64_t lock_timeout_us, ErrorList *faults) {
    AUTO(error) Error err = {0};
    CampaignBatchRecordVec deliveries = {0};
    Status status = OK;
    if (failed(list_deliveries(campaign, &deliveries, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    for (size_t i = 0; i < deliveries.count; i++) {
        if (!is_done(&deliveries.items[i]) &&
            failed(deliver(campaign, lock, &deliveries.items[i], lock_timeout_us, faults))) {
            status = FAILED;
        }
    }
    return status;
}

Status campaign_deliver_anew(const Campaign *campaign, StateLock *lock, Error *err) {
    CampaignBatchRecordVec deliveries = {0};
    TRY(list_deliveries(campaign, &deliveries, err));
    for (size_t i = 0; i < deliveries.count; i++) {
        deliveries.items[i].state = STR("pending");
        TRY(state_campaign_put_batch(campaign->state, lock, campaign->id, &deliveries.items[i], err));
    }
    return OK;
}
