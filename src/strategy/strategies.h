/* The writers that strategy.c dispatches to, a file each. Private to strategy/. */
#ifndef INTERLACE_STRATEGY_STRATEGIES_H
#define INTERLACE_STRATEGY_STRATEGIES_H

#include "strategy/strategy.h"

Status replace_write(const StrategyInput *input, Arena *arena, StrategyStatementVec *statements_out,
                     StrVec *notes_out, Error *err);

#endif
