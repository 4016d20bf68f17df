/* ZoneRule: how a zone's clocks change in every year that its table does not reach, as the last line of a zone file
 * says it ("CET-1CEST,M3.5.0,M10.5.0/3", RFC 9636 §3.3.1). Pure. */
#ifndef INTERLACE_WINDOW_ZONE_RULE_H
#define INTERLACE_WINDOW_ZONE_RULE_H

#include "base/civil.h"

typedef enum RuleDayKind {
    RULE_WEEKDAY,     /* Mm.w.d: the w-th (5: the last) day d of the week in month m */
    RULE_DAY_NO_LEAP, /* Jn: day 1 to 365; 29 February is never counted */
    RULE_DAY          /* n: day 0 to 365 */
} RuleDayKind;

typedef struct RuleChange {
    RuleDayKind kind;
    int month, week, weekday; /* RULE_WEEKDAY; Sunday is 0 */
    int day;
    int64_t time_of_day; /* seconds of the clock that the change ends; -167 to 167 hours */
} RuleChange;

/* Offsets are seconds east of UTC. */
typedef struct ZoneRule {
    int64_t standard_offset, summer_offset;
    bool has_summer;
    RuleChange to_summer, to_standard;
} ZoneRule;

/* False when the text is no such rule. */
bool zone_rule_parse(Str text, ZoneRule *rule_out);

/* A stretch of time with one offset: [start, end) in seconds since 1970 UTC. */
typedef struct ZoneSegment {
    int64_t start, end;
    int64_t offset;
} ZoneSegment;
#define ZONE_NO_START INT64_MIN
#define ZONE_NO_END INT64_MAX

ZoneSegment zone_rule_segment(const ZoneRule *rule, int64_t instant);

#endif
