/* merge: rows by key. Matched ones are written in place, changed or not; others are added; none is removed. */
#include "strategy/strategies.h"

Status merge_write(Writer *writer, Error *err) {
    TRY(writer_begin(writer, err));
    if (writer->is_first) {
        stage_first_build(writer);
        keys_refuse_null(writer);
        keys_refuse_repeated(writer);
    } else {
        stage_source(writer, false);
        keys_refuse_null(writer);
        keys_refuse_repeated(writer);
        writer_evolve(writer);
        upsert(writer, NULL);
    }
    writer_end(writer);
    return OK;
}
