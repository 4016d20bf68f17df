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

static Str window_condition_all(const Campaign *campaign, const CampaignModel *model, Arena *arena) {
    if (model->part != PART_WINDOWED) {
        return STR("true");
    }
    AUTO(strbuf) StrBuf sql = {0};
    for (size_t i = 0; i < model->windows.count; i++) {
        Str one = window_condition(model->model->time_column, model->windows.items[i], model->time_kind, campaign->zone,
                                   arena);
        strbuf_format(&sql, "%s(" STR_FMT ")", i == 0 ? "" : " OR ", STR_ARG(one));
    }
    return sql.size == 0 ? STR("false") : strbuf_copy(&sql, arena);
}

/* A model with a key replaces rows of the keys that it met: its windows only bound what is read (spec 02 §8). */
static Str met_keys_condition(const CampaignModel *model, Arena *arena) {
    const StrVec *key = &model->model->key;
    AUTO(strbuf) StrBuf names = {0};
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&names, key->count > 1 ? "(" : "");
    sql_identifier_list(&names, key->items, key->count);
    strbuf_text(&names, key->count > 1 ? ")" : "");
    strbuf_format(&sql, STR_FMT " IN (SELECT " STR_FMT " FROM ", STR_ARG(strbuf_str(&names)),
                  STR_ARG(strbuf_str(&names)));
    sql_relation(&sql, model->audit);
    strbuf_char(&sql, ')');
    return strbuf_copy(&sql, arena);
}

Str campaign_replaced_condition(const Campaign *campaign, const CampaignModel *model, Arena *arena) {
    bool is_keyed = model->part == PART_WINDOWED && model->model->key.count > 0;
    return is_keyed ? met_keys_condition(model, arena) : window_condition_all(campaign, model, arena);
}

static Status create_overlay(const Campaign *campaign, const CampaignModel *model, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "CREATE OR REPLACE VIEW ");
    sql_relation(&sql, model->overlay);
    strbuf_text(&sql, " AS ");
    strbuf_text(&sql, "SELECT * FROM ");
    sql_relation(&sql, model->target.relation);
    Str replaced = campaign_replaced_condition(campaign, model, campaign->arena);
    strbuf_format(&sql, " WHERE (" STR_FMT ") IS NOT TRUE", STR_ARG(replaced));
    strbuf_text(&sql, " UNION ALL BY NAME SELECT * FROM ");
    sql_relation(&sql, model->audit);
    return engine_execute_own(campaign->connection, strbuf_str(&sql), err);
}

Status campaign_create_view(const Campaign *campaign, SqlRelation view, const SqlText *query, Error *err) {
    AUTO(strbuf) StrBuf head = {0};
    bool is_temporary = str_equal(view.catalog, STR("temp")); /* the name alone does not do */
    strbuf_format(&head, "CREATE OR REPLACE %sVIEW ", is_temporary ? "TEMP " : "");
    sql_relation(&head, view);
    strbuf_text(&head, " AS ");
    SqlText parts[] = {sql_text_own(campaign->arena, strbuf_copy(&head, campaign->arena)), *query};
    SqlText create = sql_text_concat(campaign->arena, parts, COUNT_OF(parts));
    return engine_execute(campaign->connection, &create, NULL, err);
}

static Status make_for(const Campaign *campaign, const CampaignModel *model, Error *err) {
    if (model->part == PART_VIEW) {
        SqlText query;
        TRY(render_model_query(&campaign->inside, model->model, campaign->arena, &query, err));
        return campaign_create_view(campaign, model->overlay, &query, err);
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

/* ---- What is there. */

Status campaign_area_list(EngineConnection *connection, int64_t id, Arena *arena, OwnedRelationVec *relations_out,
                          Error *err) {
    static const char *const kinds[] = {CAMPAIGN_AUDIT, CAMPAIGN_OVERLAY, CAMPAIGN_BEFORE};
    OwnedRelationVec owned = {0};
    TRY(engine_owned_relations(connection, arena, &owned, err));
    for (size_t i = 0; i < owned.count; i++) {
        for (size_t k = 0; k < COUNT_OF(kinds); k++) {
            if (str_ends_with(owned.items[i].relation.name, campaign_relation_name(STR_EMPTY, kinds[k], id, arena))) {
                owned_relation_vec_push(arena, relations_out, owned.items[i]);
            }
        }
    }
    return OK;
}

Status campaign_area_drop(Session *session, int64_t id, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(engine_connection) EngineConnection *connection = NULL;
    OwnedRelationVec owned = {0};
    Engine *engine = NULL;
    TRY(session_engine(session, false, &engine, err));
    TRY(engine_connect(engine, &connection, err));
    TRY(campaign_area_list(connection, id, arena, &owned, err));
    TRY(engine_begin(connection, err));
    for (size_t i = 0; i < owned.count; i++) {
        TRY(engine_drop_relation(connection, owned.items[i].kind, owned.items[i].relation, err));
    }
    return engine_commit(connection, err);
}

/* ---- Contents. */

Status campaign_row_hash(EngineConnection *connection, const Model *model, SqlRelation relation, Arena *arena,
                         Str *hash_out, Error *err) {
    DuckColumnVec columns;
    bool exists = false;
    AUTO(strbuf) StrBuf sql = {0};
    TRY(engine_relation_columns(connection, relation, arena, &exists, &columns, err));
    strbuf_text(&sql, "hash(0");
    for (size_t i = 0; i < columns.count; i++) {
        if (!str_vec_contains_fold(&model->clock_columns, columns.items[i].name)) {
            strbuf_text(&sql, ", ");
            sql_identifier(&sql, columns.items[i].name);
        }
    }
    strbuf_char(&sql, ')');
    *hash_out = strbuf_copy(&sql, arena);
    return OK;
}

Status campaign_content(EngineConnection *connection, Str row_hash, SqlRelation relation, Str condition, Arena *arena,
                        Str *content_out, Error *err) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_format(&sql,
                  "SELECT count(*) || ':' || coalesce(bit_xor(h), 0) || ':' || coalesce(sum(h >> 16), 0)"
                  " FROM (SELECT " STR_FMT " AS h FROM ",
                  STR_ARG(row_hash));
    sql_relation(&sql, relation);
    strbuf_format(&sql, " WHERE " STR_FMT ")", STR_ARG(condition));
    SqlText query = sql_text_own(arena, strbuf_copy(&sql, arena));
    DuckRows rows;
    TRY(engine_query(connection, &query, arena, &rows, err));
    *content_out = duck_cell(&rows, 0, 0)->text;
    return OK;
}
