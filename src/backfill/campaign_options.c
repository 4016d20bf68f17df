/* What was asked for, as text: the options of a campaign are kept with it, so that `resume` works by them. */
#include "backfill/campaign.h"

static void list_field(JsonWriter *json, Str key, const StrVec *texts) {
    json_text_list_field(json, key, texts->items, texts->count);
}

Str campaign_options_json(const CampaignOptions *options, Arena *arena) {
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    json_begin_object(&json);
    json_text_field(&json, STR("environment"), options->environment);
    list_field(&json, STR("select"), &options->select);
    list_field(&json, STR("exclude"), &options->exclude);
    json_text_field(&json, STR("start"), options->start);
    json_text_field(&json, STR("end"), options->end);
    json_int_field(&json, STR("batch"), options->batch);
    json_int_field(&json, STR("concurrency"), options->concurrency);
    json_bool_field(&json, STR("newest_first"), options->newest_first);
    json_bool_field(&json, STR("gaps"), options->gaps);
    json_bool_field(&json, STR("skips_audit"), options->skips_audit);
    json_bool_field(&json, STR("publishes"), options->publishes);
    json_bool_field(&json, STR("allow_refused"), options->allow_refused);
    json_bool_field(&json, STR("no_stale"), options->no_stale);
    json_bool_field(&json, STR("delivers"), options->delivers);
    json_int_field(&json, STR("max_us"), options->max_us);
    json_int_field(&json, STR("max_rows"), options->max_rows);
    json_int_field(&json, STR("max_windows"), options->max_windows);
    json_text_field(&json, STR("hours"), options->hours);
    json_end_object(&json);
    return strbuf_copy(&text, arena);
}

static void read_list(const ConfigValue *map, Str key, Arena *arena, StrVec *texts) {
    const ConfigValue *list = config_find(map, key);
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        str_vec_push(arena, texts, list->items[i]->text);
    }
}

static bool read_flag(const ConfigValue *map, Str key) {
    return str_equal(config_text(map, key), STR("true"));
}

static int64_t read_number(const ConfigValue *map, Str key) {
    int64_t number = 0;
    return str_to_int64(config_text(map, key), &number) ? number : 0;
}

Status campaign_options_read(Str json, Arena *arena, CampaignOptions *options_out, Error *err) {
    ConfigValue *map = NULL;
    TRY(json_read(json, STR("options of a campaign"), arena, &map, err));
    CampaignOptions options = {
        .environment = config_text(map, STR("environment")),
        .start = config_text(map, STR("start")),
        .end = config_text(map, STR("end")),
        .batch = read_number(map, STR("batch")),
        .concurrency = read_number(map, STR("concurrency")),
        .newest_first = read_flag(map, STR("newest_first")),
        .gaps = read_flag(map, STR("gaps")),
        .skips_audit = read_flag(map, STR("skips_audit")),
        .publishes = read_flag(map, STR("publishes")),
        .allow_refused = read_flag(map, STR("allow_refused")),
        .no_stale = read_flag(map, STR("no_stale")),
        .delivers = read_flag(map, STR("delivers")),
        .max_us = read_number(map, STR("max_us")),
        .max_rows = read_number(map, STR("max_rows")),
        .max_windows = read_number(map, STR("max_windows")),
        .hours = config_text(map, STR("hours")),
    };
    read_list(map, STR("select"), arena, &options.select);
    read_list(map, STR("exclude"), arena, &options.exclude);
    *options_out = options;
    return OK;
}
