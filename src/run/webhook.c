#include "run/webhook.h"

#include "base/hash.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>

/* ---- The library: its start-up cost is for those who send. */

#define CURL_FUNCTIONS(each)                                                                                           \
    each(curl_global_init) each(curl_easy_init) each(curl_easy_setopt) each(curl_easy_perform) each(curl_easy_getinfo) \
        each(curl_easy_cleanup) each(curl_easy_strerror) each(curl_slist_append) each(curl_slist_free_all)

#undef curl_easy_setopt
#undef curl_easy_getinfo
#define MEMBER(name) __typeof__(name) *name;
static struct {
    bool is_loaded;
    CURL_FUNCTIONS(MEMBER)
} library;

static pthread_once_t load_once = PTHREAD_ONCE_INIT;

#define FIND(name)                                                                                                     \
    *(void **)&library.name = dlsym(handle, #name);                                                                    \
    is_complete = is_complete && library.name != NULL;

static void load(void) {
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    bool is_complete = handle != NULL;
    if (is_complete) {
        CURL_FUNCTIONS(FIND)
    }
    library.is_loaded = is_complete && library.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

static Status need_library(Error *err) {
    pthread_once(&load_once, load);
    if (library.is_loaded) {
        return OK;
    }
    error_set(err, ERROR_CONFIGURATION, "libcurl.so.4 cannot be loaded");
    error_code(err, STR("notify.library"));
    error_hint(err, "install it: on Debian and its descendants the package libcurl4");
    return FAILED;
}

Str webhook_signature(Str secret, Str body, Arena *arena) {
    return str_format(arena, "sha256=" STR_FMT, STR_ARG(hmac_sha256_hex(arena, secret, body)));
}

/* ---- Sending. */

static size_t drop_answer(char *data, size_t size, size_t count, void *context) {
    (void)data;
    (void)context;
    return size * count;
}

static struct curl_slist *headers_of(const WebhookMessage *message, Arena *arena) {
    const Str lines[] = {
        STR("Content-Type: application/json"),
        STR("User-Agent: interlace/" INTERLACE_VERSION),
        STR("Expect:"), /* no waiting for a 100 Continue */
        str_format(arena, "X-Interlace-Event: " STR_FMT, STR_ARG(message->event)),
        str_format(arena, "X-Interlace-Delivery: " STR_FMT, STR_ARG(message->delivery)),
        str_format(arena, "X-Interlace-Signature: " STR_FMT,
                   STR_ARG(webhook_signature(message->secret, message->body, arena))),
    };
    struct curl_slist *headers = NULL;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        headers = library.curl_slist_append(headers, str_to_c(arena, lines[i]));
    }
    return headers;
}

static Status judge(CURL *handle, CURLcode code, Error *err) {
    if (code == CURLE_OPERATION_TIMEDOUT) {
        return error_set(err, ERROR_EXECUTION, "no answer in time");
    }
    if (code != CURLE_OK) {
        return error_set(err, ERROR_EXECUTION, "%s", library.curl_easy_strerror(code));
    }
    long status = 0;
    (void)library.curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status >= 200 && status < 300 ? OK : error_set(err, ERROR_EXECUTION, "it answered %ld", status);
}

Status webhook_post(const WebhookMessage *message, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    TRY(need_library(err));
    CURL *handle = library.curl_easy_init();
    if (handle == NULL) {
        return error_set(err, ERROR_EXECUTION, "libcurl gave no handle");
    }
    struct curl_slist *headers = headers_of(message, arena);
    (void)library.curl_easy_setopt(handle, CURLOPT_URL, str_to_c(arena, message->url));
    (void)library.curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)library.curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    (void)library.curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)message->body.size);
    (void)library.curl_easy_setopt(handle, CURLOPT_POSTFIELDS, message->body.ptr);
    (void)library.curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)message->timeout_ms);
    (void)library.curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    (void)library.curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, drop_answer);
    Status status = judge(handle, library.curl_easy_perform(handle), err);
    library.curl_easy_cleanup(handle);
    library.curl_slist_free_all(headers);
    return status;
}
