/* Telling webhooks of changes (spec 04 §8): which are told of a change, and the sending.
 *
 * The messages are rows of the state, written with the change records. They are sent when the command's work is done
 * and its lock given back, within NOTIFY_LIMIT_MS; what is left is sent by the next command. At least once: a process
 * that dies between the answer and its record sends the message again, with the same id. */
#ifndef INTERLACE_RUN_NOTIFY_H
#define INTERLACE_RUN_NOTIFY_H

#include "project/project.h"
#include "state/state_store.h"

#define NOTIFY_LIMIT_MS 3000

/* Names of the webhooks that are told of a change of `model`, which may be gone from the project. */
void notify_choose(const Project *project, Str environment, Str model, Arena *arena, StrVec *hooks_out);

/* Sends what is due. `say` gets a line about each message that did not arrive. Fails only when the state cannot be
 * read or written. */
typedef struct NotifySink {
    void (*say)(void *context, Str text);
    void *context;
} NotifySink;
MUST_CHECK Status notify_send(const ProjectConfig *config, NotifySink sink, Error *err);

#endif
