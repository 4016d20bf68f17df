/* `connections`: named sources for Python models. */
#ifndef INTERLACE_CONFIG_CONNECTION_CONFIG_H
#define INTERLACE_CONFIG_CONNECTION_CONFIG_H

#include "config/key_table.h"

/* Adds the faults of the whole map: types, keys of each type, variables that are not set. */
void connections_check(const KeyCheck *check, const ConfigValue *connections);

#endif
