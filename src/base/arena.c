/* Blocks in a chain, the newest first. A request that fits goes to the front block; a large one gets a block of its own
 * behind the front, so that the room left in the front block is still used. An arena that grows large gets huge pages:
 * in a plan of 2,000 models the faults of small ones were a fifth of all time. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ARENA_BLOCK_SIZE_MIN ((size_t)1024)
#define ARENA_BLOCK_SIZE_MAX ((size_t)256 * 1024)
#define ARENA_ALIGNMENT alignof(max_align_t)
#define HUGE_PAGE_SIZE ((size_t)2 * 1024 * 1024)

typedef struct ArenaBlock {
    struct ArenaBlock *next;
    size_t size, used; /* bytes of `data` */
    bool is_mapped;    /* a huge page of its own */
    alignas(max_align_t) char data[];
} ArenaBlock;

struct Arena {
    ArenaBlock *front; /* NULL until the first request */
    size_t next_block_size;
    size_t used; /* bytes handed out */
};

static _Noreturn void out_of_memory(size_t size) {
    fprintf(stderr, "error: out of memory (%zu bytes were asked for)\n", size);
    abort();
}

Arena *arena_create(void) {
    Arena *arena = heap_alloc_zeroed(1, sizeof *arena);
    arena->next_block_size = ARENA_BLOCK_SIZE_MIN;
    return arena;
}

static void block_free(ArenaBlock *block) {
    if (block->is_mapped) {
        (void)munmap(block, HUGE_PAGE_SIZE);
    } else {
        free(block);
    }
}

void arena_destroy(Arena *arena) {
    if (arena == NULL) {
        return;
    }
    for (ArenaBlock *block = arena->front; block != NULL;) {
        ArenaBlock *next = block->next;
        block_free(block);
        block = next;
    }
    free(arena);
}

static ArenaBlock *block_create(size_t size) {
    size_t total;
    if (__builtin_add_overflow(size, sizeof(ArenaBlock), &total)) {
        out_of_memory(size);
    }
    ArenaBlock *block = heap_alloc_zeroed(1, total);
    block->size = size;
    return block;
}

/* Twice the size is mapped, and what lies beside the boundaries given back. NULL: the system has no more, or a
 * sanitizer would not look for pointers there. */
static ArenaBlock *block_map(void) {
#if defined(__SANITIZE_ADDRESS__)
    return NULL;
#else
    char *mapped = mmap(NULL, 2 * HUGE_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        return NULL;
    }
    size_t before = -(uintptr_t)mapped % HUGE_PAGE_SIZE, behind = HUGE_PAGE_SIZE - before;
    if (before > 0) {
        (void)munmap(mapped, before);
    }
    (void)munmap(mapped + before + HUGE_PAGE_SIZE, behind);
    (void)madvise(mapped + before, HUGE_PAGE_SIZE, MADV_HUGEPAGE); /* where there are none, small ones do */
    ArenaBlock *block = (ArenaBlock *)(void *)(mapped + before);
    block->size = HUGE_PAGE_SIZE - sizeof(ArenaBlock);
    block->is_mapped = true;
    return block;
#endif
}

static void *block_take(ArenaBlock *block, size_t size) {
    void *taken = block->data + block->used;
    block->used += size;
    return taken;
}

static void *take_own_block(Arena *arena, size_t size) {
    ArenaBlock *block = block_create(size);
    if (arena->front == NULL) {
        arena->front = block;
    } else {
        block->next = arena->front->next;
        arena->front->next = block;
    }
    return block_take(block, size);
}

static void *take_new_front(Arena *arena, size_t size) {
    bool is_large = arena->next_block_size >= ARENA_BLOCK_SIZE_MAX;
    ArenaBlock *block = is_large ? block_map() : NULL;
    block = block != NULL ? block : block_create(arena->next_block_size);
    block->next = arena->front;
    arena->front = block;
    if (arena->next_block_size < ARENA_BLOCK_SIZE_MAX) {
        arena->next_block_size *= 2;
    }
    return block_take(block, size);
}

/* Rounded up to the alignment; at least one unit, so that every request has an address of its own. */
static size_t padded_size(size_t size) {
    size_t padded;
    if (__builtin_add_overflow(size, ARENA_ALIGNMENT - 1, &padded)) {
        out_of_memory(size);
    }
    padded &= ~(ARENA_ALIGNMENT - 1);
    return padded == 0 ? ARENA_ALIGNMENT : padded;
}

void *arena_alloc(Arena *arena, size_t size) {
    size_t padded = padded_size(size);
    arena->used += size;

    ArenaBlock *front = arena->front;
    if (front != NULL && front->size - front->used >= padded) {
        return block_take(front, padded);
    }
    if (padded > arena->next_block_size / 4) {
        return take_own_block(arena, padded);
    }
    return take_new_front(arena, padded);
}

void *arena_alloc_array(Arena *arena, size_t count, size_t item_size) {
    size_t size;
    if (__builtin_mul_overflow(count, item_size, &size)) {
        out_of_memory(SIZE_MAX);
    }
    return arena_alloc(arena, size);
}

size_t arena_used(const Arena *arena) {
    return arena->used;
}

void *heap_alloc(size_t size) {
    void *block = malloc(size == 0 ? 1 : size);
    if (block == NULL) {
        out_of_memory(size);
    }
    return block;
}

void *heap_alloc_zeroed(size_t count, size_t item_size) {
    void *block = count == 0 || item_size == 0 ? calloc(1, 1) : calloc(count, item_size);
    if (block == NULL) {
        out_of_memory(count);
    }
    return block;
}

void *heap_realloc(void *block, size_t size) {
    void *moved = realloc(block, size == 0 ? 1 : size);
    if (moved == NULL) {
        out_of_memory(size);
    }
    return moved;
}
