/* scd by event time: versions follow the times of the source's events, whenever they arrive (spec 02 §8.3).
 *
 * The rules go row by row, in ascending event time within a key. As a set they come to this. What a row does depends
 * on the stored versions of its key alone, because rows of one batch have different event times; so each row is judged
 * once, against the table as it was:
 *
 *   chain   it becomes the current version for a while: it opens at `chain_from` and ends where the next row of the
 *           chain opens; the last stays open. The stored open version ends where the chain begins. A correction is the
 *           first of its chain: it opens where the corrected version did, which is left with no length.
 *   late    it goes into history: from its event time to the end of the stored version that covers it, or, in a gap,
 *           to the next stored version; but no further than the next late row. The covering version is cut there.
 *   known   nothing.
 *
 * Rows that equal the open version of their key are known under every rule and go first, so that the work is in
 * proportion to the change. The working tables: `fresh` (the other rows, and the vanished keys), `history` (stored
 * versions of their keys), `placed` (fresh rows that are written), `late` (where late rows fall), `cuts` (stored
 * versions that end). */
#include "strategy/strategies.h"

#define FROM "\"" STRATEGY_FROM_COLUMN "\""
#define TO "\"" STRATEGY_TO_COLUMN "\""

static const char first_versions[] =
    "SELECT {all source.@}, {event source} AS " FROM ", lead({event source}) OVER (PARTITION BY {keys source.@} "
    "ORDER BY {event source}) AS " TO " FROM {rows} AS source";

/* A version that somebody else wrote, or one older than the time column, may have no event time: its own start. */
static const char select_history[] =
    "SELECT {all target.@ AS #}, coalesce({event target}, target." FROM ") AS event, target." FROM " AS opened, "
    "target." TO " AS closed FROM {target} AS target WHERE EXISTS "
    "(SELECT 1 FROM {work fresh} AS fresh WHERE {keys& fresh.# = target.@} AND NOT fresh.vanished)";

static const char close_vanished[] =
    "UPDATE {target} AS target SET " TO " = greatest({now}, target." FROM ") FROM (" SCD_VANISHED ") AS vanished "
    "WHERE target." TO " IS NULL AND {keys& vanished.# IS NOT DISTINCT FROM target.@}";

/* By line of the CASE: no version at all; rule 3 and its exception to rule 1; rule 2; rule 0, both sentences. */
static const char select_placed[] =
    "WITH state AS (SELECT {keys h.#}, max(h.closed) AS last_closed, bool_or(h.closed IS NULL) AS is_open, "
    "max(h.opened) FILTER (WHERE h.closed IS NULL) AS open_from, "
    "max(h.event) FILTER (WHERE h.closed IS NULL) AS open_event FROM {work history} AS h GROUP BY {keys h.#}), "
    "judged AS (SELECT {all f.#}, f.event, s.last_closed, s.is_open, s.open_from, s.open_event, "
    "f.event = max(f.event) OVER (PARTITION BY {keys f.#}) AS is_latest, "
    "EXISTS (SELECT 1 FROM {work history} AS h WHERE {keys& h.# = f.#}"
    "{values*  AND h.# IS NOT DISTINCT FROM f.#}) AS is_known "
    "FROM {work fresh} AS f LEFT JOIN state AS s ON ({keys& s.# = f.#}) WHERE NOT f.vanished), "
    "chained AS (SELECT {all #}, event, is_open, open_from, is_known, CASE "
    "WHEN is_open IS NULL THEN event "
    "WHEN is_open AND event = open_event AND (is_latest OR NOT is_known) THEN open_from "
    "WHEN is_open AND event > open_event AND NOT is_known THEN greatest(event, open_from) "
    "WHEN NOT is_open AND event >= last_closed THEN event "
    "WHEN NOT is_open AND is_latest THEN greatest({now}, last_closed) "
    "END AS chain_from FROM judged) "
    "SELECT {all #}, event, is_open, open_from, chain_from FROM chained WHERE chain_from IS NOT NULL OR NOT is_known";

/* At most one version with a length covers an instant; a late row has a version after it or one that covers it. */
static const char select_late[] =
    "SELECT {keys p.#}, p.event, "
    "max(h.opened) FILTER (WHERE h.opened <= p.event AND p.event < h.closed) AS cover_from, "
    "max(h.closed) FILTER (WHERE h.opened <= p.event AND p.event < h.closed) AS cover_to, "
    "min(h.opened) FILTER (WHERE h.opened > p.event) AS next_from "
    "FROM {work placed} AS p JOIN {work history} AS h ON ({keys& h.# = p.#}) "
    "WHERE p.chain_from IS NULL GROUP BY {keys p.#}, p.event";

static const char select_cuts[] =
    "SELECT {keys p.#}, p.open_from AS opened, CAST(NULL AS TIMESTAMP) AS closed, min(p.chain_from) AS cut "
    "FROM {work placed} AS p WHERE p.chain_from IS NOT NULL AND p.is_open GROUP BY {keys p.#}, p.open_from UNION ALL "
    "SELECT {keys l.#}, l.cover_from, l.cover_to, min(l.event) FROM {work late} AS l WHERE l.cover_from IS NOT NULL "
    "GROUP BY {keys l.#}, l.cover_from, l.cover_to";

static const char cut_versions[] =
    "UPDATE {target} AS target SET " TO " = cuts.cut FROM {work cuts} AS cuts WHERE {keys& cuts.# = target.@} AND "
    "target." FROM " = cuts.opened AND target." TO " IS NOT DISTINCT FROM cuts.closed";

static const char insert_versions[] =
    "INSERT INTO {target} ({all @}, " FROM ", " TO ") "
    "SELECT {all p.#}, p.chain_from, lead(p.chain_from) OVER (PARTITION BY {keys p.#} ORDER BY p.event) "
    "FROM {work placed} AS p WHERE p.chain_from IS NOT NULL UNION ALL "
    "SELECT {all p.#}, p.event, least(coalesce(l.cover_to, l.next_from), "
    "lead(p.event) OVER (PARTITION BY {keys p.#} ORDER BY p.event)) "
    "FROM {work placed} AS p JOIN {work late} AS l ON ({keys& l.# = p.#} AND l.event = p.event) "
    "WHERE p.chain_from IS NULL";

static void check_source(Writer *writer) {
    keys_refuse_null(writer);
    keys_refuse_null_time(writer);
    if (time_is_text(writer->time->type)) {
        writer_refuse(writer, REFUSAL_CAST,
                      "SELECT {time text}, r.{time}, 'TIMESTAMP' FROM {rows} AS r WHERE r.{time} IS NOT NULL AND "
                      "TRY_CAST(r.{time} AS TIMESTAMP) IS NULL LIMIT 1");
    }
    keys_collapse(writer, true);
}

static void write_difference(Writer *writer) {
    scd_make_fresh(writer, ", {event source} AS event");
    writer_make_work(writer, "history", select_history);
    writer_make_work(writer, "placed", select_placed);
    writer_make_work(writer, "late", select_late);
    writer_make_work(writer, "cuts", select_cuts);
    writer_step(writer, STATEMENT_UPDATE, close_vanished);
    writer_step(writer, STATEMENT_UPDATE, cut_versions);
    writer_step(writer, STATEMENT_INSERT, insert_versions);
}

Status scd_event_write(Writer *writer, Error *err) {
    TRY(time_check_type(writer, writer->time->name, writer->time->type, true, err));
    stage_source(writer, true);
    check_source(writer);
    if (writer->is_first) {
        stage_create_target(writer, first_versions);
    } else {
        writer_evolve(writer);
        write_difference(writer);
    }
    return OK;
}
