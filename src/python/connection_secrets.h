/* The project's `connections:` as a running model gets them, and what of them is secret: passwords, and headers that
 * are called like one. Secret values are kept out of logs and errors by looking for them in every text that a worker
 * gives. Pure. */
#ifndef INTERLACE_PYTHON_CONNECTION_SECRETS_H
#define INTERLACE_PYTHON_CONNECTION_SECRETS_H

#include "config/json_writer.h"
#include "config/project_config.h"

/* {name: {type, base_url, headers} or {type, dsn}}: all values are texts. `connections` may be NULL. */
void connections_write(JsonWriter *json, const ConfigValue *connections);

/* The secret values, longest first; those shorter than 4 bytes are left out, since hiding them would garble texts. */
StrVec connections_secrets(const ConfigValue *connections, Arena *arena);

/* `text` with each occurrence of a secret as "…"; `text` itself when it holds none. */
Str secrets_hide(const StrVec *secrets, Str text, Arena *arena);
/* The same for all texts of an error that is set. */
void secrets_hide_in_error(const StrVec *secrets, Error *err);

#endif
