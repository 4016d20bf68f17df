/* The ledger: which windows of a relation are filled (spec 02 §11). */
#include "state/state_fixture.h"

static const LedgerKey orders = {
    .engine = STR_INIT("default"), .schema = STR_INIT("interlace__main"), .name = STR_INIT("orders__aaaa")};
static const LedgerKey revised = {
    .engine = STR_INIT("default"), .schema = STR_INIT("interlace__main"), .name = STR_INIT("orders__aaaa__r1")};

/* "1-3 5-7" */
static Str filled(Fixture *f, StateStore *store, const LedgerKey *key) {
    IntervalSet set;
    assert_done(state_ledger_load(store, key, f->arena, &set, &f->err), &f->err);
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < set.count; i++) {
        strbuf_format(&text, "%s%lld-%lld", i == 0 ? "" : " ", (long long)set.items[i].start,
                      (long long)set.items[i].end);
    }
    assert_int_equal(
        fixture_sql_int(
            f, str_format(f->arena, "SELECT count(*) FROM ledger WHERE name = '" STR_FMT "'", STR_ARG(key->name)).ptr),
        (int64_t)set.count); /* normalised as it is stored, not by loading */
    return strbuf_copy(&text, f->arena);
}

static void add(Fixture *f, StateStore *store, StateLock *lock, const LedgerKey *key, WallUs start, WallUs end) {
    assert_done(state_ledger_add(store, lock, key, (Window){start, end}, &f->err), &f->err);
}

static void test_02_11_2_a_ledger_comes_back_as_one_interval_when_its_holes_are_filled(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    assert_text(filled(f, store, &orders), "");
    add(f, store, lock, &orders, 5, 7);
    add(f, store, lock, &orders, 1, 3);
    assert_text(filled(f, store, &orders), "1-3 5-7");
    state_lock_release(TAKE(lock));
    state_store_close(TAKE(store));

    store = fixture_open(f);
    lock = fixture_lock(f, store);
    assert_text(filled(f, store, &orders), "1-3 5-7");
    add(f, store, lock, &orders, 3, 5);
    add(f, store, lock, &orders, 7, 9);
    assert_text(filled(f, store, &orders), "1-9");
}

static void times_before_1970_are_kept(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    add(f, store, lock, &orders, WALL_MIN, -5);
    add(f, store, lock, &orders, -3, 0);
    add(f, store, lock, &orders, 4, WALL_MAX);
    assert_text(filled(f, store, &orders), "-62135596800000000--5 -3-0 4-253402300800000000");
}

/* The same steps on the rows and on a set in memory. */
static void rows_follow_the_rules_of_sets(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    IntervalSet expected = {0};
    uint32_t random = 12345;
    for (int step = 0; step < 400; step++) {
        random = random * 1664525 + 1013904223;
        WallUs start = (random >> 8) % 30;
        Window window = {start, start + 1 + (random >> 16) % 6};
        if (random >> 31 == 0) {
            assert_done(state_ledger_add(store, lock, &orders, window, &f->err), &f->err);
            interval_set_add(f->arena, &expected, window);
        } else {
            assert_done(state_ledger_remove(store, lock, &orders, window, &f->err), &f->err);
            interval_set_remove(f->arena, &expected, window);
        }
        IntervalSet actual;
        assert_done(state_ledger_load(store, &orders, f->arena, &actual, &f->err), &f->err);
        if (!interval_set_equal(&actual, &expected)) {
            fail_msg("step %d", step);
        }
        assert_true((int64_t)expected.count == fixture_sql_int(f, "SELECT count(*) FROM ledger"));
    }
}

static void relations_have_ledgers_of_their_own(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    LedgerKey others[] = {orders, orders, orders, orders};
    others[0].engine = STR("other");
    others[1].catalog = STR("lake");
    others[2].schema = STR("interlace__silver");
    others[3].name = STR("orders__bbbb");
    add(f, store, lock, &orders, 1, 9);
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        IntervalSet set;
        assert_done(state_ledger_load(store, &others[i], f->arena, &set, &f->err), &f->err);
        assert_int_equal(set.count, 0);
        add(f, store, lock, &others[i], 20, 21);
        assert_done(state_ledger_remove(store, lock, &others[i], (Window){0, 30}, &f->err), &f->err);
        assert_done(state_ledger_clear(store, lock, &others[i], &f->err), &f->err);
    }
    assert_text(filled(f, store, &orders), "1-9");

    LedgerKey capitals = orders; /* the engine takes it for the same relation */
    capitals.name = STR("Orders__aaaa");
    add(f, store, lock, &capitals, 9, 10);
    assert_text(filled(f, store, &orders), "1-10");
}

static void test_02_11_a_revision_gets_a_copy(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    add(f, store, lock, &orders, 1, 3);
    add(f, store, lock, &orders, 5, 7);
    add(f, store, lock, &revised, 2, 6);
    assert_done(state_ledger_copy(store, lock, &orders, &revised, &f->err), &f->err);
    assert_text(filled(f, store, &revised), "1-3 5-7");

    add(f, store, lock, &revised, 3, 5);
    assert_text(filled(f, store, &revised), "1-7");
    assert_text(filled(f, store, &orders), "1-3 5-7");
    assert_done(state_ledger_copy(store, lock, &orders, &orders, &f->err), &f->err);
    assert_text(filled(f, store, &orders), "1-3 5-7");
    assert_done(state_ledger_clear(store, lock, &orders, &f->err), &f->err);
    assert_text(filled(f, store, &orders), "");
    assert_text(filled(f, store, &revised), "1-7");
}

static void a_lost_lease_changes_no_ledger(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    add(f, store, lock, &orders, 1, 9);
    fixture_sql(f, "UPDATE locks SET token = 'thief'");
    Window window = {3, 5};
    assert_refused(state_ledger_add(store, lock, &orders, (Window){9, 12}, &f->err), &f->err, ERROR_LOCK, "lock.lost");
    assert_refused(state_ledger_remove(store, lock, &orders, window, &f->err), &f->err, ERROR_LOCK, "lock.lost");
    assert_refused(state_ledger_clear(store, lock, &orders, &f->err), &f->err, ERROR_LOCK, "lock.lost");
    assert_refused(state_ledger_copy(store, lock, &revised, &orders, &f->err), &f->err, ERROR_LOCK, "lock.lost");
    assert_text(filled(f, store, &orders), "1-9");
}

/* ---- Death. */

/* The first commit of the process is the lock's (the file is of this format already); then come the ledger's. */
static int change(Fixture *f) {
    AUTO(state_store) StateStore *store = NULL;
    AUTO(state_lock) StateLock *lock = NULL;
    LockOptions options = {.command = STR("run")};
    Window window = {3, 5};
    bool is_done = !failed(state_store_open(f->path, &store, &f->err)) &&
                   !failed(state_lock_acquire(store, &options, &lock, &f->err)) &&
                   !failed(state_ledger_remove(store, lock, &orders, window, &f->err)) &&
                   !failed(state_ledger_copy(store, lock, &orders, &revised, &f->err)) &&
                   !failed(state_ledger_add(store, lock, &orders, window, &f->err));
    return is_done ? 0 : 1;
}

static void death_at_a_commit_leaves_all_of_a_change_or_nothing(void **state) {
    (void)state;
    const struct {
        const char *hook, *orders, *revised;
    } cases[] = {
        {"state.commit=kill@2", "1-9", "40-41"},
        {"state.commit=kill@3", "1-3 5-9", "40-41"},
        {"state.commit=kill@4", "1-3 5-9", "1-3 5-9"},
        {NULL, "1-9", "1-3 5-9"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        void *fresh = NULL;
        fixture_setup(&fresh);
        Fixture *f = fresh;
        AUTO(state_store) StateStore *store = fixture_open(f);
        AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
        add(f, store, lock, &orders, 1, 9);
        add(f, store, lock, &revised, 40, 41);
        state_lock_release(TAKE(lock));
        int status = fixture_run(f, "change", cases[i].hook);
        if (cases[i].hook == NULL) {
            assert_exited(status, 0);
        } else {
            assert_killed(status);
        }
        assert_text(filled(f, store, &orders), cases[i].orders);
        assert_text(filled(f, store, &revised), cases[i].revised);
        state_store_close(TAKE(store));
        fixture_teardown(&fresh);
    }
}

static const ChildWork works[] = {{"change", change}};

int main(int argument_count, char **arguments) {
    int result;
    if (fixture_is_child(argument_count, arguments, works, COUNT_OF(works), &result)) {
        return result;
    }
    const struct CMUnitTest tests[] = {
        STATE_TEST(test_02_11_2_a_ledger_comes_back_as_one_interval_when_its_holes_are_filled),
        STATE_TEST(times_before_1970_are_kept),
        STATE_TEST(rows_follow_the_rules_of_sets),
        STATE_TEST(relations_have_ledgers_of_their_own),
        STATE_TEST(test_02_11_a_revision_gets_a_copy),
        STATE_TEST(a_lost_lease_changes_no_ledger),
        STATE_TEST(death_at_a_commit_leaves_all_of_a_change_or_nothing),
    };
    return cmocka_run_group_tests_name("state_ledger", tests, NULL, NULL);
}
