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

/* Types that both spell alike are not here. Those without a counterpart become what the extension makes of them. */
static const struct PostgresType {
    Str name, there;
} postgres_types[] = {
    {STR_INIT("TINYINT"), STR_INIT("smallint")},
    {STR_INIT("UTINYINT"), STR_INIT("bigint")},
    {STR_INIT("USMALLINT"), STR_INIT("bigint")},
    {STR_INIT("UINTEGER"), STR_INIT("bigint")},
    {STR_INIT("UBIGINT"), STR_INIT("numeric(20)")},
    {STR_INIT("HUGEINT"), STR_INIT("double precision")},
    {STR_INIT("FLOAT"), STR_INIT("real")},
    {STR_INIT("DOUBLE"), STR_INIT("double precision")},
    {STR_INIT("BLOB"), STR_INIT("bytea")},
    {STR_INIT("TIMESTAMP_S"), STR_INIT("timestamp")},
    {STR_INIT("TIMESTAMP_MS"), STR_INIT("timestamp")},
    {STR_INIT("TIMESTAMP_NS"), STR_INIT("timestamp")},
    {STR_INIT("UHUGEINT"), STR_INIT("varchar")},
    {STR_INIT("BIT"), STR_INIT("varchar")},
};

static Str postgres_name(Str type) {
    for (size_t i = 0; i < COUNT_OF(postgres_types); i++) {
        if (str_equal_fold(type, postgres_types[i].name)) {
            return postgres_types[i].there;
        }
    }
    return str_starts_with_fold(type, STR("MAP(")) ? STR("varchar") : type;
}

Str type_in_postgres(Str type, Arena *arena) {
    const Str list = STR("[]");
    if (str_ends_with(type, list)) {
        Str item = type_in_postgres(str_slice(type, 0, type.size - list.size), arena);
        return str_format(arena, STR_FMT "[]", STR_ARG(item));
    }
    return postgres_name(type);
}
