/* Statements, the transaction guard and interrupts. */
#include "duck/duck_fixture.h"

#include "duck/duck_error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static void execute_runs_all_statements_and_adds_their_counts(void **state) {
    Fixture *f = *state;
    int64_t changed = -1;
    Str sql = STR("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2); -- ';'\n;; UPDATE t SET a = a + 1;");
    assert_ok(duck_execute(f->connection, sql, &changed, &f->err), &f->err);
    assert_int_equal(changed, 4);
    assert_int_equal(query_number(f, "SELECT sum(a) FROM t"), 5);
}

static void a_merge_counts_what_it_did_to_each_row(void **state) {
    Fixture *f = *state;
    run_sql(f, "CREATE TABLE t AS SELECT range AS a, 0 AS b FROM range(9000)");
    Str sql = STR("MERGE INTO t USING (SELECT range + 1000 AS a, 1 AS b FROM range(9000)) AS s ON t.a = s.a "
                  "WHEN MATCHED AND s.a >= 3000 THEN UPDATE SET b = s.b WHEN NOT MATCHED THEN INSERT VALUES (s.a, s.b) "
                  "WHEN NOT MATCHED BY SOURCE THEN DELETE RETURNING merge_action");
    DuckMerged merged;
    assert_ok(duck_merge(f->connection, sql, &merged, &f->err), &f->err);
    assert_int_equal(merged.inserted, 1000);
    assert_int_equal(merged.updated, 6000);
    assert_int_equal(merged.deleted, 1000);
    assert_int_equal(query_number(f, "SELECT count(*) FROM t WHERE b = 1"), 7000);
    assert_failed(duck_merge(f->connection, STR("SELECT 1"), &merged, &f->err));
}

static void tables_made_from_a_query_count_their_rows(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *sql;
        int64_t changed;
    } cases[] = {
        {"CREATE TABLE t AS FROM range(5000)", 5000},
        {"CREATE OR REPLACE TABLE t AS FROM range(7)", 7},
        {"CREATE TABLE IF NOT EXISTS t AS FROM range(9)", 0},
        {"CREATE TABLE e AS FROM range(0)", 0},
        {"CREATE TABLE u (a INT)", 0},
        {"CREATE VIEW v AS FROM t", 0},
        {"CREATE SCHEMA s", 0},
        {"DELETE FROM t WHERE range < 2", 2},
        {"SELECT count(*) FROM t", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t changed = -1;
        assert_ok(duck_execute(f->connection, str_from(cases[i].sql), &changed, &f->err), &f->err);
        assert_int_equal(changed, cases[i].changed);
    }
}

static void an_empty_text_runs_nothing(void **state) {
    Fixture *f = *state;
    int64_t changed = -1;
    assert_ok(duck_execute(f->connection, STR("  -- nothing"), &changed, &f->err), &f->err);
    assert_int_equal(changed, 0);
}

static void a_nul_byte_is_refused_not_cut(void **state) {
    Fixture *f = *state;
    assert_failed(duck_execute(f->connection, STR("SELECT 1\0 FROM nowhere"), NULL, &f->err));
    assert_contains(f->err.message, "NUL byte at offset 8");
}

/* The engine makes four statements of it, with a transaction round them only when there is none. */
static void a_pivot_without_values_runs_inside_a_transaction(void **state) {
    Fixture *f = *state;
    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    run_sql(f, "CREATE TABLE s AS SELECT 'x' AS k, 1 AS v; CREATE TABLE p AS PIVOT s ON k USING sum(v)");
    assert_ok(duck_commit(f->connection, &f->err), &f->err);
    assert_int_equal(query_number(f, "SELECT x FROM p"), 1);
}

static void transactions_in_sql_text_are_refused(void **state) {
    Fixture *f = *state;
    static const char *const texts[] = {"BEGIN", "COMMIT",           "ROLLBACK", "SELECT 1; COMMIT",
                                        "ABORT", "START TRANSACTION"};
    run_sql(f, "CREATE TABLE t (a INT)");
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_ok(duck_begin(f->connection, &f->err), &f->err);
        assert_failed(duck_execute(f->connection, str_from(texts[i]), NULL, &f->err));
        assert_contains(f->err.message, "not begun or ended by SQL text");
        assert_true(duck_in_transaction(f->connection));
        duck_rollback(f->connection);
    }
    DuckRows rows;
    assert_failed(duck_query(f->connection, STR("COMMIT"), f->arena, &rows, &f->err));
    assert_contains(f->err.message, "not begun or ended by SQL text");
}

static void a_commit_keeps_and_a_rollback_discards(void **state) {
    Fixture *f = *state;
    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    run_sql(f, "CREATE TABLE kept AS SELECT 1 AS a");
    assert_ok(duck_commit(f->connection, &f->err), &f->err);
    assert_false(duck_in_transaction(f->connection));

    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    run_sql(f, "INSERT INTO kept VALUES (2)");
    duck_rollback(f->connection);
    duck_rollback(f->connection);
    assert_int_equal(query_number(f, "SELECT count(*) FROM kept"), 1);
}

static void a_read_only_transaction_refuses_to_write(void **state) {
    Fixture *f = *state;
    assert_ok(duck_begin_read_only(f->connection, &f->err), &f->err);
    assert_failed(duck_execute(f->connection, STR("CREATE TABLE t (a INT)"), NULL, &f->err));
    assert_contains(f->err.message, "read-only mode");
}

static void commit_after_a_failed_statement_rolls_back_and_fails(void **state) {
    Fixture *f = *state;
    /* Kinds of failure that the engine itself treats differently: at parsing, at binding, at run time. */
    static const char *const failures[] = {"SELEC 1", "SELECT nothing FROM t", "SELECT 'x'::INT",
                                           "INSERT INTO t VALUES (1)"};
    run_sql(f, "CREATE TABLE t (a INT PRIMARY KEY); INSERT INTO t VALUES (1)");
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        assert_ok(duck_begin(f->connection, &f->err), &f->err);
        run_sql(f, "INSERT INTO t VALUES (2)");
        assert_failed(duck_execute(f->connection, str_from(failures[i]), NULL, &f->err));
        assert_failed(duck_execute(f->connection, STR("INSERT INTO t VALUES (3)"), NULL, &f->err));
        assert_contains(f->err.message, "can only be rolled back");
        assert_failed(duck_commit(f->connection, &f->err));
        assert_contains(f->err.message, "nothing was committed");
        assert_false(duck_in_transaction(f->connection));
        assert_int_equal(query_number(f, "SELECT count(*) FROM t"), 1);
    }
}

static void a_failed_query_spoils_the_transaction_too(void **state) {
    Fixture *f = *state;
    DuckRows rows;
    run_sql(f, "CREATE TABLE t (a INT)");
    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    run_sql(f, "INSERT INTO t VALUES (2)");
    assert_failed(duck_query(f->connection, STR("SELECT nothing FROM t"), f->arena, &rows, &f->err));
    assert_failed(duck_commit(f->connection, &f->err));
    assert_int_equal(query_number(f, "SELECT count(*) FROM t"), 0);
}

static void a_describe_that_does_not_bind_leaves_the_transaction_alive(void **state) {
    Fixture *f = *state;
    DuckColumnVec columns;
    run_sql(f, "CREATE TABLE t (a INT)");
    const char *queries[] = {"SELECT nothing FROM t", "SELECT (", "SELECT * FROM missing"};
    for (size_t i = 0; i < COUNT_OF(queries); i++) {
        assert_ok(duck_begin(f->connection, &f->err), &f->err);
        run_sql(f, "INSERT INTO t VALUES (2)");
        assert_failed(duck_describe(f->connection, str_from(queries[i]), f->arena, &columns, &f->err));
        run_sql(f, "INSERT INTO t VALUES (3)");
        error_clear(&f->err);
        assert_ok(duck_commit(f->connection, &f->err), &f->err);
        assert_int_equal(query_number(f, "SELECT count(*) FROM t"), 2 * (i + 1));
    }
}

static void a_describe_that_cost_the_engine_its_transaction_is_told(void **state) {
    Fixture *f = *state;
    DuckColumnVec columns;
    run_sql(f, "CREATE TABLE t (a INT)");
    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    run_sql(f, "INSERT INTO t VALUES (2)");
    assert_failed(duck_describe(f->connection, STR("FROM 'missing.parquet'"), f->arena, &columns, &f->err));
    assert_true(duck_transaction_is_lost(f->connection));
    assert_failed(duck_commit(f->connection, &f->err));
    assert_int_equal(query_number(f, "SELECT count(*) FROM t"), 0);
}

static void a_conflict_at_commit_is_told_and_leaves_nothing(void **state) {
    Fixture *f = *state;
    AUTO(duck_connection) DuckConnection *other = NULL;
    assert_ok(duck_connection_open(f->database, &other, &f->err), &f->err);
    run_sql(f, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)");

    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    assert_ok(duck_begin(other, &f->err), &f->err);
    run_sql(f, "UPDATE t SET a = 2");
    assert_failed(duck_execute(other, STR("UPDATE t SET a = 3"), NULL, &f->err));
    assert_true(duck_error_is_conflict(&f->err));
    assert_false(duck_error_is_out_of_memory(&f->err));
    assert_failed(duck_commit(other, &f->err));
    assert_ok(duck_commit(f->connection, &f->err), &f->err);
    assert_int_equal(query_number(f, "SELECT a FROM t"), 2);
}

static void a_duplicate_key_at_commit_is_no_conflict(void **state) {
    Fixture *f = *state;
    AUTO(duck_connection) DuckConnection *other = NULL;
    assert_ok(duck_connection_open(f->database, &other, &f->err), &f->err);
    run_sql(f, "CREATE TABLE t (a INT PRIMARY KEY)");

    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    assert_ok(duck_begin(other, &f->err), &f->err);
    run_sql(f, "INSERT INTO t VALUES (7)");
    assert_ok(duck_execute(other, STR("INSERT INTO t VALUES (7)"), NULL, &f->err), &f->err);
    assert_ok(duck_commit(f->connection, &f->err), &f->err);
    assert_failed(duck_commit(other, &f->err));
    assert_contains(f->err.message, "Failed to commit: PRIMARY KEY or UNIQUE constraint violation");
    assert_false(duck_error_is_conflict(&f->err));
}

static void running_out_of_memory_is_told_apart(void **state) {
    Fixture *f = *state;
    run_sql(f, "SET GLOBAL memory_limit = '20MB'; SET GLOBAL temp_directory = ''");
    assert_failed(duck_execute(
        f->connection, STR("CREATE TABLE t AS SELECT string_agg(repeat('x', 1000) || i, '') FROM range(100000) r(i)"),
        NULL, &f->err));
    assert_true(duck_error_is_out_of_memory(&f->err));
    assert_false(duck_error_is_conflict(&f->err));
}

/* --- Interrupts --------------------------------------------------------------------------------------------------- */

typedef struct Interrupter {
    DuckConnection *connection;
    atomic_bool stop;
} Interrupter;

static void *interrupt_until_told(void *argument) {
    Interrupter *interrupter = argument;
    while (!atomic_load(&interrupter->stop)) {
        duck_interrupt(interrupter->connection);
        (void)usleep(2000);
    }
    return NULL;
}

static void an_interrupt_from_another_thread_ends_the_statement_only(void **state) {
    Fixture *f = *state;
    Interrupter interrupter = {.connection = f->connection};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_until_told, &interrupter), 0);
    Status status = duck_execute(
        f->connection,
        STR("CREATE TABLE big AS SELECT hash(a.range, b.range) AS h FROM range(1000000) a, range(1000000) b"), NULL,
        &f->err);
    atomic_store(&interrupter.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);

    assert_failed(status);
    assert_int_equal(f->err.kind, ERROR_INTERRUPTED);
    assert_true(duck_error_is_interrupt(&f->err));
    assert_int_equal(query_number(f, "SELECT 1"), 1);
}

static void an_interrupt_while_nothing_runs_does_nothing(void **state) {
    Fixture *f = *state;
    duck_interrupt(f->connection);
    assert_int_equal(query_number(f, "SELECT 1"), 1);
}

int main(void) {
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(execute_runs_all_statements_and_adds_their_counts),
        FIXTURE_TEST(a_merge_counts_what_it_did_to_each_row),
        FIXTURE_TEST(tables_made_from_a_query_count_their_rows),
        FIXTURE_TEST(an_empty_text_runs_nothing),
        FIXTURE_TEST(a_nul_byte_is_refused_not_cut),
        FIXTURE_TEST(a_pivot_without_values_runs_inside_a_transaction),
        FIXTURE_TEST(transactions_in_sql_text_are_refused),
        FIXTURE_TEST(a_commit_keeps_and_a_rollback_discards),
        FIXTURE_TEST(a_read_only_transaction_refuses_to_write),
        FIXTURE_TEST(commit_after_a_failed_statement_rolls_back_and_fails),
        FIXTURE_TEST(a_failed_query_spoils_the_transaction_too),
        FIXTURE_TEST(a_describe_that_does_not_bind_leaves_the_transaction_alive),
        FIXTURE_TEST(a_describe_that_cost_the_engine_its_transaction_is_told),
        FIXTURE_TEST(a_conflict_at_commit_is_told_and_leaves_nothing),
        FIXTURE_TEST(a_duplicate_key_at_commit_is_no_conflict),
        FIXTURE_TEST(running_out_of_memory_is_told_apart),
        FIXTURE_TEST(an_interrupt_from_another_thread_ends_the_statement_only),
        FIXTURE_TEST(an_interrupt_while_nothing_runs_does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
