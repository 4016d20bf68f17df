/* incremental: the window's rows. Without a key the window is the whole truth for its period: its rows are replaced.
 * With one it only bounds what is read: its rows go in by key. */
#include "strategy/strategies.h"

static void drop_untimed(Writer *writer) {
    writer_step(
        writer, STATEMENT_NOTE,
        "SELECT CASE count(*) WHEN 1 THEN '1 source row has' ELSE count(*) || ' source rows have' END || ' no ' "
        "|| {time text} FROM {target} WHERE {time} IS NULL HAVING count(*) > 0");
    writer_step(writer, STATEMENT_COUNT, "SELECT -count(*), 0, 0 FROM {target} WHERE {time} IS NULL");
    writer_step(writer, STATEMENT_RUN, "DELETE FROM {target} WHERE {time} IS NULL");
}

/* Rows without a time belong to no window. A table of our own takes them in first, so that they are counted without
 * reading the source again; those of a first delivery are counted where its range is looked for. */
static void first_build(Writer *writer) {
    writer->takes_untimed = writer->is_owned;
    stage_first_build(writer);
    if (writer->takes_untimed) {
        drop_untimed(writer);
    }
}

static void replace_window(Writer *writer) {
    if (writer->is_first) {
        first_build(writer);
        return;
    }
    stage_check_casts(writer);
    writer_evolve(writer);
    writer_step(writer, STATEMENT_DELETE, "DELETE FROM {target} WHERE {window}");
    writer_step(writer, STATEMENT_INSERT, "INSERT INTO {target} ({all @}) SELECT {produced} FROM {input}{within}");
}

static void upsert_window(Writer *writer) {
    if (writer->is_first) {
        first_build(writer);
    } else {
        stage_source(writer, false);
    }
    keys_refuse_null(writer);
    keys_refuse_repeated(writer);
    if (!writer->is_first) {
        writer_evolve(writer);
        upsert(writer, NULL);
    }
}

Status incremental_write(Writer *writer, Error *err) {
    TRY(writer_begin(writer, err));
    assert(writer->time != NULL);
    TRY(time_check_type(writer, writer->time->source_name, writer->time->source_type, false, err));
    bool is_keyed = writer->input->key != NULL && writer->input->key->count > 0;
    writer->is_windowed = true;
    (is_keyed ? upsert_window : replace_window)(writer);
    writer_end(writer);
    return OK;
}
