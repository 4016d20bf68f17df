/* Where a DuckLake keeps its catalog, as `database` names it:
 *
 *     ducklake:lake.ducklake              a DuckDB file
 *     ducklake:sqlite:lake.sqlite         an SQLite file
 *     ducklake:postgres:host=h dbname=d   a PostgreSQL database; also postgres://…, postgresql://… */
#ifndef INTERLACE_CONFIG_LAKE_CATALOG_H
#define INTERLACE_CONFIG_LAKE_CATALOG_H

#include "base/str.h"

typedef enum LakeCatalogKind {
    LAKE_CATALOG_DUCKDB,
    LAKE_CATALOG_SQLITE,
    LAKE_CATALOG_POSTGRES,
    LAKE_CATALOG_UNKNOWN, /* another scheme, or nothing behind the prefix */
} LakeCatalogKind;

typedef struct LakeCatalog {
    LakeCatalogKind kind;
    Str target; /* the file as written, or the connection string; of an unknown kind: all behind `ducklake:` */
} LakeCatalog;

/* `ducklake:` itself may be missing: the type of the engine then says what it is. */
LakeCatalog lake_catalog_read(Str database);

#endif
