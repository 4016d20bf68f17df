#include "backfill/campaign_area.h"

#include "base/test_hooks.h"

/* ---- Making. */

static Status create_empty(const Campaign *campaign, const CampaignModel *model, Error *err) {
    AUTO(strbuf) StrBuf head = {0};
    SqlText rows = sql_text_all_rows(campaign->arena, model->target.relation);
    if (model->model->kind == MODEL_SQL) {
        TRY(render_model_query(&campaign->inside, model->model, campaign->arena, &rows, err));
    }
    strbuf_text(&head, "CREATE TABLE IF NOT EXISTS ");
    sql_relation(&head, model->audit);
    strbuf_text(&head, " AS SELECT * FROM (");
    SqlText parts[] = {sql_text_own(campaign->arena, strbuf_copy(&head, campaign->arena)), rows,
                       sql_text_own(campaign->arena, STR("\n) AS source LIMIT 0"))};
    SqlText create = sql_text_concat(campaign->arena, parts, COUNT_OF(parts));
    return engine_execute(campaign->connection, &create, NULL, err);
}

/* A model with a key replaces rows of the keys that it met: its windows only bound what is read (spec 02 §8). */
Str campaign_replaced_condition(const Campaign *campaign, const CampaignModel *model, Arena *arena) {
    if (model->part != PART_WINDOWED || model->model->key.count == 0) {
        return campaign_window_condition(campaign, model, arena);
    }
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "EXISTS (SELECT 1 FROM ");
    sql_relation(&sql, model->audit);
    strbuf_text(&sql, " AS audit WHERE ");
    for (size_t i = 0; i < model->model->key.count; i++) {
        strbuf_text(&sql, i == 0 ? "audit." : " AND audit.");
        sql_identifier(&sql, model->model->key.items[i]);
        strbuf_text(&sql, " = shown.");
        sql_identifier(&sql, model->model->key.items[i]);
    }
    strbuf_char(&sql, ')');
    return strbuf_copy(&sql, arena);
}

static Status create_overlay(const Campaign *campaign, const CampaignModel *model, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CREATE OR REPLACE VIEW ");
    sql_relation(&sql, model->overlay);
    strbuf_text(&sql, " AS ");
    strbuf_text(&sql, "SELECT * FROM ");
    sql_relation(&sql, model->target.relation);
    Str replaced = campaign_replaced_condition(campaign, model, campaign->arena);
    strbuf_format(&sql, " AS shown WHERE (" STR_FMT ") IS NOT TRUE", STR_ARG(replaced));
    strbuf_text(&sql, " UNION ALL BY NAME SELECT * FROM ");
    sql_relation(&sql, model->audit);
    return engine_execute_own(campaign->connection, strbuf_str(&sql), err);
}

static Status create_view(const Campaign *campaign, const CampaignModel *model, Error *err) {
    AUTO(strbuf) StrBuf head = {0};
    SqlText query;
    TRY(render_model_query(&campaign->inside, model->model, campaign->arena, &query, err));
    strbuf_text(&head, "CREATE OR REPLACE VIEW ");
    sql_relation(&head, model->overlay);
    strbuf_text(&head, " AS ");
    SqlText parts[] = {sql_text_own(campaign->arena, strbuf_copy(&head, campaign->arena)), query};
    SqlText create = sql_text_concat(campaign->arena, parts, COUNT_OF(parts));
    return engine_execute(campaign->connection, &create, NULL, err);
}

static Status make_for(const Campaign *campaign, const CampaignModel *model, Error *err) {
    if (model->part == PART_VIEW) {
        return create_view(campaign, model, err);
    }
    TRY(create_empty(campaign, model, err));
    return model->part == PART_WINDOWED ? create_overlay(campaign, model, err) : OK;
}

Status campaign_area_make(const Campaign *campaign, Error *err) {
    for (size_t i = 0; i < campaign->model_count; i++) {
        const CampaignModel *model = &campaign->models[i];
        if (model->audit.name.size > 0) {
            TRY(make_for(campaign, model, err));
        }
    }
    return test_hook("campaign.area", err);
}

/* ---- Dropping. */

static bool is_of_campaign(const OwnedRelation *owned, int64_t id) {
    static const char *const kinds[] = {CAMPAIGN_AUDIT, CAMPAIGN_OVERLAY, CAMPAIGN_BEFORE};
    AUTO(arena) Arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (str_ends_with(owned->relation.name, str_format(arena, "__%s_%lld", kinds[i], (long long)id))) {
            return true;
        }
    }
    return false;
}

Status campaign_area_drop(Session *session, int64_t id, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(engine_connection) EngineConnection *connection = NULL;
    OwnedRelationVec owned = {0};
    Engine *engine = NULL;
    TRY(session_engine(session, false, &engine, err));
    TRY(engine_connect(engine, &connection, err));
    TRY(engine_owned_relations(connection, arena, &owned, err));
    TRY(engine_begin(connection, err));
    for (size_t i = 0; i < owned.count; i++) {
        if (is_of_campaign(&owned.items[i], id)) {
            TRY(engine_drop_relation(connection, owned.items[i].kind, owned.items[i].relation, err));
        }
    }
    return engine_commit(connection, err);
}

/* ---- Contents. */

static bool is_compared(const Model *model, Str column) {
    for (size_t i = 0; i < model->clock_columns.count; i++) {
        if (str_equal_fold(model->clock_columns.items[i], column)) {
            return false;
        }
    }
    return true;
}

Status campaign_content(EngineConnection *connection, const Model *model, SqlRelation relation, SqlRelation like,
                        Str condition, Arena *arena, Str *content_out, Error *err) {
    DuckColumnVec columns;
    bool exists = false;
    TRY(engine_relation_columns(connection, like, arena, &exists, &columns, err));
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT count(*) || ':' || coalesce(bit_xor(h), 0) || ':' || coalesce(sum(h >> 16), 0)"
                      " FROM (SELECT hash(0");
    for (size_t i = 0; i < columns.count; i++) {
        if (is_compared(model, columns.items[i].name)) {
            strbuf_text(&sql, ", ");
            sql_identifier(&sql, columns.items[i].name);
        }
    }
    strbuf_text(&sql, ") AS h FROM ");
    sql_relation(&sql, relation);
    strbuf_format(&sql, " AS shown WHERE " STR_FMT ")", STR_ARG(condition));
    SqlText query = sql_text_own(arena, strbuf_copy(&sql, arena));
    DuckRows rows;
    TRY(engine_query(connection, &query, arena, &rows, err));
    *content_out = duck_cell(&rows, 0, 0)->text;
    return OK;
}
