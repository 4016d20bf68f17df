/* SqlFile: a `.sql` file of the project taken apart into its configuration block and its query (spec 01 §3).
 * The block is a comment that holds YAML with the one key `interlace`; it stands before the first token of the query,
 * where other comments may come before it. What someone wrote as configuration is never ignored: a block that does not
 * read, a second one and one behind the first token are errors at their line. */
#ifndef INTERLACE_PROJECT_SQL_FILE_H
#define INTERLACE_PROJECT_SQL_FILE_H

#include "project/block_cache.h"
#include "sql/sql_text.h"

typedef struct SqlFile {
    const SourceFile *source;  /* without its byte-order mark */
    const ConfigValue *header; /* the map under `interlace`; NULL when nothing stands there */
    bool has_header;
    size_t header_line; /* 0: none */
    SqlText body;       /* from behind the block to the end */
} SqlFile;

/* Reads root/`path` once. DefinitionError naming the file: it cannot be read, is not UTF-8 (with the line), holds a NUL
 * byte, is larger than a query may be. */
MUST_CHECK Status source_file_read(Str root, Str path, Arena *arena, const SourceFile **source_out, Error *err);

/* `blocks`: see block_cache.h; may be NULL. ConfigurationError with line and column: the faults of blocks named above.
 */
MUST_CHECK Status sql_file_split(const SourceFile *source, SqlCache *blocks, Arena *arena, SqlFile *file_out,
                                 Error *err);

#endif
