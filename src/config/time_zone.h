/* Names of time zones, as the system's zone files know them. */
#ifndef INTERLACE_CONFIG_TIME_ZONE_H
#define INTERLACE_CONFIG_TIME_ZONE_H

#include "base/error.h"

/* Fails with ConfigurationError when `name` is no IANA zone. Where the system has no zone files, any name of the right
 * shape passes. */
MUST_CHECK Status time_zone_check(Str name, const char *what, SourceSpan place, Error *err);

#endif
