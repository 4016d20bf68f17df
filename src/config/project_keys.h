/* Every key of interlace.yaml. docs/reference/configuration.md is generated from these tables. */
#ifndef INTERLACE_CONFIG_PROJECT_KEYS_H
#define INTERLACE_CONFIG_PROJECT_KEYS_H

#include "config/key_table.h"

extern const KeyTable project_keys;
extern const KeyTable engine_keys;
extern const KeyTable secret_keys;
extern const KeyTable http_connection_keys, postgres_connection_keys;
extern const KeyTable python_keys;

#endif
