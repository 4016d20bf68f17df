#include "backfill/campaign_reads.h"

void campaign_upstreams(const Campaign *campaign, const Model *model, bool *is_read) {
    for (size_t u = 0; u < model->upstreams.count; u++) {
        size_t upstream = model->upstreams.items[u];
        for (size_t i = 0; i < campaign->model_count; i++) {
            const CampaignModel *other = &campaign->models[i];
            if (other->model->index != upstream || is_read[i]) {
                continue;
            }
            is_read[i] = true;
            if (!campaign_model_has_rows(other)) {
                campaign_upstreams(campaign, other->model, is_read); /* no deeper than the graph */
            }
        }
    }
}

/* By way of a view, or of a query that is inlined. */
static bool reads_indirectly(const Campaign *campaign, const CampaignModel *model, const CampaignModel *upstream) {
    bool *is_read = ARENA_NEW_ARRAY(campaign->arena, bool, campaign->model_count);
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *other = &campaign->models[i];
        bool is_between =
            !campaign_model_has_rows(other) && index_vec_contains(&model->model->upstreams, other->model->index);
        if (is_between) {
            campaign_upstreams(campaign, other->model, is_read);
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
