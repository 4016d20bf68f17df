#include "strategy/strategy.h"

#include "strategy/strategies.h"

/* clang-format off */
static const struct Strategy {
    Status (*write)(Writer *writer, Error *err);
    bool is_accumulating;
    DuckColumn bookkeeping[3]; /* the last one has no name */
} strategies[] = {
    [STRATEGY_REPLACE] =     {.write = replace_write},
    [STRATEGY_APPEND] =      {.write = append_write},
    [STRATEGY_MERGE] =       {.write = merge_write,       .is_accumulating = true},
    [STRATEGY_FULL_MERGE] =  {.write = full_merge_write,  .is_accumulating = true},
    [STRATEGY_HASH_MERGE] =  {.write = hash_merge_write,  .is_accumulating = true,
                              .bookkeeping = {{STR_INIT(STRATEGY_HASH_COLUMN), STR_INIT("VARCHAR")}}},
    [STRATEGY_SCD] =         {.write = scd_write,         .is_accumulating = true,
                              .bookkeeping = {{STR_INIT(STRATEGY_FROM_COLUMN), STR_INIT("TIMESTAMP")},
                                              {STR_INIT(STRATEGY_TO_COLUMN), STR_INIT("TIMESTAMP")}}},
    [STRATEGY_INCREMENTAL] = {.write = incremental_write, .is_accumulating = true},
};
/* clang-format on */
static_assert(COUNT_OF(strategies) == STRATEGY_COUNT, "one row per StrategyKind");

Status strategy_write(StrategyKind kind, const StrategyInput *input, Arena *arena, StrategyStatementVec *statements_out,
                      StrVec *notes_out, Error *err) {
    Writer writer = {.input = input, .kind = kind, .arena = arena, .statements = statements_out, .notes = notes_out};
    return strategies[kind].write(&writer, err);
}

bool strategy_type_widens(Str from, Str to) {
    return type_change(from, to) == TYPE_WIDENS;
}

bool strategy_is_accumulating(StrategyKind kind) {
    return strategies[kind].is_accumulating;
}

const DuckColumn *strategy_bookkeeping(StrategyKind kind) {
    return strategies[kind].bookkeeping;
}
