#include "backfill/campaign_seal.h"

#include "backfill/campaign_area.h"
#include "backfill/campaign_audit.h"
#include "base/test_hooks.h"

/* Of what readers see in each batch's window, in the order of the batches; those of a model stand together. */
static Status published_contents(const Campaign *campaign, const CampaignBatchRecordVec *batches, Arena *arena,
                                 StrVec *contents_out, Error *err) {
    EngineConnection *connection = campaign->connection;
    const CampaignModel *model = NULL;
    Str row_hash = STR_EMPTY, content;
    for (size_t i = 0; i < batches->count; i++) {
        Window window = batches->items[i].window;
        const CampaignModel *of = campaign_find_model(campaign, batches->items[i].model);
        if (of->part == PART_TERMINAL) {
            str_vec_push(arena, contents_out, STR_EMPTY); /* what is out is not looked at */
            continue;
        }
        if (of != model) {
            TRY(campaign_row_hash(connection, of->model, of->target.relation, arena, &row_hash, err));
            model = of;
        }
        Str condition = window.start < window.end ? window_condition(model->model->time_column, window,
                                                                     model->time_kind, campaign->zone, arena)
                                                  : STR("true");
        TRY(campaign_content(connection, row_hash, model->target.relation, condition, arena, &content, err));
        str_vec_push(arena, contents_out, content);
    }
    return OK;
}

Status campaign_audited_content(const Campaign *campaign, const CampaignModel *model, Arena *arena, Str *content_out,
                                Error *err) {
    Str row_hash;
    TRY(campaign_row_hash(campaign->connection, model->model, model->audit, arena, &row_hash, err));
    return campaign_content(campaign->connection, row_hash, model->audit, STR("true"), arena, content_out, err);
}

static Status fill_in(Campaign *campaign, CampaignModelRecordVec *models, CampaignBatchRecordVec *batches, Error *err) {
    StrVec contents = {0};
    for (size_t i = 0; i < models->count; i++) {
        const CampaignModel *model = campaign_find_model(campaign, models->items[i].model);
        if (campaign_model_has_rows(model)) {
            TRY(campaign_audited_content(campaign, model, campaign->arena, &models->items[i].audited, err));
        }
    }
    TRY(published_contents(campaign, batches, campaign->arena, &contents, err));
    for (size_t i = 0; i < batches->count; i++) {
        batches->items[i].published = contents.items[i];
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

Status campaign_find_moved(const Campaign *campaign, const CampaignBatchRecordVec *batches, Arena *arena,
                           IndexVec *moved_out, Error *err) {
    StrVec contents = {0};
    TRY(published_contents(campaign, batches, arena, &contents, err));
    for (size_t i = 0; i < batches->count; i++) {
        if (!str_equal(contents.items[i], batches->items[i].published)) {
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
