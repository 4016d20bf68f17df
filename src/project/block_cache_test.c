#include "base/files.h"
#include "base/testing.h"
#include "project/block_cache.h"

#define BLOCK                                                                                                          \
    " interlace:\n  key: [id, 'day']\n  lookback: 2\n  columns: {a: BIGINT, b: null}\n  enabled: yes\n  checks:\n"     \
    "    - range: {column: a, min: -1.5}\n  tags: []\n"

static void assert_same(const ConfigValue *a, const ConfigValue *b, size_t lines) {
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->quoted, b->quoted);
    assert_int_equal(a->is_number, b->is_number);
    assert_int_equal(a->is_boolean, b->is_boolean);
    assert_int_equal(a->place.line + lines, b->place.line);
    assert_int_equal(a->place.column, b->place.column);
    assert_true(str_equal(a->text, b->text));
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        if (a->kind == CONFIG_LIST) {
            assert_same(a->items[i], b->items[i], lines);
            continue;
        }
        assert_true(str_equal(a->entries[i].key, b->entries[i].key));
        assert_int_equal(a->entries[i].place.line + lines, b->entries[i].place.line);
        assert_int_equal(a->entries[i].place.column, b->entries[i].place.column);
        assert_same(a->entries[i].value, b->entries[i].value, lines);
    }
}

static ConfigValue *read_block(SqlCache *cache, Str text, const char *file, size_t line, Arena *arena) {
    AUTO(error) Error err;
    error_init(&err);
    ConfigValue *value;
    assert_done(block_cache_read(cache, text, str_from(file), line, arena, &value, &err), &err);
    return value;
}

static void a_block_comes_back_as_it_was_read(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    Str directory = test_directory(arena);
    SqlCache *cache = block_cache_open(directory);
    const ConfigValue *first = read_block(cache, STR(BLOCK), "models/a.sql", 3, arena);
    assert_same(first, read_block(cache, STR(BLOCK), "models/a.sql", 3, arena), 0);
    sql_cache_close(cache);

    cache = block_cache_open(directory); /* from disk, for another file and place */
    const ConfigValue *again = read_block(cache, STR(BLOCK), "models/b.sql", 13, arena);
    sql_cache_close(cache); /* nothing of the value is in the cache */
    assert_same(first, again, 10);
    assert_str(again->entries[0].value->place.file, "models/b.sql", "file");
    assert_same(first, read_block(NULL, STR(BLOCK), "models/a.sql", 3, arena), 0);
    test_directory_remove(arena, directory);
}

static void a_block_that_does_not_read_is_read_again(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(sql_cache) SqlCache *cache = block_cache_open(STR_EMPTY);
    for (size_t line = 1; line <= 2; line++) {
        AUTO(error) Error err;
        error_init(&err);
        ConfigValue *value;
        assert_true(failed(block_cache_read(cache, STR("a: : b"), STR("m.sql"), line, arena, &value, &err)));
        assert_int_equal(err.place.line, line);
    }
}

/* Each byte of the entry is changed in turn, and the entry is cut at each: some value or a new reading, never a crash.
 */
static void any_bytes_are_safe(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(sql_cache) SqlCache *sound = block_cache_open(STR_EMPTY);
    (void)read_block(sound, STR(BLOCK), "m.sql", 1, arena);
    ContentHash key = content_hash(STR(BLOCK));
    Str entry = sql_cache_find(sound, key);
    assert_true(entry.size > 100);
    for (size_t i = 0; i < 2 * entry.size; i++) {
        AUTO(arena) Arena *scratch = arena_create();
        AUTO(sql_cache) SqlCache *cache = block_cache_open(STR_EMPTY);
        AUTO(strbuf) StrBuf bytes = {0};
        strbuf_append(&bytes, i < entry.size ? entry : str_slice(entry, 0, i - entry.size));
        if (i < entry.size) {
            bytes.data[i] = (char)(bytes.data[i] ^ 0x5A);
        }
        sql_cache_put(cache, key, strbuf_str(&bytes));
        (void)read_block(cache, STR(BLOCK), "m.sql", 1, scratch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_block_comes_back_as_it_was_read),
        TEST(a_block_that_does_not_read_is_read_again),
        TEST(any_bytes_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
