/* Selection of models (spec 03 §4): `name`, globs, `tag:x`, `path:dir/`, `state:modified`, `+` on either side. */
#ifndef INTERLACE_PROJECT_SELECTOR_H
#define INTERLACE_PROJECT_SELECTOR_H

#include "project/project.h"

typedef struct SelectionOptions {
    const StrVec *select, *exclude; /* options as given; each may hold several tokens */
    /* For state:modified: true for each model whose compiled fingerprint is not the promoted one; NULL: `state:` is
     * refused. */
    const bool *is_modified;
} SelectionOptions;

/* Which models are in: one flag a model of the project. */
typedef struct Selection {
    bool is_all; /* nothing was selected or excluded */
    bool *contains;
    size_t count;
} Selection;

/* SelectionError: unknown name (nearest one), tag without a model (known tags), glob or path without a match, unknown
 * `state:` kind. An empty match of state:modified is a valid empty selection. */
MUST_CHECK Status selection_resolve(const Project *project, const SelectionOptions *options, Arena *arena,
                                    Selection *selection_out, Error *err);

/* Adds, for each selected model, its ancestors as far as they are modified (an unmodified one stops the walk). */
void selection_grow(const Project *project, const bool *is_modified, Selection *selection);

#endif
