/* Text that is not UTF-8 is found at any depth, and named by column and row. */
#include "duck/arrow_fixture.h"
#include "duck/arrow_text.h"
#include "duck/duck_fixture.h"

typedef struct Place {
    bool sound;
    size_t column;
    int64_t row;
} Place;

static Place look(Arena *arena, struct ArrowSchema *schema, struct ArrowArray *batch) {
    Place place = {0};
    const ArrowShape *shape = arrow_shape_create(schema, arena);
    place.sound = shape == NULL || arrow_text_is_sound(shape, batch, &place.column, &place.row);
    return place;
}

/* Three values: "aé", `middle`, "b". */
static struct ArrowArray *text_array(Arena *arena, Str middle) {
    int32_t *offsets = ARENA_NEW_ARRAY(arena, int32_t, 4);
    offsets[1] = 3;
    offsets[2] = 3 + (int32_t)middle.size;
    offsets[3] = offsets[2] + 1;
    Str data = str_format(arena, "aé" STR_FMT "b", STR_ARG(middle));
    return array_new(arena, 3, 0, BUFFERS(NULL, offsets, data.ptr), 0);
}

static void sound_text_is_sound(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    struct ArrowSchema *schema = schema_new(arena, "+s", "", 1, schema_new(arena, "u", "t", 0));
    static const char *const texts[] = {"", "x", "é", "漢", "𝄞"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct ArrowArray *batch = array_new(arena, 3, 0, NO_BUFFERS, 1, text_array(arena, str_from(texts[i])));
        assert_true(look(arena, schema, batch).sound);
    }
}

static void unsound_text_is_named(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    struct ArrowSchema *schema =
        schema_new(arena, "+s", "", 2, schema_new(arena, "l", "n", 0), schema_new(arena, "u", "t", 0));
    static const char *const texts[] = {"\xFF", "\xC3", "\xC0\x80", "\xED\xA0\x80", "a\x80"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct ArrowArray *numbers = array_new(arena, 3, 0, NO_BUFFERS, 0);
        struct ArrowArray *batch =
            array_new(arena, 3, 0, NO_BUFFERS, 2, numbers, text_array(arena, str_from(texts[i])));
        Place place = look(arena, schema, batch);
        assert_false(place.sound);
        assert_int_equal(place.column, 1);
        assert_int_equal(place.row, 1);
    }
}

/* Each is sound as a whole piece, but cut within a character. */
static void a_character_cut_between_two_rows_is_found(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    struct ArrowSchema *schema = schema_new(arena, "+s", "", 1, schema_new(arena, "u", "t", 0));
    static const int32_t offsets[] = {0, 1, 2};
    struct ArrowArray *text = array_new(arena, 2, 0, BUFFERS(NULL, offsets, "\xC3\xA9"), 0);
    Place place = look(arena, schema, array_new(arena, 2, 0, NO_BUFFERS, 1, text));
    assert_false(place.sound);
    assert_int_equal(place.row, 0);
}

static void what_lies_under_a_null_does_not_matter(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    struct ArrowSchema *schema = schema_new(arena, "+s", "", 1, schema_new(arena, "u", "t", 0));
    static const uint8_t validity[] = {0x05};
    struct ArrowArray *text = text_array(arena, str_from("\xFF"));
    text->null_count = 1;
    text->buffers[0] = validity;
    assert_true(look(arena, schema, array_new(arena, 3, 0, NO_BUFFERS, 1, text)).sound);
}

static void sliced_batches_are_read_from_their_offset(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    struct ArrowSchema *schema = schema_new(arena, "+s", "", 1, schema_new(arena, "u", "t", 0));
    struct ArrowArray *batch = array_new(arena, 1, 0, NO_BUFFERS, 1, text_array(arena, str_from("\xFF")));
    batch->offset = 2;
    assert_true(look(arena, schema, batch).sound);
    batch->offset = 1;
    Place place = look(arena, schema, batch);
    assert_false(place.sound);
    assert_int_equal(place.row, 0);
}

/* list<struct<a: int, t: large_utf8>>, two rows of one and two items; the last item's text is unsound. */
static void text_in_lists_of_structs_is_found(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    struct ArrowSchema *item =
        schema_new(arena, "+s", "item", 2, schema_new(arena, "i", "a", 0), schema_new(arena, "U", "t", 0));
    struct ArrowSchema *schema = schema_new(arena, "+s", "", 1, schema_new(arena, "+l", "list", 1, item));

    static const int64_t text_offsets[] = {0, 1, 2, 3};
    static const int32_t list_offsets[] = {0, 1, 3};
    struct ArrowArray *text = array_new(arena, 3, 0, BUFFERS(NULL, text_offsets, "xy\xFF"), 0);
    struct ArrowArray *items = array_new(arena, 3, 0, NO_BUFFERS, 2, array_new(arena, 3, 0, NO_BUFFERS, 0), text);
    struct ArrowArray *list = array_new(arena, 2, 0, BUFFERS(NULL, list_offsets), 1, items);
    Place place = look(arena, schema, array_new(arena, 2, 0, NO_BUFFERS, 1, list));
    assert_false(place.sound);
    assert_int_equal(place.row, 1);
}

static void text_in_fixed_lists_and_dictionaries_is_found(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    struct ArrowSchema *fixed =
        schema_new(arena, "+s", "", 1, schema_new(arena, "+w:3", "f", 1, schema_new(arena, "u", "t", 0)));
    struct ArrowArray *lists = array_new(arena, 1, 0, NO_BUFFERS, 1, text_array(arena, str_from("\xFF")));
    assert_false(look(arena, fixed, array_new(arena, 1, 0, NO_BUFFERS, 1, lists)).sound);

    struct ArrowSchema *codes = schema_new(arena, "c", "d", 0);
    codes->dictionary = schema_new(arena, "u", "", 0);
    struct ArrowArray *coded = array_new(arena, 1, 0, NO_BUFFERS, 0);
    coded->dictionary = text_array(arena, str_from("\xFF"));
    Place place = look(arena, schema_new(arena, "+s", "", 1, codes), array_new(arena, 1, 0, NO_BUFFERS, 1, coded));
    assert_false(place.sound);
}

static void schemas_without_text_are_not_looked_at(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    struct ArrowSchema *list = schema_new(arena, "+l", "l", 1, schema_new(arena, "l", "item", 0));
    struct ArrowSchema *schema = schema_new(arena, "+s", "", 2, list, schema_new(arena, "z", "binary", 0));
    assert_null(arrow_shape_create(schema, arena));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_text_is_sound),
        cmocka_unit_test(unsound_text_is_named),
        cmocka_unit_test(a_character_cut_between_two_rows_is_found),
        cmocka_unit_test(what_lies_under_a_null_does_not_matter),
        cmocka_unit_test(sliced_batches_are_read_from_their_offset),
        cmocka_unit_test(text_in_lists_of_structs_is_found),
        cmocka_unit_test(text_in_fixed_lists_and_dictionaries_is_found),
        cmocka_unit_test(schemas_without_text_are_not_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
