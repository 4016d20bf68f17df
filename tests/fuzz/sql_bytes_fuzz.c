/* Any bytes as what the engine's parser gives and as an entry of the cache: neither is a user's, both must be safe to
 * read. */
#include "sql/query_engine.h"
#include "sql/query_facts.h"
#include "sql/query_lineage_codec.h"
#include "sql/sql_facts_codec.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    Str bytes = {.ptr = (const char *)data, .size = size};
    Str sql = STR("WITH a AS (SELECT now() FROM raw.orders) SELECT a.*, f(x) FROM a, 'x.csv'");
    EngineReply reply = {0};
    SqlFacts facts = {0};
    SqlAnalysis analysis = {0};
    QueryLineage lineage = {0};
    if (!failed(query_read_reply(sql, bytes, arena, &reply, &err)) && reply.query != NULL &&
        failed(query_facts(reply.query, sql, arena, &facts, &err))) {
        return 0;
    }
    (void)sql_analysis_decode(bytes, arena, &analysis);
    (void)query_lineage_decode(bytes, arena, &lineage);
    return 0;
}
