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

/* Rows that are not the open version of their key. A join by key and a comparison after it: all columns as the keys of
 * an anti-join take several times as long. */
static const char select_fresh[] =
    "SELECT {all source.@} FROM {rows} AS source LEFT JOIN {target} AS target ON ({keys& target.@ = source.@} AND "
    "target." TO " IS NULL) WHERE {keys| target.@ IS NULL}{values*  OR target.@ IS DISTINCT FROM source.@}";

/* A clock that went backwards must not end a version before it began. */
void scd_close_vanished(Writer *writer) {
    writer_step(writer, STATEMENT_UPDATE,
                "UPDATE {target} AS target SET " TO " = greatest({now}, target." FROM ") WHERE target." TO " IS NULL "
                "AND NOT EXISTS (SELECT 1 FROM {rows} AS source WHERE {keys& source.@ = target.@})");
}

static const char close_changed[] = "UPDATE {target} AS target SET " TO " = greatest({now}, target." FROM ") "
                                    "FROM {work fresh} AS fresh WHERE target." TO " IS NULL AND "
                                    "{keys& fresh.@ = target.@}";

/* … nor open one before the last was closed; most often no version ends after now. */
static const char open_versions[] =
    "INSERT INTO {target} ({all @}, " FROM ", " TO ") SELECT {all fresh.@}, "
    "greatest({now}, coalesce(ahead.closed, {now})), NULL FROM {work fresh} AS fresh LEFT JOIN "
    "(SELECT {keys target.@ AS #}, max(target." TO ") AS closed FROM {target} AS target WHERE target." TO " > {now} "
    "GROUP BY {keys target.@}) AS ahead ON ({keys& ahead.# = fresh.@})";

static void write_by_processing_time(Writer *writer) {
    stage_set(writer);
    if (!writer->is_first) {
        writer_evolve(writer);
        writer_make_work(writer, "fresh", select_fresh);
        scd_close_vanished(writer);
        writer_step(writer, STATEMENT_UPDATE, close_changed);
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
