/* The names are those that pyarrow gives the engine's own Arrow results, with `item` for the items of lists. */
#include "run/arrow_type_name.h"

#include "base/testing.h"

static void types_get_the_names_of_arrow(void **state) {
    (void)state;
    static const struct {
        const char *type, *name;
    } cases[] = {
        {"BOOLEAN", "bool"},
        {"BIGINT", "int64"},
        {"UTINYINT", "uint8"},
        {"HUGEINT", "decimal128(38, 0)"},
        {"FLOAT", "float"},
        {"DECIMAL(38,2)", "decimal128(38, 2)"},
        {"VARCHAR", "string"},
        {"BLOB", "binary"},
        {"DATE", "date32[day]"},
        {"TIME", "time64[us]"},
        {"TIMESTAMP", "timestamp[us]"},
        {"TIMESTAMP_NS", "timestamp[ns]"},
        {"TIMESTAMP WITH TIME ZONE", "timestamp[us, tz=UTC]"},
        {"INTERVAL", "month_day_nano_interval"},
        {"UUID", "string"},
        {"JSON", "string"},
        {"INTEGER[]", "list<item: int32>"},
        {"INTEGER[][3]", "fixed_size_list<item: list<item: int32>>[3]"},
        {"STRUCT(a INTEGER, \"b \"\"c\" VARCHAR[])", "struct<a: int32, b \"c: list<item: string>>"},
        {"STRUCT(a STRUCT(b DECIMAL(4,1)), c DATE)[]",
         "list<item: struct<a: struct<b: decimal128(4, 1)>, c: date32[day]>>"},
        {"MAP(VARCHAR, INTEGER[])", "map<string, list<item: int32>>"},
        {"UNION(n INTEGER, s VARCHAR)", "sparse_union<n: int32=0, s: string=1>"},
        {"ENUM('a', 'it''s, ), b')", "dictionary<values=string, indices=uint8, ordered=0>"},
        {"GEOMETRY('a)(', 2)[]", "list<item: string>"},
        {"\"my (type\"", "string"},
        {"", "string"},
        {"STRUCT(", "struct<: string>"}, /* never given, but nothing is read behind the end */
        {"ENUM('a", "dictionary<values=string, indices=uint8, ordered=0>"},
        {"MAP(", "map<string, string>"},
        {"DECIMAL(", "decimal128(, )"},
    };
    AUTO(arena) Arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str name = arrow_type_name(str_from(cases[i].type), arena);
        if (!str_equal(name, str_from(cases[i].name))) {
            fail_msg("%s: " STR_FMT " is not %s", cases[i].type, STR_ARG(name), cases[i].name);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(types_get_the_names_of_arrow)};
    return cmocka_run_group_tests_name("arrow type name", tests, NULL, NULL);
}
