/* scd: every version of a row, each valid from one instant to another; the open one has no end. The source is the whole
 * current state. Here by processing time: what differs is closed and opened at the transaction's instant. A model with
 * a time column goes by the times of its events: scd_event.c. */
#include "strategy/strategies.h"

#define FROM "\"" STRATEGY_FROM_COLUMN "\""
#define TO "\"" STRATEGY_TO_COLUMN "\""

static const ExtraColumns extra_columns = {
    .definitions = ", " FROM " TIMESTAMP, " TO " TIMESTAMP",
    .names = ", " FROM ", " TO,
    .values = ", {now} AS " FROM ", CAST(NULL AS TIMESTAMP) AS " TO,
};

/* What differs from the open versions, in one pass over both: rows that are not the open version of their key, and,
 * `vanished`, keys of open versions that the source does not give. A join by key and a comparison after it: all columns
 * as the keys of an anti-join take several times as long. */
void scd_make_fresh(Writer *writer, const char *more) {
    Str select =
        str_format(writer->arena,
                   "SELECT {keys coalesce(source.@, target.@) AS #}{values* , source.@ AS #}%s, {keys& source.@ IS "
                   "NULL} AS vanished "
                   "FROM {rows} AS source FULL JOIN (SELECT {all @} FROM {target} WHERE " TO " IS NULL) AS target "
                   "ON ({keys& target.@ = source.@}) WHERE {keys& source.@ IS NULL} OR {keys& target.@ IS NULL}"
                   "{values*  OR target.@ IS DISTINCT FROM source.@}",
                   more);
    writer_make_work(writer, "fresh", str_to_c(writer->arena, select));
}

/* Each open version once, or it would count twice: a table that others write to may hold several with a NULL in their
 * key, and all of them have vanished. FROM, not EXISTS: over millions of rows that takes ten times as long. A clock
 * that went backwards must not end a version before it began. */
static const char close_open[] =
    "UPDATE {target} AS target SET " TO " = greatest({now}, target." FROM ") FROM (SELECT {keys #} FROM {work fresh} "
    "WHERE NOT vanished UNION ALL " SCD_VANISHED ") AS ended WHERE target." TO " IS NULL AND "
    "{keys& ended.# IS NOT DISTINCT FROM target.@}";

/* … nor open one before the last was closed; most often no version ends after now. */
static const char open_versions[] =
    "INSERT INTO {target} ({all @}, " FROM ", " TO ") SELECT {all fresh.#}, "
    "greatest({now}, coalesce(ahead.closed, {now})), NULL FROM {work fresh} AS fresh LEFT JOIN "
    "(SELECT {keys target.@ AS #}, max(target." TO ") AS closed FROM {target} AS target WHERE target." TO " > {now} "
    "GROUP BY {keys target.@}) AS ahead ON ({keys& ahead.# = fresh.#}) WHERE NOT fresh.vanished";

static void write_by_processing_time(Writer *writer) {
    stage_set(writer);
    if (!writer->is_first) {
        writer_evolve(writer);
        scd_make_fresh(writer, "");
        writer_step(writer, STATEMENT_UPDATE, close_open);
        writer_step(writer, STATEMENT_INSERT, open_versions);
    }
}

Status scd_write(Writer *writer, Error *err) {
    TRY(writer_begin(writer, err));
    writer->extra = extra_columns;
    if (writer->time != NULL) {
        TRY(scd_event_write(writer, err));
    } else {
        write_by_processing_time(writer);
    }
    writer_end(writer);
    return OK;
}
