/* DuckDatabase: one opened DuckDB instance (a file or memory), shared by the connections of all threads.
 * Opening loads the engine library on first need. Extensions are never installed or loaded by the engine itself. */
#ifndef INTERLACE_DUCK_DUCK_DATABASE_H
#define INTERLACE_DUCK_DUCK_DATABASE_H

#include "base/error.h"

typedef struct DuckDatabase DuckDatabase;

typedef struct DuckSetting {
    Str name, value;
} DuckSetting;

typedef struct DuckOpenOptions {
    Str path; /* ":memory:" or an absolute file path; its folder is created unless read_only */
    bool read_only;
    const DuckSetting *settings; /* set globally after opening; a relative temp_directory is created under `root` */
    size_t setting_count;
    Str root;                /* project root: the engine resolves relative file paths (read_csv('seeds/x.csv')) here */
    Str extension_directory; /* empty: none */
} DuckOpenOptions;

/* ConfigurationError: the file is held by another process (code warehouse.locked; names file, pid and the way out), is
 * no DuckDB file, cannot be created; a setting is unknown (names it). */
MUST_CHECK Status duck_database_open(const DuckOpenOptions *options, DuckDatabase **database_out, Error *err);
void duck_database_close(DuckDatabase *database); /* all connections must be closed; NULL is fine */
DEFINE_AUTO(DuckDatabase, duck_database, duck_database_close)

/* ATTACH: `uri` is an absolute DuckDB file path. */
MUST_CHECK Status duck_database_attach(DuckDatabase *database, Str alias, Str path, bool read_only, Error *err);

#endif
