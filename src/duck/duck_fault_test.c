/* Injected faults. Hooks are read once for each process, so each case runs in a child; the parent never loads the
 * engine. */
#include "duck/duck_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

/* What a child found. */
enum { NOTHING_WRITTEN = 10, ALL_WRITTEN = 11 };

/* A transaction of four statements; then what the table holds. */
static int replace_rows(void) {
    void *state = NULL;
    fixture_open(&state);
    Fixture *f = state;
    run_sql(f, "CREATE TABLE t AS SELECT 1 AS a");
    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    Status status = duck_execute(
        f->connection, STR("DELETE FROM t; INSERT INTO t VALUES (8); INSERT INTO t VALUES (9); UPDATE t SET a = 10"),
        NULL, &f->err);
    Status committed = duck_commit(f->connection, &f->err);
    /* Told and done must agree. */
    int64_t expected = failed(committed) ? 1 : 20;
    bool sound = query_number(f, "SELECT sum(a) FROM t") == expected && (!failed(status) || failed(committed));
    fixture_close(&state);
    return !sound ? EXIT_FAILURE : failed(committed) ? NOTHING_WRITTEN : ALL_WRITTEN;
}

static int run_with_hook(Str hook) {
    AUTO(arena) Arena *arena = arena_create();
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)setenv("INTERLACE_HOOK", str_to_c(arena, hook), 1);
        _exit(replace_rows());
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_fault_at_each_statement_leaves_the_table_as_it_was(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    /* The first passage is the CREATE TABLE of the child's set-up. */
    for (int n = 2; n <= 5; n++) {
        assert_int_equal(run_with_hook(str_format(arena, "duck.execute=fail@%d", n)), NOTHING_WRITTEN);
    }
    assert_int_equal(run_with_hook(STR("duck.execute=fail@6")), ALL_WRITTEN);
}

static void a_fault_at_the_commit_leaves_the_table_as_it_was(void **state) {
    (void)state;
    assert_int_equal(run_with_hook(STR("duck.commit=fail")), NOTHING_WRITTEN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_at_each_statement_leaves_the_table_as_it_was),
        cmocka_unit_test(a_fault_at_the_commit_leaves_the_table_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
