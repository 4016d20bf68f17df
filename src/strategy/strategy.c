#include "strategy/strategy.h"

#include "strategy/strategies.h"

typedef Status (*StrategyWriter)(const StrategyInput *input, Arena *arena, StrategyStatementVec *statements_out,
                                 StrVec *notes_out, Error *err);

/* A strategy without a writer is refused when the project loads. */
static const StrategyWriter writers[STRATEGY_COUNT] = {
    [STRATEGY_REPLACE] = replace_write,
};

Status strategy_write(StrategyKind kind, const StrategyInput *input, Arena *arena, StrategyStatementVec *statements_out,
                      StrVec *notes_out, Error *err) {
    if (writers[kind] == NULL) {
        return error_set(err, ERROR_INTERNAL, "no statements for strategy %s", strategy_name(kind));
    }
    return writers[kind](input, arena, statements_out, notes_out, err);
}
