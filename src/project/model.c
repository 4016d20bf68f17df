/* Names of what a model is: enums to text and back, each from one table. */
#include "project/model.h"

/* clang-format off */
static const Str materialise_names[] = {
    [MATERIALISE_VIRTUAL]   = STR_INIT("virtual"),
    [MATERIALISE_VIEW]      = STR_INIT("view"),
    [MATERIALISE_EPHEMERAL] = STR_INIT("ephemeral"),
    [MATERIALISE_TABLE]     = STR_INIT("table"),
    [MATERIALISE_FILE]      = STR_INIT("file"),
};
static_assert(COUNT_OF(materialise_names) == MATERIALISE_COUNT, "one row per Materialise");

static const Str strategy_names[] = {
    [STRATEGY_REPLACE]     = STR_INIT("replace"),
    [STRATEGY_APPEND]      = STR_INIT("append"),
    [STRATEGY_MERGE]       = STR_INIT("merge"),
    [STRATEGY_FULL_MERGE]  = STR_INIT("full_merge"),
    [STRATEGY_HASH_MERGE]  = STR_INIT("hash_merge"),
    [STRATEGY_SCD]         = STR_INIT("scd"),
    [STRATEGY_INCREMENTAL] = STR_INIT("incremental"),
};
static_assert(COUNT_OF(strategy_names) == STRATEGY_COUNT, "one row per StrategyKind");
/* clang-format on */

const char *materialise_name(Materialise materialise) {
    assert((unsigned)materialise < MATERIALISE_COUNT);
    return materialise_names[materialise].ptr;
}

const char *strategy_name(StrategyKind strategy) {
    assert((unsigned)strategy < STRATEGY_COUNT);
    return strategy_names[strategy].ptr;
}

static size_t find_name(const Str *names, size_t count, Str text) {
    for (size_t i = 0; i < count; i++) {
        if (str_equal(names[i], text)) {
            return i;
        }
    }
    return count;
}

bool materialise_parse(Str text, Materialise *materialise_out) {
    size_t found = find_name(materialise_names, MATERIALISE_COUNT, text);
    if (found == MATERIALISE_COUNT) {
        return false;
    }
    *materialise_out = (Materialise)found;
    return true;
}

bool strategy_parse(Str text, StrategyKind *strategy_out) {
    Str name = str_equal(text, STR("incremental_by_time")) ? STR("incremental") : text;
    size_t found = find_name(strategy_names, STRATEGY_COUNT, name);
    if (found == STRATEGY_COUNT) {
        return false;
    }
    *strategy_out = (StrategyKind)found;
    return true;
}

/* Neither a Python model nor a query that could not be read has facts. */
bool model_reads_input(const Model *model, size_t input) {
    for (size_t i = 0; model->facts != NULL && i < model->facts->tables.count; i++) {
        if (model->references[i].input == input) {
            return true;
        }
    }
    return false;
}
