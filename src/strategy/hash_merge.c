/* hash_merge: rows by key, written only where the hash over their other columns differs from the stored one.
 *
 * The hash is the MD5 of, for each produced column that is no key, in the order of their names without case: `n;` for
 * NULL, else `<characters>:<text>;`. The length in front keeps neighbours apart, whatever the data holds. */
#include "strategy/strategies.h"

#include <stdlib.h>

typedef struct HashedColumn {
    Str folded;
    const BoundColumn *column;
} HashedColumn;

static int by_folded_name(const void *a, const void *b) {
    return str_compare(((const HashedColumn *)a)->folded, ((const HashedColumn *)b)->folded);
}

static size_t hashed_columns(const Writer *writer, HashedColumn *hashed) {
    size_t count = 0;
    for (size_t i = 0; i < writer->columns.count; i++) {
        const BoundColumn *column = &writer->columns.items[i];
        if (!column->is_key) {
            hashed[count++] = (HashedColumn){str_lower(writer->arena, column->name), column};
        }
    }
    qsort(hashed, count, sizeof *hashed, by_folded_name);
    return count;
}

static Str quoted_name(Arena *arena, const BoundColumn *column) {
    AUTO(strbuf) StrBuf sql = {0};
    sql_identifier(&sql, column->name);
    return strbuf_copy(&sql, arena);
}

/* Over a row of {input} or, with `of_target`, of the target. */
static Str hash_of(const Writer *writer, bool of_target) {
    HashedColumn *hashed = ARENA_NEW_ARRAY(writer->arena, HashedColumn, writer->columns.count);
    size_t count = hashed_columns(writer, hashed);
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "md5(''");
    for (size_t i = 0; i < count; i++) {
        const BoundColumn *column = hashed[i].column;
        Str value = of_target ? quoted_name(writer->arena, column) : column->value;
        AUTO(strbuf) StrBuf text = {0};
        time_utc_text(&text, column->type, value, writer->arena);
        strbuf_format(&sql, " || coalesce(length(" STR_FMT ") || ':' || " STR_FMT " || ';', 'n;')",
                      STR_ARG(strbuf_str(&text)), STR_ARG(strbuf_str(&text)));
    }
    strbuf_char(&sql, ')');
    return strbuf_copy(&sql, writer->arena);
}

/* The target is a copy of what merge kept: its rows get the hash that they would have had. */
static void add_hash_to_copy(Writer *writer, Str hash) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "UPDATE ");
    sql_relation(&sql, writer->input->target);
    strbuf_format(&sql, " SET \"" STRATEGY_HASH_COLUMN "\" = " STR_FMT, STR_ARG(hash));
    writer_step(writer, STATEMENT_EVOLVE, "ALTER TABLE {target} ADD COLUMN \"" STRATEGY_HASH_COLUMN "\" VARCHAR");
    StrategyStatement update = {
        .role = STATEMENT_EVOLVE,
        .sql = sql_text_own(writer->arena, strbuf_copy(&sql, writer->arena)),
    };
    strategy_statement_vec_push(writer->arena, writer->statements, update);
}

Status hash_merge_write(Writer *writer, Error *err) {
    TRY(writer_begin(writer, err));
    Str hash_of_copied = hash_of(writer, true);
    columns_add_computed(writer, STR(STRATEGY_HASH_COLUMN), STR("VARCHAR"), hash_of(writer, false));
    stage_keyed(writer);
    if (!writer->is_first) {
        writer_evolve(writer);
        if (!writer_has_bookkeeping(writer, STR(STRATEGY_HASH_COLUMN))) {
            add_hash_to_copy(writer, hash_of_copied);
        }
        upsert(writer, "target.\"" STRATEGY_HASH_COLUMN "\" IS DISTINCT FROM source.\"" STRATEGY_HASH_COLUMN "\"");
    }
    writer_end(writer);
    return OK;
}
