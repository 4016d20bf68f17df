#include "base/arena.h"
#include "base/testing.h"

static void memory_is_zeroed_and_aligned(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    for (size_t size = 0; size < 5000; size += 37) {
        unsigned char *block = arena_alloc(arena, size);
        assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(block[i], 0);
        }
        memset(block, 0xFF, size); /* the next one must not see it */
    }
}

static void an_arena_that_grows_large_keeps_what_it_was_given(void **state) {
    (void)state;
    enum { COUNT = 3000, SIZE = 3000 }; /* four huge pages */
    for (int round = 0; round < 2; round++) {
        AUTO(arena) Arena *arena = arena_create();
        unsigned char *blocks[COUNT];
        for (size_t i = 0; i < COUNT; i++) {
            blocks[i] = arena_alloc(arena, SIZE);
            assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
            assert_true(blocks[i][0] == 0 && memcmp(blocks[i], blocks[i] + 1, SIZE - 1) == 0);
            memset(blocks[i], (int)(i % 255 + 1), SIZE);
        }
        for (size_t i = 0; i < COUNT; i++) {
            assert_int_equal(blocks[i][0], i % 255 + 1);
            assert_int_equal(memcmp(blocks[i], blocks[i] + 1, SIZE - 1), 0);
        }
    }
}

static void requests_do_not_overlap(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    AUTO(arena) Arena *arena = arena_create();
    size_t *blocks[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        blocks[i] = ARENA_NEW_ARRAY(arena, size_t, 1 + i % 90);
        blocks[i][0] = i;
        blocks[i][i % 90] = i;
    }
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(blocks[i][0], i);
    }
}

static void large_request_leaves_the_front_block_in_use(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    char *before = arena_alloc(arena, 16);
    memset(arena_alloc(arena, (size_t)3 * 1024 * 1024), 1, (size_t)3 * 1024 * 1024);
    char *after = arena_alloc(arena, 16);
    assert_ptr_equal(after, before + 16);
}

static void used_counts_what_was_asked_for(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    (void)arena_alloc(arena, 10);
    (void)ARENA_NEW_ARRAY(arena, int, 5);
    assert_int_equal(arena_used(arena), 10 + 5 * sizeof(int));
}

static void destroying_nothing_is_fine(void **state) {
    (void)state;
    arena_destroy(NULL);
    arena_destroy(arena_create());
}

static void empty_heap_requests_give_a_block(void **state) {
    (void)state;
    free(heap_alloc(0));
    free(heap_alloc_zeroed(0, 8));
    free(heap_realloc(NULL, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(memory_is_zeroed_and_aligned),     TEST(an_arena_that_grows_large_keeps_what_it_was_given),
        TEST(requests_do_not_overlap),          TEST(large_request_leaves_the_front_block_in_use),
        TEST(used_counts_what_was_asked_for),   TEST(destroying_nothing_is_fine),
        TEST(empty_heap_requests_give_a_block),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
