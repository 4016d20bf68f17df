/* libsodium's SHA-256 is the oracle. */
#include "base/sha256.h"
#include "base/testing.h"

#include <sodium.h>
#include <string.h>

static void every_length_in_every_two_parts_is_as_libsodium_has_it(void **state) {
    (void)state;
    char bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(i * 37 + 11);
    }
    for (size_t size = 0; size <= sizeof bytes; size++) {
        uint8_t expected[SHA256_DIGEST_SIZE], digest[SHA256_DIGEST_SIZE];
        crypto_hash_sha256(expected, (const unsigned char *)bytes, size);
        for (size_t cut = 0; cut <= size; cut++) {
            Sha256 hash = sha256_begin();
            sha256_add(&hash, (Str){.ptr = bytes, .size = cut});
            sha256_digest(hash, digest); /* does not disturb it */
            sha256_add(&hash, (Str){.ptr = bytes + cut, .size = size - cut});
            sha256_digest(hash, digest);
            assert_memory_equal(digest, expected, sizeof digest);
        }
    }
}

static void the_processors_way_and_the_plain_one_agree(void **state) {
    (void)state;
    Sha256Compress *own = sha256_of_processor();
    if (own == NULL) {
        skip();
    }
    uint8_t blocks[16 * SHA256_BLOCK_SIZE];
    for (size_t round = 0; round < 200; round++) {
        uint32_t one[8], other[8];
        randombytes_buf(blocks, sizeof blocks);
        randombytes_buf(one, sizeof one);
        memcpy(other, one, sizeof one);
        own(one, blocks, round % 17);
        sha256_compress_plain(other, blocks, round % 17);
        assert_memory_equal(one, other, sizeof one);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_length_in_every_two_parts_is_as_libsodium_has_it),
        TEST(the_processors_way_and_the_plain_one_agree),
    };
    return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
