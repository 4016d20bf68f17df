/* DuckDatabase: one opened DuckDB instance (a file or memory), shared by the connections of all threads.
 * Opening loads the engine library on first need. Extensions are never installed or loaded by the engine itself: what a
 * project needs is loaded by name, from one folder. */
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
    Str extension_directory; /* empty: `extensions` beside the engine library */
} DuckOpenOptions;

/* ConfigurationError: the file is held by another process (code warehouse.locked; names file, pid and the way out), is
 * no DuckDB file, cannot be created; a setting is unknown (names it). */
MUST_CHECK Status duck_database_open(const DuckOpenOptions *options, DuckDatabase **database_out, Error *err);
void duck_database_close(DuckDatabase *database); /* all connections must be closed; NULL is fine */
DEFINE_AUTO(DuckDatabase, duck_database, duck_database_close)

/* LOAD. ConfigurationError (code extension.missing): the file is not in the folder of extensions; it is named. */
MUST_CHECK Status duck_database_load_extension(DuckDatabase *database, Str name, Error *err);
/* SET GLOBAL, for settings that an extension brings. */
MUST_CHECK Status duck_database_set(DuckDatabase *database, Str name, Str value, Error *err);

typedef struct DuckAttachment {
    Str alias;
    Str target; /* an absolute file path, or what an extension takes: "ducklake:…", a PostgreSQL string */
    Str path;   /* the file behind `target`, for messages; empty: none */
    Str type;   /* of an extension; empty: a DuckDB file, or what the prefix of `target` says */
    bool read_only;
    const DuckSetting *options; /* of ATTACH: (NAME 'value', …) */
    size_t option_count;
} DuckAttachment;

/* ConfigurationError, as when opening. Its texts have no passwords, and it carries no statement: that has the target in
 * it. */
MUST_CHECK Status duck_database_attach(DuckDatabase *database, const DuckAttachment *attachment, Error *err);

#endif
