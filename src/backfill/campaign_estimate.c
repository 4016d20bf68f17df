/* What a campaign will take: from batches that were done before, or from one that is tried. */
#include "backfill/campaign.h"

#include "backfill/campaign_area.h"
#include "base/hash.h"
#include "base/process_usage.h"

static int64_t all_grains(const CampaignModel *model) {
    return model->part == PART_WINDOWED ? interval_set_grains(&model->windows, model->target.grain) : 1;
}

static size_t all_batches(const CampaignModel *model) {
    return model->part == PART_WINDOWED ? model->batches.count : 1;
}

/* ---- From what was measured to all of it. */

typedef struct Batch {
    double grains, rows, seconds, bytes;
} Batch;
DEFINE_VEC(BatchVec, batch_vec, Batch)

/* A batch takes a while by itself, and some more for each grain. */
typedef struct Line {
    double of_batch, of_grain;
} Line;

typedef struct Sums {
    double grains, squares, rows, seconds, products; /* squares of the grains; products of grains and seconds */
} Sums;

static Sums sum_up(const BatchVec *batches) {
    Sums sums = {0};
    for (size_t i = 0; i < batches->count; i++) {
        const Batch *batch = &batches->items[i];
        sums.grains += batch->grains;
        sums.squares += batch->grains * batch->grains;
        sums.rows += batch->rows;
        sums.seconds += batch->seconds;
        sums.products += batch->grains * batch->seconds;
    }
    return sums;
}

/* The line through the measured batches (least squares), kept from falling below zero. Batches of one size say nothing
 * of the two parts, so that all is put to the grains. */
static Line fit(double count, const Sums *sums) {
    Line line = {.of_grain = sums->seconds / sums->grains};
    double spread = count * sums->squares - sums->grains * sums->grains;
    if (spread > 0.5) { /* of whole numbers */
        double of_grain = (count * sums->products - sums->grains * sums->seconds) / spread;
        of_grain = of_grain > 0 ? of_grain : 0;
        double of_batch = (sums->seconds - of_grain * sums->grains) / count;
        line = of_batch >= 0 ? (Line){of_batch, of_grain} : line;
    }
    return line;
}

/* How far the quickest and the slowest batch were from the line, as factors; of a single one nothing can be told. */
static void spread_around(const BatchVec *batches, Line line, double *least_out, double *most_out) {
    *least_out = *most_out = 1;
    for (size_t i = 0; i < batches->count && batches->count > 1; i++) {
        double expected = line.of_batch + line.of_grain * batches->items[i].grains;
        double factor = expected > 0 ? batches->items[i].seconds / expected : 1;
        *least_out = factor < *least_out ? factor : *least_out;
        *most_out = factor > *most_out ? factor : *most_out;
    }
}

static void expect(const BatchVec *batches, Str source, CampaignModel *model) {
    Sums sums = sum_up(batches);
    Line line = fit((double)batches->count, &sums);
    double all = (double)all_grains(model);
    double seconds = line.of_batch * (double)all_batches(model) + line.of_grain * all, least, most;
    spread_around(batches, line, &least, &most);
    model->estimate = (CampaignEstimate){
        .is_known = true,
        .rows = (int64_t)(sums.rows / sums.grains * all),
        .seconds = seconds,
        .least = seconds * least,
        .most = seconds * most,
        .bytes = -1,
        .peak = -1,
        .source = source,
    };
}

static Status estimate_from_history(const Campaign *campaign, CampaignModel *model, Error *err) {
    CampaignBatchRecordVec done = {0};
    BatchVec batches = {0};
    int64_t grains = 0;
    TRY(state_load_batch_history(campaign->state, model->model->name, model->model->fingerprint, campaign->arena, &done,
                                 err));
    for (size_t i = 0; i < done.count; i++) {
        int64_t of_batch = campaign_grains(model, done.items[i].window);
        grains += of_batch;
        batch_vec_push(campaign->arena, &batches,
                       (Batch){(double)of_batch, (double)done.items[i].rows, done.items[i].seconds, 0});
    }
    if (grains > 0) {
        const char *what = model->part == PART_WINDOWED ? "windows" : "builds";
        expect(&batches, str_format(campaign->arena, "history (%lld %s)", (long long)grains, what), model);
    }
    return OK;
}

static void add_up(Campaign *campaign) {
    CampaignEstimate all = {.is_known = true, .peak = -1};
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignEstimate *one = &campaign->models[i].estimate;
        if (campaign_model_has_rows(&campaign->models[i])) {
            all.is_known &= one->is_known;
            all.rows += one->rows;
            all.seconds += one->seconds;
            all.least += one->least;
            all.most += one->most;
            all.bytes = all.bytes < 0 || one->bytes < 0 ? -1 : all.bytes + one->bytes;
            all.peak = one->peak > all.peak ? one->peak : all.peak;
        }
    }
    campaign->estimate = all;
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

/* Another one that large, the oldest: how much two of them differ is what the others may. Empty: there is none. */
static Window second_window(const CampaignModel *model, Window first) {
    for (size_t i = 0; model->part == PART_WINDOWED && i < model->batches.count; i++) {
        Window batch = model->batches.items[i];
        if (batch.start != first.start && campaign_grains(model, batch) == campaign_grains(model, first)) {
            return batch;
        }
    }
    return (Window){0};
}

static Status try_batch(Campaign *campaign, CampaignModel *model, Window window, StateLock *lock, Batch *batch_out,
                        Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    ModelResult result = {.model = model->model, .project = campaign->session->project, .attempts = 1};
    BuildTarget target;
    int64_t started_us = clock_monotonic_us(), read = process_bytes_read();
    campaign_aside_target(model, &target);
    if (model->part == PART_WINDOWED) {
        interval_set_add(arena, &target.work.due, window);
    }
    campaign->build.lock = lock;
    TRY(build_target(&campaign->build, model->task, &target, arena, &result, err));
    *batch_out = (Batch){
        .grains = (double)campaign_grains(model, window),
        .rows = (double)(result.rows.inserted + result.rows.updated),
        .seconds = (double)(clock_monotonic_us() - started_us) / 1e6,
        .bytes = (double)(process_bytes_read() - read),
    };
    return OK;
}

static Str probe_source(const Campaign *campaign, const CampaignModel *model, Window first, Window second) {
    if (model->part != PART_WINDOWED) {
        return STR("probe");
    }
    bool are_two = second.start < second.end;
    int64_t grains = campaign_grains(model, first) * (are_two ? 2 : 1);
    Str other = are_two ? window_format(campaign->arena, model->target.grain, second) : STR_EMPTY;
    return str_format(campaign->arena, "probe (%lld window%s, " STR_FMT "%s" STR_FMT ")", (long long)grains,
                      grains == 1 ? "" : "s", STR_ARG(window_format(campaign->arena, model->target.grain, first)),
                      are_two ? " and " : "", STR_ARG(other));
}

/* What an earlier one has read is in the engine's memory by then, so bytes are those of the first batch. */
static Status probe_model(Campaign *campaign, CampaignModel *model, StateLock *lock, Error *err) {
    Window first = probe_window(model), second = second_window(model, first);
    Batch batches[2] = {0};
    BatchVec measured = {.items = batches, .count = second.start < second.end ? 2 : 1};
    process_peak_reset();
    TRY(try_batch(campaign, model, first, lock, &batches[0], err));
    TRY(measured.count == 2 ? try_batch(campaign, model, second, lock, &batches[1], err) : OK);
    expect(&measured, probe_source(campaign, model, first, second), model);
    int64_t peak = process_peak_memory();
    if (batches[0].bytes > 0 && peak > 0) { /* else the kernel does not tell */
        model->estimate.bytes = (int64_t)(batches[0].bytes / batches[0].grains * (double)all_grains(model));
        model->estimate.peak = peak;
    }
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
