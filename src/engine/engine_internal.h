/* The objects behind the opaque types, for the files that work on any EngineType. */
#ifndef INTERLACE_ENGINE_ENGINE_INTERNAL_H
#define INTERLACE_ENGINE_ENGINE_INTERNAL_H

#include "engine/engine.h"
#include "engine/engine_type.h"

#include <pthread.h>
#include <stdatomic.h>

struct EngineConnection {
    Engine *engine;
    void *session;
    bool is_writer;         /* holds the engine's turn to write */
    EngineConnection *next; /* guarded by engine->lock; in one of its two lists */
};

struct Engine {
    const EngineType *type;
    EngineOptions options;
    atomic_bool interrupted; /* between engine_interrupt_all and engine_resume */
    pthread_mutex_t lock;
    pthread_cond_t opened;   /* `is_opening` went down */
    bool is_opening;         /* guarded by lock: one thread opens the database, without holding the lock */
    void *database;          /* guarded by lock; NULL until the first connection */
    EngineConnection *idle;  /* guarded by lock */
    EngineConnection *busy;  /* guarded by lock */
    bool has_writer;         /* guarded by lock; only without parallel_writers */
    atomic_bool is_plain;    /* was seen to have no functions but the engine's own */
    pthread_cond_t writable; /* `has_writer` went down, or an interrupt came */
};

/* ERROR_INTERRUPTED between engine_interrupt_all and engine_resume. */
MUST_CHECK Status engine_check_interrupt(const EngineConnection *connection, Error *err);
/* The turn to write, for a statement or a transaction: waits while another connection has it. Nothing to wait for on
 * engines with parallel_writers, or when this connection has it already. */
MUST_CHECK Status engine_writer_enter(EngineConnection *connection, Error *err);
/* Gives the turn back, unless a transaction goes on. */
void engine_writer_leave(EngineConnection *connection);

#endif
