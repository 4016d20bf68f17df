/* What a campaign will take: from batches that were done before, or from one that is tried. */
#include "backfill/campaign.h"

#include "backfill/campaign_area.h"
#include "base/hash.h"

static int64_t all_grains(const CampaignModel *model) {
    return model->part == PART_WINDOWED ? interval_set_grains(&model->windows, model->target.grain) : 1;
}

static size_t all_batches(const CampaignModel *model) {
    return model->part == PART_WINDOWED ? model->batches.count : 1;
}

/* ---- From what was measured to all of it. */

/* Sums over measured batches. */
typedef struct Measured {
    double count, grains, grains_squared, seconds, seconds_by_grains, rows;
} Measured;

static void measure(Measured *measured, int64_t grains, int64_t rows, double seconds) {
    measured->count++;
    measured->grains += (double)grains;
    measured->grains_squared += (double)grains * (double)grains;
    measured->seconds += seconds;
    measured->seconds_by_grains += seconds * (double)grains;
    measured->rows += (double)rows;
}

/* A batch takes a while by itself, and some more for each grain: the line through the measured batches (least squares),
 * kept from falling below zero. Batches of one size say nothing of the two parts, so that all is put to the grains. */
static void fit(const Measured *measured, double *of_batch_out, double *of_grain_out) {
    double spread = measured->count * measured->grains_squared - measured->grains * measured->grains;
    double of_grain = measured->seconds / measured->grains, of_batch = 0;
    if (spread > 0.5) { /* of whole numbers */
        of_grain = (measured->count * measured->seconds_by_grains - measured->grains * measured->seconds) / spread;
        of_grain = of_grain > 0 ? of_grain : 0;
        of_batch = (measured->seconds - of_grain * measured->grains) / measured->count;
    }
    bool is_line = of_batch >= 0;
    *of_batch_out = is_line ? of_batch : 0;
    *of_grain_out = is_line ? of_grain : measured->seconds / measured->grains;
}

static void expect(const Measured *measured, Str source, CampaignModel *model) {
    double of_batch, of_grain;
    double grains = (double)all_grains(model);
    fit(measured, &of_batch, &of_grain);
    model->estimate = (CampaignEstimate){
        .is_known = true,
        .rows = (int64_t)(measured->rows / measured->grains * grains),
        .seconds = of_batch * (double)all_batches(model) + of_grain * grains,
        .source = source,
    };
}

static Status estimate_from_history(const Campaign *campaign, CampaignModel *model, Error *err) {
    CampaignBatchRecordVec done = {0};
    Measured measured = {0};
    TRY(state_load_batch_history(campaign->state, model->model->name, model->model->fingerprint, campaign->arena, &done,
                                 err));
    for (size_t i = 0; i < done.count; i++) {
        measure(&measured, campaign_grains(model, done.items[i].window), done.items[i].rows, done.items[i].seconds);
    }
    if (measured.grains > 0) {
        const char *what = model->part == PART_WINDOWED ? "windows" : "builds";
        expect(&measured, str_format(campaign->arena, "history (%.0f %s)", measured.grains, what), model);
    }
    return OK;
}

static void add_up(Campaign *campaign) {
    campaign->estimate = (CampaignEstimate){.is_known = true};
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        if (campaign_model_has_rows(model)) {
            campaign->estimate.is_known &= model->estimate.is_known;
            campaign->estimate.rows += model->estimate.rows;
            campaign->estimate.seconds += model->estimate.seconds;
        }
    }
}

Status campaign_estimate(Campaign *campaign, Error *err) {
    for (size_t i = 0; i < campaign->model_count; i++) {
        if (campaign_model_has_rows(&campaign->models[i])) {
            TRY(estimate_from_history(campaign, &campaign->models[i], err));
        }
    }
    add_up(campaign);
    return OK;
}

/* ---- Trying. */

/* The largest one, since what it takes is scaled up, and of those the newest: old ones often have fewer rows. Empty:
 * the whole model. */
static Window probe_window(const CampaignModel *model) {
    Window chosen = {0};
    for (size_t i = 0; model->part == PART_WINDOWED && i < model->batches.count; i++) {
        Window batch = model->batches.items[i];
        bool is_larger = i == 0 || campaign_grains(model, batch) >= campaign_grains(model, chosen);
        chosen = is_larger ? batch : chosen;
    }
    return chosen;
}

static Status probe_model(Campaign *campaign, CampaignModel *model, StateLock *lock, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    ModelResult result = {.model = model->model, .project = campaign->session->project, .attempts = 1};
    BuildTarget target;
    Window window = probe_window(model);
    Measured measured = {0};
    int64_t started_us = clock_monotonic_us();
    campaign_aside_target(model, &target);
    if (model->part == PART_WINDOWED) {
        interval_set_add(arena, &target.work.due, window);
    }
    campaign->build.lock = lock;
    TRY(build_target(&campaign->build, model->task, &target, arena, &result, err));
    double seconds = (double)(clock_monotonic_us() - started_us) / 1e6;
    int64_t grains = campaign_grains(model, window);
    Str source =
        model->part == PART_WINDOWED
            ? str_format(campaign->arena, "probe (%lld window%s, " STR_FMT ")", (long long)grains,
                         grains == 1 ? "" : "s", STR_ARG(window_format(campaign->arena, model->target.grain, window)))
            : STR("probe");
    measure(&measured, grains, result.rows.inserted + result.rows.updated, seconds);
    expect(&measured, source, model);
    return OK;
}

static Status probe_models(Campaign *campaign, StateLock *lock, Error *err) {
    TRY(campaign_area_make(campaign, err));
    for (size_t i = 0; i < campaign->model_count; i++) {
        CampaignModel *model = &campaign->models[i];
        bool is_probed = model->part == PART_WINDOWED ? model->batches.count > 0 : campaign_model_has_rows(model);
        if (is_probed) {
            TRY(probe_model(campaign, model, lock, err));
        }
    }
    add_up(campaign);
    return OK;
}

static Status clear_ledgers(const Campaign *campaign, StateLock *lock, Error *err) {
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        if (model->part == PART_WINDOWED) {
            LedgerKey key = ledger_key(model->model, model->audit);
            TRY(state_ledger_clear(campaign->state, lock, &key, err));
        }
    }
    return OK;
}

/* In the area of campaign 0, which is never recorded; a probe that died leaves it to the next one. */
Status campaign_probe(Campaign *campaign, Error *err) {
    LockOptions options = {.name = STR("campaign 0"), .command = STR("backfill plan --probe")};
    AUTO(state_lock) StateLock *lock = NULL;
    TRY(state_lock_acquire(campaign->state, &options, &lock, err));
    campaign_name_relations(campaign);
    TRY(campaign_area_drop(campaign->session, 0, err));
    TRY(clear_ledgers(campaign, lock, err));
    Status status = probe_models(campaign, lock, err);
    AUTO(error) Error dropped = {0};
    if (failed(campaign_area_drop(campaign->session, 0, &dropped)) || failed(clear_ledgers(campaign, lock, &dropped))) {
        if (!failed(status)) {
            error_move(err, &dropped);
        }
        return FAILED;
    }
    return status;
}

/* ---- The id of a plan. */

static void append_windows(const Window *windows, size_t count, StrBuf *text) {
    for (size_t i = 0; i < count; i++) {
        strbuf_format(text, "%lld-%lld,", (long long)windows[i].start, (long long)windows[i].end);
    }
}

Str campaign_plan_id(const Campaign *campaign, Arena *arena) {
    AUTO(strbuf) StrBuf text = {0};
    strbuf_append(&text, campaign_options_json(&campaign->options, arena));
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        strbuf_format(&text, "\n" STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT " ", STR_ARG(model->model->name),
                      STR_ARG(model->model->fingerprint), STR_ARG(campaign_part_name(model->part)),
                      STR_ARG(model->target.relation.name));
        append_windows(model->batches.items, model->batches.count, &text);
        append_windows(model->target.filled.items, model->target.filled.count, &text);
        for (size_t r = 0; r < model->reads.count; r++) {
            strbuf_format(&text, STR_FMT " " STR_FMT ";", STR_ARG(model->reads.items[r].min),
                          STR_ARG(model->reads.items[r].max));
        }
    }
    Str whole = strbuf_str(&text);
    return fingerprint_of_parts(arena, &whole, 1);
}
