/* Writer and reader of each type stand together, in the same order of fields. */
#include "sql/sql_facts_codec.h"

#include "sql/sql_codec.h"

/* --- Flags -------------------------------------------------------------------------------------------------------- */

enum { TABLE_SCHEMA_QUOTED = 1, TABLE_NAME_QUOTED = 2, TABLE_HAS_ALIAS = 4, TABLE_TAKES_ALIAS = 8, TABLE_IS_FILE = 16 };
enum { FACTS_HAS_WITH = 1, FACTS_HAS_TOP_ORDER_BY = 2 };

static size_t flag(bool is_set, size_t value) {
    return is_set ? value : 0;
}

/* --- Parts of the facts ------------------------------------------------------------------------------------------- */

static void put_table(StrBuf *bytes, const SqlTableRef *table) {
    sql_put_text(bytes, table->catalog);
    sql_put_text(bytes, table->schema);
    sql_put_text(bytes, table->name);
    sql_put_number(bytes, table->start);
    sql_put_number(bytes, table->end);
    sql_put_number(bytes, flag(table->schema_quoted, TABLE_SCHEMA_QUOTED) |
                              flag(table->name_quoted, TABLE_NAME_QUOTED) | flag(table->has_alias, TABLE_HAS_ALIAS) |
                              flag(table->takes_alias, TABLE_TAKES_ALIAS) | flag(table->is_file, TABLE_IS_FILE));
}

static SqlTableRef get_table(SqlDecoder *decoder) {
    SqlTableRef table = {.catalog = sql_get_text(decoder)};
    table.schema = sql_get_text(decoder);
    table.name = sql_get_text(decoder);
    table.start = sql_get_number(decoder);
    table.end = sql_get_number(decoder);
    size_t flags = sql_get_number(decoder);
    table.schema_quoted = (flags & TABLE_SCHEMA_QUOTED) != 0;
    table.name_quoted = (flags & TABLE_NAME_QUOTED) != 0;
    table.has_alias = (flags & TABLE_HAS_ALIAS) != 0;
    table.takes_alias = (flags & TABLE_TAKES_ALIAS) != 0;
    table.is_file = (flags & TABLE_IS_FILE) != 0;
    return table;
}

static void put_prefix(StrBuf *bytes, const SqlColumnPrefix *prefix) {
    sql_put_text(bytes, prefix->schema);
    sql_put_text(bytes, prefix->table);
    sql_put_number(bytes, prefix->start);
    sql_put_number(bytes, prefix->end);
}

static SqlColumnPrefix get_prefix(SqlDecoder *decoder) {
    SqlColumnPrefix prefix = {.schema = sql_get_text(decoder)};
    prefix.table = sql_get_text(decoder);
    prefix.start = sql_get_number(decoder);
    prefix.end = sql_get_number(decoder);
    return prefix;
}

static void put_function(StrBuf *bytes, const SqlFunctionRef *function) {
    sql_put_text(bytes, function->name);
    sql_put_number(bytes, function->start);
    sql_put_number(bytes, function->in_from);
}

static SqlFunctionRef get_function(SqlDecoder *decoder) {
    SqlFunctionRef function = {.name = sql_get_text(decoder)};
    function.start = sql_get_number(decoder);
    function.in_from = sql_get_number(decoder) != 0;
    return function;
}

static void put_item(StrBuf *bytes, const SqlUnnamedItem *item) {
    sql_put_number(bytes, item->start);
    sql_put_number(bytes, item->end);
    sql_put_text(bytes, item->name);
}

static SqlUnnamedItem get_item(SqlDecoder *decoder) {
    SqlUnnamedItem item = {.start = sql_get_number(decoder)};
    item.end = sql_get_number(decoder);
    item.name = sql_get_text(decoder);
    return item;
}

static void put_clock_read(StrBuf *bytes, const SqlClockRead *read) {
    sql_put_text(bytes, read->name);
    sql_put_number(bytes, read->kind);
    sql_put_number(bytes, read->start);
    sql_put_number(bytes, read->end);
    sql_put_text(bytes, read->output);
}

static SqlClockRead get_clock_read(SqlDecoder *decoder) {
    SqlClockRead read = {.name = sql_get_text(decoder)};
    size_t kind = sql_get_number(decoder);
    decoder->is_sound = decoder->is_sound && kind < SQL_CLOCK_KIND_COUNT;
    read.kind = (SqlClockKind)kind;
    read.start = sql_get_number(decoder);
    read.end = sql_get_number(decoder);
    read.output = sql_get_text(decoder);
    return read;
}

static void put_time_source(StrBuf *bytes, const SqlTimeSource *source) {
    sql_put_text(bytes, source->output);
    sql_put_number(bytes, source->obstacle);
    sql_put_number(bytes, source->table);
    sql_put_text(bytes, source->column);
    sql_put_texts(bytes, &source->units);
    sql_put_texts(bytes, &source->absent);
}

/* A table that is not there would be read beyond the list. */
static SqlTimeSource get_time_source(SqlDecoder *decoder, size_t table_count) {
    SqlTimeSource source = {.output = sql_get_text(decoder)};
    size_t obstacle = sql_get_number(decoder);
    source.obstacle = (SqlTimeObstacle)obstacle;
    source.table = sql_get_number(decoder);
    source.column = sql_get_text(decoder);
    source.units = sql_get_texts(decoder);
    source.absent = sql_get_texts(decoder);
    bool has_table = obstacle != SQL_TIME_PROVEN || source.table < table_count;
    decoder->is_sound = decoder->is_sound && obstacle < SQL_TIME_OBSTACLE_COUNT && has_table;
    return source;
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

void sql_analysis_encode(const SqlAnalysis *analysis, StrBuf *bytes) {
    const SqlFacts *facts = analysis->facts;
    sql_put_text(bytes, analysis->canonical_digest);
    sql_put_number(bytes, facts->with_offset);
    sql_put_number(bytes,
                   flag(facts->has_with, FACTS_HAS_WITH) | flag(facts->has_top_order_by, FACTS_HAS_TOP_ORDER_BY));
    sql_put_number(bytes, facts->tables.count);
    for (size_t i = 0; i < facts->tables.count; i++) {
        put_table(bytes, &facts->tables.items[i]);
    }
    sql_put_number(bytes, facts->prefixes.count);
    for (size_t i = 0; i < facts->prefixes.count; i++) {
        put_prefix(bytes, &facts->prefixes.items[i]);
    }
    sql_put_number(bytes, facts->functions.count);
    for (size_t i = 0; i < facts->functions.count; i++) {
        put_function(bytes, &facts->functions.items[i]);
    }
    sql_put_number(bytes, facts->clock_reads.count);
    for (size_t i = 0; i < facts->clock_reads.count; i++) {
        put_clock_read(bytes, &facts->clock_reads.items[i]);
    }
    sql_put_texts(bytes, &facts->file_readers);
    sql_put_texts(bytes, &facts->cte_names);
    sql_put_texts(bytes, &facts->output_names);
    sql_put_number(bytes, facts->unnamed_items.count);
    for (size_t i = 0; i < facts->unnamed_items.count; i++) {
        put_item(bytes, &facts->unnamed_items.items[i]);
    }
    sql_put_number(bytes, facts->time_sources.count);
    for (size_t i = 0; i < facts->time_sources.count; i++) {
        put_time_source(bytes, &facts->time_sources.items[i]);
    }
}

static void get_references(SqlDecoder *decoder, SqlFacts *facts) {
    size_t count = sql_get_count(decoder);
    facts->tables.items = ARENA_NEW_ARRAY(decoder->arena, SqlTableRef, count);
    for (; facts->tables.count < count; facts->tables.count++) {
        facts->tables.items[facts->tables.count] = get_table(decoder);
    }
    count = sql_get_count(decoder);
    facts->prefixes.items = ARENA_NEW_ARRAY(decoder->arena, SqlColumnPrefix, count);
    for (; facts->prefixes.count < count; facts->prefixes.count++) {
        facts->prefixes.items[facts->prefixes.count] = get_prefix(decoder);
    }
    count = sql_get_count(decoder);
    facts->functions.items = ARENA_NEW_ARRAY(decoder->arena, SqlFunctionRef, count);
    for (; facts->functions.count < count; facts->functions.count++) {
        facts->functions.items[facts->functions.count] = get_function(decoder);
    }
    facts->tables.capacity = facts->tables.count;
    facts->prefixes.capacity = facts->prefixes.count;
    facts->functions.capacity = facts->functions.count;
}

static SqlUnnamedItemVec get_items(SqlDecoder *decoder) {
    size_t count = sql_get_count(decoder);
    SqlUnnamedItemVec items = {
        .items = ARENA_NEW_ARRAY(decoder->arena, SqlUnnamedItem, count), .count = count, .capacity = count};
    for (size_t i = 0; i < count; i++) {
        items.items[i] = get_item(decoder);
    }
    return items;
}

static SqlClockReadVec get_clock_reads(SqlDecoder *decoder) {
    size_t count = sql_get_count(decoder);
    SqlClockReadVec reads = {
        .items = ARENA_NEW_ARRAY(decoder->arena, SqlClockRead, count), .count = count, .capacity = count};
    for (size_t i = 0; i < count; i++) {
        reads.items[i] = get_clock_read(decoder);
    }
    return reads;
}

static SqlTimeSourceVec get_time_sources(SqlDecoder *decoder, size_t table_count) {
    size_t count = sql_get_count(decoder);
    SqlTimeSourceVec sources = {
        .items = ARENA_NEW_ARRAY(decoder->arena, SqlTimeSource, count), .count = count, .capacity = count};
    for (size_t i = 0; i < count; i++) {
        sources.items[i] = get_time_source(decoder, table_count);
    }
    return sources;
}

bool sql_analysis_decode(Str bytes, Arena *arena, SqlAnalysis *analysis_out) {
    SqlDecoder decoder = {.bytes = str_copy(arena, bytes), .arena = arena, .is_sound = true};
    SqlFacts *facts = ARENA_NEW(arena, SqlFacts);
    Str digest = sql_get_text(&decoder);
    facts->with_offset = sql_get_number(&decoder);
    size_t flags = sql_get_number(&decoder);
    facts->has_with = (flags & FACTS_HAS_WITH) != 0;
    facts->has_top_order_by = (flags & FACTS_HAS_TOP_ORDER_BY) != 0;
    get_references(&decoder, facts);
    facts->clock_reads = get_clock_reads(&decoder);
    facts->file_readers = sql_get_texts(&decoder);
    facts->cte_names = sql_get_texts(&decoder);
    facts->output_names = sql_get_texts(&decoder);
    facts->unnamed_items = get_items(&decoder);
    facts->time_sources = get_time_sources(&decoder, facts->tables.count);
    if (!sql_decoder_is_done(&decoder)) {
        return false;
    }
    *analysis_out = (SqlAnalysis){.facts = facts, .canonical_digest = digest};
    return true;
}
