/* A reader inside the process, for tests: a DuckDB file is open in one process only, so what readers see while a
 * command writes can be watched only from within. With INTERLACE_POLL_SQL and INTERLACE_POLL_FILE set, a thread runs
 * the query on a connection of its own as fast as it can and appends each answer that differs from the one before: the
 * first row's cells joined by `,`, or `error: …`. Compiled in by -Dtest_hooks=true only. */
#ifndef INTERLACE_RUN_TEST_POLLER_H
#define INTERLACE_RUN_TEST_POLLER_H

#include "engine/engine.h"

typedef struct TestPoller TestPoller;

#ifdef INTERLACE_TEST_HOOKS
TestPoller *test_poller_start(Engine *engine); /* NULL when nothing is to be polled */
void test_poller_stop(TestPoller *poller);     /* NULL is fine */
#else
static inline TestPoller *test_poller_start(Engine *engine) {
    (void)engine;
    return NULL;
}
static inline void test_poller_stop(TestPoller *poller) {
    (void)poller;
}
#endif

#endif
