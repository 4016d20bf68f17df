#include "project/model_clock.h"

#include "project/graph.h"
#include "project/project_load.h"
#include "sql/sql_splice.h"

ClockPolicy model_clock_policy(const Model *model) {
    if (model->clock.size == 0) {
        return CLOCK_UNSET;
    }
    return str_equal(model->clock, STR("window"))   ? CLOCK_WINDOW
           : str_equal(model->clock, STR("forbid")) ? CLOCK_FORBID
                                                    : CLOCK_WALL;
}

/* A query that could not be read has no facts. */
static const SqlClockRead *first_read(const Model *model, bool spares_columns) {
    for (size_t i = 0; model->facts != NULL && i < model->facts->clock_reads.count; i++) {
        const SqlClockRead *read = &model->facts->clock_reads.items[i];
        if (!spares_columns || !sql_clock_read_stays(read, &model->clock_columns)) {
            return read;
        }
    }
    return NULL;
}

const SqlClockRead *model_clock_read(const Project *project, const Model *model, bool spares_columns, Arena *arena,
                                     const Model **owner_out) {
    const SqlClockRead *read = first_read(model, spares_columns);
    *owner_out = model;
    if (read != NULL || model->kind != MODEL_SQL) {
        return read;
    }
    IndexVec inlined = graph_inlined(project, model, arena);
    for (size_t i = 0; read == NULL && i < inlined.count; i++) {
        *owner_out = project->models[inlined.items[i]];
        read = first_read(*owner_out, false);
    }
    return read;
}

bool model_binds_clock(const Project *project, const Model *model, Arena *arena) {
    const Model *owner;
    return model_clock_policy(model) == CLOCK_WINDOW && model_clock_read(project, model, true, arena, &owner) != NULL;
}

SourceSpan model_clock_place(const Model *owner, const SqlClockRead *read, Arena *arena) {
    bool is_known = read->start <= owner->query.text.size;
    SourceSpan place = is_known ? sql_text_place(&owner->query, read->start, arena) : owner->place;
    return place.file.size > 0 ? place : owner->place;
}

/* ---- clock: forbid */

static void refuse_read(ProjectLoad *load, const Model *model, const Model *owner, const SqlClockRead *read) {
    AUTO(error) Error err;
    error_init(&err);
    SourceSpan place = model_clock_place(owner, read, load->arena);
    if (owner == model) {
        error_set_at(&err, ERROR_COMPILATION, place,
                     "model '" STR_FMT "' has clock: forbid, and its query reads the clock by " STR_FMT,
                     STR_ARG(model->name), STR_ARG(read->name));
    } else {
        error_set_at(&err, ERROR_COMPILATION, place,
                     "model '" STR_FMT "' has clock: forbid, and the ephemeral '" STR_FMT
                     "' in its query reads the clock by " STR_FMT,
                     STR_ARG(model->name), STR_ARG(owner->name), STR_ARG(read->name));
    }
    error_hint(&err, "`clock: window` gives such reads the end of the window; `clock: wall` allows them");
    error_code(&err, STR("clock.read"));
    error_detail(&err, STR("model"), model->name);
    project_fault(load, &err);
}

void project_check_clocks(ProjectLoad *load) {
    const Project *project = load->project;
    AUTO(arena) Arena *scratch = arena_create();
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i], *owner;
        if (model_clock_policy(model) != CLOCK_FORBID) {
            continue;
        }
        const SqlClockRead *read = model_clock_read(project, model, true, scratch, &owner);
        if (read != NULL) {
            refuse_read(load, model, owner, read);
        }
    }
}
