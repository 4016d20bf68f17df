/* `query`: one SELECT under the read-only fence, bounded in rows, bytes and time. Both layers hold by themselves: the
 * allow-list on the parse tree (sql/sql_fence.h), and a read-only transaction on a read-only opening of the warehouse
 * with external access shut. */
#ifndef INTERLACE_RUN_READ_QUERY_H
#define INTERLACE_RUN_READ_QUERY_H

#include "duck/duck_connection.h"
#include "run/session.h"

#define QUERY_LIMIT_DEFAULT 100
#define QUERY_LIMIT_MAX 10000
#define QUERY_CELLS_SIZE_MAX 8000000 /* bytes of rendered cells; cut and marked as truncated beyond */
#define QUERY_SECONDS_MAX 30
#define QUERY_TEXT_MAX ((size_t)256 << 10)

typedef struct ReadQueryOptions {
    Str sql;
    Str environment; /* unqualified names mean this environment's views */
    int64_t limit;   /* 1 … QUERY_LIMIT_MAX; larger counts as the maximum */
} ReadQueryOptions;

typedef struct ReadQueryResult {
    DuckRows rows;
    bool is_truncated;
    double seconds;
} ReadQueryResult;

/* QueryError in one line for a refusal; the engine's text for its own errors. */
MUST_CHECK Status read_query(Session *session, const ReadQueryOptions *options, Arena *arena,
                             ReadQueryResult *result_out, Error *err);

#endif
