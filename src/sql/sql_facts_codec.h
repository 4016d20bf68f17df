/* An SqlAnalysis as bytes for the cache, and back. */
#ifndef INTERLACE_SQL_SQL_FACTS_CODEC_H
#define INTERLACE_SQL_SQL_FACTS_CODEC_H

#include "sql/sql_analyzer.h"

/* Part of the cache's version: raised when the form of the bytes changes. */
#define SQL_FACTS_CODEC_VERSION "3"

void sql_analysis_encode(const SqlAnalysis *analysis, StrBuf *bytes);

/* All of it is copied into the arena. False when the bytes are not of this form; any bytes are safe to try. */
bool sql_analysis_decode(Str bytes, Arena *arena, SqlAnalysis *analysis_out);

#endif
