/* `notify`: webhooks that are told of changes. */
#ifndef INTERLACE_CONFIG_NOTIFY_CONFIG_H
#define INTERLACE_CONFIG_NOTIFY_CONFIG_H

#include "config/key_table.h"
#include "config/project_config.h"

/* Adds the faults of the map beyond those of its shape, and the webhooks that have none. A ${NAME} that is not set is
 * none: only who sends needs it. */
void webhooks_read(const KeyCheck *check, const ConfigValue *notify, WebhookConfigVec *webhooks_out);

#endif
