/* Change records: each becomes true with the transaction that makes it so, once. */
#include "state/state_fixture.h"

static ChangeRecord sample_change(const char *model) {
    return (ChangeRecord){
        .kind = CHANGED_BY_RESTATE,
        .environment = STR("prod"),
        .model = str_from(model),
        .note = STR("discount bug"),
        .who = STR("ada@host"),
    };
}

static ChangeRecordVec load(Fixture *f, StateStore *store) {
    ChangeRecordVec changes = {0};
    assert_done(state_load_changes(store, &(ChangeFilter){.oldest_first = true}, f->arena, &changes, &f->err), &f->err);
    return changes;
}

static const LedgerKey orders = {
    .engine = STR_INIT("default"), .schema = STR_INIT("interlace__main"), .name = STR_INIT("orders")};

static ChangeRecordVec begin(Fixture *f, StateStore *store, StateLock *lock, bool is_in_place) {
    ChangeRecordVec drafts = {0};
    ChangeRecord draft = sample_change("orders");
    draft.is_in_place = is_in_place;
    change_record_vec_push(f->arena, &drafts, draft);
    change_record_vec_push(f->arena, &drafts, sample_change("untouched"));
    assert_done(state_changes_begin(store, lock, &drafts, &f->err), &f->err);
    return drafts;
}

static void fill(Fixture *f, StateStore *store, StateLock *lock, int64_t draft, Window window, int64_t before,
                 int64_t after) {
    ChangeProgress progress = {.draft = draft, .window = window, .rows_before = before, .rows_after = after};
    assert_done(state_ledger_add_change(store, lock, &orders, window, &progress, &f->err), &f->err);
}

static void a_promotion_makes_drafts_records(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    ChangeRecordVec drafts = begin(f, store, lock, false);
    fill(f, store, lock, drafts.items[0].id, (Window){10, 20}, 3, 4);
    fill(f, store, lock, drafts.items[0].id, (Window){20, 30}, 5, 5);
    assert_int_equal(load(f, store).count, 0);

    fixture_promote(f, store, lock, "orders", "aaaaaaaaaaaaaaaa");
    ChangeRecordVec changes = load(f, store);
    assert_int_equal(changes.count, 1); /* of the other model nothing was done */
    const ChangeRecord *change = &changes.items[0];
    assert_text(change->model, "orders");
    assert_text(change->note, "discount bug");
    assert_int_equal(change->windows.count, 1);
    assert_int_equal(change->windows.items[0].start, 10);
    assert_int_equal(change->windows.items[0].end, 30);
    assert_int_equal(change->rows_before, 8);
    assert_int_equal(change->rows_after, 9);
    assert_true(change->at > 0);

    fixture_promote(f, store, lock, "orders", "bbbbbbbbbbbbbbbb");
    assert_int_equal(load(f, store).count, 1);
}

static void what_readers_see_is_recorded_without_a_promotion(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    ChangeRecordVec drafts = begin(f, store, lock, true);
    fill(f, store, lock, drafts.items[0].id, (Window){10, 20}, 3, CHANGE_ROWS_UNKNOWN);
    assert_done(state_changes_settle(store, lock, &f->err), &f->err);
    assert_done(state_changes_settle(store, lock, &f->err), &f->err);
    ChangeRecordVec changes = load(f, store);
    assert_int_equal(changes.count, 1);
    assert_int_equal(changes.items[0].rows_before, 3);
    assert_int_equal(changes.items[0].rows_after, CHANGE_ROWS_UNKNOWN);
}

static void what_nobody_saw_is_forgotten(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    ChangeRecordVec drafts = begin(f, store, lock, false);
    fill(f, store, lock, drafts.items[0].id, (Window){10, 20}, 3, 4);
    assert_done(state_changes_settle(store, lock, &f->err), &f->err);
    fixture_promote(f, store, lock, "orders", "aaaaaaaaaaaaaaaa");
    assert_int_equal(load(f, store).count, 0);
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM change_windows"), 0);
}

static void an_intent_brings_its_records(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    Intent intent = {.environment = STR("prod"), .command = STR("env rollback")};
    ChangeRecord change = sample_change("orders");
    change.kind = CHANGED_BY_ROLLBACK;
    change.is_begun = true;
    change.rows_before = change.rows_after = CHANGE_ROWS_UNKNOWN;
    str_vec_push(f->arena, &change.hooks, STR("desk"));
    change_record_vec_push(f->arena, &intent.changes, change);
    change.model = STR("lines");
    change_record_vec_push(f->arena, &intent.changes, change);
    assert_done(state_intent_begin(store, lock, &intent, &f->err), &f->err);
    assert_int_equal(load(f, store).count, 0);

    IntentVec recorded = {0}; /* as the next command finds it */
    int64_t generation;
    assert_done(state_load_intents(store, f->arena, &recorded, &f->err), &f->err);
    assert_done(state_intent_commit(store, lock, &recorded.items[0], &generation, &f->err), &f->err);
    ChangeRecordVec changes = load(f, store);
    assert_int_equal(changes.count, 2);
    assert_text(str_from(change_kind_name(changes.items[0].kind)), "rollback");
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM notices"), 1); /* one message tells both */
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM change_hooks WHERE notice IS NOT NULL"), 2);
}

static void an_abandoned_intent_changed_nothing(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    Intent intent = {.environment = STR("prod"), .command = STR("env rollback")};
    ChangeRecord change = sample_change("orders");
    change.is_begun = true;
    change_record_vec_push(f->arena, &intent.changes, change);
    assert_done(state_intent_begin(store, lock, &intent, &f->err), &f->err);
    assert_done(state_intent_abandon(store, lock, &intent, &f->err), &f->err);
    assert_done(state_changes_settle(store, lock, &f->err), &f->err);
    assert_int_equal(load(f, store).count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        STATE_TEST(a_promotion_makes_drafts_records),    STATE_TEST(what_readers_see_is_recorded_without_a_promotion),
        STATE_TEST(what_nobody_saw_is_forgotten),        STATE_TEST(an_intent_brings_its_records),
        STATE_TEST(an_abandoned_intent_changed_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
