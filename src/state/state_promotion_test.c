/* Pointers, generations and intents (spec 03 §7). */
#include "state/state_fixture.h"

#define FP_A "aaaaaaaaaaaaaaaa"
#define FP_B "bbbbbbbbbbbbbbbb"

/* "model=fingerprint …" of an environment, in its order. */
static Str mapping(Fixture *f, StateStore *store, const char *environment) {
    PointerVec pointers;
    assert_done(state_load_pointers(store, str_from(environment), f->arena, &pointers, &f->err), &f->err);
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < pointers.count; i++) {
        strbuf_format(&text, "%s%.*s=%.*s", i == 0 ? "" : " ", STR_ARG(pointers.items[i].model),
                      STR_ARG(str_slice(pointers.items[i].fingerprint, 0, 1)));
    }
    return strbuf_copy(&text, f->arena);
}

static void test_03_7_2_identical_promotions_add_no_generation(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fixture_promote(f, store, lock, "orders", FP_A), 1);
    }
    assert_int_equal(fixture_promote(f, store, lock, "orders", FP_B), 2);
    assert_int_equal(fixture_promote(f, store, lock, "orders", FP_B), 2);
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM generations"), 2);
}

static void test_03_7_2_deleting_a_model_adds_exactly_one_generation(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    fixture_promote(f, store, lock, "a", FP_A);
    assert_int_equal(fixture_promote(f, store, lock, "b", FP_B), 2);
    assert_int_equal(fixture_promote(f, store, lock, "b", NULL), 3);
    assert_text(mapping(f, store, "prod"), "a=a");
    assert_int_equal(fixture_promote(f, store, lock, "a", NULL), 4);
    assert_text(mapping(f, store, "prod"), "");
}

static void test_03_7_a_generation_holds_the_whole_mapping(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    fixture_promote(f, store, lock, "a", FP_A);
    fixture_promote(f, store, lock, "b", FP_B);
    assert_text(mapping(f, store, "prod"), "a=a b=b");
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM generation_pointers WHERE generation = 1"), 1);
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM generation_pointers WHERE generation = 2"), 2);
}

static void another_revision_is_another_mapping(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    fixture_promote(f, store, lock, "a", FP_A);
    Intent intent = {.environment = STR("prod"), .command = STR("apply")};
    Pointer pointer = sample_pointer("a", FP_A);
    pointer.revision = 1;
    pointer_vec_push(f->arena, &intent.put, pointer);
    int64_t generation;
    assert_done(state_intent_begin(store, lock, &intent, &f->err), &f->err);
    assert_done(state_intent_commit(store, lock, &intent, &generation, &f->err), &f->err);
    assert_int_equal(generation, 2);
}

static void environments_do_not_see_each_other(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    fixture_promote(f, store, lock, "a", FP_A);
    fixture_promote(f, store, lock, "a", FP_B);
    Intent intent = {.environment = STR("dev"), .command = STR("apply"), .created_at = 4000};
    pointer_vec_push(f->arena, &intent.put, sample_pointer("a", FP_A));
    pointer_vec_push(f->arena, &intent.put, sample_pointer("b", FP_A));
    int64_t generation;
    assert_done(state_intent_begin(store, lock, &intent, &f->err), &f->err);
    assert_done(state_intent_commit(store, lock, &intent, &generation, &f->err), &f->err);
    assert_int_equal(generation, 1);
    assert_text(mapping(f, store, "dev"), "a=a b=a");
    assert_text(mapping(f, store, "DEV"), "a=a b=a"); /* the views' schema is the same to the engine */
    assert_text(mapping(f, store, "prod"), "a=b");

    EnvironmentSummaryVec list;
    assert_done(state_load_environments(store, f->arena, &list, &f->err), &f->err);
    assert_int_equal(list.count, 2);
    assert_text(list.items[0].name, "dev");
    assert_int_equal(list.items[0].pointer_count, 2);
    assert_int_equal(list.items[0].generation, 1);
    assert_text(list.items[1].name, "prod");
    assert_int_equal(list.items[1].pointer_count, 1);
    assert_int_equal(list.items[1].generation, 2);
    assert_true(list.items[1].promoted_at > 5000);
}

static int64_t released_at(Fixture *f, const char *fingerprint) {
    return fixture_sql_int(
        f, str_format(f->arena, "SELECT released_at FROM snapshots WHERE fingerprint = '%s'", fingerprint).ptr);
}

static void test_03_10_a_snapshot_is_released_when_a_pointer_leaves_it(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    const char *fingerprints[] = {FP_A, FP_B};
    for (size_t i = 0; i < COUNT_OF(fingerprints); i++) {
        Snapshot snapshot = sample_snapshot("orders", fingerprints[i]);
        assert_done(state_record_snapshot(store, &snapshot, &f->err), &f->err);
    }
    fixture_promote(f, store, lock, "orders", FP_A);
    fixture_promote(f, store, lock, "orders", FP_A);
    assert_int_equal(released_at(f, FP_A), 0);
    fixture_promote(f, store, lock, "orders", FP_B);
    assert_true(released_at(f, FP_A) > 0);
    assert_int_equal(released_at(f, FP_B), 0);
    fixture_promote(f, store, lock, "orders", NULL);
    assert_true(released_at(f, FP_B) > 0);
}

static void a_model_written_in_other_letters_keeps_one_pointer(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    fixture_promote(f, store, lock, "Orders", FP_A);
    assert_int_equal(fixture_promote(f, store, lock, "orders", FP_A), 1);
    assert_text(mapping(f, store, "prod"), "orders=a");
}

/* ---- Intents. */

static Intent sample_intent(Fixture *f) {
    Intent intent = {.environment = STR("prod"), .command = STR("apply"), .created_at = 4000};
    pointer_vec_push(f->arena, &intent.put, sample_pointer("z", FP_A));
    pointer_vec_push(f->arena, &intent.put, sample_pointer("a", FP_B));
    str_vec_push(f->arena, &intent.removed, STR("gone"));
    intent_view_vec_push(f->arena, &intent.views,
                         (IntentView){.engine = STR("default"),
                                      .view_schema = STR("main"),
                                      .view_name = STR("z"),
                                      .relation_schema = STR("interlace__main"),
                                      .relation_name = STR("z__aaaaaaaaaaaaaaaa")});
    intent_view_vec_push(f->arena, &intent.views,
                         (IntentView){.engine = STR("default"), .view_schema = STR("main"), .view_name = STR("gone")});
    return intent;
}

static void an_intent_comes_back_as_it_was_written(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    Intent written = sample_intent(f);
    assert_done(state_intent_begin(store, lock, &written, &f->err), &f->err);
    assert_true(written.id > 0);
    assert_text(mapping(f, store, "prod"), "");

    IntentVec intents;
    assert_done(state_load_intents(store, f->arena, &intents, &f->err), &f->err);
    assert_int_equal(intents.count, 1);
    Intent *read = &intents.items[0];
    assert_int_equal(read->id, written.id);
    assert_text(read->environment, "prod");
    assert_text(read->command, "apply");
    assert_int_equal(read->created_at, 4000);
    assert_int_equal(read->put.count, 2);
    assert_text(read->put.items[0].model, "z");
    assert_text(read->put.items[1].fingerprint, FP_B);
    assert_int_equal(read->put.items[1].promoted_at, 5000);
    assert_int_equal(read->removed.count, 1);
    assert_text(read->removed.items[0], "gone");
    assert_int_equal(read->views.count, 2);
    assert_text(read->views.items[0].relation_name, "z__aaaaaaaaaaaaaaaa");
    assert_text(read->views.items[1].view_name, "gone");
    assert_text(read->views.items[1].relation_name, "");
}

static void an_intent_is_finished_by_the_next_holder_of_the_lock(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    Intent written = sample_intent(f);
    assert_done(state_intent_begin(store, lock, &written, &f->err), &f->err);
    state_lock_release(TAKE(lock));
    state_store_close(TAKE(store));

    store = fixture_open(f);
    lock = fixture_lock(f, store);
    IntentVec intents;
    assert_done(state_load_intents(store, f->arena, &intents, &f->err), &f->err);
    int64_t generation;
    assert_done(state_intent_commit(store, lock, &intents.items[0], &generation, &f->err), &f->err);
    assert_int_equal(generation, 1);
    assert_text(mapping(f, store, "prod"), "a=b z=a");
    assert_done(state_load_intents(store, f->arena, &intents, &f->err), &f->err);
    assert_int_equal(intents.count, 0);
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM intent_views"), 0);
    assert_int_equal(fixture_sql_int(f, "SELECT count(*) FROM intent_pointers"), 0);
}

static void a_second_intent_of_an_environment_is_refused(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    Intent first = sample_intent(f);
    Intent second = sample_intent(f);
    assert_done(state_intent_begin(store, lock, &first, &f->err), &f->err);
    assert_refused(state_intent_begin(store, lock, &second, &f->err), &f->err, ERROR_INTERNAL, "");
    assert_int_equal(second.id, 0);
    second.environment = STR("dev");
    assert_done(state_intent_begin(store, lock, &second, &f->err), &f->err);
}

static void an_intent_is_committed_once(void **state) {
    Fixture *f = *state;
    AUTO(state_store) StateStore *store = fixture_open(f);
    AUTO(state_lock) StateLock *lock = fixture_lock(f, store);
    Intent intent = sample_intent(f);
    int64_t generation;
    assert_done(state_intent_begin(store, lock, &intent, &f->err), &f->err);
    assert_done(state_intent_commit(store, lock, &intent, &generation, &f->err), &f->err);
    assert_refused(state_intent_commit(store, lock, &intent, &generation, &f->err), &f->err, ERROR_INTERNAL, "");
    assert_text(mapping(f, store, "prod"), "a=b z=a");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        STATE_TEST(test_03_7_2_identical_promotions_add_no_generation),
        STATE_TEST(test_03_7_2_deleting_a_model_adds_exactly_one_generation),
        STATE_TEST(test_03_7_a_generation_holds_the_whole_mapping),
        STATE_TEST(another_revision_is_another_mapping),
        STATE_TEST(environments_do_not_see_each_other),
        STATE_TEST(test_03_10_a_snapshot_is_released_when_a_pointer_leaves_it),
        STATE_TEST(a_model_written_in_other_letters_keeps_one_pointer),
        STATE_TEST(an_intent_comes_back_as_it_was_written),
        STATE_TEST(an_intent_is_finished_by_the_next_holder_of_the_lock),
        STATE_TEST(a_second_intent_of_an_environment_is_refused),
        STATE_TEST(an_intent_is_committed_once),
    };
    return cmocka_run_group_tests_name("state_promotion", tests, NULL, NULL);
}
