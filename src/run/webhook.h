/* One message to a webhook, over libcurl, which is loaded when the first is sent. */
#ifndef INTERLACE_RUN_WEBHOOK_H
#define INTERLACE_RUN_WEBHOOK_H

#include "base/error.h"

typedef struct WebhookMessage {
    Str url, secret;
    Str event, delivery; /* of the headers X-Interlace-Event and X-Interlace-Delivery */
    Str body;            /* JSON */
    int64_t timeout_ms;
} WebhookMessage;

/* "sha256=" and the HMAC-SHA256 of the body with the secret as key, in lower-case hex: X-Interlace-Signature. */
Str webhook_signature(Str secret, Str body, Arena *arena);

/* OK: the receiver answered 2xx in time. A redirection is not followed: it would take the message elsewhere.
 * ConfigurationError (code notify.library): libcurl cannot be loaded; ExecutionError: anything else. No message has the
 * address or the secret in it. */
MUST_CHECK Status webhook_post(const WebhookMessage *message, Error *err);

#endif
