/* The time column of a model: which types it may have, and the SQL that compares with it. Private to strategy/. */
#ifndef INTERLACE_STRATEGY_TIME_COLUMN_H
#define INTERLACE_STRATEGY_TIME_COLUMN_H

#include "base/str.h"

typedef enum TimeKind {
    TIME_NONE,  /* no type of times */
    TIME_NAIVE, /* TIMESTAMP of any precision */
    TIME_DATE,
    TIME_ZONED,
    TIME_TEXT /* scd alone casts it */
} TimeKind;

TimeKind time_kind(Str type);

/* The value of the quoted or qualified `column` as a TIMESTAMP: a date is its midnight, a zoned value its UTC time,
 * whatever the zone of the session. */
void time_event(StrBuf *sql, TimeKind kind, Str column);
/* `column` lies in [start, end); both empty: it has a time. */
void time_window(StrBuf *sql, Str column, Str start, Str end);

#endif
