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

/* A clock that went backwards must not end a version before it began. */
static const char close_versions[] =
    "UPDATE {target} AS target SET " TO " = greatest({now}, target." FROM ") WHERE target." TO " IS NULL AND "
    "NOT EXISTS (SELECT 1 FROM {rows} AS source WHERE {keys& source.@ = target.@}"
    "{values*  AND source.@ IS NOT DISTINCT FROM target.@})";

/* … nor open one before the last was closed; most often no version ends after now. */
static const char open_versions[] =
    "INSERT INTO {target} ({all @}, " FROM ", " TO ") SELECT {all source.@}, "
    "greatest({now}, coalesce(ahead.closed, {now})), NULL FROM {rows} AS source LEFT JOIN "
    "(SELECT {keys target.@ AS #}, max(target." TO ") AS closed FROM {target} AS target WHERE target." TO " > {now} "
    "GROUP BY {keys target.@}) AS ahead ON ({keys& ahead.# = source.@}) WHERE NOT EXISTS "
    "(SELECT 1 FROM {target} AS target WHERE target." TO " IS NULL AND {keys& target.@ = source.@})";

static void write_by_processing_time(Writer *writer) {
    if (writer->is_first) {
        stage_first_build(writer);
        keys_refuse_null(writer);
        keys_collapse(writer, false);
        return;
    }
    stage_source(writer, true);
    keys_refuse_null(writer);
    keys_collapse(writer, false);
    writer_evolve(writer);
    writer_step(writer, STATEMENT_UPDATE, close_versions);
    writer_step(writer, STATEMENT_INSERT, open_versions);
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
