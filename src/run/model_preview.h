/* What an environment serves of a model: some of its rows, and a profile of its columns. Read under the fence of
 * `query` (run/read_query.h). */
#ifndef INTERLACE_RUN_MODEL_PREVIEW_H
#define INTERLACE_RUN_MODEL_PREVIEW_H

#include "run/read_query.h"

#define PREVIEW_ROWS_MAX 100

typedef enum ProfileMeasure { PROFILE_NULLS, PROFILE_DISTINCT, PROFILE_MIN, PROFILE_MAX, PROFILE_TOTAL } ProfileMeasure;

typedef struct ModelPreview {
    Str unavailable; /* why there is nothing to see (not built there, no relation); empty: there is */
    Str relation;    /* the view, as a query names it */
    DuckRows rows;
    bool is_truncated; /* there are more rows */
    DuckRows profile;  /* one row: PROFILE_TOTAL cells for each column of `rows` */
} ModelPreview;

/* At most `limit` rows, never more than PREVIEW_ROWS_MAX. Fails only on what is not the model's to say, such as a
 * warehouse that another process holds. Texts live in `arena`. */
MUST_CHECK Status model_preview(Session *session, const Model *model, Str environment, int64_t limit, Arena *arena,
                                ModelPreview *preview_out, Error *err);
const DuckCell *model_preview_measure(const ModelPreview *preview, size_t column, ProfileMeasure measure);

#endif
