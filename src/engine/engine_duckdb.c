/* A DuckDB file, or memory: one instance for a process and file, one connection for each session. */
#include "engine/duck_family.h"

#include "base/files.h"

static bool is_memory(const EngineOptions *options) {
    return str_equal(options->config->database_path, STR(":memory:"));
}

static bool duckdb_exists(const EngineOptions *options) {
    return is_memory(options) || file_exists(options->config->database_path);
}

static Status duckdb_open(const EngineOptions *options, void **database_out, Error *err) {
    AUTO(family_database) FamilyDatabase *database = NULL;
    TRY(family_open(options, options->config->database_path, options->read_only, &database, err));
    TRY(family_attach_all(database, options, err));
    *database_out = TAKE(database);
    return OK;
}

const EngineType engine_type_duckdb = {
    .name = "duckdb",
    .capabilities =
        {
            .create_or_replace = true,
            .star_exclude = true,
            .merge = true,
            .merge_actions = true,
            .transactions = true,
            .mutation_subquery = true,
            .except_in_delete = true,
            .attach = true,
            .row_counts = true,
            .parallel_writers = true,
        },
    .ambiguous_schema_hint = "give the file another name under `database`, or the models another folder",
    .exists = duckdb_exists,
    .open = duckdb_open,
    FAMILY_FUNCTIONS,
};
