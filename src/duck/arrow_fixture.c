#include "duck/arrow_fixture.h"

#include <stdarg.h>

int live_arrays;

static void release_schema(struct ArrowSchema *schema) {
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array) {
    array->release = NULL;
    live_arrays--;
}

struct ArrowSchema *schema_new(Arena *arena, const char *format, const char *name, int child_count, ...) {
    struct ArrowSchema *schema = ARENA_NEW(arena, struct ArrowSchema);
    schema->format = format;
    schema->name = name;
    schema->flags = ARROW_FLAG_NULLABLE;
    schema->n_children = child_count;
    schema->children = ARENA_NEW_ARRAY(arena, struct ArrowSchema *, (size_t)child_count);
    schema->release = release_schema;
    va_list children;
    va_start(children, child_count);
    for (int i = 0; i < child_count; i++) {
        schema->children[i] = va_arg(children, struct ArrowSchema *);
    }
    va_end(children);
    return schema;
}

struct ArrowArray *array_new(Arena *arena, int64_t length, int64_t null_count, const void *const buffers[3],
                             int child_count, ...) {
    struct ArrowArray *array = ARENA_NEW(arena, struct ArrowArray);
    array->length = length;
    array->null_count = null_count;
    array->n_buffers = 3;
    array->buffers = ARENA_NEW_ARRAY(arena, const void *, 3);
    for (int i = 0; i < 3; i++) {
        array->buffers[i] = buffers[i];
    }
    array->n_children = child_count;
    array->children = ARENA_NEW_ARRAY(arena, struct ArrowArray *, (size_t)child_count);
    array->release = release_array;
    live_arrays++;
    va_list children;
    va_start(children, child_count);
    for (int i = 0; i < child_count; i++) {
        array->children[i] = va_arg(children, struct ArrowArray *);
        live_arrays--; /* goes with its parent */
    }
    va_end(children);
    return array;
}
