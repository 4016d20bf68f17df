#include "sql/sql_fixture.h"

#include "base/files.h"
#include "base/testing.h"
#include "sql/sql_cache.h"
#include "sql/sql_facts_codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct CacheFixture {
    SqlFixture *fixture;
    Str directory, path;
} CacheFixture;

static int setup(void **state) {
    CacheFixture *c = heap_alloc_zeroed(1, sizeof *c);
    if (sql_fixture_setup((void **)&c->fixture) != 0) {
        return -1;
    }
    c->directory = test_directory(c->fixture->arena);
    c->path = path_join(c->fixture->arena, c->directory, STR("sql.bin"));
    *state = c;
    return 0;
}

static int teardown(void **state) {
    CacheFixture *c = *state;
    test_directory_remove(c->fixture->arena, c->directory);
    int status = sql_fixture_teardown((void **)&c->fixture);
    free(c);
    return status;
}

/* Each test starts without a file. */
static int remove_file(void **state) {
    CacheFixture *c = *state;
    (void)unlink(str_to_c(c->fixture->arena, c->path));
    return 0;
}

static ContentHash key_of(size_t number) {
    char text[32];
    (void)snprintf(text, sizeof text, "%zu", number);
    return content_hash(str_from(text));
}

static Str bytes_of(Arena *arena, size_t number) {
    return str_format(arena, "entry %zu of the cache", number);
}

static void write_entries(CacheFixture *c, size_t first, size_t count) {
    SqlCache *cache = sql_cache_open(c->path, STR("v1"));
    for (size_t i = first; i < first + count; i++) {
        sql_cache_put(cache, key_of(i), bytes_of(c->fixture->arena, i));
    }
    sql_cache_close(cache);
}

static size_t count_entries(CacheFixture *c, Str version, size_t count) {
    AUTO(sql_cache) SqlCache *cache = sql_cache_open(c->path, version);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        Str bytes = sql_cache_find(cache, key_of(i));
        assert_true(bytes.size == 0 || str_equal(bytes, bytes_of(c->fixture->arena, i)));
        found += bytes.size > 0;
    }
    return found;
}

static Str read_cache(CacheFixture *c) {
    Str file = STR_EMPTY;
    assert_false(failed(file_read(c->path, (size_t)1 << 30, c->fixture->arena, &file, &c->fixture->err)));
    return file;
}

static void write_cache(CacheFixture *c, Str bytes) {
    assert_false(failed(file_write_atomic(c->path, bytes, false, &c->fixture->err)));
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

static void entries_are_found_again(void **state) {
    CacheFixture *c = *state;
    write_entries(c, 0, 500);
    assert_int_equal(count_entries(c, STR("v1"), 500), 500);
    write_entries(c, 500, 1);
    assert_int_equal(count_entries(c, STR("v1"), 501), 501);
}

static void entries_are_found_before_they_are_written(void **state) {
    CacheFixture *c = *state;
    AUTO(sql_cache) SqlCache *cache = sql_cache_open(STR_EMPTY, STR("v1"));
    assert_int_equal(sql_cache_find(cache, key_of(1)).size, 0);
    sql_cache_put(cache, key_of(1), STR("a"));
    check_text("put", sql_cache_find(cache, key_of(1)), "a");
    sql_cache_put(cache, key_of(1), STR("b"));
    check_text("replaced", sql_cache_find(cache, key_of(1)), "b");
    assert_false(file_exists(c->path));
}

static void another_version_counts_as_empty(void **state) {
    CacheFixture *c = *state;
    write_entries(c, 0, 10);
    assert_int_equal(count_entries(c, STR("v2"), 10), 0);
}

static void nothing_is_written_without_news(void **state) {
    CacheFixture *c = *state;
    write_entries(c, 0, 10);
    Str before = read_cache(c);
    (void)count_entries(c, STR("v1"), 3);
    assert_true(str_equal(before, read_cache(c)));
}

static void unused_entries_are_dropped_after_a_while(void **state) {
    CacheFixture *c = *state;
    write_entries(c, 0, 10);
    for (size_t i = 0; i + 1 < SQL_CACHE_UNUSED_MAX; i++) {
        write_entries(c, 100 + i, 1);
        assert_true(read_cache(c).size > 0);
    }
    SqlCache *cache = sql_cache_open(c->path, STR("v1"));
    assert_true(sql_cache_find(cache, key_of(3)).size > 0);
    sql_cache_put(cache, key_of(200), STR("x"));
    sql_cache_close(cache);
    assert_int_equal(count_entries(c, STR("v1"), 10), 1);
}

static void every_cut_of_the_file_is_safe(void **state) {
    CacheFixture *c = *state;
    write_entries(c, 0, 20);
    Str file = read_cache(c);
    for (size_t size = 0; size < file.size; size += 7) {
        write_cache(c, str_slice(file, 0, size));
        assert_int_equal(count_entries(c, STR("v1"), 20), 0);
    }
    write_cache(c, str_format(c->fixture->arena, STR_FMT "x", STR_ARG(file)));
    assert_int_equal(count_entries(c, STR("v1"), 20), 0);
}

static void every_damaged_byte_is_noticed(void **state) {
    CacheFixture *c = *state;
    write_entries(c, 0, 8);
    Str file = read_cache(c);
    for (size_t at = 0; at < file.size; at++) {
        char *copy = heap_alloc(file.size);
        memcpy(copy, file.ptr, file.size);
        copy[at] = (char)(copy[at] ^ (1 << (at % 8)));
        write_cache(c, (Str){.ptr = copy, .size = file.size});
        size_t found = count_entries(c, STR("v1"), 8); /* checks that those that are found are right */
        assert_true(found == 0 || found == 7);
        free(copy);
    }
}

static void a_damaged_file_is_replaced(void **state) {
    CacheFixture *c = *state;
    write_cache(c, STR("this is no cache"));
    write_entries(c, 0, 3);
    assert_int_equal(count_entries(c, STR("v1"), 3), 3);
}

static void a_folder_that_cannot_be_written_is_no_error(void **state) {
    (void)state;
    SqlCache *cache = sql_cache_open(STR("/dev/null/x/sql.bin"), STR("v1"));
    sql_cache_put(cache, key_of(1), STR("a"));
    sql_cache_close(cache);
}

static void writers_at_the_same_time_leave_a_sound_file(void **state) {
    CacheFixture *c = *state;
    pid_t children[4];
    for (size_t i = 0; i < COUNT_OF(children); i++) {
        children[i] = fork();
        if (children[i] == 0) {
            for (size_t round = 0; round < 20; round++) {
                write_entries(c, i * 100, 50);
                (void)count_entries(c, STR("v1"), 400);
            }
            _exit(0);
        }
    }
    for (size_t i = 0; i < COUNT_OF(children); i++) {
        int status = 1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_true(count_entries(c, STR("v1"), 400) >= 50);
}

/* --- The entries -------------------------------------------------------------------------------------------------- */

static Str encoded(SqlFixture *f, Str sql) {
    AUTO(strbuf) StrBuf bytes = {0};
    SqlAnalysis analysis = analyze(f, sql);
    sql_analysis_encode(&analysis, &bytes);
    return strbuf_copy(&bytes, f->arena);
}

static void facts_survive_the_codec(void **state) {
    CacheFixture *c = *state;
    SqlFixture *f = c->fixture;
    StrVec names = {0};
    StrVec texts = corpus_texts(f->arena, &names);
    for (size_t i = 0; i < texts.count; i++) {
        SqlAnalysis again = {0};
        SqlAnalysis first = analyze(f, texts.items[i]);
        assert_true(sql_analysis_decode(encoded(f, texts.items[i]), f->arena, &again));
        check_text("facts", facts_form(f->arena, texts.items[i], again.facts),
                   str_to_c(f->arena, facts_form(f->arena, texts.items[i], first.facts)));
        check_text("digest", again.canonical_digest, str_to_c(f->arena, first.canonical_digest));
        assert_int_equal(again.canonical_digest.size, 64);
    }
}

static void any_bytes_are_safe_to_decode(void **state) {
    CacheFixture *c = *state;
    SqlFixture *f = c->fixture;
    Random random = {.state = 123456789};
    Str bytes =
        encoded(f, STR("with a as (select now(), s.t.x from s.t) select a.*, f(x) from a, read_csv('x') order by 1"));
    for (size_t size = 0; size < bytes.size; size++) {
        AUTO(arena) Arena *scratch = arena_create();
        SqlAnalysis analysis = {0};
        assert_false(sql_analysis_decode(str_slice(bytes, 0, size), scratch, &analysis));
    }
    for (size_t round = 0; round < 20000; round++) {
        AUTO(arena) Arena *scratch = arena_create();
        SqlAnalysis analysis = {0};
        char *copy = (char *)arena_alloc(scratch, bytes.size);
        memcpy(copy, bytes.ptr, bytes.size);
        for (size_t i = 0; i <= random_below(&random, 4); i++) {
            copy[random_below(&random, bytes.size)] = (char)random_next(&random);
        }
        (void)sql_analysis_decode((Str){.ptr = copy, .size = bytes.size}, scratch, &analysis);
    }
}

static void an_analyzer_needs_no_engine_for_what_is_cached(void **state) {
    CacheFixture *c = *state;
    SqlFixture *f = c->fixture;
    Str sql = STR("select größe from raw.orders");
    for (size_t round = 0; round < 2; round++) {
        AUTO(sql_analyzer) SqlAnalyzer *analyzer = NULL;
        SqlAnalysis analysis = {0};
        assert_false(failed(sql_analyzer_open(c->directory, &analyzer, &f->err)));
        assert_false(failed(sql_analyze(analyzer, sql, f->arena, &analysis, &f->err)));
        check_text("facts", facts_form(f->arena, sql, analysis.facts), "raw.orders gives größe at 0");
        sql_analyzer_close(TAKE(analyzer));
        assert_true(file_exists(c->path));
    }
}

static void errors_are_not_cached(void **state) {
    CacheFixture *c = *state;
    SqlFixture *f = c->fixture;
    AUTO(sql_analyzer) SqlAnalyzer *analyzer = NULL;
    SqlAnalysis analysis = {0};
    assert_false(failed(sql_analyzer_open(c->directory, &analyzer, &f->err)));
    for (size_t round = 0; round < 2; round++) {
        assert_true(failed(sql_analyze(analyzer, STR("selec 1"), f->arena, &analysis, &f->err)));
        assert_int_equal(f->err.sql_offset, 0);
        error_clear(&f->err);
    }
    sql_analyzer_close(TAKE(analyzer));
    assert_false(file_exists(c->path));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(entries_are_found_again, remove_file),
        cmocka_unit_test_setup(entries_are_found_before_they_are_written, remove_file),
        cmocka_unit_test_setup(another_version_counts_as_empty, remove_file),
        cmocka_unit_test_setup(nothing_is_written_without_news, remove_file),
        cmocka_unit_test_setup(unused_entries_are_dropped_after_a_while, remove_file),
        cmocka_unit_test_setup(every_cut_of_the_file_is_safe, remove_file),
        cmocka_unit_test_setup(every_damaged_byte_is_noticed, remove_file),
        cmocka_unit_test_setup(a_damaged_file_is_replaced, remove_file),
        cmocka_unit_test_setup(a_folder_that_cannot_be_written_is_no_error, remove_file),
        cmocka_unit_test_setup(writers_at_the_same_time_leave_a_sound_file, remove_file),
        cmocka_unit_test_setup(facts_survive_the_codec, remove_file),
        cmocka_unit_test_setup(any_bytes_are_safe_to_decode, remove_file),
        cmocka_unit_test_setup(an_analyzer_needs_no_engine_for_what_is_cached, remove_file),
        cmocka_unit_test_setup(errors_are_not_cached, remove_file),
    };
    return cmocka_run_group_tests_name("sql cache", tests, setup, teardown);
}
