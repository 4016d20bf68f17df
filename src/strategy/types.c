/* Which stored types widen, and which values fit into which (spec 01 §12.3). */
#include "strategy/writer.h"

/* Each holds the values of those before it, but for FLOAT, which holds SMALLINT and no wider integer, and DOUBLE, which
 * rounds some of BIGINT. */
static const Str numbers[] = {STR_INIT("TINYINT"), STR_INIT("SMALLINT"), STR_INIT("INTEGER"),
                              STR_INIT("BIGINT"),  STR_INIT("FLOAT"),    STR_INIT("DOUBLE")};
enum { NUMBER_SMALLINT = 1, NUMBER_BIGINT = 3, NUMBER_FLOAT = 4, NUMBER_DOUBLE = 5 };

static size_t number_rank(Str type) {
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (str_equal_fold(type, numbers[i])) {
            return i;
        }
    }
    return STR_NOT_FOUND;
}

static bool widens(Str from, Str to) {
    size_t narrow = number_rank(from);
    size_t wide = number_rank(to);
    return narrow != STR_NOT_FOUND && wide != STR_NOT_FOUND && narrow < wide &&
           (wide != NUMBER_FLOAT || narrow <= NUMBER_SMALLINT);
}

TypeChange type_change(Str stored, Str arriving) {
    if (str_equal_fold(stored, arriving)) {
        return TYPE_SAME;
    }
    if (widens(stored, arriving)) {
        return TYPE_WIDENS;
    }
    return widens(arriving, stored) ? TYPE_FITS : TYPE_CASTS;
}

bool type_widening_rounds(Str stored, Str widened) {
    return number_rank(stored) == NUMBER_BIGINT && number_rank(widened) == NUMBER_DOUBLE;
}
