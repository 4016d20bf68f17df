/* Merging `interlace.<overlay>.yaml` over the main file. */
#ifndef INTERLACE_CONFIG_OVERLAY_H
#define INTERLACE_CONFIG_OVERLAY_H

#include "config/config_value.h"

/* Maps merge deeply, scalars and lists replace, null deletes. A null for a key that `base` does not have stays, so that
 * a misspelt one is still seen. Both trees are used up: the result shares their values. */
ConfigValue *overlay_merge(Arena *arena, ConfigValue *base, ConfigValue *overlay);

#endif
