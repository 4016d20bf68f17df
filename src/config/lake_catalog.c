#include "config/lake_catalog.h"

#include "config/dsn.h"

/* What stands behind `prefix`, or all of `text`. */
static Str without_prefix(Str text, Str prefix) {
    return str_starts_with_fold(text, prefix) ? str_skip(text, prefix.size) : text;
}

LakeCatalog lake_catalog_read(Str database) {
    Str catalog = without_prefix(database, STR("ducklake:"));

    if (dsn_is_postgres(catalog)) {
        return (LakeCatalog){.kind = LAKE_CATALOG_POSTGRES, .target = dsn_postgres_string(catalog)};
    }
    if (str_starts_with_fold(catalog, STR("sqlite:")) && catalog.size > sizeof "sqlite:" - 1) {
        return (LakeCatalog){.kind = LAKE_CATALOG_SQLITE, .target = without_prefix(catalog, STR("sqlite:"))};
    }
    bool is_file = catalog.size > 0 && !dsn_has_scheme(catalog) && !str_equal(catalog, STR(":memory:"));
    return (LakeCatalog){.kind = is_file ? LAKE_CATALOG_DUCKDB : LAKE_CATALOG_UNKNOWN, .target = catalog};
}
