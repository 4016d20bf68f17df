#include "run/notify.h"

#include "base/test_hooks.h"
#include "config/variables.h"
#include "project/graph.h"
#include "run/change_json.h"
#include "run/webhook.h"

#include <fnmatch.h>

#define SHORTEST_MS 100
#define WAIT_FIRST_US (INT64_C(30) * 1000000)
#define WAIT_MOST_US (INT64_C(3600) * 1000000)

/* ---- Who is told. */

static bool matches_any(const StrVec *patterns, Str name, Arena *scratch) {
    for (size_t i = 0; i < patterns->count; i++) {
        const char *pattern = str_to_c(scratch, patterns->items[i]);
        if (fnmatch(pattern, str_to_c(scratch, name), FNM_CASEFOLD) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_any_tag(const StrVec *tags, const Model *model) {
    for (size_t i = 0; model != NULL && i < tags->count; i++) {
        if (str_vec_contains(&model->tags, tags->items[i])) {
            return true;
        }
    }
    return false;
}

static bool is_in_environments(const StrVec *environments, Str environment) {
    return environments->count == 0 ? str_equal_fold(environment, STR("prod"))
                                    : str_vec_contains_fold(environments, environment);
}

static bool is_told(const WebhookConfig *webhook, Str environment, Str name, const Model *model, Arena *scratch) {
    bool tells_all = webhook->models.count + webhook->tags.count + webhook->owners.count == 0;
    bool is_owned = model != NULL && str_vec_contains(&webhook->owners, model->owner);
    bool is_chosen =
        tells_all || is_owned || matches_any(&webhook->models, name, scratch) || has_any_tag(&webhook->tags, model);
    return is_chosen && is_in_environments(&webhook->environments, environment);
}

void notify_choose(const Project *project, Str environment, Str name, Arena *arena, StrVec *hooks_out) {
    const WebhookConfigVec *webhooks = &project->config->webhooks;
    const Model *model = webhooks->count == 0 ? NULL : project_find(project, name);
    for (size_t i = 0; i < webhooks->count; i++) {
        if (is_told(&webhooks->items[i], environment, name, model, arena)) {
            str_vec_push(arena, hooks_out, webhooks->items[i].name);
        }
    }
}

/* ---- Sending. */

typedef struct Sender {
    const ProjectConfig *config;
    StateStore *state;
    NotifySink sink;
    Arena *arena;
    int64_t deadline_us; /* monotonic */
    StrVec silent;       /* webhooks that failed in this command: the rest of theirs waits */
} Sender;

static int64_t left_ms(const Sender *sender) {
    return (sender->deadline_us - clock_monotonic_us()) / 1000;
}

static const WebhookConfig *find_webhook(const ProjectConfig *config, Str name) {
    for (size_t i = 0; i < config->webhooks.count; i++) {
        if (str_equal(config->webhooks.items[i].name, name)) {
            return &config->webhooks.items[i];
        }
    }
    return NULL;
}

static Status write_body(const Sender *sender, const Notice *notice, StrBuf *body, Error *err) {
    ChangeRecordVec changes = {0};
    ChangeFilter filter = {.notice = notice->id, .oldest_first = true};
    TRY(state_load_changes(sender->state, &filter, sender->arena, &changes, err));
    JsonWriter writer;
    json_writer_init(&writer, body, JSON_COMPACT);
    json_begin_object(&writer);
    json_text_field(&writer, STR("event"), STR("periods.changed"));
    json_text_field(&writer, STR("id"), notice->id);
    json_text_field(&writer, STR("project"), sender->config->name);
    json_text_field(&writer, STR("created_at"), time_format_iso(sender->arena, notice->created_at));
    json_key(&writer, STR("changes"));
    json_begin_array(&writer);
    for (size_t i = 0; i < changes.count; i++) {
        change_write_json(&changes.items[i], sender->arena, &writer);
    }
    json_end_array(&writer);
    json_end_object(&writer);
    return OK;
}

static Status check_variables(const WebhookConfig *webhook, Arena *arena, Error *err) {
    StrVec names = {0};
    variables_collect(webhook->url, arena, &names);
    variables_collect(webhook->secret, arena, &names);
    if (names.count == 0) {
        return OK;
    }
    Str list = str_join(arena, names.items, names.count, STR(", "));
    return error_set(err, ERROR_CONFIGURATION, STR_FMT " is not set, neither in the environment nor in .env",
                     STR_ARG(list));
}

static Status post(const Sender *sender, const Notice *notice, const WebhookConfig *webhook, Str body, Error *err) {
    if (webhook == NULL) {
        return error_set(err, ERROR_CONFIGURATION, "it is not in `notify:` any more");
    }
    TRY(check_variables(webhook, sender->arena, err));
    WebhookMessage message = {
        .url = webhook->url,
        .secret = webhook->secret,
        .event = STR("periods.changed"),
        .delivery = notice->id,
        .body = body,
        .timeout_ms = left_ms(sender),
    };
    return webhook_post(&message, err);
}

static int64_t wait_us(int64_t attempts) {
    int64_t wait = WAIT_FIRST_US;
    for (int64_t i = 1; i < attempts && wait < WAIT_MOST_US; i++) {
        wait *= 2;
    }
    return wait < WAIT_MOST_US ? wait : WAIT_MOST_US;
}

static Status record_failure(Sender *sender, const Notice *notice, const WebhookConfig *webhook, Str reason,
                             Error *err) {
    int64_t attempts = notice->attempts + 1;
    bool is_dead = webhook != NULL && attempts >= webhook->attempts;
    Str what = is_dead ? STR("given up; interlace changes --undelivered lists it") : STR("a later command tries again");
    Str text = str_format(sender->arena, "webhook '" STR_FMT "' was not told: " STR_FMT " (attempt %lld); " STR_FMT,
                          STR_ARG(notice->hook), STR_ARG(reason), (long long)attempts, STR_ARG(what));
    sender->sink.say(sender->sink.context, text);
    str_vec_push(sender->arena, &sender->silent, notice->hook);
    return state_notice_failed(sender->state, notice->id, clock_now_us() + wait_us(attempts), is_dead, reason, err);
}

static Status send_one(Sender *sender, const Notice *notice, Error *err) {
    bool is_taken;
    TimeUs now = clock_now_us();
    TRY(state_notice_take(sender->state, notice->id, now, now + wait_us(notice->attempts + 1), &is_taken, err));
    if (!is_taken) {
        return OK; /* another command has it */
    }
    TRY(test_hook("notify.taken", err));
    AUTO(strbuf) StrBuf body = {0};
    AUTO(error) Error reason = {0};
    const WebhookConfig *webhook = find_webhook(sender->config, notice->hook);
    TRY(write_body(sender, notice, &body, err));
    if (failed(post(sender, notice, webhook, strbuf_str(&body), &reason))) {
        return record_failure(sender, notice, webhook, reason.message, err);
    }
    TRY(test_hook("notify.sent", err));
    return state_notice_delivered(sender->state, notice->id, clock_now_us(), err);
}

Status notify_send(const ProjectConfig *config, NotifySink sink, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(state_store) StateStore *state = NULL;
    NoticeVec due = {0};
    TRY(state_store_open(config->state_path, &state, err));
    TRY(state_load_notices(state, clock_now_us(), arena, &due, err));
    Sender sender = {
        .config = config,
        .state = state,
        .sink = sink,
        .arena = arena,
        .deadline_us = clock_monotonic_us() + NOTIFY_LIMIT_MS * INT64_C(1000),
    };
    for (size_t i = 0; i < due.count && left_ms(&sender) >= SHORTEST_MS; i++) {
        if (!str_vec_contains(&sender.silent, due.items[i].hook)) {
            TRY(send_one(&sender, &due.items[i], err));
        }
    }
    return OK;
}
