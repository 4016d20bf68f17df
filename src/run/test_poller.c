#include "run/test_poller.h"

#ifdef INTERLACE_TEST_HOOKS

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct TestPoller {
    Engine *engine;
    SqlText sql;
    FILE *file;
    Arena *arena;
    pthread_t thread;
    atomic_bool is_stopping;
};

static void write_answer(TestPoller *poller, Str answer, StrBuf *last) {
    if (str_equal(answer, strbuf_str(last))) {
        return;
    }
    strbuf_clear(last);
    strbuf_append(last, answer);
    fprintf(poller->file, STR_FMT "\n", STR_ARG(answer));
    fflush(poller->file);
}

static Str first_row(const DuckRows *rows, Arena *arena) {
    StrVec cells = {0};
    for (size_t i = 0; rows->row_count > 0 && i < rows->columns.count; i++) {
        str_vec_push(arena, &cells, duck_cell(rows, 0, i)->text);
    }
    return str_join(arena, cells.items, cells.count, STR(","));
}

static void poll_once(TestPoller *poller, EngineConnection *connection, StrBuf *last) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err = {0};
    DuckRows rows = {0};
    if (!failed(engine_query(connection, &poller->sql, arena, &rows, &err))) {
        write_answer(poller, first_row(&rows, arena), last);
    } else if (err.kind != ERROR_INTERRUPTED) {
        write_answer(poller, str_format(arena, "error: " STR_FMT, STR_ARG(err.message)), last);
    }
}

static void *poll_thread(void *argument) {
    TestPoller *poller = argument;
    AUTO(strbuf) StrBuf last = {0};
    AUTO(error) Error err = {0};
    AUTO(engine_connection) EngineConnection *connection = NULL;
    if (failed(engine_connect(poller->engine, &connection, &err))) {
        return NULL;
    }
    while (!atomic_load(&poller->is_stopping)) {
        poll_once(poller, connection, &last);
    }
    return NULL;
}

TestPoller *test_poller_start(Engine *engine) {
    const char *sql = getenv("INTERLACE_POLL_SQL");
    const char *path = getenv("INTERLACE_POLL_FILE");
    if (sql == NULL || path == NULL) {
        return NULL;
    }
    TestPoller *poller = heap_alloc_zeroed(1, sizeof *poller);
    poller->engine = engine;
    poller->arena = arena_create();
    poller->sql = sql_text_own(poller->arena, str_from(sql));
    poller->file = fopen(path, "a");
    if (poller->file == NULL || pthread_create(&poller->thread, NULL, poll_thread, poller) != 0) {
        abort();
    }
    return poller;
}

void test_poller_stop(TestPoller *poller) {
    if (poller == NULL) {
        return;
    }
    atomic_store(&poller->is_stopping, true);
    pthread_join(poller->thread, NULL);
    fclose(poller->file);
    arena_destroy(poller->arena);
    free(poller);
}

#endif
