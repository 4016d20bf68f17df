/* `vars`: values of a declared type, in one spelling each. */
#ifndef INTERLACE_CONFIG_VAR_CONFIG_H
#define INTERLACE_CONFIG_VAR_CONFIG_H

#include "config/project_config.h"

/* Whether `keys` has a value and a known type; if not, the check of keys has said so. */
bool var_config_is_complete(const ConfigValue *keys);

/* `entry` is complete. */
MUST_CHECK Status var_config_read(const ConfigEntry *entry, Arena *arena, VarConfig *var_out, Error *err);

#endif
