/* A lifetime: memory that is taken in pieces and given back all at once.
 * Allocation never fails: a process that has no memory for its metadata ends with a message (state is crash-safe).
 * Not safe to share between threads. */
#ifndef INTERLACE_BASE_ARENA_H
#define INTERLACE_BASE_ARENA_H

#include "base/macros.h"

#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_create(void);
void arena_destroy(Arena *arena); /* NULL is fine */
DEFINE_AUTO(Arena, arena, arena_destroy)

/* Zeroed memory, aligned for every type. A size of 0 gives a valid pointer that may not be read. */
void *arena_alloc(Arena *arena, size_t size) __attribute__((malloc, returns_nonnull));

/* Room for `count` items of `item_size`; ends the process when the product overflows. */
void *arena_alloc_array(Arena *arena, size_t count, size_t item_size) __attribute__((returns_nonnull));

/* Bytes handed out so far, for tests and budgets. */
size_t arena_used(const Arena *arena);

#define ARENA_NEW(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))
#define ARENA_NEW_ARRAY(arena, Type, count) ((Type *)arena_alloc_array((arena), (count), sizeof(Type)))

/* malloc, calloc and realloc that end the process with a message instead of returning NULL. */
void *heap_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *heap_alloc_zeroed(size_t count, size_t item_size) __attribute__((malloc, returns_nonnull));
void *heap_realloc(void *block, size_t size) __attribute__((returns_nonnull));

#endif
