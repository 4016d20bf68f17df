#include "backfill/campaign_seal.h"

#include "backfill/campaign_area.h"
#include "backfill/campaign_audit.h"
#include "base/test_hooks.h"

/* Of what readers see in the batch's window. */
static Status published_content(const Campaign *campaign, EngineConnection *connection, const CampaignModel *model,
                                Window window, Arena *arena, Str *content_out, Error *err) {
    bool is_window = window.start < window.end;
    Str condition = is_window
                        ? window_condition(model->model->time_column, window, model->time_kind, campaign->zone, arena)
                        : STR("true");
    return campaign_content(connection, model->model, model->target.relation, model->target.relation, condition, arena,
                            content_out, err);
}

static Status fill_in(Campaign *campaign, CampaignModelRecordVec *models, CampaignBatchRecordVec *batches, Error *err) {
    for (size_t i = 0; i < models->count; i++) {
        const CampaignModel *model = campaign_find_model(campaign, models->items[i].model);
        if (campaign_model_has_rows(model)) {
            TRY(campaign_content(campaign->connection, model->model, model->audit, model->audit, STR("true"),
                                 campaign->arena, &models->items[i].audited, err));
        }
    }
    for (size_t i = 0; i < batches->count; i++) {
        CampaignBatchRecord *batch = &batches->items[i];
        TRY(published_content(campaign, campaign->connection, campaign_find_model(campaign, batch->model),
                              batch->window, campaign->arena, &batch->published, err));
    }
    return OK;
}

/* Contents first: of rows that are written while they are compared, the publication then says that they moved. */
Status campaign_seal(Campaign *campaign, StateLock *lock, CampaignState from, bool with_report, Error *err) {
    Str report = STR_EMPTY;
    CampaignModelRecordVec models = {0};
    CampaignBatchRecordVec batches = {0};
    TRY(state_load_campaign_models(campaign->state, campaign->id, campaign->arena, &models, err));
    TRY(state_load_campaign_batches(campaign->state, campaign->id, campaign->arena, &batches, err));
    TRY(fill_in(campaign, &models, &batches, err));
    TRY(with_report ? campaign_audit(campaign, campaign->arena, &report, err) : OK);
    TRY(test_hook("campaign.seal", err));
    return state_campaign_seal(campaign->state, lock, campaign->id, campaign_state_name(from), &models, &batches,
                               report, err);
}

Status campaign_find_moved(const Campaign *campaign, EngineConnection *connection,
                           const CampaignBatchRecordVec *batches, Arena *arena, IndexVec *moved_out, Error *err) {
    for (size_t i = 0; i < batches->count; i++) {
        const CampaignBatchRecord *batch = &batches->items[i];
        Str content;
        TRY(published_content(campaign, connection, campaign_find_model(campaign, batch->model), batch->window, arena,
                              &content, err));
        if (!str_equal(content, batch->published)) {
            index_vec_push(arena, moved_out, i);
        }
    }
    return OK;
}

Str campaign_batch_text(const Campaign *campaign, const CampaignBatchRecord *batch, Arena *arena) {
    const CampaignModel *model = campaign_find_model(campaign, batch->model);
    bool is_window = batch->window.start < batch->window.end;
    Str window = is_window ? window_format(arena, model->target.grain, batch->window) : STR("(whole)");
    return str_format(arena, STR_FMT " " STR_FMT, STR_ARG(batch->model), STR_ARG(window));
}
