/* The promises of a source about its keys and times (spec 02 §2), each a query that gives rows when one is broken. */
#include "strategy/writer.h"

void keys_refuse_null(Writer *writer) {
    writer_refuse(
        writer, REFUSAL_NULL_KEY,
        "SELECT faults.*, sample.* FROM (SELECT count(*) AS total, {keys bool_or(r.@ IS NULL) AS #} FROM {rows} AS r "
        "WHERE {keys| r.@ IS NULL}) AS faults, "
        "(SELECT {all r.@} FROM {rows} AS r WHERE {keys| r.@ IS NULL} LIMIT 1) AS sample");
}

void keys_refuse_null_time(Writer *writer) {
    writer_refuse(writer, REFUSAL_NULL_TIME,
                  "SELECT count(*) FROM {rows} AS r WHERE r.{time} IS NULL HAVING count(*) > 0");
}

/* The outer names are the user's, the inner ones short, so that a key named `n` is no trouble. */
#define REPEATS_HEAD "SELECT count(*) OVER (), CAST(sum(repeats.n) OVER () AS BIGINT), "
#define REPEATS_TAIL " LIMIT 5"

/* The rows of a key are numbered, those beyond the first are left: DuckDB does that in less than half the time of GROUP
 * BY … HAVING count(*) > 1 over millions of keys (bench/run --only strategies). */
#define NUMBERED                                                                                                       \
    "(SELECT {keys k.@ AS #}, row_number() OVER (PARTITION BY {keys k.@}) AS n FROM {rows} AS k) AS numbered"
#define NUMBERED_EVENTS                                                                                                \
    "(SELECT {keys k.@ AS #}, {event k} AS event, row_number() OVER (PARTITION BY {keys k.@}, {event k}) AS n "        \
    "FROM {rows} AS k) AS numbered"

static const char by_key[] =
    REPEATS_HEAD "{keys repeats.# AS @}, repeats.n FROM (SELECT {keys #}, max(n) AS n FROM " NUMBERED
                 " WHERE n > 1 GROUP BY {keys #}) AS repeats ORDER BY repeats.n DESC, {keys repeats.#}" REPEATS_TAIL;

static const char by_key_and_event[] =
    REPEATS_HEAD "{keys repeats.# AS @}, repeats.event AS {time}, repeats.n FROM (SELECT {keys #}, event, max(n) AS n "
                 "FROM " NUMBERED_EVENTS " WHERE n > 1 GROUP BY {keys #}, event) AS repeats "
                 "ORDER BY repeats.n DESC, {keys repeats.#}, repeats.event" REPEATS_TAIL;

void keys_refuse_repeated(Writer *writer) {
    writer_refuse(writer, REFUSAL_DUPLICATE_KEY, by_key);
}

/* Only rows whose key repeats go through DISTINCT; most often there are none. Joins, not EXISTS: over a subquery that
 * groups, DuckDB would first gather the distinct keys of the outer side. */
static const char select_repeated[] = "SELECT DISTINCT {all r.@} FROM {rows} AS r JOIN (SELECT * FROM " NUMBERED
                                      " WHERE n = 2) AS repeats ON ({keys& repeats.# = r.@})";

static const char select_repeated_events[] =
    "SELECT DISTINCT {all r.@} FROM {rows} AS r JOIN (SELECT * FROM " NUMBERED_EVENTS
    " WHERE n = 2) AS repeats ON ({keys& repeats.# = r.@} AND repeats.event = {event r})";

/* After the check `repeated` has one row for each such key. */
static const char count_collapsed[] =
    "SELECT (SELECT count(*) FROM {work repeated}) - (SELECT count(*) FROM {rows} AS r "
    "JOIN {work repeated} AS d ON ({keys& d.@ = r.@})), 0, 0";

static const char delete_repeated[] = "DELETE FROM {rows} AS r USING {work repeated} AS d WHERE {keys& d.@ = r.@}";

static const char delete_repeated_events[] =
    "DELETE FROM {rows} AS r USING {work repeated} AS d WHERE {keys& d.@ = r.@} AND {event d} = {event r}";

void keys_collapse(Writer *writer, bool by_event) {
    writer_make_work(writer, "repeated", by_event ? select_repeated_events : select_repeated);
    Str source = writer->rows;
    writer->rows = template_fill(writer, STR("{work repeated}")).text;
    writer_refuse(writer, REFUSAL_DUPLICATE_KEY, by_event ? by_key_and_event : by_key);
    writer->rows = source;

    bool is_target = str_equal(source, template_fill(writer, STR("{target}")).text);
    StatementRole role = is_target ? STATEMENT_RUN : STATEMENT_STAGE;
    if (is_target) {
        assert(!by_event);
        writer_step(writer, STATEMENT_COUNT, count_collapsed);
    }
    writer_step(writer, role, by_event ? delete_repeated_events : delete_repeated);
    Str insert = str_format(writer->arena, "INSERT INTO {rows} ({all @}%s) SELECT {all @}%s FROM {work repeated}",
                            is_target ? writer->extra.names : "", is_target ? writer->extra.values : "");
    writer_step(writer, role, str_to_c(writer->arena, insert));
}
