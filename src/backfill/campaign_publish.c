#include "backfill/campaign_publish.h"

#include "backfill/campaign_area.h"
#include "backfill/campaign_finish.h"
#include "backfill/campaign_seal.h"
#include "base/test_hooks.h"
#include "plan/snapshot_index.h"
#include "project/graph.h"
#include "run/physical.h"
#include "run/promotion.h"
#include "strategy/strategy.h"

/* ---- One transaction, under way. */

typedef struct Publication {
    Campaign *campaign;
    StateLock *lock;
    Arena *arena;
    EngineConnection *connection; /* the campaign's */
    bool is_revert;
    CampaignModelRecordVec models;
    CampaignBatchRecordVec batches;
    SnapshotVec snapshots; /* all that are recorded, without their definitions */
    RelationMap after;     /* what the environment shows when it is published */
} Publication;

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

/* What is shown keeps its table: then there are no rows to be kept, and the relation only says that it was done. */
static Status keep_replaced(const Publication *publication, const CampaignModel *model, Error *err) {
    Str condition =
        model->moves ? STR("false") : campaign_replaced_condition(publication->campaign, model, publication->arena);
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
    return model->moves && model->part == PART_VIEW && model->put.relation.name.size > 0 && !model->put.is_there;
}

static Status create_view(const Publication *publication, const CampaignModel *model, Error *err) {
    SqlText query;
    TRY(render_model_query(&publication->after, model->model, publication->arena, &query, err));
    return campaign_create_view(publication->campaign, model->put.relation, &query, err);
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

/* The environment's view of it shows another relation afterwards. */
static bool has_moving_view(const CampaignModel *model) {
    return model->moves && model->part < PART_TERMINAL && model->shown.name.size > 0;
}

/* Views of the environment that show another relation: in the same transaction, so that readers see all of it at once.
 */
static Status move_views(const Publication *publication, Error *err) {
    const Campaign *campaign = publication->campaign;
    IntentViewVec views = {0};
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        if (has_moving_view(model)) {
            intent_view_vec_push(publication->arena, &views,
                                 promotion_view_of_model(campaign->plan, model->model,
                                                         publication->is_revert ? model->shown : model->put.relation,
                                                         publication->arena));
        }
    }
    return promotion_show(publication->connection, &views, err);
}

/* ---- What the state has to know before: where new versions go. */

static bool is_bookkeeping(const Model *model, Str column) {
    const DuckColumn *own = strategy_bookkeeping(model->strategy);
    for (; own->name.size > 0; own++) {
        if (str_equal_fold(own->name, column)) {
            return true;
        }
    }
    return false;
}

/* Of its query; what a Python function gave is known from its rows. */
static Status columns_of(const Publication *publication, const CampaignModel *model, DuckColumnVec *columns_out,
                         Error *err) {
    DuckColumnVec found = {0};
    SqlText query = sql_text_all_rows(publication->arena, model->audit);
    if (model->model->kind == MODEL_SQL) {
        TRY(render_model_query(&publication->campaign->inside, model->model, publication->arena, &query, err));
    }
    TRY(engine_describe(publication->connection, &query, publication->arena, &found, err));
    for (size_t i = 0; i < found.count; i++) {
        if (model->model->kind == MODEL_SQL || !is_bookkeeping(model->model, found.items[i].name)) {
            duck_column_vec_push(publication->arena, columns_out, found.items[i]);
        }
    }
    return OK;
}

static Status announce(Publication *publication, CampaignModelRecord *record, Error *err) {
    const CampaignModel *model = campaign_find_model(publication->campaign, record->model);
    DuckColumnVec columns = {0};
    SqlRelation put = model->moves ? model->put.relation : (SqlRelation){0};
    record->put_schema = put.schema;
    record->put_name = put.name;
    record->put_revision = model->put.revision;
    bool is_recorded = put.name.size == 0 || (model->part == PART_VIEW && model->put.is_there);
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
    RelationMap after = relation_map_copy(&campaign->shown, arena);
    for (size_t i = 0; i < campaign->model_count; i++) {
        after.items[campaign->models[i].model->index] = campaign->models[i].put.relation;
    }
    return after;
}

/* Decided before the lock was taken: what other commands did meanwhile may have made it wrong. */
static Status refuse_moved(const Publication *publication, Str model, const char *what, Error *err) {
    bool is_revert = publication->is_revert;
    (void)error_set(err, ERROR_PLAN, "campaign %lld is not %s: model '" STR_FMT "' %s meanwhile",
                    (long long)publication->campaign->id, is_revert ? "reverted" : "published", STR_ARG(model), what);
    error_code(err, STR("campaign.moved"));
    error_hint(err, "`interlace backfill %s %lld` once more", is_revert ? "revert" : "publish",
               (long long)publication->campaign->id);
    return FAILED;
}

/* By a view that is about to be made: it names the relation. */
static bool is_named(const Campaign *campaign, const Model *upstream, Arena *arena) {
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        IndexVec queries = {0};
        if (is_new_view(model)) {
            queries = graph_inlined(campaign->session->project, model->model, arena);
            index_vec_push(arena, &queries, model->model->index);
        }
        for (size_t q = 0; q < queries.count; q++) {
            const Model *query = campaign->session->project->models[queries.items[q]];
            if (index_vec_contains(&query->upstreams, upstream->index)) {
                return true;
            }
        }
    }
    return false;
}

static Status check_pointers(const Publication *publication, Error *err) {
    const Campaign *campaign = publication->campaign;
    PointerVec now = {0};
    TRY(state_load_pointers(campaign->state, campaign->options.environment, publication->arena, &now, err));
    for (size_t i = 0; i < now.count; i++) {
        const Pointer *pointer = &now.items[i];
        const Pointer *then = campaign_pointer(campaign, pointer->model);
        bool is_same =
            then != NULL && str_equal(then->fingerprint, pointer->fingerprint) && then->revision == pointer->revision;
        const Model *model = is_same ? NULL : project_find(campaign->session->project, pointer->model);
        if (model != NULL &&
            (campaign_model_at(campaign, model->index) != NULL || is_named(campaign, model, publication->arena))) {
            return refuse_moved(publication, pointer->model, "was promoted", err);
        }
    }
    return OK;
}

static Status check_places(const Publication *publication, Error *err) {
    for (size_t i = 0; i < publication->snapshots.count; i++) {
        const Snapshot *snapshot = &publication->snapshots.items[i];
        const CampaignModel *model = campaign_find_model(publication->campaign, snapshot->name);
        bool is_taken = model != NULL && model->moves && model->part != PART_VIEW && snapshot->verified_at != 0 &&
                        str_equal(snapshot->physical_name, model->put.relation.name) &&
                        str_equal(snapshot->physical_schema, model->put.relation.schema);
        if (is_taken) {
            return refuse_moved(publication, snapshot->name, "was built elsewhere", err);
        }
    }
    return OK;
}

static bool is_of_environment(const Publication *publication, const SnapshotIndex *index, const PointerVec *shown,
                              const CampaignModel *model) {
    const Pointer *end = shown->items + shown->count;
    for (const Pointer *pointer = shown->items; pointer < end; pointer++) {
        if (str_equal_fold(pointer->model, model->model->name)) {
            Str owner = target_owner(index, pointer, end, model->put.relation);
            return owner.size == 0 || str_equal(owner, publication->campaign->options.environment);
        }
    }
    return true;
}

/* Of tables that are written in place: another environment may have come to show them. */
static Status check_owners(const Publication *publication, Error *err) {
    const Campaign *campaign = publication->campaign;
    PointerVec shown = {0};
    TRY(state_load_all_pointers(campaign->state, publication->arena, &shown, err));
    SnapshotIndex index = snapshot_index_create(&publication->snapshots, publication->arena);
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        if (campaign_model_has_rows(model) && !model->moves && !is_of_environment(publication, &index, &shown, model)) {
            return refuse_moved(publication, model->model->name, "became another environment's", err);
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
        if (publication->campaign->models[i].part < PART_TERMINAL) {
            TRY(publish_model(publication, &publication->campaign->models[i], err));
        }
    }
    return move_views(publication, err);
}

/* ---- Backward. */

static Status refuse_gone(const Campaign *campaign, Error *err) {
    (void)error_set(err, ERROR_PLAN, "the rows that campaign %lld replaced are not kept any more",
                    (long long)campaign->id);
    error_code(err, STR("campaign.gone"));
    error_hint(err, "gc has taken them; a campaign or `interlace restate` computes the windows anew");
    return FAILED;
}

/* Versions that are to be shown again are on record, and their relations there. */
static Status check_old_versions(const Publication *publication, Error *err) {
    const Campaign *campaign = publication->campaign;
    SnapshotIndex index = snapshot_index_create(&publication->snapshots, publication->arena);
    for (size_t i = 0; i < publication->models.count; i++) {
        const CampaignModelRecord *record = &publication->models.items[i];
        const CampaignModel *model = campaign_find_model(campaign, record->model);
        bool is_there =
            snapshot_index_find(&index, record->model, record->shown_fingerprint, record->revision) != NULL &&
            engine_catalog_kind(campaign->build.catalog, model->shown) != RELATION_ABSENT;
        if (has_moving_view(model) && !is_there) {
            return refuse_gone(campaign, err);
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
    TRY(model->moves ? OK : put_back(publication, model, err));
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
    return move_views(publication, err);
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

static bool is_read_never(const void *context, Str name, Str fingerprint) {
    (void)context;
    (void)name;
    (void)fingerprint;
    return false;
}

static Status prepare(Publication *publication, Error *err) {
    TRY(state_load_snapshots_for(publication->campaign->state, is_read_never, NULL, publication->arena,
                                 &publication->snapshots, err));
    TRY(check_pointers(publication, err));
    TRY(check_owners(publication, err));
    if (publication->is_revert) {
        return check_old_versions(publication, err);
    }
    TRY(check_places(publication, err));
    return announce_all(publication, err);
}

static Status replace_in_transaction(const Publication *publication, Error *err) {
    TRY(engine_begin(publication->connection, err));
    if (failed(publication->is_revert ? revert_all(publication, err) : publish_all(publication, err))) {
        engine_rollback(publication->connection);
        return FAILED;
    }
    return engine_commit(publication->connection, err);
}

static Status carry_out(Campaign *campaign, StateLock *lock, bool is_revert, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    Publication publication = {
        .campaign = campaign,
        .lock = lock,
        .arena = arena,
        .connection = campaign->connection,
        .is_revert = is_revert,
        .after = relations_after(campaign, arena),
    };
    CampaignState from = is_revert ? CAMPAIGN_PUBLISHED : CAMPAIGN_AUDITED;
    CampaignState through = is_revert ? CAMPAIGN_REVERTING : CAMPAIGN_PUBLISHING;
    campaign->build.lock = lock;
    TRY(state_load_campaign_models(campaign->state, campaign->id, arena, &publication.models, err));
    TRY(state_load_campaign_batches(campaign->state, campaign->id, arena, &publication.batches, err));
    TRY(move(campaign->state, campaign->id, from, through, err));
    TRY(test_hook("campaign.publishing", err));
    if (failed(prepare(&publication, err)) || failed(replace_in_transaction(&publication, err))) {
        AUTO(error) Error unmoved = {0};
        if (failed(move(campaign->state, campaign->id, through, from, &unmoved))) {
            session_note(campaign->session, STR_FMT "; the next command puts it right", STR_ARG(unmoved.message));
        }
        return FAILED;
    }
    TRY(test_hook("campaign.committed", err));
    return campaign_finish(campaign->session, campaign->id, lock, is_revert, err);
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
    if (kept < count_with_rows(campaign) && campaign_state_is(campaign->record.state, CAMPAIGN_PUBLISHED)) {
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
    bool is_publishing = campaign_state_is(name, CAMPAIGN_PUBLISHING);
    bool is_reverting = campaign_state_is(name, CAMPAIGN_REVERTING);
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
        TRY(campaign_finish(session, id, lock, is_reverting, err));
    } else {
        TRY(is_publishing ? move(state, id, CAMPAIGN_PUBLISHING, CAMPAIGN_AUDITED, err)
                          : move(state, id, CAMPAIGN_REVERTING, CAMPAIGN_PUBLISHED, err));
    }
    session_note(session, "%s of campaign %lld that was interrupted is %s",
                 is_publishing ? "a publication" : "a revert", (long long)id, is_committed ? "finished" : "undone");
    return OK;
}
