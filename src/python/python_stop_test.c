/* Models that are cancelled, or whose inputs or output fail on our side. */
#include "python/python_fixture.h"

static void next_model_runs(PythonFixture *f) {
    assert_runs(f, HEAD "def m(): return pa.table({'id': [7]})\n");
    assert_str(fixture_query(f, "SELECT id FROM output"), "7", "the next model");
}

/* ---- Cancellation */

typedef struct CancelCase {
    const char *body;
    int64_t within_us;
} CancelCase;

static const CancelCase cancels[] = {
    {"def m():\n    print('now')\n    time.sleep(3600)\n", 1500000},
    {"def m():\n    print('now')\n    while True: yield one\n", 1500000},
    {"def m():\n    print('now')\n    sum(range(10**13))\n", 4000000},
    {"def m():\n    print('now')\n    while True:\n        try: time.sleep(3600)\n        except BaseException: pass\n",
     4000000},
    {"def m():\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
     "    print('now')\n    while True: time.sleep(1)\n",
     6500000},
};

static void a_cancelled_model_ends_within_five_seconds(void **state) {
    PythonFixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(cancels); i++) {
        AUTO(strbuf) StrBuf source = {0};
        strbuf_text(&source, HEAD);
        strbuf_text(&source, cancels[i].body);
        f->cancel_at = "stdout: now";
        f->cancelled_us = 0;
        assert_true(failed(fixture_run(f, strbuf_c(&source))));
        int64_t took_us = clock_monotonic_us() - f->cancelled_us;
        if (f->err.kind != ERROR_INTERRUPTED || took_us > cancels[i].within_us) {
            fail_msg("%s: %s after %lld us: " STR_FMT, cancels[i].body, error_kind_name(f->err.kind),
                     (long long)took_us, STR_ARG(f->err.message));
        }
        strbuf_clear(&f->log);
    }
    f->cancel_at = NULL;
    next_model_runs(f);
    assert_int_equal(fixture_living_processes(f, 0), 1); /* the warm one */
}

static void a_cancelled_model_cleans_up_after_itself(void **state) {
    PythonFixture *f = *state;
    f->cancel_at = "stdout: now";
    assert_true(failed(fixture_run(f, HEAD "def m():\n"
                                           "    try:\n        print('now')\n        time.sleep(3600)\n"
                                           "    finally: print('cleaned up')\n")));
    assert_contains(strbuf_str(&f->log), "stdout: cleaned up");
    assert_contains(f->err.message, "model 'm' was cancelled");
}

/* ---- Failures on our side */

static void a_failing_append_is_told_and_ends_the_model(void **state) {
    PythonFixture *f = *state;
    f->append_fails = true;
    assert_fails(f, HEAD "def m():\n    while True: yield one\n", "the disk is full");
    assert_true(clock_monotonic_us() - f->failed_us < 4000000);
    f->append_fails = false;
    next_model_runs(f);
}

static void a_failing_upstream_is_told_in_place_of_what_the_model_saw(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "orders",
                  "SELECT CASE WHEN range < 1000000 THEN 1 ELSE CAST('not a ' || range AS INTEGER) END AS v "
                  "FROM range(1000010)");
    assert_fails(f, HEAD "def m(orders): return orders.table()\n", "not a 1000000");
    assert_fails(f, HEAD "def m(orders): yield from orders.reader()\n", "not a 1000000");
    f->input_count = 0;
    next_model_runs(f);
}

static void an_upstream_that_is_not_wanted_any_more_is_interrupted(void **state) {
    PythonFixture *f = *state;
    fixture_input(f, "slow",
                  "SELECT a.range AS v FROM range(1000000) a WHERE (SELECT count(*) FROM range(3000000) b WHERE "
                  "hash(b.range) % (a.range + 2) = 1) > 0");
    int64_t started_us = clock_monotonic_us();
    assert_fails(f,
                 HEAD "def m(slow):\n    threading.Timer(0.5, lambda: os._exit(9)).start()\n    return slow.table()\n",
                 "exit code 9");
    assert_true(clock_monotonic_us() - started_us < 30000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PYTHON_TEST(a_cancelled_model_ends_within_five_seconds),
        PYTHON_TEST(a_cancelled_model_cleans_up_after_itself),
        PYTHON_TEST(a_failing_append_is_told_and_ends_the_model),
        PYTHON_TEST(a_failing_upstream_is_told_in_place_of_what_the_model_saw),
        PYTHON_TEST(an_upstream_that_is_not_wanted_any_more_is_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
