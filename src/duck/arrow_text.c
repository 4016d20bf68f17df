#include "duck/arrow_text.h"

/* Elements [start, start + count) of an array, counted without its own offset. */
typedef struct Range {
    int64_t start, count;
} Range;

typedef bool CheckRange(const ArrowShape *shape, const struct ArrowArray *array, Range range);

struct ArrowShape {
    CheckRange *check;
    int64_t list_size; /* of a fixed-size list */
    size_t child_count;
    const ArrowShape **children; /* NULL where a child has no text */
};

static bool range_is_sound(const ArrowShape *shape, const struct ArrowArray *array, Range range) {
    return shape == NULL || range.count <= 0 || shape->check(shape, array, range);
}

static bool is_null(const struct ArrowArray *array, int64_t index) {
    const uint8_t *validity = array->null_count == 0 ? NULL : array->buffers[0];
    return validity != NULL && (validity[index / 8] >> (index % 8) & 1) == 0;
}

/* --- Text: offsets of 32 or 64 bits ------------------------------------------------------------------------------- */

static int64_t offset_at(const struct ArrowArray *array, bool wide, int64_t index) {
    return wide ? ((const int64_t *)array->buffers[1])[index] : ((const int32_t *)array->buffers[1])[index];
}

static Str text_between(const struct ArrowArray *array, int64_t start, int64_t end) {
    const char *data = array->buffers[2];
    return end > start ? (Str){.ptr = data + start, .size = (size_t)(end - start)} : STR_EMPTY;
}

static bool starts_in_character(Str text) {
    return text.size > 0 && ((unsigned char)text.ptr[0] & 0xC0) == 0x80;
}

/* One by one, because a NULL's slot may hold anything. */
static bool each_text_is_sound(const struct ArrowArray *array, bool wide, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) {
        Str text = text_between(array, offset_at(array, wide, i), offset_at(array, wide, i + 1));
        if (!is_null(array, i) && str_find_invalid_utf8(text) != STR_NOT_FOUND) {
            return false;
        }
    }
    return true;
}

/* All texts lie in one piece: when that is sound and none of them begins within a character, each of them is. */
static bool check_text(const struct ArrowArray *array, bool wide, Range range) {
    int64_t first = array->offset + range.start;
    int64_t last = first + range.count;
    int64_t end = offset_at(array, wide, last);
    bool sound = str_find_invalid_utf8(text_between(array, offset_at(array, wide, first), end)) == STR_NOT_FOUND;
    for (int64_t i = first; sound && i < last; i++) {
        sound = !starts_in_character(text_between(array, offset_at(array, wide, i), end));
    }
    return sound || each_text_is_sound(array, wide, first, last);
}

static bool check_text_32(const ArrowShape *shape, const struct ArrowArray *array, Range range) {
    (void)shape;
    return check_text(array, false, range);
}

static bool check_text_64(const ArrowShape *shape, const struct ArrowArray *array, Range range) {
    (void)shape;
    return check_text(array, true, range);
}

/* --- Nested layouts ----------------------------------------------------------------------------------------------- */

static bool check_list(const ArrowShape *shape, const struct ArrowArray *array, bool wide, Range range) {
    int64_t first = array->offset + range.start;
    int64_t start = offset_at(array, wide, first);
    Range items = {.start = start, .count = offset_at(array, wide, first + range.count) - start};
    return range_is_sound(shape->children[0], array->children[0], items);
}

static bool check_list_32(const ArrowShape *shape, const struct ArrowArray *array, Range range) {
    return check_list(shape, array, false, range);
}

static bool check_list_64(const ArrowShape *shape, const struct ArrowArray *array, Range range) {
    return check_list(shape, array, true, range);
}

static bool check_fixed_list(const ArrowShape *shape, const struct ArrowArray *array, Range range) {
    Range items = {
        .start = (array->offset + range.start) * shape->list_size,
        .count = range.count * shape->list_size,
    };
    return range_is_sound(shape->children[0], array->children[0], items);
}

static bool check_struct(const ArrowShape *shape, const struct ArrowArray *array, Range range) {
    Range children = {.start = array->offset + range.start, .count = range.count};
    for (size_t i = 0; i < shape->child_count; i++) {
        if (!range_is_sound(shape->children[i], array->children[i], children)) {
            return false;
        }
    }
    return true;
}

/* Codes into a small array of values, which is checked whole. */
static bool check_dictionary(const ArrowShape *shape, const struct ArrowArray *array, Range range) {
    (void)range;
    return range_is_sound(shape->children[0], array->dictionary,
                          (Range){.start = 0, .count = array->dictionary->length});
}

/* --- Shape of a schema -------------------------------------------------------------------------------------------- */

/* Unions are left to the engine: a member's unused slots may hold anything. */
/* clang-format off */
static const struct {
    const char *format; /* how it begins */
    bool is_text;
    CheckRange *check;
} layouts[] = {
    {"u",  true,  check_text_32},
    {"U",  true,  check_text_64},
    {"+l", false, check_list_32},
    {"+m", false, check_list_32},
    {"+L", false, check_list_64},
    {"+w", false, check_fixed_list},
    {"+s", false, check_struct},
};
/* clang-format on */

static ArrowShape *new_shape(Arena *arena, CheckRange *check, size_t child_count) {
    ArrowShape *shape = ARENA_NEW(arena, ArrowShape);
    shape->check = check;
    shape->child_count = child_count;
    shape->children = ARENA_NEW_ARRAY(arena, const ArrowShape *, child_count);
    return shape;
}

static const ArrowShape *create_nested(const struct ArrowSchema *schema, CheckRange *check, Arena *arena) {
    ArrowShape *shape = new_shape(arena, check, (size_t)schema->n_children);
    Str format = str_from(schema->format);
    (void)str_to_int64(str_skip(format, strlen("+w:")), &shape->list_size);

    bool has_text = false;
    for (size_t i = 0; i < shape->child_count; i++) {
        shape->children[i] = arrow_shape_create(schema->children[i], arena);
        has_text |= shape->children[i] != NULL;
    }
    return has_text ? shape : NULL;
}

const ArrowShape *arrow_shape_create(const struct ArrowSchema *schema, Arena *arena) {
    if (schema->dictionary != NULL) {
        ArrowShape *shape = new_shape(arena, check_dictionary, 1);
        shape->children[0] = arrow_shape_create(schema->dictionary, arena);
        return shape->children[0] == NULL ? NULL : shape;
    }
    Str format = str_from(schema->format);
    for (size_t i = 0; i < COUNT_OF(layouts); i++) {
        bool is_layout = str_starts_with(format, str_from(layouts[i].format));
        if (is_layout && layouts[i].is_text) {
            return new_shape(arena, layouts[i].check, 0);
        }
        if (is_layout) {
            return create_nested(schema, layouts[i].check, arena);
        }
    }
    return NULL;
}

bool arrow_text_is_sound(const ArrowShape *shape, const struct ArrowArray *batch, size_t *column_out,
                         int64_t *row_out) {
    if (range_is_sound(shape, batch, (Range){.start = 0, .count = batch->length})) {
        return true;
    }
    for (int64_t row = 0; row < batch->length; row++) {
        Range one = {.start = batch->offset + row, .count = 1};
        for (size_t i = 0; i < shape->child_count; i++) {
            if (!range_is_sound(shape->children[i], batch->children[i], one)) {
                *column_out = i;
                *row_out = row;
                return false;
            }
        }
    }
    assert(false);
    return true;
}
