#include "base/process_usage.h"

#include "base/files.h"
#include "base/testing.h"

#include <sys/mman.h>

static void bytes_that_are_read_are_counted(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    Str content;
    int64_t before = process_bytes_read();
    assert_false(failed(file_read(STR("/proc/self/exe"), SIZE_MAX, arena, &content, &err)));
    assert_true(process_bytes_read() - before >= (int64_t)content.size);
}

static void the_peak_is_that_since_it_was_reset(void **state) {
    (void)state;
    size_t size = (size_t)64 * 1024 * 1024;
    char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(block != MAP_FAILED);
    memset(block, 1, size);
    int64_t high = process_peak_memory();
    assert_true(high >= (int64_t)size);
    assert_int_equal(munmap(block, size), 0); /* free() may keep it */
    process_peak_reset();
    assert_true(process_peak_memory() < high);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(bytes_that_are_read_are_counted),
        TEST(the_peak_is_that_since_it_was_reset),
    };
    return cmocka_run_group_tests_name("process_usage", tests, NULL, NULL);
}
