/* merge: rows by key. Matched ones are written in place, changed or not; others are added; none is removed. */
#include "strategy/strategies.h"

Status merge_write(Writer *writer, Error *err) {
    TRY(writer_begin(writer, err));
    stage_keyed(writer);
    if (!writer->is_first) {
        writer_evolve(writer);
        upsert(writer, NULL);
    }
    writer_end(writer);
    return OK;
}
