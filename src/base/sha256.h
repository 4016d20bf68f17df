/* SHA-256 as FIPS 180-4 has it, by the processor's own instructions where it has them: libsodium's is plain C, and took
 * a third of a plan without changes. For fingerprints, which are no secrets. Any thread. */
#ifndef INTERLACE_BASE_SHA256_H
#define INTERLACE_BASE_SHA256_H

#include "base/str.h"

#define SHA256_BLOCK_SIZE 64
#define SHA256_DIGEST_SIZE 32

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far; the last size % SHA256_BLOCK_SIZE of them wait in `rest` */
    uint8_t rest[SHA256_BLOCK_SIZE];
} Sha256;

Sha256 sha256_begin(void);
void sha256_add(Sha256 *hash, Str bytes);
void sha256_digest(Sha256 hash, uint8_t digest[SHA256_DIGEST_SIZE]); /* of a copy: the hash may go on */

/* How blocks are worked in; for tests, which hold one against the other. NULL from sha256_of_processor: it has none. */
typedef void Sha256Compress(uint32_t state[8], const uint8_t *blocks, size_t count);
void sha256_compress_plain(uint32_t state[8], const uint8_t *blocks, size_t count);
Sha256Compress *sha256_of_processor(void);

#endif
