#include "base/sha256.h"

#include <pthread.h>
#include <string.h>

/* clang-format off */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
/* clang-format on */

/* ---- In plain C */

static uint32_t rotated(uint32_t word, int bits) {
    return word >> bits | word << (32 - bits);
}

static uint32_t load_word(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store_word(uint8_t *bytes, uint32_t word) {
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(word >> (24 - 8 * i));
    }
}

static void schedule(const uint8_t *block, uint32_t words[64]) {
    for (size_t i = 0; i < 16; i++) {
        words[i] = load_word(block + 4 * i);
    }
    for (size_t i = 16; i < 64; i++) {
        uint32_t a = words[i - 15], b = words[i - 2];
        uint32_t sigma0 = rotated(a, 7) ^ rotated(a, 18) ^ a >> 3;
        uint32_t sigma1 = rotated(b, 17) ^ rotated(b, 19) ^ b >> 10;
        words[i] = words[i - 16] + sigma0 + words[i - 7] + sigma1;
    }
}

void sha256_compress_plain(uint32_t state[8], const uint8_t *blocks, size_t count) {
    for (; count > 0; count--, blocks += SHA256_BLOCK_SIZE) {
        uint32_t words[64], s[8];
        schedule(blocks, words);
        memcpy(s, state, sizeof s);
        for (size_t i = 0; i < 64; i++) {
            uint32_t sum1 = rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25);
            uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
            uint32_t sum0 = rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22);
            uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            uint32_t first = s[7] + sum1 + choice + round_constants[i] + words[i];
            memmove(s + 1, s, 7 * sizeof *s);
            s[4] += first;
            s[0] = first + sum0 + majority;
        }
        for (size_t i = 0; i < 8; i++) {
            state[i] += s[i];
        }
    }
}

/* ---- By the instructions of x86 */

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

/* The instructions keep the state as (a b e f) and (c d g h), and do four rounds in two halves. */
__attribute__((target("sha,sse4.1"))) static void compress_x86(uint32_t state[8], const uint8_t *blocks, size_t count) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xB1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1B);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
    for (; count > 0; count--, blocks += SHA256_BLOCK_SIZE) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i words[4]; /* the sixteen that the next rounds are made of */
        for (size_t i = 0; i < 4; i++) {
            words[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + 16 * i)), big_endian);
        }
        for (size_t i = 0; i < 16; i++) {
            __m128i *now = &words[i % 4];
            __m128i last = words[(i + 3) % 4];
            __m128i sum = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(round_constants + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
            __m128i next = _mm_sha256msg1_epu32(*now, words[(i + 1) % 4]);
            next = _mm_add_epi32(next, _mm_alignr_epi8(last, words[(i + 2) % 4], 4));
            *now = _mm_sha256msg2_epu32(next, last);
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

Sha256Compress *sha256_of_processor(void) {
    unsigned a, b, c, d;
    bool has_sse41 = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_1) != 0;
    bool has_sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
    return has_sse41 && has_sha ? compress_x86 : NULL;
}
#else
Sha256Compress *sha256_of_processor(void) {
    return NULL;
}
#endif

/* ---- Any number of bytes */

static Sha256Compress *compress = sha256_compress_plain;
static pthread_once_t compress_once = PTHREAD_ONCE_INIT;

static void choose_compress(void) {
    Sha256Compress *own = sha256_of_processor();
    compress = own != NULL ? own : sha256_compress_plain;
}

Sha256 sha256_begin(void) {
    pthread_once(&compress_once, choose_compress);
    return (Sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(Sha256 *hash, Str bytes) {
    size_t waiting = hash->size % SHA256_BLOCK_SIZE;
    hash->size += bytes.size;
    if (waiting > 0) {
        size_t room = SHA256_BLOCK_SIZE - waiting, taken = bytes.size < room ? bytes.size : room;
        memcpy(hash->rest + waiting, bytes.size == 0 ? "" : bytes.ptr, taken);
        if (taken < room) {
            return;
        }
        compress(hash->state, hash->rest, 1);
        bytes = str_skip(bytes, taken);
    }
    size_t blocks = bytes.size / SHA256_BLOCK_SIZE;
    compress(hash->state, (const uint8_t *)bytes.ptr, blocks);
    bytes = str_skip(bytes, blocks * SHA256_BLOCK_SIZE);
    memcpy(hash->rest, bytes.size == 0 ? "" : bytes.ptr, bytes.size);
}

/* A one bit, zeros, and the number of bits in the last eight bytes of a block. */
void sha256_digest(Sha256 hash, uint8_t digest[SHA256_DIGEST_SIZE]) {
    static const char padding[SHA256_BLOCK_SIZE] = {(char)0x80};
    uint64_t bits = hash.size * 8;
    size_t waiting = hash.size % SHA256_BLOCK_SIZE;
    size_t size = (waiting < 56 ? 56 : 120) - waiting;
    uint8_t length[8];
    store_word(length, (uint32_t)(bits >> 32));
    store_word(length + 4, (uint32_t)bits);
    sha256_add(&hash, (Str){.ptr = padding, .size = size});
    sha256_add(&hash, (Str){.ptr = (const char *)length, .size = sizeof length});
    for (size_t i = 0; i < 8; i++) {
        store_word(digest + 4 * i, hash.state[i]);
    }
}
