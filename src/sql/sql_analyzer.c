#include "sql/sql_analyzer.h"

#include "base/files.h"
#include "sql/query_engine.h"
#include "sql/query_facts.h"
#include "sql/sql_cache.h"
#include "sql/sql_facts_codec.h"
#include "sql/sql_item_names.h"
#include "sql/sql_lexer.h"
#include "sql/sql_time_source.h"

#include <stdlib.h>

struct SqlAnalyzer {
    SqlCache *cache;
    DuckParser *parser; /* NULL until the first text that the cache does not know */
};

Status sql_analyzer_open(Str cache_directory, SqlAnalyzer **analyzer_out, Error *err) {
    (void)err; /* an unusable cache is none */
    AUTO(arena) Arena *scratch = arena_create();
    SqlAnalyzer *analyzer = heap_alloc_zeroed(1, sizeof *analyzer);
    Str path = cache_directory.size == 0 ? STR_EMPTY : path_join(scratch, cache_directory, STR("sql.bin"));
    Str version = str_format(scratch, "facts %s, canonical %d, %s", SQL_FACTS_CODEC_VERSION, SQL_CANONICAL_VERSION,
                             QUERY_READER_VERSION);
    analyzer->cache = sql_cache_open(path, version);
    *analyzer_out = analyzer;
    return OK;
}

void sql_analyzer_close(SqlAnalyzer *analyzer) {
    if (analyzer == NULL) {
        return;
    }
    sql_cache_close(analyzer->cache);
    duck_parser_close(analyzer->parser);
    free(analyzer);
}

Status sql_analyzer_parser(SqlAnalyzer *analyzer, DuckParser **parser_out, Error *err) {
    if (analyzer->parser == NULL) {
        TRY(duck_parser_open(&analyzer->parser, err));
    }
    *parser_out = analyzer->parser;
    return OK;
}

DuckParser *sql_analyzer_take_parser(SqlAnalyzer *analyzer) {
    return TAKE(analyzer->parser);
}

/* Everything but the result lives and dies with `scratch`. */
static Status analyze_anew(SqlAnalyzer *analyzer, Str text, Arena *scratch, StrBuf *bytes, Error *err) {
    AUTO(strbuf) StrBuf form = {0};
    DuckParser *parser = NULL;
    Query *query = NULL;
    SqlFacts facts = {0};
    TRY(sql_analyzer_parser(analyzer, &parser, err));
    TRY(query_parse(parser, text, scratch, &query, err));
    TRY(query_facts(query, text, scratch, &facts, err));
    sql_time_sources(query, &facts, scratch, &facts.time_sources);
    TRY(sql_item_names(parser, text, scratch, &facts, err));
    TRY(sql_canonical_form(text, &form, err));
    SqlAnalysis analysis = {.facts = &facts, .canonical_digest = sha256_hex(scratch, strbuf_str(&form))};
    sql_analysis_encode(&analysis, bytes);
    return OK;
}

Status sql_analyze(SqlAnalyzer *analyzer, Str text, Arena *arena, SqlAnalysis *analysis_out, Error *err) {
    ContentHash key = content_hash(text);
    Str cached = sql_cache_find(analyzer->cache, key);
    if (cached.size > 0 && sql_analysis_decode(cached, arena, analysis_out)) {
        return OK;
    }
    AUTO(arena) Arena *scratch = arena_create();
    AUTO(strbuf) StrBuf bytes = {0};
    TRY(analyze_anew(analyzer, text, scratch, &bytes, err));
    sql_cache_put(analyzer->cache, key, strbuf_str(&bytes));
    bool is_sound = sql_analysis_decode(strbuf_str(&bytes), arena, analysis_out);
    assert(is_sound);
    (void)is_sound;
    return OK;
}
