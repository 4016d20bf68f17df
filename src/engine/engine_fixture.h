/* For tests: an engine in a folder of its own. */
#ifndef INTERLACE_ENGINE_ENGINE_FIXTURE_H
#define INTERLACE_ENGINE_ENGINE_FIXTURE_H

#include "duck/duck_fixture.h"

#include "engine/engine.h"

typedef struct Ground {
    Arena *arena;
    Error err;
    Str folder;
    EngineConfig config;
    EngineOptions options;
    Engine *engine;
} Ground;

int ground_open(void **state, Str type, Str database); /* *state is a Ground *; `database` is in its folder */
int ground_close(void **state);
/* The engine anew, with the configuration as it is now. */
void ground_reopen(Ground *g, const StrVec *writable_aliases);

EngineConnection *ground_connect(Ground *g); /* `connect` alone would take the place of the system's */
void run(Ground *g, EngineConnection *connection, const char *sql);
int64_t changed(Ground *g, EngineConnection *connection, const char *sql);
/* Checks that it fails; the message is in g->err. */
void run_failing(Ground *g, EngineConnection *connection, const char *sql);
int64_t number(Ground *g, EngineConnection *connection, const char *sql);
/* "id BIGINT, name VARCHAR", "absent", or the message of the failure. */
Str columns_text(Ground *g, EngineConnection *connection, const char *catalog, const char *schema, const char *name);

#endif
