#include "base/hash.h"
#include "base/testing.h"

static void sha256_is_the_standard_one(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    assert_str(sha256_hex(arena, STR_EMPTY), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
               "empty");
    assert_str(sha256_hex(arena, STR("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
               "abc");
}

static void fingerprint_is_sha256_of_parts_joined_by_nul(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    const Str parts[] = {STR("a"), STR(""), STR("b")};
    Str whole = sha256_hex(arena, STR("a\0\0b"));
    assert_str(fingerprint_of_parts(arena, parts, 3), str_to_c(arena, str_slice(whole, 0, 16)), "three");
    assert_str(fingerprint_of_parts(arena, parts, 0), "e3b0c44298fc1c14", "none");
    for (size_t count = 0; count <= 3; count++) {
        Str some = STR_EMPTY, all = fingerprint_of_more_parts(arena, parts, count, 3, &some);
        assert_str(all, str_to_c(arena, fingerprint_of_parts(arena, parts, 3)), "all");
        assert_str(some, str_to_c(arena, fingerprint_of_parts(arena, parts, count)), "some");
    }
}

static void content_hash_tells_parts_apart(void **state) {
    (void)state;
    const Str one[] = {STR("ab"), STR("c")};
    const Str other[] = {STR("a"), STR("bc")};
    assert_true(content_hash_equal(content_hash(STR("x")), content_hash(STR("x"))));
    assert_false(content_hash_equal(content_hash(STR("x")), content_hash(STR("y"))));
    assert_true(content_hash_equal(content_hash_parts(one, 2), content_hash_parts(one, 2)));
    assert_false(content_hash_equal(content_hash_parts(one, 2), content_hash_parts(other, 2)));
    assert_false(content_hash_equal(content_hash_parts(one, 2), content_hash_parts(one, 1)));
    assert_true(content_hash_equal(content_hash((Str){0}), content_hash(STR_EMPTY)));
}

static void random_bytes_differ(void **state) {
    (void)state;
    unsigned char a[16] = {0}, b[16] = {0};
    random_bytes(a, sizeof a);
    random_bytes(b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(sha256_is_the_standard_one),
        TEST(fingerprint_is_sha256_of_parts_joined_by_nul),
        TEST(content_hash_tells_parts_apart),
        TEST(random_bytes_differ),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
