/* What a snapshot's record says of the table that the next version goes on from. */
#include "plan/plan_history.h"

#include "config/config_value.h"

static Status refuse_unknown(const Model *model, Error *err) {
    (void)error_set_at(err, ERROR_PLAN, model->place,
                       "model '" STR_FMT
                       "' cannot go on from a copy of its history: an older interlace recorded what is "
                       "live, without the strategy and key of its rows",
                       STR_ARG(model->name));
    error_code(err, STR("forward_only.unknown"));
    error_hint(err, "`interlace run -s " STR_FMT "` of the live definition records them", STR_ARG(model->name));
    return FAILED;
}

static StrategyKind strategy_of(const ConfigValue *config) {
    const ConfigValue *name = config_find(config, STR("strategy"));
    StrategyKind strategy;
    return name != NULL && strategy_parse(name->text, &strategy) ? strategy : STRATEGY_REPLACE;
}

static Status refuse_columns(const Snapshot *snapshot, Error *err) {
    return error_set(err, ERROR_INTERNAL, "the recorded columns of '" STR_FMT "' cannot be read",
                     STR_ARG(snapshot->name));
}

Status plan_recorded_columns(const Snapshot *snapshot, Arena *arena, DuckColumnVec *columns_out, StrVec *key_out,
                             Error *err) {
    ConfigValue *list = NULL;
    TRY(json_read(snapshot->columns_json, STR("recorded columns"), arena, &list, err));
    if (list->kind != CONFIG_LIST) {
        return refuse_columns(snapshot, err);
    }
    for (size_t i = 0; i < list->count; i++) {
        const ConfigValue *name = config_find(list->items[i], STR("name"));
        const ConfigValue *type = config_find(list->items[i], STR("type"));
        if (name == NULL || type == NULL) {
            return refuse_columns(snapshot, err);
        }
        duck_column_vec_push(arena, columns_out, (DuckColumn){.name = name->text, .type = type->text});
        if (key_out != NULL && config_find(list->items[i], STR("key")) != NULL) {
            str_vec_push(arena, key_out, name->text);
        }
    }
    return OK;
}

Status plan_history(const Snapshot *snapshot, const Model *model, Arena *arena, const History **history_out,
                    Error *err) {
    if (snapshot->config_json.size == 0) {
        return refuse_unknown(model, err);
    }
    History *history = ARENA_NEW(arena, History);
    ConfigValue *config = NULL;
    TRY(json_read(snapshot->config_json, STR("state"), arena, &config, err));
    history->strategy = strategy_of(config);
    const ConfigValue *time = config_find(config, STR("time_column"));
    history->time_column = time != NULL && time->kind == CONFIG_SCALAR ? time->text : STR_EMPTY;
    const ConfigValue *key = config_find(config, STR("key"));
    if (key != NULL) {
        TRY(config_as_text_list(key, "key", arena, &history->key, err));
    }
    if (snapshot->columns_json.size > 0) {
        TRY(plan_recorded_columns(snapshot, arena, &history->given, NULL, err));
    }
    *history_out = history;
    return OK;
}
