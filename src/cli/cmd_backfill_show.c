/* What campaigns would do, and how far they are. */
#include "backfill/backfill.h"
#include "cli/apply_json.h"
#include "cli/backfill_text.h"
#include "cli/commands.h"
#include "cli/model_text.h"
#include "cli/report.h"
#include "cli/run_json.h"
#include "cli/table.h"
#include "cli/text_width.h"
#include "run/window_json.h"

/* ---- plan */

static Str windows_text(Cli *cli, const CampaignModel *model) {
    if (model->part != PART_WINDOWED) {
        return STR_EMPTY;
    }
    int64_t grains = interval_set_grains(&model->windows, model->target.grain);
    return str_format(cli->arena, STR_FMT " of " STR_FMT, STR_ARG(number_text(cli->arena, grains)),
                      STR_ARG(model->model->interval));
}

static Str filled_text(Cli *cli, const CampaignModel *model) {
    return model->part == PART_WINDOWED ? number_text(cli->arena, model->filled) : STR_EMPTY;
}

static Str batches_text(Cli *cli, const CampaignModel *model) {
    if (model->part == PART_WINDOWED) {
        return number_text(cli->arena, (int64_t)model->batches.count);
    }
    return campaign_model_has_rows(model) ? STR("1") : STR_EMPTY;
}

static Str reads_text(Cli *cli, const CampaignModel *model) {
    StrVec parts = {0};
    for (size_t i = 0; i < model->reads.count; i++) {
        const CampaignRead *read = &model->reads.items[i];
        Str bounds = read->min.size == 0
                         ? STR_EMPTY
                         : str_format(cli->arena, " " STR_FMT " to " STR_FMT, STR_ARG(read->min), STR_ARG(read->max));
        Str missing = read->missing_before.size == 0
                          ? STR_EMPTY
                          : str_format(cli->arena, ", missing before " STR_FMT, STR_ARG(read->missing_before));
        Str column = read->time_column.size == 0 ? STR(" (all)")
                                                 : str_format(cli->arena, "." STR_FMT, STR_ARG(read->time_column));
        str_vec_push(cli->arena, &parts,
                     str_format(cli->arena, STR_FMT STR_FMT STR_FMT STR_FMT, STR_ARG(read->upstream), STR_ARG(column),
                                STR_ARG(bounds), STR_ARG(missing)));
    }
    return str_join(cli->arena, parts.items, parts.count, STR("; "));
}

static Str seconds_text(Cli *cli, double seconds) {
    return seconds < 90 ? str_format(cli->arena, "%.1fs", seconds) : str_format(cli->arena, "%.0fm", seconds / 60);
}

static Str bytes_text(Cli *cli, int64_t bytes) {
    double megabytes = (double)bytes / 1e6;
    return megabytes < 1e4 ? str_format(cli->arena, "%.*f MB", megabytes < 10 ? 1 : 0, megabytes)
                           : str_format(cli->arena, "%.0f GB", megabytes / 1e3);
}

static Str estimate_text(Cli *cli, const CampaignModel *model) {
    const CampaignEstimate *estimate = &model->estimate;
    if (!campaign_model_has_rows(model)) {
        return STR_EMPTY;
    }
    return estimate->is_known ? str_format(cli->arena, STR_FMT " rows, " STR_FMT ", from " STR_FMT,
                                           STR_ARG(number_text(cli->arena, estimate->rows)),
                                           STR_ARG(seconds_text(cli, estimate->seconds)), STR_ARG(estimate->source))
                              : STR("unknown");
}

/* What a probe alone can tell. */
static Str more_of_estimate(Cli *cli, const Campaign *campaign) {
    const CampaignEstimate *estimate = &campaign->estimate;
    AUTO(strbuf) StrBuf text = {0};
    if (estimate->least < estimate->most) {
        strbuf_format(&text, " (" STR_FMT " to " STR_FMT ")", STR_ARG(seconds_text(cli, estimate->least)),
                      STR_ARG(seconds_text(cli, estimate->most)));
    }
    if (estimate->bytes >= 0) {
        strbuf_format(&text, ", reading " STR_FMT, STR_ARG(bytes_text(cli, estimate->bytes)));
    }
    if (estimate->peak >= 0) {
        strbuf_format(&text, ", with at most " STR_FMT " of memory", STR_ARG(bytes_text(cli, estimate->peak)));
    }
    return strbuf_copy(&text, cli->arena);
}

static bool is_listed(const CampaignModel *model) {
    return model->model->materialise != MATERIALISE_EPHEMERAL;
}

static void print_plan_text(Cli *cli, const Campaign *campaign, Str id) {
    static const TableColumn columns[] = {
        {.title = "Model", .is_name = true},
        {.title = "Takes part as"},
        {.title = "Windows", .is_number = true},
        {.title = "Filled", .is_number = true},
        {.title = "Batches", .is_number = true},
        {.title = "Reads", .is_dim = true},
        {.title = "Estimate"},
    };
    Str title = str_format(cli->arena, "Campaign over '" STR_FMT "', " STR_FMT " to " STR_FMT,
                           STR_ARG(campaign->options.environment),
                           STR_ARG(wall_format(cli->arena, campaign->range.start, false)),
                           STR_ARG(wall_format(cli->arena, campaign->range.end, false)));
    Table *table = table_create(cli->arena, title, columns, COUNT_OF(columns));
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        if (is_listed(model)) {
            table_add(table, (TableCell[]){CELL(model->model->name), CELL(campaign_part_name(model->part)),
                                           CELL(windows_text(cli, model)), CELL(filled_text(cli, model)),
                                           CELL(batches_text(cli, model)), CELL(reads_text(cli, model)),
                                           CELL(estimate_text(cli, model))});
        }
    }
    table_write(table, &cli->out, &cli->text);
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        for (size_t n = 0; n < model->notes.count; n++) {
            cli_line(cli, "note: " STR_FMT ": " STR_FMT, STR_ARG(model->model->name), STR_ARG(model->notes.items[n]));
        }
        if (model->part == PART_REFUSED && campaign->options.allow_refused) {
            cli_line(cli, "left out: " STR_FMT ": " STR_FMT, STR_ARG(model->model->name), STR_ARG(model->reason));
        }
    }
    if (campaign->estimate.is_known) {
        cli_line(cli, "In all about " STR_FMT " rows and " STR_FMT " of work" STR_FMT ". Plan " STR_FMT ".",
                 STR_ARG(number_text(cli->arena, campaign->estimate.rows)),
                 STR_ARG(seconds_text(cli, campaign->estimate.seconds)), STR_ARG(more_of_estimate(cli, campaign)),
                 STR_ARG(id));
    } else {
        cli_line(cli, "What it takes is not known: --probe tries a batch of each model. Plan " STR_FMT ".",
                 STR_ARG(id));
    }
    if (campaign->stale.count > 0) {
        Str names = str_join(cli->arena, campaign->stale.items, campaign->stale.count, STR(", "));
        cli_line(cli, "left stale: " STR_FMT " (a + behind a selected name takes them in)", STR_ARG(names));
    }
}

static void write_read(const CampaignRead *read, JsonWriter *json) {
    json_begin_object(json);
    json_text_field(json, STR("upstream"), read->upstream);
    json_optional_text_field(json, STR("time_column"), read->time_column);
    json_optional_text_field(json, STR("min"), read->min);
    json_optional_text_field(json, STR("max"), read->max);
    json_optional_text_field(json, STR("missing_before"), read->missing_before);
    json_bool_field(json, STR("pruned"), read->time_column.size > 0);
    json_end_object(json);
}

static void write_batches(const CampaignModel *model, JsonWriter *json) {
    json_key(json, STR("batches"));
    json_begin_array(json);
    for (size_t i = 0; i < model->batches.count; i++) {
        run_json_write_batch(model->batches.items[i], model->target.grain, json);
    }
    json_end_array(json);
}

/* null: it is not known, which is a number below 0. */
static void write_known(JsonWriter *json, const char *key, int64_t number) {
    if (number >= 0) {
        json_int_field(json, str_from(key), number);
    } else {
        json_null_field(json, str_from(key));
    }
}

static void write_estimate(const CampaignEstimate *estimate, JsonWriter *json) {
    json_key(json, STR("estimate"));
    json_begin_object(json);
    const struct {
        const char *key;
        double seconds;
    } times[] = {{"seconds", estimate->seconds}, {"seconds_least", estimate->least}, {"seconds_most", estimate->most}};
    write_known(json, "rows", estimate->is_known ? estimate->rows : -1);
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        json_key(json, str_from(times[i].key));
        if (estimate->is_known) {
            json_double(json, times[i].seconds);
        } else {
            json_null(json);
        }
    }
    write_known(json, "bytes", estimate->is_known ? estimate->bytes : -1);
    write_known(json, "peak_memory", estimate->is_known ? estimate->peak : -1);
    json_text_field(json, STR("source"), estimate->source.size > 0 ? estimate->source : STR("unknown"));
    json_end_object(json);
}

static void write_model(const CampaignModel *model, JsonWriter *json) {
    bool is_windowed = model->part == PART_WINDOWED;
    json_begin_object(json);
    json_text_field(json, STR("name"), model->model->name);
    json_text_field(json, STR("takes_part"), campaign_part_name(model->part));
    json_int_field(json, STR("windows"), is_windowed ? interval_set_grains(&model->windows, model->target.grain) : 0);
    json_int_field(json, STR("filled"), model->filled);
    write_batches(model, json);
    json_key(json, STR("reads"));
    json_begin_array(json);
    for (size_t i = 0; i < model->reads.count; i++) {
        write_read(&model->reads.items[i], json);
    }
    json_end_array(json);
    write_estimate(&model->estimate, json);
    json_text_list_field(json, STR("notes"), model->notes.items, model->notes.count);
    json_end_object(json);
}

static void write_refused(const Campaign *campaign, JsonWriter *json) {
    json_key(json, STR("refused"));
    json_begin_array(json);
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        if (model->part == PART_REFUSED) {
            json_begin_object(json);
            json_text_field(json, STR("name"), model->model->name);
            json_text_field(json, STR("reason"), model->reason);
            json_text_field(json, STR("hint"), model->hint);
            json_end_object(json);
        }
    }
    json_end_array(json);
}

static void print_plan_json(Cli *cli, const Campaign *campaign, Str id) {
    JsonWriter *json = cli_json_begin(cli);
    json_begin_object(json);
    json_text_field(json, STR("plan_id"), id);
    json_text_field(json, STR("environment"), campaign->options.environment);
    json_key(json, STR("range"));
    window_write_json(campaign->range, json);
    json_key(json, STR("models"));
    json_begin_array(json);
    for (size_t i = 0; i < campaign->model_count; i++) {
        if (is_listed(&campaign->models[i])) {
            write_model(&campaign->models[i], json);
        }
    }
    json_end_array(json);
    write_refused(campaign, json);
    json_text_list_field(json, STR("left_stale"), campaign->stale.items, campaign->stale.count);
    write_estimate(&campaign->estimate, json);
    json_end_object(json);
    cli_json_end(cli);
}

/* A plan has no events: with =lines it is the one document all the same. */
void backfill_print_plan(Cli *cli, const Campaign *campaign, Str id) {
    if (cli_wants_json(cli) || cli_wants_json_lines(cli)) {
        print_plan_json(cli, campaign, id);
    } else {
        print_plan_text(cli, campaign, id);
    }
}

/* ---- status */

typedef struct ModelProgress {
    const CampaignModelRecord *model;
    int64_t batches, done, running, failed, rows;
    int64_t grains; /* of its windows; 0: it has none, or is gone from the project */
    double seconds;
} ModelProgress;

static ModelProgress count_batches(const Project *project, const CampaignModelRecord *model,
                                   const CampaignBatchRecordVec *batches) {
    AUTO(error) Error ignored = {0};
    Grain grain;
    ModelProgress progress = {.model = model};
    const Model *now = project_find(project, model->model);
    bool has_grain = now != NULL && now->interval.size > 0 && !failed(grain_parse(now->interval, &grain, &ignored));
    for (size_t i = 0; i < batches->count; i++) {
        const CampaignBatchRecord *batch = &batches->items[i];
        if (!str_equal_fold(batch->model, model->model)) {
            continue;
        }
        progress.batches++;
        if (has_grain && batch->window.start < batch->window.end) {
            progress.grains += grain_count(grain, batch->window.start, batch->window.end);
        }
        progress.done += str_equal(batch->state, STR("done"));
        progress.running += str_equal(batch->state, STR("running"));
        progress.failed += str_equal(batch->state, STR("failed"));
        progress.rows += batch->rows;
        progress.seconds += batch->seconds;
    }
    return progress;
}

static void print_status_text(Cli *cli, const Project *project, const CampaignRecord *campaign,
                              const CampaignModelRecordVec *models, const CampaignBatchRecordVec *batches) {
    static const TableColumn columns[] = {
        {.title = "Model", .is_name = true},     {.title = "Takes part as"},
        {.title = "Batches", .is_number = true}, {.title = "Done", .is_number = true},
        {.title = "Failed", .is_number = true},  {.title = "Rows", .is_number = true},
        {.title = "Time", .is_number = true},
    };
    Str title = str_format(cli->arena, "Campaign %lld over '" STR_FMT "', " STR_FMT " to " STR_FMT ": " STR_FMT,
                           (long long)campaign->id, STR_ARG(campaign->environment),
                           STR_ARG(wall_format(cli->arena, campaign->start, false)),
                           STR_ARG(wall_format(cli->arena, campaign->end, false)), STR_ARG(campaign->state));
    Table *table = table_create(cli->arena, title, columns, COUNT_OF(columns));
    for (size_t i = 0; i < models->count; i++) {
        ModelProgress progress = count_batches(project, &models->items[i], batches);
        bool has_rows = progress.batches > 0;
        table_add(table, (TableCell[]){CELL(models->items[i].model), CELL(models->items[i].part),
                                       CELL(has_rows ? number_text(cli->arena, progress.batches) : STR_EMPTY),
                                       CELL(has_rows ? number_text(cli->arena, progress.done) : STR_EMPTY),
                                       CELL(progress.failed > 0 ? number_text(cli->arena, progress.failed) : STR_EMPTY),
                                       CELL(has_rows ? number_text(cli->arena, progress.rows) : STR_EMPTY),
                                       CELL(has_rows ? str_format(cli->arena, "%.2fs", progress.seconds) : STR_EMPTY)});
    }
    table_write(table, &cli->out, &cli->text);
    for (size_t i = 0; i < batches->count; i++) {
        if (batches->items[i].error.size > 0) {
            cli_line(cli, "failed: " STR_FMT ": " STR_FMT, STR_ARG(batches->items[i].model),
                     STR_ARG(text_visible(cli->arena, batches->items[i].error)));
        }
    }
    if (campaign->note.size > 0) {
        cli_line(cli, "note: " STR_FMT, STR_ARG(text_visible(cli->arena, campaign->note)));
    }
}

static void write_progress(const ModelProgress *progress, JsonWriter *json) {
    json_begin_object(json);
    json_text_field(json, STR("name"), progress->model->model);
    json_text_field(json, STR("takes_part"), progress->model->part);
    json_int_field(json, STR("windows"), progress->grains);
    json_int_field(json, STR("batches"), progress->batches);
    json_int_field(json, STR("done"), progress->done);
    json_int_field(json, STR("running"), progress->running);
    json_int_field(json, STR("failed"), progress->failed);
    json_int_field(json, STR("pending"), progress->batches - progress->done - progress->running - progress->failed);
    json_int_field(json, STR("rows"), progress->rows);
    json_end_object(json);
}

static void write_failures(const CampaignBatchRecordVec *batches, JsonWriter *json) {
    json_key(json, STR("failures"));
    json_begin_array(json);
    for (size_t i = 0; i < batches->count; i++) {
        const CampaignBatchRecord *batch = &batches->items[i];
        if (batch->error.size > 0) {
            json_begin_object(json);
            json_text_field(json, STR("model"), batch->model);
            json_key(json, STR("window"));
            if (batch->window.start < batch->window.end) {
                window_write_json(batch->window, json);
            } else {
                json_null(json);
            }
            json_text_field(json, STR("error"), batch->error);
            json_end_object(json);
        }
    }
    json_end_array(json);
}

static void write_head(Cli *cli, const CampaignRecord *campaign, JsonWriter *json) {
    json_int_field(json, STR("id"), campaign->id);
    json_text_field(json, STR("state"), campaign->state);
    json_text_field(json, STR("environment"), campaign->environment);
    json_key(json, STR("range"));
    window_write_json((Window){campaign->start, campaign->end}, json);
    json_optional_text_field(json, STR("note"), campaign->note);
    json_text_field(json, STR("who"), campaign->who);
    json_text_field(json, STR("created"), time_format_iso(cli->arena, campaign->created_at));
    json_optional_text_field(json, STR("published"),
                             campaign->published_at == 0 ? STR_EMPTY
                                                         : time_format_iso(cli->arena, campaign->published_at));
    json_optional_text_field(json, STR("error"), campaign->error);
}

typedef struct CampaignStatus {
    CampaignRecord campaign;
    CampaignModelRecordVec models;
    CampaignBatchRecordVec batches;
} CampaignStatus;

static Status load_status(Cli *cli, Session *session, int64_t id, CampaignStatus *status_out, Error *err) {
    StateStore *state = NULL;
    TRY(session_state_for_reading(session, &state, err));
    TRY(state_load_campaign(state, id, cli->arena, &status_out->campaign, err));
    TRY(state_load_campaign_models(state, id, cli->arena, &status_out->models, err));
    return state_load_campaign_batches(state, id, cli->arena, &status_out->batches, err);
}

static void write_status(Cli *cli, const Project *project, const CampaignStatus *status, JsonWriter *json) {
    write_head(cli, &status->campaign, json);
    json_key(json, STR("models"));
    json_begin_array(json);
    for (size_t i = 0; i < status->models.count; i++) {
        ModelProgress progress = count_batches(project, &status->models.items[i], &status->batches);
        write_progress(&progress, json);
    }
    json_end_array(json);
    write_failures(&status->batches, json);
}

Status backfill_print_status(Cli *cli, Session *session, int64_t id, Error *err) {
    const Project *project = session->project;
    CampaignStatus status = {0};
    TRY(load_status(cli, session, id, &status, err));
    if (!cli_wants_json(cli)) {
        print_status_text(cli, project, &status.campaign, &status.models, &status.batches);
        return OK;
    }
    JsonWriter *json = cli_json_begin(cli);
    json_begin_object(json);
    write_status(cli, project, &status, json);
    json_end_object(json);
    cli_json_end(cli);
    return OK;
}

Status backfill_print_summary_line(Cli *cli, Session *session, int64_t id, const ErrorList *faults, Error *err) {
    JsonWriter json;
    CampaignStatus status = {0};
    TRY(id > 0 ? load_status(cli, session, id, &status, err) : OK);
    event_summary_line_begin(&json, &cli->text);
    if (faults->count > 0) {
        report_write_json(faults, &json, cli->arena);
    }
    if (id > 0) {
        write_status(cli, session->project, &status, &json);
    }
    event_summary_line_end(&json, &cli->text);
    return OK;
}

Status command_backfill_status(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    int64_t id;
    CLI_TRY(backfill_read_id(cli, &id, &err));
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(backfill_print_status(cli, session, id, &err));
    return OK;
}

/* ---- list */

static void print_list_text(Cli *cli, const CampaignRecordVec *campaigns) {
    static const TableColumn columns[] = {
        {.title = "Id", .is_number = true},
        {.title = "State"},
        {.title = "Environment", .is_name = true},
        {.title = "Range"},
        {.title = "Created"},
        {.title = "Note", .is_dim = true},
    };
    if (campaigns->count == 0) {
        cli_line(cli, "No campaigns yet: `interlace backfill plan` shows what one would do.");
        return;
    }
    Table *table = table_create(cli->arena, STR("Campaigns"), columns, COUNT_OF(columns));
    for (size_t i = 0; i < campaigns->count; i++) {
        const CampaignRecord *campaign = &campaigns->items[i];
        Str range =
            str_format(cli->arena, STR_FMT " to " STR_FMT, STR_ARG(wall_format(cli->arena, campaign->start, false)),
                       STR_ARG(wall_format(cli->arena, campaign->end, false)));
        table_add(table, (TableCell[]){CELL(str_format(cli->arena, "%lld", (long long)campaign->id)),
                                       CELL(campaign->state), CELL(campaign->environment), CELL(range),
                                       CELL(time_format_iso(cli->arena, campaign->created_at)), CELL(campaign->note)});
    }
    table_write(table, &cli->out, &cli->text);
}

Status command_backfill_list(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    StateStore *state = NULL;
    CampaignRecordVec campaigns = {0};
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(session_state_for_reading(session, &state, &err));
    CLI_TRY(state_load_campaigns(state, cli->arena, &campaigns, &err));
    if (!cli_wants_json(cli)) {
        print_list_text(cli, &campaigns);
        return OK;
    }
    JsonWriter *json = cli_json_begin(cli);
    json_begin_array(json);
    for (size_t i = 0; i < campaigns.count; i++) {
        json_begin_object(json);
        write_head(cli, &campaigns.items[i], json);
        json_end_object(json);
    }
    json_end_array(json);
    cli_json_end(cli);
    return OK;
}
