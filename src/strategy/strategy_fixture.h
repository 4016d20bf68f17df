/* For tests: runs what a strategy writes on a real, in-memory database, as a build does: the source is described, the
 * statements run in one transaction, their numbers are added up by role, and a refusal rolls all back. */
#ifndef INTERLACE_STRATEGY_STRATEGY_FIXTURE_H
#define INTERLACE_STRATEGY_STRATEGY_FIXTURE_H

#include "duck/duck_fixture.h"

#include "strategy/strategy.h"

/* One delivery into the table `t`. Texts may be NULL where they are not needed. */
typedef struct Delivery {
    StrategyKind kind;
    const char *source;
    const char *key; /* separated by commas */
    const char *time;
    const char *start, *end; /* SQL literals */
    const char *now;         /* SQL literal */
    const char *policy;
    bool is_external;
    bool is_staged;  /* the source's rows go through the table `staged` */
    bool is_minimal; /* an engine that has neither MERGE nor CREATE OR REPLACE nor EXCEPT in a DELETE */
} Delivery;

/* "+1 ~2 -3", as the build list shows it; "—" when all are zero. */
Str deliver(Fixture *f, Delivery delivery);
/* The delivery fails: leaves the error in f->err and the database as it was. */
void deliver_refused(Fixture *f, Delivery delivery);
/* The notes of the last delivery, one a line. */
Str delivery_notes(void);

#define assert_delivery(f, delivery, counts) assert_str(deliver((f), (delivery)), counts)
#define assert_rows(f, query, rows) assert_str(query_text((f), (query)), rows)

#endif
