#include "backfill/campaign_publish.h"

#include "backfill/campaign_area.h"
#include "backfill/campaign_seal.h"
#include "base/test_hooks.h"
#include "run/change_log.h"
#include "run/contract.h"
#include "run/notify.h"
#include "run/physical.h"
#include "run/promotion.h"

#include <math.h>

/* ---- One transaction, under way. */

typedef struct Publication {
    Campaign *campaign;
    StateLock *lock;
    Arena *arena;
    EngineConnection *connection; /* the campaign's */
    CampaignModelRecordVec models;
    CampaignBatchRecordVec batches;
    RelationMap after; /* what the environment shows when it is published */
} Publication;

static Status load_records(StateStore *state, int64_t id, Arena *arena, CampaignModelRecordVec *models,
                           CampaignBatchRecordVec *batches, Error *err) {
    TRY(state_load_campaign_models(state, id, arena, models, err));
    return state_load_campaign_batches(state, id, arena, batches, err);
}

static Str text_of(const Publication *publication, SqlRelation relation) {
    AUTO(strbuf) StrBuf sql = {0};
    sql_relation(&sql, relation);
    return strbuf_copy(&sql, publication->arena);
}

static Status execute(const Publication *publication, Str sql, Error *err) {
    return engine_execute_own(publication->connection, sql, err);
}

static Status replace_whole(const Publication *publication, const CampaignModel *model, SqlRelation rows, Error *err) {
    SqlRelation table = model->put.relation;
    TRY(execute(publication,
                str_format(publication->arena, "CREATE OR REPLACE TABLE " STR_FMT " AS SELECT * FROM " STR_FMT,
                           STR_ARG(text_of(publication, table)), STR_ARG(text_of(publication, rows))),
                err));
    PhysicalWork work =
        physical_work(publication->campaign->session->project, model->model, table, STR_EMPTY, publication->arena);
    return physical_create(&work, publication->connection, publication->arena, err);
}

/* ---- Forward. */

/* The old version keeps its table: then there are no rows to be kept, and the relation only says that it was done. */
static Status keep_replaced(const Publication *publication, const CampaignModel *model, Error *err) {
    Str condition = model->is_changed
                        ? STR("false")
                        : campaign_replaced_condition(publication->campaign, model, publication->arena);
    return execute(publication,
                   str_format(publication->arena,
                              "CREATE TABLE " STR_FMT " AS SELECT * FROM " STR_FMT " WHERE " STR_FMT,
                              STR_ARG(text_of(publication, model->before)),
                              STR_ARG(text_of(publication, model->target.relation)), STR_ARG(condition)),
                   err);
}

static Status put_rows(const Publication *publication, const CampaignModel *model, Error *err) {
    if (model->part != PART_WINDOWED) {
        return replace_whole(publication, model, model->audit, err);
    }
    return build_put_rows(&publication->campaign->build, model->task, &model->put, publication->connection,
                          model->audit, &model->windows, publication->arena, err);
}

static Status drop_overlay(const Publication *publication, const CampaignModel *model, Error *err) {
    Str overlay = text_of(publication, model->overlay);
    return execute(publication, str_format(publication->arena, "DROP VIEW IF EXISTS " STR_FMT, STR_ARG(overlay)), err);
}

static bool is_new_view(const CampaignModel *model) {
    return model->is_changed && model->part == PART_VIEW && model->put.relation.name.size > 0 && !model->put.is_there;
}

static Status create_view(const Publication *publication, const CampaignModel *model, Error *err) {
    SqlText query;
    TRY(render_model_query(&publication->after, model->model, publication->arena, &query, err));
    SqlText parts[] = {sql_text_own(publication->arena, str_format(publication->arena,
                                                                   "CREATE OR REPLACE VIEW " STR_FMT " AS ",
                                                                   STR_ARG(text_of(publication, model->put.relation)))),
                       query};
    SqlText create = sql_text_concat(publication->arena, parts, COUNT_OF(parts));
    return engine_execute(publication->connection, &create, NULL, err);
}

static Status publish_model(const Publication *publication, const CampaignModel *model, Error *err) {
    TRY(test_hook("campaign.replaced", err));
    if (campaign_model_has_rows(model)) {
        TRY(keep_replaced(publication, model, err));
        TRY(put_rows(publication, model, err));
    }
    TRY(is_new_view(model) ? create_view(publication, model, err) : OK);
    return model->overlay.name.size > 0 ? drop_overlay(publication, model, err) : OK;
}

/* Views of the environment that show another relation: in the same transaction, so that readers see all of it at once.
 */
static Status move_views(const Publication *publication, bool is_revert, Error *err) {
    const Campaign *campaign = publication->campaign;
    IntentViewVec views = {0};
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        bool is_moved = model->is_changed && model->part != PART_REFUSED && model->shown.name.size > 0;
        if (is_moved) {
            intent_view_vec_push(publication->arena, &views,
                                 promotion_view_of_model(campaign->plan, model->model,
                                                         is_revert ? model->shown : model->put.relation,
                                                         publication->arena));
        }
    }
    return promotion_show(publication->connection, &views, err);
}

/* ---- What the state has to know before: where new versions go. */

static Status columns_of(const Publication *publication, const CampaignModel *model, DuckColumnVec *columns_out,
                         Error *err) {
    SqlText query = sql_text_all_rows(publication->arena, model->audit);
    if (model->model->kind == MODEL_SQL) {
        TRY(render_model_query(&publication->campaign->inside, model->model, publication->arena, &query, err));
    }
    return engine_describe(publication->connection, &query, publication->arena, columns_out, err);
}

static Status announce(Publication *publication, CampaignModelRecord *record, Error *err) {
    const CampaignModel *model = campaign_find_model(publication->campaign, record->model);
    DuckColumnVec columns = {0};
    if (!model->is_changed) {
        return OK;
    }
    record->put_schema = model->put.relation.schema;
    record->put_name = model->put.relation.name;
    record->put_revision = model->put.revision;
    bool is_recorded = model->put.relation.name.size == 0 || (model->part == PART_VIEW && model->put.is_there);
    if (is_recorded) {
        return OK;
    }
    TRY(columns_of(publication, model, &columns, err));
    return build_announce(&publication->campaign->build, model->task, &model->put, &columns, publication->arena, err);
}

static Status announce_all(Publication *publication, Error *err) {
    Campaign *campaign = publication->campaign;
    for (size_t i = 0; i < publication->models.count; i++) {
        TRY(announce(publication, &publication->models.items[i], err));
    }
    return state_campaign_put_places(campaign->state, publication->lock, campaign->id, &publication->models, err);
}

static RelationMap relations_after(const Campaign *campaign, Arena *arena) {
    size_t count = campaign->session->project->model_count;
    RelationMap after = campaign->shown;
    after.items = ARENA_NEW_ARRAY(arena, SqlRelation, count);
    memcpy(after.items, campaign->shown.items, count * sizeof *after.items);
    for (size_t i = 0; i < campaign->model_count; i++) {
        after.items[campaign->models[i].model->index] = campaign->models[i].put.relation;
    }
    return after;
}

/* Decided before the lock was taken: what other commands did meanwhile may have made it wrong. */
static Status refuse_moved(const Publication *publication, Str model, const char *what, Error *err) {
    (void)error_set(err, ERROR_PLAN, "campaign %lld is not published: model '" STR_FMT "' %s meanwhile",
                    (long long)publication->campaign->id, STR_ARG(model), what);
    error_code(err, STR("campaign.moved"));
    error_hint(err, "`interlace backfill publish %lld` once more", (long long)publication->campaign->id);
    return FAILED;
}

static Status check_pointers(const Publication *publication, Error *err) {
    const Campaign *campaign = publication->campaign;
    PointerVec now = {0};
    TRY(state_load_pointers(campaign->state, campaign->options.environment, publication->arena, &now, err));
    for (size_t i = 0; i < now.count; i++) {
        const Pointer *pointer = &now.items[i];
        const Pointer *then = campaign_pointer(campaign, pointer->model);
        bool is_same = then != NULL && str_equal(then->fingerprint, pointer->fingerprint) &&
                       then->revision == pointer->revision;
        if (!is_same && campaign_find_model(campaign, pointer->model) != NULL) {
            return refuse_moved(publication, pointer->model, "was promoted", err);
        }
    }
    return OK;
}

static bool is_read_never(const void *context, Str name, Str fingerprint) {
    (void)context;
    (void)name;
    (void)fingerprint;
    return false;
}

static Status check_places(const Publication *publication, Error *err) {
    SnapshotVec snapshots = {0};
    TRY(state_load_snapshots_for(publication->campaign->state, is_read_never, NULL, publication->arena, &snapshots,
                                 err));
    for (size_t i = 0; i < snapshots.count; i++) {
        const Snapshot *snapshot = &snapshots.items[i];
        const CampaignModel *model = campaign_find_model(publication->campaign, snapshot->name);
        bool is_taken = model != NULL && model->is_changed && model->part != PART_VIEW && snapshot->verified_at != 0 &&
                        str_equal(snapshot->physical_name, model->put.relation.name) &&
                        str_equal(snapshot->physical_schema, model->put.relation.schema);
        if (is_taken) {
            return refuse_moved(publication, snapshot->name, "was built elsewhere", err);
        }
    }
    return OK;
}

/* Nobody writes there, so this finds a damaged or foreign table only. */
static Status check_audited(const Publication *publication, Error *err) {
    for (size_t i = 0; i < publication->models.count; i++) {
        const CampaignModelRecord *record = &publication->models.items[i];
        const CampaignModel *model = campaign_find_model(publication->campaign, record->model);
        Str content = STR_EMPTY;
        if (!campaign_model_has_rows(model)) {
            continue;
        }
        TRY(campaign_audited_content(publication->campaign, model, publication->arena, &content, err));
        if (!str_equal(content, record->audited)) {
            (void)error_set(err, ERROR_PLAN, "the rows of model '" STR_FMT "' are not those that were audited",
                            STR_ARG(record->model));
            error_code(err, STR("campaign.moved"));
            error_hint(err, "`interlace backfill discard %lld`, and start a new one",
                       (long long)publication->campaign->id);
            return FAILED;
        }
    }
    return OK;
}

static Status check_published(const Publication *publication, Error *err) {
    IndexVec moved = {0};
    StrVec texts = {0};
    int64_t id = publication->campaign->id;
    TRY(campaign_find_moved(publication->campaign, &publication->batches, publication->arena, &moved, err));
    if (moved.count == 0) {
        return OK;
    }
    for (size_t i = 0; i < moved.count; i++) {
        str_vec_push(publication->arena, &texts,
                     campaign_batch_text(publication->campaign, &publication->batches.items[moved.items[i]],
                                         publication->arena));
    }
    Str names = str_join(publication->arena, texts.items, texts.count, STR(", "));
    (void)error_set(err, ERROR_PLAN,
                    "campaign %lld is not published: these windows have moved since it was audited: " STR_FMT,
                    (long long)id, STR_ARG(names));
    error_code(err, STR("campaign.moved"));
    error_hint(err,
               "`interlace backfill audit %lld --again` compares them anew; `interlace backfill publish %lld --rebase` "
               "computes them anew",
               (long long)id, (long long)id);
    return FAILED;
}

static Status publish_all(const Publication *publication, Error *err) {
    TRY(check_audited(publication, err));
    TRY(check_published(publication, err));
    for (size_t i = 0; i < publication->campaign->model_count; i++) {
        if (publication->campaign->models[i].part != PART_REFUSED) {
            TRY(publish_model(publication, &publication->campaign->models[i], err));
        }
    }
    return move_views(publication, false, err);
}

/* ---- Backward. */

static Status refuse_gone(const Campaign *campaign, Error *err) {
    (void)error_set(err, ERROR_PLAN, "the rows that campaign %lld replaced are not kept any more",
                    (long long)campaign->id);
    error_code(err, STR("campaign.gone"));
    error_hint(err, "gc has taken them; a campaign or `interlace restate` computes the windows anew");
    return FAILED;
}

static bool is_recorded(const SnapshotVec *snapshots, const CampaignModelRecord *record) {
    for (size_t i = 0; i < snapshots->count; i++) {
        const Snapshot *snapshot = &snapshots->items[i];
        if (str_equal_fold(snapshot->name, record->model) && snapshot->revision == record->revision &&
            str_equal(snapshot->fingerprint, record->shown_fingerprint)) {
            return true;
        }
    }
    return false;
}

/* Versions that are to be shown again are on record, and their relations there. */
static Status check_old_versions(const Publication *publication, Error *err) {
    SnapshotVec snapshots = {0};
    TRY(state_load_snapshots_for(publication->campaign->state, is_read_never, NULL, publication->arena, &snapshots,
                                 err));
    for (size_t i = 0; i < publication->models.count; i++) {
        const CampaignModelRecord *record = &publication->models.items[i];
        const CampaignModel *model = campaign_find_model(publication->campaign, record->model);
        bool is_moved = model->is_changed && model->shown.name.size > 0;
        if (is_moved && (!is_recorded(&snapshots, record) ||
                         engine_catalog_kind(publication->campaign->build.catalog, model->shown) == RELATION_ABSENT)) {
            return refuse_gone(publication->campaign, err);
        }
    }
    return OK;
}

static Status check_unwritten(const Publication *publication, const CampaignModel *model, Error *err) {
    const Campaign *campaign = publication->campaign;
    Str condition = campaign_replaced_condition(campaign, model, publication->arena), row_hash, now, then;
    TRY(campaign_row_hash(publication->connection, model->model, model->audit, publication->arena, &row_hash, err));
    TRY(campaign_content(publication->connection, row_hash, model->target.relation, condition, publication->arena, &now,
                         err));
    TRY(campaign_audited_content(campaign, model, publication->arena, &then, err));
    if (str_equal(now, then)) {
        return OK;
    }
    (void)error_set(err, ERROR_PLAN,
                    "campaign %lld is not reverted: windows of model '" STR_FMT "' have been written since",
                    (long long)campaign->id, STR_ARG(model->model->name));
    error_code(err, STR("campaign.moved"));
    error_hint(err, "a campaign over them computes them anew");
    return FAILED;
}

static Status put_back(const Publication *publication, const CampaignModel *model, Error *err) {
    Str shown = text_of(publication, model->target.relation), before = text_of(publication, model->before);
    if (model->part != PART_WINDOWED) {
        return replace_whole(publication, model, model->before, err);
    }
    Str condition = campaign_replaced_condition(publication->campaign, model, publication->arena);
    TRY(execute(
        publication,
        str_format(publication->arena, "DELETE FROM " STR_FMT " WHERE " STR_FMT, STR_ARG(shown), STR_ARG(condition)),
        err));
    return execute(publication,
                   str_format(publication->arena, "INSERT INTO " STR_FMT " BY NAME SELECT * FROM " STR_FMT,
                              STR_ARG(shown), STR_ARG(before)),
                   err);
}

static Status revert_model(const Publication *publication, const CampaignModel *model, Error *err) {
    TRY(test_hook("campaign.replaced", err));
    TRY(check_unwritten(publication, model, err));
    TRY(model->is_changed ? OK : put_back(publication, model, err));
    return execute(publication,
                   str_format(publication->arena, "DROP TABLE " STR_FMT, STR_ARG(text_of(publication, model->before))),
                   err);
}

static Status revert_all(const Publication *publication, Error *err) {
    for (size_t i = 0; i < publication->campaign->model_count; i++) {
        const CampaignModel *model = &publication->campaign->models[i];
        if (campaign_model_has_rows(model)) {
            TRY(revert_model(publication, model, err));
        }
    }
    return move_views(publication, true, err);
}

/* ---- The record of what is true. It stands on records alone, so that whoever finds it half done can finish it. */

static SqlRelation shown_relation(const CampaignModelRecord *model) {
    return (SqlRelation){.schema = model->schema, .name = model->name};
}

static LedgerKey key_of(const CampaignModelRecord *model, SqlRelation relation) {
    return (LedgerKey){.engine = model->engine, .schema = relation.schema, .name = relation.name};
}

static IntervalSet windows_of(const CampaignModelRecord *model, const CampaignBatchRecordVec *batches, Arena *arena) {
    IntervalSet windows = {0};
    for (size_t i = 0; i < batches->count; i++) {
        if (str_equal_fold(batches->items[i].model, model->model)) {
            interval_set_add(arena, &windows, batches->items[i].window);
        }
    }
    return windows;
}

/* What of `set` lies in `windows`. */
static IntervalSet common(const IntervalSet *set, const IntervalSet *windows, Arena *arena) {
    IntervalSet inside = {0};
    for (size_t i = 0; i < windows->count; i++) {
        IntervalSet missing = interval_set_missing(arena, set, windows->items[i]);
        IntervalSet there = interval_set_missing(arena, &missing, windows->items[i]);
        interval_set_add_all(arena, &inside, &there);
    }
    return inside;
}

static bool is_of_another_version(const CampaignModelRecord *model) {
    return !str_equal(model->fingerprint, model->shown_fingerprint);
}

/* The new version has the windows of the copy, and those that the campaign filled. The old one keeps what it has. */
static Status add_copied(StateStore *state, int64_t id, const CampaignModelRecord *model,
                         const CampaignBatchRecordVec *batches, Arena *arena, CampaignLedgerChangeVec *changes,
                         Error *err) {
    SqlRelation shown = shown_relation(model);
    LedgerKey key = key_of(model, shown);
    LedgerKey audit = key_of(model, campaign_relation(shown, CAMPAIGN_AUDIT, id, arena));
    LedgerKey put = key_of(model, (SqlRelation){.schema = model->put_schema, .name = model->put_name});
    IntervalSet windows = windows_of(model, batches, arena), leftover, filled, then;
    TRY(state_ledger_load(state, &put, arena, &leftover, err));
    TRY(state_ledger_load(state, &key, arena, &filled, err));
    TRY(state_ledger_load(state, &audit, arena, &then, err));
    for (size_t i = 0; i < windows.count; i++) {
        interval_set_remove(arena, &filled, windows.items[i]);
    }
    interval_set_add_all(arena, &filled, &then);
    campaign_ledger_change_vec_push(arena, changes,
                                    (CampaignLedgerChange){.key = put, .removed = leftover, .added = filled});
    return OK;
}

static Status add_changes(StateStore *state, int64_t id, const CampaignModelRecord *model,
                          const CampaignBatchRecordVec *batches, bool is_revert, Arena *arena,
                          CampaignLedgerChangeVec *changes, Error *err) {
    if (is_of_another_version(model)) {
        return is_revert ? OK : add_copied(state, id, model, batches, arena, changes, err);
    }
    SqlRelation shown = shown_relation(model);
    LedgerKey key = key_of(model, shown);
    LedgerKey audit = key_of(model, campaign_relation(shown, CAMPAIGN_AUDIT, id, arena));
    LedgerKey before = key_of(model, campaign_relation(shown, CAMPAIGN_BEFORE, id, arena));
    IntervalSet windows = windows_of(model, batches, arena), filled, then;
    TRY(state_ledger_load(state, &key, arena, &filled, err));
    TRY(state_ledger_load(state, is_revert ? &before : &audit, arena, &then, err));
    campaign_ledger_change_vec_push(arena, changes,
                                    (CampaignLedgerChange){.key = key, .removed = windows, .added = then});
    if (is_revert) {
        campaign_ledger_change_vec_push(arena, changes, (CampaignLedgerChange){.key = before, .removed = windows});
    } else {
        campaign_ledger_change_vec_push(
            arena, changes, (CampaignLedgerChange){.key = before, .added = common(&filled, &windows, arena)});
    }
    return OK;
}

/* A content begins with the number of rows. */
static int64_t rows_of(Str content) {
    int64_t rows = CHANGE_ROWS_UNKNOWN;
    size_t end = str_find_char(content, ':');
    return end != STR_NOT_FOUND && str_to_int64(str_slice(content, 0, end), &rows) ? rows : CHANGE_ROWS_UNKNOWN;
}

static int64_t rows_replaced(const CampaignModelRecord *model, const CampaignBatchRecordVec *batches) {
    int64_t sum = 0;
    for (size_t i = 0; i < batches->count; i++) {
        if (str_equal_fold(batches->items[i].model, model->model)) {
            sum += rows_of(batches->items[i].published);
        }
    }
    return sum;
}

static ChangeRecord record_of(const CampaignRecord *campaign, const CampaignModelRecord *model,
                              const CampaignBatchRecordVec *batches, bool is_revert, Str who, Arena *arena) {
    int64_t old = rows_replaced(model, batches), new = rows_of(model->audited);
    return (ChangeRecord){
        .kind = is_revert ? CHANGED_BY_REVERT : CHANGED_BY_PUBLICATION,
        .environment = campaign->environment,
        .model = model->model,
        .windows = windows_of(model, batches, arena),
        .rows_before = is_revert ? new : old,
        .rows_after = is_revert ? old : new,
        .note = campaign->note,
        .who = who,
        .campaign = campaign->id,
    };
}

static const ConfigValue *report_of_model(const ConfigValue *report, Str model) {
    const ConfigValue *models = config_find(report, STR("models"));
    for (size_t i = 0; models != NULL && i < models->count; i++) {
        if (str_equal(config_text(models->items[i], STR("name")), model)) {
            return models->items[i];
        }
    }
    return NULL;
}

/* The sum that moved most, measured by what it was. */
static void add_measure(const ConfigValue *report, bool is_revert, ChangeRecord *record) {
    const ConfigValue *columns = config_find(report_of_model(report, record->model), STR("columns"));
    double most = 0;
    for (size_t i = 0; columns != NULL && i < columns->count; i++) {
        double old, new;
        const ConfigValue *column = columns->entries[i].value;
        bool is_measure = str_to_double(config_text(column, STR("sum_old")), &old) &&
                          str_to_double(config_text(column, STR("sum_new")), &new);
        double moved = is_measure ? fabs(new - old) / (fabs(old) + fabs(new)) : 0; /* NaN where both are nothing */
        if (moved > most) {
            most = moved;
            record->measure = columns->entries[i].key;
            record->measure_before = is_revert ? new : old;
            record->measure_after = is_revert ? old : new;
        }
    }
}

static void add_pointers(const CampaignModelRecord *model, bool is_revert, Arena *arena, CampaignFinish *finish) {
    Pointer shown = {.model = model->model, .fingerprint = model->shown_fingerprint, .revision = model->revision};
    Pointer put = {.model = model->model, .fingerprint = model->fingerprint, .revision = model->put_revision};
    if (is_of_another_version(model)) {
        pointer_vec_push(arena, &finish->intent.put, is_revert ? shown : put);
    }
    if (is_of_another_version(model) && is_revert) {
        pointer_vec_push(arena, &finish->taken, put);
    }
}

static Status finish(Session *session, int64_t id, StateLock *lock, bool is_revert, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    StateStore *state = NULL;
    CampaignRecord campaign;
    CampaignModelRecordVec models = {0};
    CampaignBatchRecordVec batches = {0};
    CampaignFinish what = {0};
    ConfigValue *report = NULL;
    Str who = change_log_who(arena);
    TRY(session_state_for_writing(session, &state, err));
    TRY(state_load_campaign(state, id, arena, &campaign, err));
    if (campaign.report_json.size > 0) {
        TRY(json_read(campaign.report_json, STR("audit"), arena, &report, err));
    }
    TRY(load_records(state, id, arena, &models, &batches, err));
    what.intent.environment = campaign.environment;
    what.intent.command = is_revert ? STR("backfill revert") : STR("backfill publish");
    for (size_t i = 0; i < models.count; i++) {
        const CampaignModelRecord *model = &models.items[i];
        add_pointers(model, is_revert, arena, &what);
        if (str_equal(model->part, campaign_part_name(PART_VIEW))) {
            continue;
        }
        if (str_equal(model->part, campaign_part_name(PART_WINDOWED))) {
            TRY(add_changes(state, id, model, &batches, is_revert, arena, &what.ledger, err));
        }
        ChangeRecord record = record_of(&campaign, model, &batches, is_revert, who, arena);
        add_measure(report, is_revert, &record);
        notify_choose(session->project, record.environment, record.model, arena, &record.hooks);
        change_record_vec_push(arena, &what.records, record);
    }
    return state_campaign_finish(
        state, lock, id, campaign_state_name(is_revert ? CAMPAIGN_REVERTING : CAMPAIGN_PUBLISHING),
        campaign_state_name(is_revert ? CAMPAIGN_REVERTED : CAMPAIGN_PUBLISHED), &what, err);
}

/* ---- The steps. */

static Status move(StateStore *state, int64_t id, CampaignState from, CampaignState to, Error *err) {
    bool is_moved = false;
    TRY(state_campaign_move(state, id, campaign_state_name(from), campaign_state_name(to), &is_moved, err));
    if (is_moved) {
        return OK;
    }
    AUTO(arena) Arena *arena = arena_create();
    Str state_now = STR_EMPTY;
    TRY(state_campaign_state(state, id, arena, &state_now, err));
    (void)error_set(err, ERROR_PLAN, "campaign %lld is " STR_FMT ", not " STR_FMT, (long long)id, STR_ARG(state_now),
                    STR_ARG(campaign_state_name(from)));
    error_code(err, STR("campaign.state"));
    return FAILED;
}

static Status prepare(Publication *publication, bool is_revert, Error *err) {
    TRY(check_pointers(publication, err));
    if (is_revert) {
        return check_old_versions(publication, err);
    }
    TRY(check_places(publication, err));
    return announce_all(publication, err);
}

static Status replace_in_transaction(const Publication *publication, bool is_revert, Error *err) {
    TRY(engine_begin(publication->connection, err));
    if (failed(is_revert ? revert_all(publication, err) : publish_all(publication, err))) {
        engine_rollback(publication->connection);
        return FAILED;
    }
    return engine_commit(publication->connection, err);
}

static Status carry_out(Campaign *campaign, StateLock *lock, bool is_revert, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    Publication publication = {.campaign = campaign, .lock = lock, .arena = arena, .connection = campaign->connection};
    CampaignState from = is_revert ? CAMPAIGN_PUBLISHED : CAMPAIGN_AUDITED;
    CampaignState through = is_revert ? CAMPAIGN_REVERTING : CAMPAIGN_PUBLISHING;
    campaign->build.lock = lock;
    publication.after = relations_after(campaign, arena);
    TRY(load_records(campaign->state, campaign->id, arena, &publication.models, &publication.batches, err));
    TRY(move(campaign->state, campaign->id, from, through, err));
    TRY(test_hook("campaign.publishing", err));
    if (failed(prepare(&publication, is_revert, err)) ||
        failed(replace_in_transaction(&publication, is_revert, err))) {
        AUTO(error) Error unmoved = {0};
        if (failed(move(campaign->state, campaign->id, through, from, &unmoved))) {
            session_note(campaign->session, STR_FMT "; the next command puts it right", STR_ARG(unmoved.message));
        }
        return FAILED;
    }
    TRY(test_hook("campaign.committed", err));
    return finish(campaign->session, campaign->id, lock, is_revert, err);
}

Status campaign_publish(Campaign *campaign, StateLock *lock, Error *err) {
    return carry_out(campaign, lock, false, err);
}

static Status count_before(EngineConnection *connection, int64_t id, size_t *count_out, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    OwnedRelationVec there = {0};
    *count_out = 0;
    TRY(campaign_area_list(connection, id, arena, &there, err));
    Str ending = campaign_relation_name(STR_EMPTY, CAMPAIGN_BEFORE, id, arena);
    for (size_t i = 0; i < there.count; i++) {
        *count_out += str_ends_with(there.items[i].relation.name, ending);
    }
    return OK;
}

static size_t count_with_rows(const Campaign *campaign) {
    size_t count = 0;
    for (size_t i = 0; i < campaign->model_count; i++) {
        count += campaign_model_has_rows(&campaign->models[i]);
    }
    return count;
}

Status campaign_revert(Campaign *campaign, StateLock *lock, Error *err) {
    size_t kept = 0;
    TRY(count_before(campaign->connection, campaign->id, &kept, err));
    if (kept < count_with_rows(campaign) &&
        str_equal(campaign->record.state, campaign_state_name(CAMPAIGN_PUBLISHED))) {
        return refuse_gone(campaign, err);
    }
    return carry_out(campaign, lock, true, err);
}

/* ---- Recovery. */

Status campaign_recover(Session *session, int64_t id, StateLock *lock, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    StateStore *state = NULL;
    Str name = STR_EMPTY;
    size_t kept = 0;
    TRY(session_state_for_writing(session, &state, err));
    TRY(state_campaign_state(state, id, arena, &name, err));
    bool is_publishing = str_equal(name, campaign_state_name(CAMPAIGN_PUBLISHING));
    bool is_reverting = str_equal(name, campaign_state_name(CAMPAIGN_REVERTING));
    if (!is_publishing && !is_reverting) {
        return OK;
    }
    Engine *engine = NULL;
    AUTO(engine_connection) EngineConnection *connection = NULL;
    TRY(session_engine(session, false, &engine, err));
    TRY(engine_connect(engine, &connection, err));
    TRY(count_before(connection, id, &kept, err));
    bool is_committed = is_publishing == (kept > 0); /* all are made in one transaction, and dropped in one */
    if (is_committed) {
        TRY(finish(session, id, lock, is_reverting, err));
    } else {
        TRY(is_publishing ? move(state, id, CAMPAIGN_PUBLISHING, CAMPAIGN_AUDITED, err)
                          : move(state, id, CAMPAIGN_REVERTING, CAMPAIGN_PUBLISHED, err));
    }
    session_note(session, "%s of campaign %lld that was interrupted is %s",
                 is_publishing ? "a publication" : "a revert", (long long)id, is_committed ? "finished" : "undone");
    return OK;
}
