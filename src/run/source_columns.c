#include "run/source_columns.h"

#include "base/files.h"
#include "run/contract.h"
#include "sql/sql_cache.h"

typedef struct Source {
    DuckColumnVec columns; /* none: not known */
    bool is_live;
} Source;

struct SourceColumns {
    Session *session;
    bool read_only;
    Arena *arena;
    StrMap *found; /* the table as SQL → Source */
    SqlCache *cache;
    EngineConnection *connection; /* NULL until it is needed, or closed */
    bool is_absent;               /* there is no warehouse yet */
    Str closed_reason;
};

SourceColumns *source_columns_open(Session *session, bool read_only) {
    Arena *arena = arena_create();
    SourceColumns *sources = ARENA_NEW(arena, SourceColumns);
    const ProjectConfig *config = session->project->config;
    Str path = session->options.no_cache ? STR_EMPTY : path_join(arena, config->cache_path, STR("sources.bin"));
    *sources = (SourceColumns){
        .session = session,
        .read_only = read_only,
        .arena = arena,
        .found = str_map_create(arena, STR_MAP_EXACT),
        .cache = sql_cache_open(path, STR("columns 1")),
    };
    return sources;
}

void source_columns_close(SourceColumns *sources) {
    if (sources == NULL) {
        return;
    }
    engine_release(sources->connection);
    sql_cache_close(sources->cache);
    arena_destroy(sources->arena); /* the struct itself lives in it */
}

Str source_columns_closed_reason(const SourceColumns *sources) {
    return sources->closed_reason;
}

/* ---- The warehouse */

static Status connect(SourceColumns *sources, Error *err) {
    Engine *engine = NULL;
    TRY(session_engine(sources->session, sources->read_only, &engine, err));
    sources->is_absent = sources->read_only && !engine_database_exists(engine);
    return sources->is_absent ? OK : engine_connect(engine, &sources->connection, err);
}

static bool is_open(SourceColumns *sources) {
    AUTO(error) Error err = {0};
    if (sources->connection != NULL || sources->is_absent || sources->closed_reason.size > 0) {
        return sources->connection != NULL;
    }
    if (failed(connect(sources, &err))) {
        sources->closed_reason = str_copy(sources->arena, err.message);
    }
    return sources->connection != NULL;
}

/* What cannot be described has no known columns, whatever the reason: the build tells it. */
static bool describe(SourceColumns *sources, SqlRelation table, DuckColumnVec *columns_out) {
    AUTO(error) Error ignored = {0};
    SqlText rows = sql_text_all_rows(sources->arena, table);
    return is_open(sources) &&
           !failed(engine_describe(sources->connection, &rows, sources->arena, columns_out, &ignored));
}

/* ---- What was seen before */

/* The cache folder is the project's, its database may change from one environment variable to the next. */
static ContentHash key_of(const SourceColumns *sources, Str table) {
    const ProjectConfig *config = sources->session->project->config;
    const EngineConfig *engine = project_config_engine(config, config->default_engine);
    const Str parts[] = {engine->name, engine->database, engine->database_path, table};
    return content_hash_parts(parts, COUNT_OF(parts));
}

static void recall(SourceColumns *sources, Str table, Source *source) {
    AUTO(error) Error ignored = {0};
    Str bytes = sql_cache_find(sources->cache, key_of(sources, table));
    DuckColumnVec columns = {0};
    if (bytes.size > 0 && !failed(columns_from_json(bytes, sources->arena, &columns, &ignored))) {
        source->columns = columns;
    }
}

static void look(SourceColumns *sources, SqlRelation table, Str name, Source *source) {
    DuckColumnVec columns = {0};
    if (describe(sources, table, &columns)) {
        source->columns = columns;
        sql_cache_put(sources->cache, key_of(sources, name), columns_to_json(&columns, sources->arena));
    } else if (sources->closed_reason.size == 0) {
        source->columns = (DuckColumnVec){0}; /* it was there, and is no more */
    }
    source->is_live = sources->closed_reason.size == 0;
}

const DuckColumnVec *source_columns_find(SourceColumns *sources, SqlRelation table, SourceColumnsAge age) {
    AUTO(strbuf) StrBuf written = {0};
    sql_relation(&written, table);
    Source *source = str_map_find(sources->found, strbuf_str(&written));
    if (source == NULL) {
        source = ARENA_NEW(sources->arena, Source);
        Str name = strbuf_copy(&written, sources->arena);
        recall(sources, name, source);
        str_map_put(sources->found, name, source);
    }
    if (!source->is_live && (age == SOURCE_LIVE || source->columns.count == 0)) {
        look(sources, table, strbuf_str(&written), source);
    }
    return source->columns.count == 0 ? NULL : &source->columns;
}

FunctionPresence source_columns_has_function(SourceColumns *sources, Str name) {
    AUTO(error) Error ignored = {0};
    AUTO(strbuf) StrBuf sql = {0};
    int64_t count = 0;
    if (!is_open(sources)) {
        return sources->is_absent ? FUNCTION_ABSENT : FUNCTION_UNKNOWN;
    }
    strbuf_text(&sql, "SELECT count(*) FROM duckdb_functions() WHERE lower(function_name) = lower(");
    sql_literal(&sql, name);
    strbuf_char(&sql, ')');
    SqlText query = sql_text_own(sources->arena, strbuf_copy(&sql, sources->arena));
    if (failed(engine_query_int(sources->connection, &query, &count, &ignored))) {
        return FUNCTION_UNKNOWN;
    }
    return count > 0 ? FUNCTION_PRESENT : FUNCTION_ABSENT;
}
