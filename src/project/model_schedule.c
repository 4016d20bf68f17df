/* The key `schedule`: its form (08 C1). When it fires is the scheduler's business. */
#include "project/model_key_readers.h"

typedef Status (*TriggerCheck)(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err);

static Status check_text(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    Str text;
    return key_text(reader, key, "as its expression", value, &text, err);
}

static size_t count_fields(Str text) {
    size_t count = 0;
    for (Str rest = str_trim(text); rest.size > 0; rest = str_trim(rest)) {
        size_t end = 0;
        while (end < rest.size && rest.ptr[end] != ' ' && rest.ptr[end] != '\t') {
            end++;
        }
        rest = str_skip(rest, end);
        count++;
    }
    return count;
}

static Status check_cron(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    Str text;
    TRY(key_text(reader, key, "as its expression", value, &text, err));
    size_t fields = count_fields(text);
    if (fields == 5 || fields == 6 || (fields == 1 && str_starts_with(str_trim(text), STR("@")))) {
        return OK;
    }
    return key_refuse(reader, key, value, err, "must have five fields in cron, not '" STR_FMT "'", STR_ARG(text));
}

static Status check_every(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    Str text, grain;
    TRY(key_text(reader, key, "as its expression", value, &text, err));
    return grain_normalise(text, reader->arena, &grain)
               ? OK
               : key_refuse(reader, key, value, err, "must have a grain as in `15m` in every, not '" STR_FMT "'",
                            STR_ARG(text));
}

static Status check_watch(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    Str text;
    TRY(key_text(reader, key, "as its expression", value, &text, err));
    return str_starts_with(text, STR("/"))
               ? key_refuse(reader, key, value, err,
                            "must have a pattern under the project's folder in watch, not '" STR_FMT "'", STR_ARG(text))
               : OK;
}

static Status check_fresh(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    static const Str known[] = {STR_INIT("column"), STR_INIT("within")};
    if (value->kind != CONFIG_MAP) {
        return check_text(reader, key, value, err);
    }
    TRY(key_known(reader, key, value, known, COUNT_OF(known), err));
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        const ConfigValue *part = config_find(value, known[i]);
        if (part == NULL) {
            return key_refuse(reader, key, value, err, "must have column and within in fresh");
        }
        TRY(check_text(reader, key, part, err));
    }
    return OK;
}

static Status check_after(const ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    StrVec models;
    return key_list(reader, key, "as the name of a model", value, &models, err);
}

typedef struct Trigger {
    Str name;
    TriggerCheck check;
} Trigger;

/* clang-format off */
static const Trigger triggers[] = {
    {STR_INIT("cron"),      check_cron},
    {STR_INIT("every"),     check_every},
    {STR_INIT("watch"),     check_watch},
    {STR_INIT("on_change"), check_text},
    {STR_INIT("fresh"),     check_fresh},
    {STR_INIT("after"),     check_after},
    {STR_INIT("webhook"),   check_text},
};

static const Str known_keys[] = {
    STR_INIT("cron"), STR_INIT("every"), STR_INIT("watch"), STR_INIT("on_change"), STR_INIT("fresh"), STR_INIT("after"),
    STR_INIT("webhook"), STR_INIT("timezone"), STR_INIT("catch_up"), STR_INIT("max_catch_up"),
    STR_INIT("misfire_grace"), STR_INIT("jitter"), STR_INIT("start"), STR_INIT("end"), STR_INIT("paused"),
    STR_INIT("priority"), STR_INIT("timeout"), STR_INIT("retries"), STR_INIT("environment"),
};
/* clang-format on */

static const Trigger *find_trigger(Str name) {
    for (size_t i = 0; i < COUNT_OF(triggers); i++) {
        if (str_equal(triggers[i].name, name)) {
            return &triggers[i];
        }
    }
    return NULL;
}

Status read_schedule(ModelReader *reader, const ModelKey *key, const ConfigValue *value, Error *err) {
    TRY(key_known(reader, key, value, known_keys, COUNT_OF(known_keys), err));
    size_t kinds = 0;
    for (size_t i = 0; i < value->count; i++) {
        const ConfigEntry *entry = &value->entries[i];
        const Trigger *trigger = find_trigger(entry->key);
        if (trigger == NULL || entry->value->kind == CONFIG_NULL) {
            continue;
        }
        kinds++;
        TRY(trigger->check(reader, key, entry->value, err));
    }
    if (kinds != 1) {
        return key_refuse(reader, key, value, err,
                          "must have exactly one of cron, every, watch, on_change, fresh, after, webhook; it has %zu",
                          kinds);
    }
    reader->model->schedule = value;
    return OK;
}
