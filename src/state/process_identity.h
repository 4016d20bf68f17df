/* ProcessIdentity: which process, beyond doubt. A pid alone comes round again, so the process's start time is with it;
 * and both mean something only within one boot of one machine and one pid namespace (a container has its own). */
#ifndef INTERLACE_STATE_PROCESS_IDENTITY_H
#define INTERLACE_STATE_PROCESS_IDENTITY_H

#include "base/str.h"

typedef struct ProcessIdentity {
    Str host;
    Str boot_id;
    Str pid_namespace;
    int64_t pid;
    int64_t start_time; /* clock ticks since boot */
} ProcessIdentity;

/* Texts that the system does not tell are empty. */
ProcessIdentity process_identity_self(Arena *arena);

/* True only when it is certain that `other` no longer runs: it is a process of this machine that has ended, or its boot
 * of this machine is over. */
bool process_is_gone(const ProcessIdentity *self, const ProcessIdentity *other);

#endif
