/* For tests: Arrow schemas and arrays written by hand, in an arena. Releasing them only counts. */
#ifndef INTERLACE_DUCK_ARROW_FIXTURE_H
#define INTERLACE_DUCK_ARROW_FIXTURE_H

#include "base/arena.h"
#include "base/arrow_abi.h"

struct ArrowSchema *schema_new(Arena *arena, const char *format, const char *name, int child_count, ...);
/* `buffers`: validity, then what the format has. */
struct ArrowArray *array_new(Arena *arena, int64_t length, int64_t null_count, const void *const buffers[3],
                             int child_count, ...);
/* Arrays handed out by array_new that were not released. */
extern int live_arrays;

#define NO_BUFFERS ((const void *const[3]){0})
#define BUFFERS(...) ((const void *const[3]){__VA_ARGS__})

#endif
