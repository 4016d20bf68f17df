#include "backfill/campaign_reads.h"

void campaign_upstreams(const Campaign *campaign, const Model *model, bool *is_read) {
    for (size_t u = 0; u < model->upstreams.count; u++) {
        const CampaignModel *upstream = campaign_model_at(campaign, model->upstreams.items[u]);
        if (upstream == NULL || is_read[upstream - campaign->models]) {
            continue;
        }
        is_read[upstream - campaign->models] = true;
        if (!campaign_model_has_rows(upstream)) {
            campaign_upstreams(campaign, upstream->model, is_read); /* no deeper than the graph */
        }
    }
}

/* By way of a view, or of a query that is inlined. */
static bool reads_indirectly(const Campaign *campaign, const CampaignModel *model, const CampaignModel *upstream) {
    bool *is_read = ARENA_NEW_ARRAY(campaign->arena, bool, campaign->model_count);
    for (size_t i = 0; i < model->model->upstreams.count; i++) {
        const CampaignModel *between = campaign_model_at(campaign, model->model->upstreams.items[i]);
        if (between != NULL && !campaign_model_has_rows(between)) {
            campaign_upstreams(campaign, between->model, is_read);
        }
    }
    return is_read[upstream - campaign->models];
}

static size_t count_tables(const Model *model, const CampaignModel *upstream) {
    size_t count = 0;
    for (size_t i = 0; i < model->facts->tables.count; i++) {
        count += model->references[i].model == upstream->model->index;
    }
    return count;
}

const WindowScan *campaign_cut(const Campaign *campaign, const CampaignModel *model, const CampaignModel *upstream) {
    bool is_windowed = model->part == PART_WINDOWED && upstream->part == PART_WINDOWED;
    bool is_once = is_windowed && model->model->kind == MODEL_SQL && count_tables(model->model, upstream) == 1;
    if (!is_once || reads_indirectly(campaign, model, upstream)) {
        return NULL;
    }
    for (size_t i = 0; i < model->scans.count; i++) {
        const TimeScan *scan = &model->scans.items[i].scan;
        bool is_of_upstream =
            scan->owner == model->model && scan->owner->references[scan->table].model == upstream->model->index;
        if (is_of_upstream && str_equal_fold(scan->column, upstream->model->time_column)) {
            return &model->scans.items[i];
        }
    }
    return NULL;
}

bool campaign_cut_reads(const WindowScan *cut, Window window, Window other) {
    Window range = window_scan_range(cut, window);
    return range.start < other.end && other.start < range.end;
}
