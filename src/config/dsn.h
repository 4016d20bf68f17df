/* What can be said of a connection string without connecting. */
#ifndef INTERLACE_CONFIG_DSN_H
#define INTERLACE_CONFIG_DSN_H

#include "base/str.h"

/* "md:", "postgresql://", "ducklake:": letters, digits, `+`, `-` and `.` before a colon, at least two of them. */
bool dsn_has_scheme(Str text);

/* `text` speaks of PostgreSQL by its prefix: postgres:, postgresql:, also behind ducklake: */
bool dsn_is_postgres(Str text);

/* Whether the PostgreSQL URI or keyword string names its host: host, hostaddr or service as a keyword or in the query,
 * or a host in the URI. What PGHOST or PGSERVICE add is not looked at. */
bool dsn_names_host(Str text);

/* The string as PostgreSQL's own library takes it: a URI or keywords, without DuckDB's prefix `postgres:` and without
 * ducklake: */
Str dsn_postgres_string(Str text);

#endif
