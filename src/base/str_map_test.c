#include "base/str_map.h"
#include "base/testing.h"

static void empty_map_holds_nothing(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    StrMap *map = str_map_create(arena, STR_MAP_EXACT);
    assert_null(str_map_find(map, STR("a")));
    assert_false(str_map_contains(map, STR_EMPTY));
    assert_int_equal(str_map_count(map), 0);
}

static void many_keys_are_found_in_order_of_insertion(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    StrMap *map = str_map_create(arena, STR_MAP_EXACT);
    int values[3000];
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        str_map_put(map, str_format(arena, "key%zu", i), &values[i]);
    }
    assert_int_equal(str_map_count(map), COUNT_OF(values));
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        assert_ptr_equal(str_map_find(map, str_format(arena, "key%zu", i)), &values[i]);
        assert_ptr_equal(str_map_entries(map)[i].value, &values[i]);
    }
    assert_false(str_map_contains(map, STR("key3000")));
}

static void put_of_a_present_key_replaces_its_value(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    StrMap *map = str_map_create(arena, STR_MAP_EXACT);
    int first, second;
    str_map_put(map, STR("a"), &first);
    str_map_put(map, STR("a"), &second);
    assert_ptr_equal(str_map_find(map, STR("a")), &second);
    assert_int_equal(str_map_count(map), 1);
}

static void null_is_a_value_like_others(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    StrMap *map = str_map_create(arena, STR_MAP_EXACT);
    str_map_put(map, STR("a"), NULL);
    assert_null(str_map_find(map, STR("a")));
    assert_true(str_map_contains(map, STR("a")));
}

static void folding_map_ignores_case(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    StrMap *exact = str_map_create(arena, STR_MAP_EXACT);
    StrMap *folding = str_map_create(arena, STR_MAP_FOLD);
    str_map_put(exact, STR("Orders"), arena);
    str_map_put(folding, STR("Orders"), arena);
    assert_false(str_map_contains(exact, STR("orders")));
    assert_true(str_map_contains(folding, STR("oRDERS")));
    assert_str(str_map_entries(folding)[0].key, "Orders", "the first spelling stays");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(empty_map_holds_nothing),
        TEST(many_keys_are_found_in_order_of_insertion),
        TEST(put_of_a_present_key_replaces_its_value),
        TEST(null_is_a_value_like_others),
        TEST(folding_map_ignores_case),
    };
    return cmocka_run_group_tests_name("str_map", tests, NULL, NULL);
}
