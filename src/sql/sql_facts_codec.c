/* Numbers are 32 bits in the machine's byte order (the cache is of one machine), texts are their size and bytes,
 * vectors are their count and items. Writer and reader of each type stand together, in the same order of fields. */
#include "sql/sql_facts_codec.h"

#include <string.h>

/* --- Numbers and texts -------------------------------------------------------------------------------------------- */

static void put_number(StrBuf *bytes, size_t number) {
    uint32_t value = number == STR_NOT_FOUND ? UINT32_MAX : (uint32_t)number; /* SQL_TEXT_MAX is far below */
    strbuf_append(bytes, (Str){.ptr = (const char *)&value, .size = sizeof value});
}

static void put_text(StrBuf *bytes, Str text) {
    put_number(bytes, text.size);
    strbuf_append(bytes, text);
}

typedef struct Decoder {
    Str bytes;
    size_t offset;
    Arena *arena;
    bool is_sound; /* false for good after the first read that does not fit */
} Decoder;

static size_t get_number(Decoder *decoder) {
    uint32_t value = 0;
    decoder->is_sound = decoder->is_sound && decoder->bytes.size - decoder->offset >= sizeof value;
    if (!decoder->is_sound) {
        return 0;
    }
    memcpy(&value, decoder->bytes.ptr + decoder->offset, sizeof value);
    decoder->offset += sizeof value;
    return value == UINT32_MAX ? STR_NOT_FOUND : value;
}

static Str get_text(Decoder *decoder) {
    size_t size = get_number(decoder);
    decoder->is_sound = decoder->is_sound && size <= decoder->bytes.size - decoder->offset;
    if (!decoder->is_sound) {
        return STR_EMPTY;
    }
    Str text = str_slice(decoder->bytes, decoder->offset, decoder->offset + size);
    decoder->offset += size;
    return text;
}

/* A count of items of which each takes four bytes or more. */
static size_t get_count(Decoder *decoder) {
    size_t count = get_number(decoder);
    decoder->is_sound = decoder->is_sound && count <= (decoder->bytes.size - decoder->offset) / sizeof(uint32_t);
    return decoder->is_sound ? count : 0;
}

/* --- Flags -------------------------------------------------------------------------------------------------------- */

enum { TABLE_SCHEMA_QUOTED = 1, TABLE_NAME_QUOTED = 2, TABLE_HAS_ALIAS = 4, TABLE_TAKES_ALIAS = 8, TABLE_IS_FILE = 16 };
enum { FACTS_HAS_WITH = 1, FACTS_HAS_TOP_ORDER_BY = 2 };

static size_t flag(bool is_set, size_t value) {
    return is_set ? value : 0;
}

/* --- Parts of the facts ------------------------------------------------------------------------------------------- */

static void put_table(StrBuf *bytes, const SqlTableRef *table) {
    put_text(bytes, table->catalog);
    put_text(bytes, table->schema);
    put_text(bytes, table->name);
    put_number(bytes, table->start);
    put_number(bytes, table->end);
    put_number(bytes, flag(table->schema_quoted, TABLE_SCHEMA_QUOTED) | flag(table->name_quoted, TABLE_NAME_QUOTED) |
                          flag(table->has_alias, TABLE_HAS_ALIAS) | flag(table->takes_alias, TABLE_TAKES_ALIAS) |
                          flag(table->is_file, TABLE_IS_FILE));
}

static SqlTableRef get_table(Decoder *decoder) {
    SqlTableRef table = {.catalog = get_text(decoder)};
    table.schema = get_text(decoder);
    table.name = get_text(decoder);
    table.start = get_number(decoder);
    table.end = get_number(decoder);
    size_t flags = get_number(decoder);
    table.schema_quoted = (flags & TABLE_SCHEMA_QUOTED) != 0;
    table.name_quoted = (flags & TABLE_NAME_QUOTED) != 0;
    table.has_alias = (flags & TABLE_HAS_ALIAS) != 0;
    table.takes_alias = (flags & TABLE_TAKES_ALIAS) != 0;
    table.is_file = (flags & TABLE_IS_FILE) != 0;
    return table;
}

static void put_prefix(StrBuf *bytes, const SqlColumnPrefix *prefix) {
    put_text(bytes, prefix->schema);
    put_text(bytes, prefix->table);
    put_number(bytes, prefix->start);
    put_number(bytes, prefix->end);
}

static SqlColumnPrefix get_prefix(Decoder *decoder) {
    SqlColumnPrefix prefix = {.schema = get_text(decoder)};
    prefix.table = get_text(decoder);
    prefix.start = get_number(decoder);
    prefix.end = get_number(decoder);
    return prefix;
}

static void put_function(StrBuf *bytes, const SqlFunctionRef *function) {
    put_text(bytes, function->name);
    put_number(bytes, function->start);
    put_number(bytes, function->in_from);
}

static SqlFunctionRef get_function(Decoder *decoder) {
    SqlFunctionRef function = {.name = get_text(decoder)};
    function.start = get_number(decoder);
    function.in_from = get_number(decoder) != 0;
    return function;
}

static void put_item(StrBuf *bytes, const SqlUnnamedItem *item) {
    put_number(bytes, item->start);
    put_number(bytes, item->end);
    put_text(bytes, item->name);
}

static SqlUnnamedItem get_item(Decoder *decoder) {
    SqlUnnamedItem item = {.start = get_number(decoder)};
    item.end = get_number(decoder);
    item.name = get_text(decoder);
    return item;
}

static void put_texts(StrBuf *bytes, const StrVec *texts) {
    put_number(bytes, texts->count);
    for (size_t i = 0; i < texts->count; i++) {
        put_text(bytes, texts->items[i]);
    }
}

static StrVec get_texts(Decoder *decoder) {
    size_t count = get_count(decoder);
    StrVec texts = {.items = ARENA_NEW_ARRAY(decoder->arena, Str, count), .count = count, .capacity = count};
    for (size_t i = 0; i < count; i++) {
        texts.items[i] = get_text(decoder);
    }
    return texts;
}

static void put_clock_read(StrBuf *bytes, const SqlClockRead *read) {
    put_text(bytes, read->name);
    put_number(bytes, read->kind);
    put_number(bytes, read->start);
    put_number(bytes, read->end);
    put_text(bytes, read->output);
}

static SqlClockRead get_clock_read(Decoder *decoder) {
    SqlClockRead read = {.name = get_text(decoder)};
    size_t kind = get_number(decoder);
    decoder->is_sound = decoder->is_sound && kind < SQL_CLOCK_KIND_COUNT;
    read.kind = (SqlClockKind)kind;
    read.start = get_number(decoder);
    read.end = get_number(decoder);
    read.output = get_text(decoder);
    return read;
}

static void put_time_source(StrBuf *bytes, const SqlTimeSource *source) {
    put_text(bytes, source->output);
    put_number(bytes, source->obstacle);
    put_number(bytes, source->table);
    put_text(bytes, source->column);
    put_texts(bytes, &source->units);
    put_texts(bytes, &source->absent);
}

/* A table that is not there would be read beyond the list. */
static SqlTimeSource get_time_source(Decoder *decoder, size_t table_count) {
    SqlTimeSource source = {.output = get_text(decoder)};
    size_t obstacle = get_number(decoder);
    source.obstacle = (SqlTimeObstacle)obstacle;
    source.table = get_number(decoder);
    source.column = get_text(decoder);
    source.units = get_texts(decoder);
    source.absent = get_texts(decoder);
    bool has_table = obstacle != SQL_TIME_PROVEN || source.table < table_count;
    decoder->is_sound = decoder->is_sound && obstacle < SQL_TIME_OBSTACLE_COUNT && has_table;
    return source;
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

void sql_analysis_encode(const SqlAnalysis *analysis, StrBuf *bytes) {
    const SqlFacts *facts = analysis->facts;
    put_text(bytes, analysis->canonical_digest);
    put_number(bytes, facts->with_offset);
    put_number(bytes, flag(facts->has_with, FACTS_HAS_WITH) | flag(facts->has_top_order_by, FACTS_HAS_TOP_ORDER_BY));
    put_number(bytes, facts->tables.count);
    for (size_t i = 0; i < facts->tables.count; i++) {
        put_table(bytes, &facts->tables.items[i]);
    }
    put_number(bytes, facts->prefixes.count);
    for (size_t i = 0; i < facts->prefixes.count; i++) {
        put_prefix(bytes, &facts->prefixes.items[i]);
    }
    put_number(bytes, facts->functions.count);
    for (size_t i = 0; i < facts->functions.count; i++) {
        put_function(bytes, &facts->functions.items[i]);
    }
    put_number(bytes, facts->clock_reads.count);
    for (size_t i = 0; i < facts->clock_reads.count; i++) {
        put_clock_read(bytes, &facts->clock_reads.items[i]);
    }
    put_texts(bytes, &facts->file_readers);
    put_texts(bytes, &facts->cte_names);
    put_texts(bytes, &facts->output_names);
    put_number(bytes, facts->unnamed_items.count);
    for (size_t i = 0; i < facts->unnamed_items.count; i++) {
        put_item(bytes, &facts->unnamed_items.items[i]);
    }
    put_number(bytes, facts->time_sources.count);
    for (size_t i = 0; i < facts->time_sources.count; i++) {
        put_time_source(bytes, &facts->time_sources.items[i]);
    }
}

static void get_references(Decoder *decoder, SqlFacts *facts) {
    size_t count = get_count(decoder);
    facts->tables.items = ARENA_NEW_ARRAY(decoder->arena, SqlTableRef, count);
    for (; facts->tables.count < count; facts->tables.count++) {
        facts->tables.items[facts->tables.count] = get_table(decoder);
    }
    count = get_count(decoder);
    facts->prefixes.items = ARENA_NEW_ARRAY(decoder->arena, SqlColumnPrefix, count);
    for (; facts->prefixes.count < count; facts->prefixes.count++) {
        facts->prefixes.items[facts->prefixes.count] = get_prefix(decoder);
    }
    count = get_count(decoder);
    facts->functions.items = ARENA_NEW_ARRAY(decoder->arena, SqlFunctionRef, count);
    for (; facts->functions.count < count; facts->functions.count++) {
        facts->functions.items[facts->functions.count] = get_function(decoder);
    }
    facts->tables.capacity = facts->tables.count;
    facts->prefixes.capacity = facts->prefixes.count;
    facts->functions.capacity = facts->functions.count;
}

static SqlUnnamedItemVec get_items(Decoder *decoder) {
    size_t count = get_count(decoder);
    SqlUnnamedItemVec items = {
        .items = ARENA_NEW_ARRAY(decoder->arena, SqlUnnamedItem, count), .count = count, .capacity = count};
    for (size_t i = 0; i < count; i++) {
        items.items[i] = get_item(decoder);
    }
    return items;
}

static SqlClockReadVec get_clock_reads(Decoder *decoder) {
    size_t count = get_count(decoder);
    SqlClockReadVec reads = {
        .items = ARENA_NEW_ARRAY(decoder->arena, SqlClockRead, count), .count = count, .capacity = count};
    for (size_t i = 0; i < count; i++) {
        reads.items[i] = get_clock_read(decoder);
    }
    return reads;
}

static SqlTimeSourceVec get_time_sources(Decoder *decoder, size_t table_count) {
    size_t count = get_count(decoder);
    SqlTimeSourceVec sources = {
        .items = ARENA_NEW_ARRAY(decoder->arena, SqlTimeSource, count), .count = count, .capacity = count};
    for (size_t i = 0; i < count; i++) {
        sources.items[i] = get_time_source(decoder, table_count);
    }
    return sources;
}

bool sql_analysis_decode(Str bytes, Arena *arena, SqlAnalysis *analysis_out) {
    Decoder decoder = {.bytes = str_copy(arena, bytes), .arena = arena, .is_sound = true};
    SqlFacts *facts = ARENA_NEW(arena, SqlFacts);
    Str digest = get_text(&decoder);
    facts->with_offset = get_number(&decoder);
    size_t flags = get_number(&decoder);
    facts->has_with = (flags & FACTS_HAS_WITH) != 0;
    facts->has_top_order_by = (flags & FACTS_HAS_TOP_ORDER_BY) != 0;
    get_references(&decoder, facts);
    facts->clock_reads = get_clock_reads(&decoder);
    facts->file_readers = get_texts(&decoder);
    facts->cte_names = get_texts(&decoder);
    facts->output_names = get_texts(&decoder);
    facts->unnamed_items = get_items(&decoder);
    facts->time_sources = get_time_sources(&decoder, facts->tables.count);
    if (!decoder.is_sound || decoder.offset != decoder.bytes.size) {
        return false;
    }
    *analysis_out = (SqlAnalysis){.facts = facts, .canonical_digest = digest};
    return true;
}
