/* Progress: what is being built, as the rows that a terminal shows below the lines that stay. State and text only: who
 * draws, when and where is the console's matter (cli/console.h). One thread at a time. */
#ifndef INTERLACE_CLI_PROGRESS_H
#define INTERLACE_CLI_PROGRESS_H

#include "cli/terminal.h"
#include "run/event.h"

typedef struct ProgressRow {
    const Model *model;
    int64_t started_us;  /* monotonic */
    int64_t done, total; /* windows; total 0: it has none */
    int64_t rows;        /* of those that are done; 0: not known */
    int64_t moved_us;    /* monotonic: when the last of them was done */
} ProgressRow;
DEFINE_VEC(ProgressRowVec, progress_row_vec, ProgressRow)

typedef struct Progress {
    Arena *arena;
    ProgressRowVec running; /* in the order they began */
    size_t done, total;     /* models */
    size_t name_width;      /* of the models to be built, so that columns stand still */
    int64_t started_us;     /* monotonic; 0: nothing has begun */
} Progress;

/* Takes an event in. `stays_out` gets the line that stays, with its line break: the row of a model that ended. Other
 * events add nothing. */
void progress_take(Progress *progress, const Event *event, int64_t now_us, const Terminal *terminal, StrBuf *stays_out);

/* The live rows: running models as far as they fit, how many more there are, and the bottom line. Gives their number;
 * 0 when nothing runs. Each row is cut to the width and ends with a line break. */
size_t progress_draw(const Progress *progress, int64_t now_us, size_t step, const Terminal *terminal, TerminalSize size,
                     StrBuf *out);

#endif
