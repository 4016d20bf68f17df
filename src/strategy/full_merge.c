/* full_merge: the source is the whole desired state; only the difference is written, and rows that do not differ are
 * not touched at all. */
#include "strategy/strategies.h"

#define VANISHED "NOT EXISTS (SELECT 1 FROM {rows} AS source WHERE {keys& source.@ = target.@})"

/* A target row with a NULL in its key matches nothing, so it goes as well: hence the key set is compared with IS NOT
 * DISTINCT FROM. */
static void delete_vanished(Writer *writer) {
    if (writer->input->capabilities->except_in_delete) {
        writer_step(writer, STATEMENT_DELETE, "DELETE FROM {target} AS target WHERE " VANISHED);
        return;
    }
    writer_make_work(writer, "vanished", "SELECT DISTINCT {keys target.@} FROM {target} AS target WHERE " VANISHED);
    writer_step(writer, STATEMENT_DELETE,
                "DELETE FROM {target} AS target USING {work vanished} AS vanished "
                "WHERE {keys& target.@ IS NOT DISTINCT FROM vanished.@}");
}

/* A legitimate state, and most often a mistake. */
static void note_empty_source(Writer *writer) {
    writer_step(writer, STATEMENT_NOTE,
                "SELECT 'source is empty: ' || count(*) || ' row' || CASE count(*) WHEN 1 THEN '' ELSE 's' END || "
                "' will be deleted' FROM {target} WHERE NOT EXISTS (SELECT 1 FROM {rows}) HAVING count(*) > 0");
}

Status full_merge_write(Writer *writer, Error *err) {
    TRY(writer_begin(writer, err));
    stage_set(writer);
    if (!writer->is_first) {
        static const char changed[] = "{values| target.@ IS DISTINCT FROM source.@}";
        note_empty_source(writer);
        writer_evolve(writer);
        if (!upsert_whole(writer, changed)) {
            delete_vanished(writer);
            upsert(writer, changed);
        }
    }
    writer_end(writer);
    return OK;
}
