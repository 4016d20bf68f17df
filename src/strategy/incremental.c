/* incremental: the window's rows. Without a key the window is the whole truth for its period: its rows are replaced.
 * With one it only bounds what is read: its rows go in by key. */
#include "strategy/strategies.h"

static void replace_window(Writer *writer) {
    if (writer->is_first) {
        stage_first_build(writer);
        return;
    }
    stage_check_casts(writer);
    writer_evolve(writer);
    writer_step(writer, STATEMENT_DELETE, "DELETE FROM {target} WHERE {window}");
    writer_step(writer, STATEMENT_INSERT, "INSERT INTO {target} ({all @}) SELECT {produced} FROM {input}{within}");
}

static void upsert_window(Writer *writer) {
    stage_keyed(writer);
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
