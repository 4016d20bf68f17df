#include "base/log.h"
#include "base/testing.h"

/* What `level` writes on stderr. */
static Str written(Arena *arena, LogLevel level) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int kept = dup(STDERR_FILENO);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    log_write(level, "opened run=%d", 7);
    (void)fflush(stderr);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(ends[1]);
    char text[200];
    ssize_t size = read(ends[0], text, sizeof text);
    close(ends[0]);
    return str_copy(arena, (Str){.ptr = text, .size = size > 0 ? (size_t)size : 0});
}

static void debug_is_off_until_it_is_asked_for(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    assert_str(written(arena, LOG_DEBUG), "", "off");
    assert_str(written(arena, LOG_WARNING), "warning: opened run=7\n", "warning");
    log_set_level(LOG_DEBUG);
    assert_true(log_enabled(LOG_DEBUG));
    assert_str(written(arena, LOG_DEBUG), "debug: opened run=7\n", "on");
    log_set_level(LOG_ERROR);
    assert_str(written(arena, LOG_WARNING), "", "errors only");
}

int main(void) {
    (void)unsetenv("INTERLACE_LOG");
    const struct CMUnitTest tests[] = {TEST(debug_is_off_until_it_is_asked_for)};
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
