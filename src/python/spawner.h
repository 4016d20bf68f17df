/* Spawner: one thread that starts processes which must not outlive us. The kernel kills such a process when the thread
 * that made it ends; a builder's thread ends long before its worker is done, this one ends with the runtime. */
#ifndef INTERLACE_PYTHON_SPAWNER_H
#define INTERLACE_PYTHON_SPAWNER_H

#include "python/process_spawn.h"

typedef struct Spawner Spawner;

Spawner *spawner_create(void);          /* the thread starts with the first spawn */
void spawner_destroy(Spawner *spawner); /* kills what it started and still lives; NULL is fine */
DEFINE_AUTO(Spawner, spawner, spawner_destroy)

/* As process_spawn, with `dies_with_thread`. Any thread. */
MUST_CHECK Status spawner_spawn(Spawner *spawner, const ProcessOptions *options, pid_t *pid_out, Error *err);

#endif
