/* SqlAnalyzer: text of a query in, SqlFacts out, through a cache keyed by the text's content.
 * A text that is in the cache costs a look-up: no engine is loaded. The cache is one binary file, replaced whole by
 * sql_analyzer_close when something was added; a damaged or foreign file is ignored. One thread at a time. */
#ifndef INTERLACE_SQL_SQL_ANALYZER_H
#define INTERLACE_SQL_SQL_ANALYZER_H

#include "duck/duck_parser.h"
#include "sql/sql_facts.h"
#include "sql/sql_text.h"

typedef struct SqlAnalyzer SqlAnalyzer;

/* `cache_directory` empty: no cache. Nothing is created before close. A read-only folder is no error. */
MUST_CHECK Status sql_analyzer_open(Str cache_directory, SqlAnalyzer **analyzer_out, Error *err);
void sql_analyzer_close(SqlAnalyzer *analyzer); /* NULL is fine */
DEFINE_AUTO(SqlAnalyzer, sql_analyzer, sql_analyzer_close)

/* The analyzer's own parser, opened on first need: for query_parse and the fence. Borrowed. */
MUST_CHECK Status sql_analyzer_parser(SqlAnalyzer *analyzer, DuckParser **parser_out, Error *err);

/* Gives the parser away, when there is one: NULL otherwise. */
DuckParser *sql_analyzer_take_parser(SqlAnalyzer *analyzer);

typedef struct SqlAnalysis {
    const SqlFacts *facts;
    Str canonical_digest; /* 64 hex digits: SHA-256 of the canonical form */
} SqlAnalysis;

/* CompilationError with sql_offset (a byte of `text`): syntax error; no statement, several, or one that is no query
 * (names its kind); PIVOT without a literal IN list (with a hint); text over SQL_TEXT_MAX. The caller adds the model
 * and maps the place by sql_text_locate_error. */
#define SQL_TEXT_MAX ((size_t)4 << 20)
MUST_CHECK Status sql_analyze(SqlAnalyzer *analyzer, Str text, Arena *arena, SqlAnalysis *analysis_out, Error *err);

#endif
