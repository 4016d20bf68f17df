/* incremental: the window's rows. Without a key the window is the whole truth for its period: its rows are replaced.
 * With one it only bounds what is read: its rows go in by key. */
#include "strategy/strategies.h"

static Status check_time_type(const Writer *writer, Error *err) {
    assert(writer->time != NULL);
    Str type = writer->time->source_type;
    TimeKind kind = time_kind(type);
    if (kind == TIME_NAIVE || kind == TIME_DATE || kind == TIME_ZONED) {
        return OK;
    }
    Str name = writer->time->source_name;
    (void)error_set(err, ERROR_EXECUTION,
                    "model '" STR_FMT "': time column '" STR_FMT "' is " STR_FMT ", not a DATE or TIMESTAMP",
                    STR_ARG(writer->input->model), STR_ARG(name), STR_ARG(type));
    error_code(err, STR("time_type"));
    error_hint(err, "cast it in the query: CAST(" STR_FMT " AS TIMESTAMP) AS " STR_FMT, STR_ARG(name), STR_ARG(name));
    return FAILED;
}

static void replace_window(Writer *writer) {
    stage_check_casts(writer);
    writer_evolve(writer);
    writer_step(writer, STATEMENT_DELETE, "DELETE FROM {target} WHERE {window}");
    writer_step(writer, STATEMENT_INSERT, "INSERT INTO {target} ({all @}) SELECT {produced} FROM {input}{within}");
}

static void upsert_window(Writer *writer) {
    stage_source(writer, false);
    keys_refuse_null(writer);
    keys_refuse_repeated(writer);
    writer_evolve(writer);
    upsert(writer, NULL);
}

Status incremental_write(Writer *writer, Error *err) {
    TRY(writer_begin(writer, err));
    TRY(check_time_type(writer, err));
    bool is_keyed = writer->input->key != NULL && writer->input->key->count > 0;
    writer->is_windowed = true;
    if (!writer->is_first) {
        (is_keyed ? upsert_window : replace_window)(writer);
    } else {
        stage_first_build(writer);
        if (is_keyed) {
            keys_refuse_null(writer);
            keys_refuse_repeated(writer);
        }
    }
    writer_end(writer);
    return OK;
}
