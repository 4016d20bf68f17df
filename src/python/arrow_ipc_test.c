/* Arrow streams between us and a worker: whole ones come through, anything else is refused for its reason. */
#include "base/testing.h"
#include "python/arrow_ipc_in.h"
#include "python/arrow_ipc_out.h"
#include "python/process_spawn.h"

#include <nanoarrow/nanoarrow.h>
#include <sys/socket.h>

/* ---- Bytes in memory as a source, in pieces of at most `piece` */

typedef struct Memory {
    Str left;
    size_t piece;
} Memory;

static Status read_memory(void *context, void *target, size_t size, size_t *size_out, Error *err) {
    Memory *memory = context;
    (void)err;
    *size_out = memory->left.size < size ? memory->left.size : size;
    *size_out = *size_out < memory->piece ? *size_out : memory->piece;
    memcpy(target, memory->left.ptr, *size_out);
    memory->left = str_skip(memory->left, *size_out);
    return OK;
}

/* ---- A stream of two columns, `id` and `name` */

static void make_schema(struct ArrowSchema *schema) {
    ArrowSchemaInit(schema);
    assert_int_equal(ArrowSchemaSetTypeStruct(schema, 2), 0);
    assert_int_equal(ArrowSchemaSetType(schema->children[0], NANOARROW_TYPE_INT64), 0);
    assert_int_equal(ArrowSchemaSetName(schema->children[0], "id"), 0);
    assert_int_equal(ArrowSchemaSetType(schema->children[1], NANOARROW_TYPE_STRING), 0);
    assert_int_equal(ArrowSchemaSetName(schema->children[1], "name"), 0);
}

static void make_batch(struct ArrowSchema *schema, int64_t rows, struct ArrowArray *array) {
    assert_int_equal(ArrowArrayInitFromSchema(array, schema, NULL), 0);
    assert_int_equal(ArrowArrayStartAppending(array), 0);
    for (int64_t i = 0; i < rows; i++) {
        assert_int_equal(ArrowArrayAppendInt(array->children[0], i), 0);
        assert_int_equal(ArrowArrayAppendString(array->children[1], ArrowCharView("text")), 0);
        assert_int_equal(ArrowArrayFinishElement(array), 0);
    }
    assert_int_equal(ArrowArrayFinishBuildingDefault(array, NULL), 0);
}

/* The bytes of a stream with three batches of `rows` rows, small enough for a socket's buffer. */
static Str stream_bytes(Arena *arena, int64_t rows) {
    AUTO(error) Error err;
    error_init(&err);
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    struct ArrowSchema schema;
    make_schema(&schema);
    ArrowIpcOut *out;
    assert_done(arrow_ipc_out_open(fds[0], &schema, &out, &err), &err);
    for (int i = 0; i < 3; i++) {
        struct ArrowArray array;
        make_batch(&schema, rows, &array);
        assert_done(arrow_ipc_out_write(out, &array, &err), &err);
        assert_null(array.release);
    }
    assert_done(arrow_ipc_out_finish(out, &err), &err);
    arrow_ipc_out_close(out);
    schema.release(&schema);
    fd_close(&fds[0]);
    char *bytes = arena_alloc(arena, 1 << 20);
    size_t size = 0;
    for (ssize_t got; (got = read(fds[1], bytes + size, (1 << 20) - size)) > 0;) {
        size += (size_t)got;
    }
    fd_close(&fds[1]);
    return (Str){bytes, size};
}

/* Reads a stream to its end; the number of rows, or -1 with the error. */
static int64_t count_rows(Str bytes, size_t piece, Error *err) {
    Memory memory = {.left = bytes, .piece = piece};
    ArrowSource source = {.read = read_memory, .context = &memory};
    AUTO(arrow_ipc_in) ArrowIpcIn *in = NULL;
    int64_t rows = 0;
    if (failed(arrow_ipc_in_open(&source, &in, err))) {
        return -1;
    }
    for (;;) {
        struct ArrowArray array;
        if (failed(arrow_ipc_in_next(in, &array, err))) {
            return -1;
        }
        if (array.release == NULL) {
            return rows;
        }
        rows += array.length;
        array.release(&array);
    }
}

static void a_whole_stream_comes_through_in_any_pieces(void **state) {
    static const size_t pieces[] = {1, 7, 8, 64, 4096, 1 << 20};
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    Str bytes = stream_bytes(arena, 500);
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        assert_int_equal(count_rows(bytes, pieces[i], &err), 1500);
    }
    assert_int_equal(count_rows(stream_bytes(arena, 0), 64, &err), 0);
}

static void a_stream_without_end_marker_is_broken_wherever_it_ends(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    Str bytes = stream_bytes(arena, 3);
    for (size_t size = 0; size < bytes.size; size++) {
        AUTO(error) Error err;
        error_init(&err);
        assert_int_equal(count_rows(str_slice(bytes, 0, size), 4096, &err), -1);
        assert_str(error_detail_find(&err, STR("code")), ARROW_IPC_BROKEN, "code");
    }
}

static void sizes_are_refused_before_anything_is_reserved(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    static const struct {
        const char bytes[9];
        const char *message;
    } cases[] = {
        {"\xff\xff\xff\xff\x01\x00\x00\x01", "a message header of 16777217 bytes, more than 16777216"},
        {"\xff\xff\xff\xff\xff\xff\xff\x7f", "a message header of 2147483647 bytes"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff", "a message header of -1 bytes"},
        {"\x10\x00\x00\x00\x00\x00\x00\x00", "a message that does not start like one"},
        {"\xff\xff\xff\xff\x00\x00\x00\x00", "it ends before its schema"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(error) Error err;
        error_init(&err);
        assert_int_equal(count_rows((Str){cases[i].bytes, 8}, 8, &err), -1);
        if (str_find(err.message, str_from(cases[i].message)) == STR_NOT_FOUND) {
            fail_msg("%s: " STR_FMT, cases[i].message, STR_ARG(err.message));
        }
    }
}

static void a_changed_byte_is_refused_or_harmless(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    Str bytes = stream_bytes(arena, 3);
    char *changed = arena_alloc(arena, bytes.size);
    for (size_t at = 0; at < bytes.size; at++) {
        memcpy(changed, bytes.ptr, bytes.size);
        changed[at] = (char)(changed[at] ^ 0x81);
        AUTO(error) Error err;
        error_init(&err);
        (void)count_rows((Str){changed, bytes.size}, 4096, &err); /* the sanitizers look on */
    }
}

static void a_reader_that_is_gone_is_told_from_other_failures(void **state) {
    (void)state;
    AUTO(error) Error err;
    error_init(&err);
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    struct ArrowSchema schema;
    make_schema(&schema);
    ArrowIpcOut *out;
    assert_done(arrow_ipc_out_open(fds[0], &schema, &out, &err), &err);
    fd_close(&fds[1]);
    struct ArrowArray array;
    make_batch(&schema, 10, &array);
    assert_true(failed(arrow_ipc_out_write(out, &array, &err)));
    assert_null(array.release);
    assert_str(error_detail_find(&err, STR("code")), ARROW_IPC_READER_GONE, "code");
    arrow_ipc_out_close(out);
    schema.release(&schema);
    fd_close(&fds[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_whole_stream_comes_through_in_any_pieces),
        TEST(a_stream_without_end_marker_is_broken_wherever_it_ends),
        TEST(sizes_are_refused_before_anything_is_reserved),
        TEST(a_changed_byte_is_refused_or_harmless),
        TEST(a_reader_that_is_gone_is_told_from_other_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
