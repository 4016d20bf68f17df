/* append: the rows are added to the target; nothing is matched, so a second run doubles. */
#include "strategy/strategies.h"

Status append_write(Writer *writer, Error *err) {
    TRY(writer_begin(writer, err));
    if (writer->is_first) {
        stage_first_build(writer);
    } else {
        stage_check_casts(writer);
        writer_evolve(writer);
        writer_step(writer, STATEMENT_INSERT, "INSERT INTO {target} ({all @}) SELECT {produced} FROM {input}");
    }
    writer_end(writer);
    return OK;
}
