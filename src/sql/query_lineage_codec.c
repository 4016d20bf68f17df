/* Each table and column that lineage names stands once in front; sources are numbers of that list. */
#include "sql/query_lineage_codec.h"

#include "base/str_map.h"
#include "sql/sql_codec.h"

enum { LINEAGE_IS_OPAQUE = 1, LINEAGE_IS_OPEN = 2 };

/* --- Writing ------------------------------------------------------------------------------------------------------ */

typedef struct Names {
    Arena *arena;
    StrMap *numbers; /* text → its number + 1 */
    StrVec list;
} Names;

static size_t number_of(Names *names, Str text) {
    size_t *number = str_map_find(names->numbers, text);
    if (number == NULL) {
        number = ARENA_NEW(names->arena, size_t);
        *number = names->list.count;
        str_map_put(names->numbers, text, number);
        str_vec_push(names->arena, &names->list, text);
    }
    return *number;
}

static void put_sources(Names *names, const LineageSourceVec *sources, StrBuf *bytes) {
    sql_put_number(bytes, sources->count);
    for (size_t i = 0; i < sources->count; i++) {
        sql_put_number(bytes, number_of(names, sources->items[i].table));
        sql_put_number(bytes, number_of(names, sources->items[i].column));
    }
}

void query_lineage_encode(const QueryLineage *lineage, StrBuf *bytes) {
    AUTO(arena) Arena *scratch = arena_create();
    AUTO(strbuf) StrBuf body = {0};
    Names names = {.arena = scratch, .numbers = str_map_create(scratch, STR_MAP_EXACT)};
    size_t flags = (lineage->is_opaque ? LINEAGE_IS_OPAQUE : 0U) | (lineage->is_open ? LINEAGE_IS_OPEN : 0U);
    sql_put_number(&body, flags);
    sql_put_number(&body, lineage->outputs.count);
    for (size_t i = 0; i < lineage->outputs.count; i++) {
        sql_put_number(&body, number_of(&names, lineage->outputs.items[i].name));
        put_sources(&names, &lineage->outputs.items[i].sources, &body);
    }
    put_sources(&names, &lineage->rows, &body);
    put_sources(&names, &lineage->rest, &body);
    sql_put_texts(&body, &lineage->open_tables);
    sql_put_texts(&body, &lineage->absent);
    sql_put_texts(bytes, &names.list);
    strbuf_append(bytes, strbuf_str(&body));
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static Str get_name(SqlDecoder *decoder, const StrVec *names) {
    size_t number = sql_get_number(decoder);
    decoder->is_sound = decoder->is_sound && number < names->count;
    return decoder->is_sound ? names->items[number] : STR_EMPTY;
}

static LineageSourceVec get_sources(SqlDecoder *decoder, const StrVec *names) {
    size_t count = sql_get_count(decoder);
    LineageSourceVec sources = {
        .items = ARENA_NEW_ARRAY(decoder->arena, LineageSource, count), .count = count, .capacity = count};
    for (size_t i = 0; i < count; i++) {
        sources.items[i].table = get_name(decoder, names);
        sources.items[i].column = get_name(decoder, names);
    }
    return sources;
}

static LineageOutputVec get_outputs(SqlDecoder *decoder, const StrVec *names) {
    size_t count = sql_get_count(decoder);
    LineageOutputVec outputs = {
        .items = ARENA_NEW_ARRAY(decoder->arena, LineageOutput, count), .count = count, .capacity = count};
    for (size_t i = 0; i < count; i++) {
        outputs.items[i].name = get_name(decoder, names);
        outputs.items[i].sources = get_sources(decoder, names);
    }
    return outputs;
}

bool query_lineage_decode(Str bytes, Arena *arena, QueryLineage *lineage_out) {
    SqlDecoder decoder = {.bytes = bytes, .arena = arena, .is_sound = true};
    StrVec names = sql_get_texts(&decoder);
    size_t flags = sql_get_number(&decoder);
    QueryLineage lineage = {
        .is_opaque = (flags & LINEAGE_IS_OPAQUE) != 0,
        .is_open = (flags & LINEAGE_IS_OPEN) != 0,
    };
    lineage.outputs = get_outputs(&decoder, &names);
    lineage.rows = get_sources(&decoder, &names);
    lineage.rest = get_sources(&decoder, &names);
    lineage.open_tables = sql_get_texts(&decoder);
    lineage.absent = sql_get_texts(&decoder);
    if (!sql_decoder_is_done(&decoder)) {
        return false;
    }
    *lineage_out = lineage;
    return true;
}
