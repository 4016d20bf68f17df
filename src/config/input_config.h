/* `inputs`: files that SQL models read by a name. */
#ifndef INTERLACE_CONFIG_INPUT_CONFIG_H
#define INTERLACE_CONFIG_INPUT_CONFIG_H

#include "config/key_table.h"
#include "config/project_config.h"

/* Adds the faults of the whole map beyond those of its shape (names, paths, connections, options), and the inputs that
 * have none. `keys` is the whole configuration: its connections and secrets are what `connection` may name. */
void inputs_read(const KeyCheck *check, const ConfigValue *keys, const ConfigValue *inputs, InputConfigVec *inputs_out);

#endif
