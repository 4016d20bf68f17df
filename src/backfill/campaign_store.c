/* A campaign and its record: written when it begins, found again when it goes on. */
#include "backfill/campaign_finish.h"

#include "base/test_hooks.h"
#include "run/change_log.h"

/* ---- Names of what it makes. */

SqlRelation campaign_relation(SqlRelation relation, const char *what, int64_t id, Arena *arena) {
    relation.name = campaign_relation_name(relation.name, what, id, arena);
    return relation;
}

void campaign_name_relations(Campaign *campaign) {
    for (size_t i = 0; i < campaign->model_count; i++) {
        CampaignModel *model = &campaign->models[i];
        SqlRelation shown = model->shown;
        if (shown.name.size > 0 && model->part < PART_TERMINAL) {
            model->audit = campaign_relation(shown, CAMPAIGN_AUDIT, campaign->id, campaign->arena);
            model->overlay = campaign_relation(shown, CAMPAIGN_OVERLAY, campaign->id, campaign->arena);
            model->before = campaign_relation(shown, CAMPAIGN_BEFORE, campaign->id, campaign->arena);
        }
    }
    campaign->inside = relation_map_copy(&campaign->shown, campaign->arena);
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        if (model->overlay.name.size > 0) {
            bool is_overlaid = model->part == PART_WINDOWED || model->part == PART_VIEW;
            campaign->inside.items[model->model->index] = is_overlaid ? model->overlay : model->audit;
        }
    }
    campaign->build.relations = &campaign->inside;
}

/* ---- Beginning. */

static void add_batch(const Campaign *campaign, const CampaignModel *model, size_t position, Window window,
                      CampaignBatchRecordVec *batches) {
    campaign_batch_record_vec_push(
        campaign->arena, batches,
        (CampaignBatchRecord){
            .model = model->model->name, .position = (int64_t)position, .window = window, .state = STR("pending")});
}

/* A delivery alone needs no campaign. */
static bool is_empty(const Campaign *campaign, const CampaignBatchRecordVec *batches) {
    for (size_t i = 0; i < batches->count; i++) {
        if (campaign_find_model(campaign, batches->items[i].model)->part != PART_TERMINAL) {
            return false;
        }
    }
    return true;
}

static void list_work(const Campaign *campaign, CampaignModelRecordVec *models, CampaignBatchRecordVec *batches) {
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        if (model->part == PART_REFUSED) {
            continue;
        }
        const Pointer *pointer = campaign_pointer(campaign, model->model->name);
        campaign_model_record_vec_push(campaign->arena, models,
                                       (CampaignModelRecord){.model = model->model->name,
                                                             .fingerprint = model->model->fingerprint,
                                                             .shown_fingerprint = pointer != NULL
                                                                                      ? pointer->fingerprint
                                                                                      : model->model->fingerprint,
                                                             .revision = pointer != NULL ? pointer->revision : 0,
                                                             .part = campaign_part_name(model->part),
                                                             .engine = model->model->engine,
                                                             .schema = model->shown.schema,
                                                             .name = model->shown.name});
        if (model->part == PART_WINDOWED) {
            for (size_t b = 0; b < model->batches.count; b++) {
                add_batch(campaign, model, b, model->batches.items[b], batches);
            }
        } else if (model->part != PART_VIEW) {
            add_batch(campaign, model, 0, (Window){0}, batches);
        }
    }
}

Status campaign_create(Campaign *campaign, Error *err) {
    CampaignModelRecordVec models = {0};
    CampaignBatchRecordVec batches = {0};
    list_work(campaign, &models, &batches);
    if (is_empty(campaign, &batches)) {
        (void)error_set(err, ERROR_PLAN, "there is nothing to do: %s",
                        models.count == 0 ? "nothing is selected" : "no window of the range is left");
        error_code(err, STR("campaign.empty"));
        return FAILED;
    }
    campaign->record = (CampaignRecord){
        .environment = campaign->options.environment,
        .state = campaign_state_name(CAMPAIGN_RUNNING),
        .options_json = campaign_options_json(&campaign->options, campaign->arena),
        .start = campaign->range.start,
        .end = campaign->range.end,
        .note = campaign->options.note,
        .who = change_log_who(campaign->arena),
        .created_at = clock_now_us(),
    };
    TRY(state_campaign_create(campaign->state, &campaign->record, &models, &batches, err));
    campaign->id = campaign->record.id;
    campaign_name_relations(campaign);
    return test_hook("campaign.created", err);
}

/* ---- Going on. */

static Status refuse_changed(int64_t id, Str model, const char *what, Error *err) {
    (void)error_set(err, ERROR_PLAN, "campaign %lld cannot go on: model '" STR_FMT "' %s", (long long)id,
                    STR_ARG(model), what);
    error_code(err, STR("campaign.changed"));
    error_hint(err, "put it back, or `interlace backfill discard %lld` and start a new one", (long long)id);
    return FAILED;
}

/* The windows are those that it began with, whatever has been filled since. */
static void take_batches(const Campaign *campaign, CampaignModel *model, const CampaignBatchRecordVec *batches) {
    model->windows = (IntervalSet){0};
    model->batches = (WindowVec){0};
    for (size_t i = 0; i < batches->count; i++) {
        if (str_equal_fold(batches->items[i].model, model->model->name)) {
            interval_set_add(campaign->arena, &model->windows, batches->items[i].window);
            window_vec_push(campaign->arena, &model->batches, batches->items[i].window);
        }
    }
}

static bool is_published(const Campaign *campaign) {
    return campaign_state_is(campaign->record.state, CAMPAIGN_PUBLISHED) ||
           campaign_state_is(campaign->record.state, CAMPAIGN_REVERTING);
}

/* The environment shows what it showed when the campaign began or, once it is published, what that made live. */
static bool is_shown_as_recorded(const Campaign *campaign, const CampaignModelRecord *record,
                                 const CampaignModel *model) {
    bool has_moved = is_published(campaign) && record->put_name.size > 0;
    if (is_published(campaign) && model->moves && !campaign_record_moves(record)) {
        return false; /* it went into a table that belongs to another environment by now */
    }
    const Pointer *pointer = campaign_pointer(campaign, record->model);
    Str fingerprint = is_published(campaign) ? record->fingerprint : record->shown_fingerprint;
    return (pointer == NULL || str_equal(pointer->fingerprint, fingerprint)) &&
           str_equal(has_moved ? record->put_name : record->name, model->target.relation.name) &&
           str_equal(has_moved ? record->put_schema : record->schema, model->target.relation.schema);
}

static Status fit_models(const Campaign *campaign, const CampaignModelRecordVec *records, Error *err) {
    CampaignBatchRecordVec batches = {0};
    TRY(state_load_campaign_batches(campaign->state, campaign->id, campaign->arena, &batches, err));
    for (size_t i = 0; i < records->count; i++) {
        const CampaignModelRecord *record = &records->items[i];
        CampaignModel *model = campaign_find_model(campaign, record->model);
        CampaignPart part;
        bool is_edited = !str_equal(record->fingerprint, model->model->fingerprint);
        bool is_same = !is_edited && campaign_part_find(record->part, &part) && part == model->part &&
                       (part == PART_TERMINAL || is_shown_as_recorded(campaign, record, model));
        if (!is_same) {
            return refuse_changed(campaign->id, record->model,
                                  is_edited ? "was edited since" : "has another table by now", err);
        }
        model->is_changed = !str_equal(record->fingerprint, record->shown_fingerprint);
        model->moves = is_published(campaign) ? campaign_record_moves(record) : model->moves;
        model->shown = (SqlRelation){.schema = str_copy(campaign->arena, record->schema),
                                     .name = str_copy(campaign->arena, record->name)};
        if (part == PART_WINDOWED) {
            take_batches(campaign, model, &batches);
        }
    }
    return OK;
}

/* What was asked for, but of the models that took part: selectors may choose others by now. --end that was left open is
 * the moment at which it began. */
static Status read_recorded(Session *session, int64_t id, Arena *arena, CampaignOptions *options_out,
                            CampaignModelRecordVec *records, Error *err) {
    StateStore *state = NULL;
    CampaignRecord record;
    TRY(session_state_for_reading(session, &state, err));
    TRY(state_load_campaign(state, id, arena, &record, err));
    TRY(campaign_options_read(record.options_json, arena, options_out, err));
    TRY(state_load_campaign_models(state, id, arena, records, err));
    options_out->select = options_out->exclude = (StrVec){0};
    for (size_t i = 0; i < records->count; i++) {
        if (project_find(session->project, records->items[i].model) == NULL) {
            return refuse_changed(id, records->items[i].model, "is gone", err);
        }
        str_vec_push(arena, &options_out->select, records->items[i].model);
    }
    options_out->gaps = false;
    options_out->end = wall_format(arena, record.end, true);
    return OK;
}

static Status read_again(Campaign *campaign, const CampaignModelRecordVec *records, Error *err) {
    TRY(state_load_campaign(campaign->state, campaign->id, campaign->arena, &campaign->record, err));
    TRY(campaign_options_read(campaign->record.options_json, campaign->arena, &campaign->options, err));
    return fit_models(campaign, records, err);
}

Status campaign_open_created(Session *session, int64_t id, bool writes, Campaign **campaign_out, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(arena) Arena *arena = arena_create();
    AUTO(campaign) Campaign *campaign = NULL;
    CampaignOptions options;
    CampaignModelRecordVec records = {0};
    if (failed(read_recorded(session, id, arena, &options, &records, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    TRY(campaign_open_as(session, &options, id, writes, &campaign, faults));
    if (failed(read_again(campaign, &records, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    campaign_name_relations(campaign);
    *campaign_out = TAKE(campaign);
    return OK;
}
