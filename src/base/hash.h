/* Digests (libsodium). Any thread. */
#ifndef INTERLACE_BASE_HASH_H
#define INTERLACE_BASE_HASH_H

#include "base/error.h"

/* BLAKE2b, for content addressing of caches. */
typedef struct ContentHash {
    uint8_t bytes[16];
} ContentHash;
ContentHash content_hash(Str text);
ContentHash content_hash_parts(const Str *parts, size_t count); /* each part's size is hashed before it */
bool content_hash_equal(ContentHash a, ContentHash b);

/* First 16 lower-case hex digits of SHA-256 over the parts joined with one NUL byte: the form of all fingerprints. */
Str fingerprint_of_parts(Arena *arena, const Str *parts, size_t count);
/* That of all parts, and that of the first `some_count` on the way. */
Str fingerprint_of_more_parts(Arena *arena, const Str *parts, size_t some_count, size_t count, Str *some_out);
/* All 64 digits of SHA-256. */
Str sha256_hex(Arena *arena, Str text);
/* Those of a file's content, however large. */
MUST_CHECK Status sha256_of_file(Str path, Arena *arena, Str *hex_out, Error *err);
/* All 64 digits of HMAC-SHA-256, with a key of any size. */
Str hmac_sha256_hex(Arena *arena, Str key, Str text);
/* `size` random bytes. */
void random_bytes(void *target, size_t size);
/* So many of them as lower-case hex digits, two a byte. */
Str random_hex(Arena *arena, size_t bytes);

#endif
