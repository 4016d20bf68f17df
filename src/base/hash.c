#include "base/hash.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINGERPRINT_DIGITS 16

static pthread_once_t sodium_once = PTHREAD_ONCE_INIT;

static void start_sodium(void) {
    if (sodium_init() < 0) {
        fprintf(stderr, "error: libsodium cannot be initialised\n");
        abort();
    }
}

/* Also chooses the fastest BLAKE2b and SHA-256 for this processor. */
static void ensure_sodium(void) {
    pthread_once(&sodium_once, start_sodium);
}

static const unsigned char *bytes_of(Str text) {
    return (const unsigned char *)(text.size == 0 ? "" : text.ptr);
}

ContentHash content_hash(Str text) {
    ContentHash hash;
    ensure_sodium();
    crypto_generichash(hash.bytes, sizeof hash.bytes, bytes_of(text), text.size, NULL, 0);
    return hash;
}

ContentHash content_hash_parts(const Str *parts, size_t count) {
    ContentHash hash;
    crypto_generichash_state state;
    ensure_sodium();
    crypto_generichash_init(&state, NULL, 0, sizeof hash.bytes);
    for (size_t i = 0; i < count; i++) {
        uint64_t size = parts[i].size; /* caches are not moved between machines, so the byte order may be its own */
        crypto_generichash_update(&state, (const unsigned char *)&size, sizeof size);
        crypto_generichash_update(&state, bytes_of(parts[i]), parts[i].size);
    }
    crypto_generichash_final(&state, hash.bytes, sizeof hash.bytes);
    return hash;
}

bool content_hash_equal(ContentHash a, ContentHash b) {
    return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

static Str hex_of(Arena *arena, const unsigned char *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    char *text = arena_alloc(arena, size * 2 + 1);
    for (size_t i = 0; i < size; i++) {
        text[i * 2] = digits[bytes[i] >> 4];
        text[i * 2 + 1] = digits[bytes[i] & 0xF];
    }
    return (Str){.ptr = text, .size = size * 2};
}

/* Parts [first, count), each but the very first behind a NUL. */
static void add_parts(crypto_hash_sha256_state *state, const Str *parts, size_t first, size_t count) {
    for (size_t i = first; i < count; i++) {
        if (i > 0) {
            crypto_hash_sha256_update(state, (const unsigned char *)"", 1);
        }
        crypto_hash_sha256_update(state, bytes_of(parts[i]), parts[i].size);
    }
}

/* Of a copy of the state, which may go on. */
static Str fingerprint_so_far(Arena *arena, crypto_hash_sha256_state state) {
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&state, digest);
    return hex_of(arena, digest, FINGERPRINT_DIGITS / 2);
}

Str fingerprint_of_parts(Arena *arena, const Str *parts, size_t count) {
    Str all;
    return fingerprint_of_more_parts(arena, parts, count, count, &all);
}

Str fingerprint_of_more_parts(Arena *arena, const Str *parts, size_t some_count, size_t count, Str *some_out) {
    crypto_hash_sha256_state state;
    ensure_sodium();
    crypto_hash_sha256_init(&state);
    add_parts(&state, parts, 0, some_count);
    *some_out = fingerprint_so_far(arena, state);
    if (some_count == count) {
        return *some_out;
    }
    add_parts(&state, parts, some_count, count);
    return fingerprint_so_far(arena, state);
}

Str sha256_hex(Arena *arena, Str text) {
    unsigned char digest[crypto_hash_sha256_BYTES];
    ensure_sodium();
    crypto_hash_sha256(digest, bytes_of(text), text.size);
    return hex_of(arena, digest, sizeof digest);
}

Str hmac_sha256_hex(Arena *arena, Str key, Str text) {
    unsigned char digest[crypto_auth_hmacsha256_BYTES];
    crypto_auth_hmacsha256_state state;
    ensure_sodium();
    crypto_auth_hmacsha256_init(&state, bytes_of(key), key.size);
    crypto_auth_hmacsha256_update(&state, bytes_of(text), text.size);
    crypto_auth_hmacsha256_final(&state, digest);
    return hex_of(arena, digest, sizeof digest);
}

static inline void file_auto(FILE **file) {
    if (*file != NULL) {
        fclose(*file);
    }
}

Status sha256_of_file(Str path, Arena *arena, Str *hex_out, Error *err) {
    AUTO(arena) Arena *scratch = arena_create();
    AUTO(file) FILE *file = fopen(str_to_c(scratch, path), "rbe");
    if (file == NULL) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot read '" STR_FMT "'", STR_ARG(path));
    }
    static const size_t chunk_size = 1 << 16;
    unsigned char *chunk = arena_alloc(scratch, chunk_size);
    crypto_hash_sha256_state state;
    ensure_sodium();
    crypto_hash_sha256_init(&state);
    for (size_t size = fread(chunk, 1, chunk_size, file); size > 0; size = fread(chunk, 1, chunk_size, file)) {
        crypto_hash_sha256_update(&state, chunk, size);
    }
    if (ferror(file)) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot read '" STR_FMT "'", STR_ARG(path));
    }
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&state, digest);
    *hex_out = hex_of(arena, digest, sizeof digest);
    return OK;
}

void random_bytes(void *target, size_t size) {
    ensure_sodium();
    randombytes_buf(target, size);
}

Str random_hex(Arena *arena, size_t bytes) {
    uint8_t *random = ARENA_NEW_ARRAY(arena, uint8_t, bytes);
    random_bytes(random, bytes);
    return hex_of(arena, random, bytes);
}
