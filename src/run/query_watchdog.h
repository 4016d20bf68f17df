/* QueryWatchdog: a thread that interrupts a connection's statement when the time is up or the command is cancelled. */
#ifndef INTERLACE_RUN_QUERY_WATCHDOG_H
#define INTERLACE_RUN_QUERY_WATCHDOG_H

#include "duck/duck_connection.h"

typedef struct QueryWatchdog QueryWatchdog;

MUST_CHECK Status query_watchdog_start(DuckConnection *connection, int64_t limit_us, QueryWatchdog **watchdog_out,
                                       Error *err);
/* Ends the thread. True when the time was up. */
bool query_watchdog_stop(QueryWatchdog *watchdog);

#endif
