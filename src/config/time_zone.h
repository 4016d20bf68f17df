/* Names of time zones, as the system's zone files know them. */
#ifndef INTERLACE_CONFIG_TIME_ZONE_H
#define INTERLACE_CONFIG_TIME_ZONE_H

#include "base/error.h"

/* Where the system keeps its zone files: $TZDIR, or /usr/share/zoneinfo. */
Str time_zone_directory(void);
/* Letters, digits, `_`, `+`, `-`, parted by single `/`: nothing that leads out of that folder. */
bool time_zone_has_shape(Str name);

/* Fails with ConfigurationError when `name` is no IANA zone. Where the system has no zone files, any name of the right
 * shape passes. */
MUST_CHECK Status time_zone_check(Str name, const char *what, SourceSpan place, Error *err);

#endif
