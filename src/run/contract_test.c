#include "run/contract.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct ContractCase {
    const char *wanted_name, *wanted_type, *found_name, *found_type;
    bool keeps;
} contract_cases[] = {
    {"id", "", "id", "BIGINT", true},
    {"ID", "bigint", "id", "BIGINT", true},
    {"id", "int", "id", "INTEGER", true},
    {"id", "int", "id", "BIGINT", false},
    {"id", "INT8", "id", "BIGINT", true},
    {"t", "text", "t", "VARCHAR", true},
    {"t", "string", "t", "VARCHAR", true},
    {"x", "double precision", "x", "DOUBLE", true},
    {"x", "float8", "x", "DOUBLE", true},
    {"x", "real", "x", "FLOAT", true},
    {"b", "bool", "b", "BOOLEAN", true},
    {"z", "timestamptz", "z", "TIMESTAMP WITH TIME ZONE", true},
    {"d", "decimal(10, 2)", "d", "DECIMAL(10,2)", true},
    {"d", "numeric(10,2)", "d", "DECIMAL(10,2)", true},
    {"d", "decimal(10,2)", "d", "DECIMAL(12,2)", false},
    {"missing", "", "id", "BIGINT", false},
};

static Model model_with(Arena *arena, const struct ContractCase *row) {
    Model model = {.name = STR("orders"), .has_contract = true};
    contract_column_vec_push(arena, &model.contract,
                             (ContractColumn){str_from(row->wanted_name), str_from(row->wanted_type)});
    return model;
}

static void types_compare_by_their_synonyms(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(contract_cases); i++) {
        const struct ContractCase *row = &contract_cases[i];
        AUTO(error) Error err = {0};
        Model model = model_with(arena, row);
        DuckColumnVec columns = {0};
        duck_column_vec_push(arena, &columns, (DuckColumn){STR("extra"), STR("DATE")});
        duck_column_vec_push(arena, &columns, (DuckColumn){str_from(row->found_name), str_from(row->found_type)});
        bool keeps = !failed(contract_check(&model, &columns, &err));
        if (keeps != row->keeps) {
            fail_msg("row %zu: %s %s against %s %s", i, row->wanted_name, row->wanted_type, row->found_name,
                     row->found_type);
        }
    }
}

static void the_message_names_all_columns_and_both_types(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    Model model = {.name = STR("orders"), .has_contract = true};
    contract_column_vec_push(arena, &model.contract, (ContractColumn){STR("a"), STR_EMPTY});
    contract_column_vec_push(arena, &model.contract, (ContractColumn){STR("b"), STR_EMPTY});
    contract_column_vec_push(arena, &model.contract, (ContractColumn){STR("id"), STR("int")});
    DuckColumnVec columns = {0};
    duck_column_vec_push(arena, &columns, (DuckColumn){STR("id"), STR("BIGINT")});
    assert_true(failed(contract_check(&model, &columns, &err)));
    assert_int_equal(err.kind, ERROR_SCHEMA);
    assert_true(str_find(err.message, STR("missing contracted column(s): a, b")) != STR_NOT_FOUND);
    assert_true(str_find(err.message, STR("id is BIGINT, expected int")) != STR_NOT_FOUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_compare_by_their_synonyms),
        cmocka_unit_test(the_message_names_all_columns_and_both_types),
    };
    return cmocka_run_group_tests_name("contract", tests, NULL, NULL);
}
