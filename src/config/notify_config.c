#include "config/notify_config.h"

#include "config/dsn.h"
#include "config/variables.h"

#define ATTEMPTS_STANDARD 8

static Status refuse(const ConfigEntry *entry, const char *code, const char *what, Error *err) {
    error_set_at(err, ERROR_CONFIGURATION, entry->place, "notify." STR_FMT ": %s", STR_ARG(entry->key), what);
    error_code(err, str_from(code));
    return FAILED;
}

static StrVec read_list(const ConfigValue *map, const char *key, Arena *arena) {
    AUTO(error) Error ignored = {0}; /* told by the check of its shape */
    StrVec list = {0};
    const ConfigValue *value = config_find(map, str_from(key));
    bool is_list = value != NULL && !failed(config_as_text_list(value, key, arena, &list, &ignored));
    return is_list ? list : (StrVec){0};
}

static bool is_web_address(Str url) {
    return str_starts_with_fold(url, STR("https://")) || str_starts_with_fold(url, STR("http://"));
}

/* The address may be a secret itself, so it is in no message. */
static Status check(const ConfigEntry *entry, const WebhookConfig *webhook, Arena *arena, Error *err) {
    StrVec names = {0};
    variables_collect(webhook->url, arena, &names);
    if (names.count == 0 && !is_web_address(webhook->url)) {
        return refuse(entry, "notify.url", "'url' is no http:// or https:// address", err);
    }
    if (webhook->secret.size == 0) {
        return refuse(entry, "notify.secret", "'secret' is empty: receivers could not tell who sends", err);
    }
    return OK;
}

static void read_webhook(const KeyCheck *key_check, const ConfigEntry *entry, WebhookConfigVec *webhooks) {
    const ConfigValue *map = entry->value;
    WebhookConfig webhook = {
        .name = entry->key,
        .url = config_text(map, STR("url")),
        .secret = config_text(map, STR("secret")),
        .attempts = ATTEMPTS_STANDARD,
        .place = entry->place,
    };
    AUTO(error) Error err = {0};
    if (webhook.url.size == 0 || config_find(map, STR("secret")) == NULL) {
        return; /* told by the check of its shape */
    }
    const ConfigValue *attempts = config_find(map, STR("attempts"));
    if (attempts != NULL) {
        (void)str_to_int64(attempts->text, &webhook.attempts); /* likewise */
    }
    webhook.models = read_list(map, "models", key_check->arena);
    webhook.tags = read_list(map, "tags", key_check->arena);
    webhook.owners = read_list(map, "owners", key_check->arena);
    webhook.environments = read_list(map, "environments", key_check->arena);
    if (failed(check(entry, &webhook, key_check->arena, &err))) {
        error_list_take(key_check->faults, &err);
        return;
    }
    webhook_config_vec_push(key_check->arena, webhooks, webhook);
}

void webhooks_read(const KeyCheck *key_check, const ConfigValue *notify, WebhookConfigVec *webhooks_out) {
    for (size_t i = 0; i < notify->count; i++) {
        const ConfigEntry *entry = &notify->entries[i];
        if (!key_is_free(entry->key) && entry->value->kind == CONFIG_MAP) {
            read_webhook(key_check, entry, webhooks_out);
        }
    }
}
