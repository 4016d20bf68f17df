/* Control frames: whatever arrives, in whatever pieces. */
#include "base/testing.h"
#include "python/frame.h"

static Str frame_bytes(Arena *arena, const char *json) {
    AUTO(strbuf) StrBuf bytes = {0};
    AUTO(error) Error err;
    error_init(&err);
    assert_done(frame_encode(str_from(json), &bytes, &err), &err);
    return strbuf_copy(&bytes, arena);
}

/* Takes all frames that are there; each must be of the type that is expected next. */
static size_t take_frames(FrameReader *reader, const FrameType *expected, size_t taken, Arena *arena) {
    for (;;) {
        AUTO(error) Error err;
        error_init(&err);
        Str payload;
        Frame frame;
        bool has_frame;
        assert_done(frame_reader_next(reader, &payload, &has_frame, &err), &err);
        if (!has_frame) {
            return taken;
        }
        assert_done(frame_parse(payload, arena, &frame, &err), &err);
        assert_int_equal(frame.type, expected[taken++]);
    }
}

static void frames_arrive_whole_however_they_are_cut(void **state) {
    static const FrameType expected[] = {FRAME_PONG, FRAME_LOG};
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(strbuf) StrBuf bytes = {0};
    strbuf_append(&bytes, frame_bytes(arena, "{\"t\":\"pong\"}"));
    strbuf_append(&bytes, frame_bytes(arena, "{\"t\":\"log\",\"message\":\"ü\"}"));
    for (size_t cut = 1; cut <= bytes.size; cut++) {
        FrameReader reader = {0};
        size_t taken = 0;
        for (size_t start = 0; start < bytes.size; start += cut) {
            frame_reader_add(&reader, str_slice(strbuf_str(&bytes), start, start + cut));
            taken = take_frames(&reader, expected, taken, arena);
        }
        assert_int_equal(taken, 2);
        frame_reader_deinit(&reader);
    }
}

static void a_frame_that_is_too_long_is_refused_by_its_length_alone(void **state) {
    (void)state;
    AUTO(error) Error err;
    error_init(&err);
    FrameReader reader = {0};
    Str payload;
    bool has_frame;
    frame_reader_add(&reader, (Str){"\x01\x00\x00\x01", 4});
    assert_true(failed(frame_reader_next(&reader, &payload, &has_frame, &err)));
    assert_str(err.message, "protocol error: a frame of 16777217 bytes", "message");
    assert_true(reader.bytes.capacity < 1024);
    frame_reader_deinit(&reader);
}

static void the_longest_frame_is_not_refused(void **state) {
    (void)state;
    AUTO(error) Error err;
    error_init(&err);
    FrameReader reader = {0};
    Str payload;
    bool has_frame;
    frame_reader_add(&reader, (Str){"\x00\x00\x00\x01", 4});
    assert_done(frame_reader_next(&reader, &payload, &has_frame, &err), &err);
    assert_false(has_frame);
    frame_reader_deinit(&reader);
}

static void nonsense_is_a_protocol_error(void **state) {
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"", "protocol error: "},
        {"{", "protocol error: "},
        {"[]", "protocol error: a frame that is a list"},
        {"\"pong\"", "protocol error: a frame that is "},
        {"{}", "protocol error: a frame of unknown type ''"},
        {"{\"t\":7}", "protocol error: a frame of unknown type '7'"},
        {"{\"t\":[]}", "protocol error: a frame of unknown type ''"},
        {"{\"t\":\"run_model\"}", "protocol error: a frame of unknown type 'run_model'"},
        {"{\"t\":\"\xff\"}", "protocol error: "},
    };
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(error) Error err;
        error_init(&err);
        Frame frame;
        assert_true(failed(frame_parse(str_from(cases[i].json), arena, &frame, &err)));
        if (!str_starts_with(err.message, str_from(cases[i].message))) {
            fail_msg("%s: " STR_FMT, cases[i].json, STR_ARG(err.message));
        }
    }
}

static void fields_of_another_kind_read_as_empty(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error err;
    error_init(&err);
    Frame frame;
    Str json = STR("{\"t\":\"result\",\"task\":12,\"rows\":[1],\"big\":1e40,\"yes\":true,\"no\":\"x\"}");
    assert_done(frame_parse(json, arena, &frame, &err), &err);
    assert_int_equal(frame.task, 12);
    assert_int_equal(frame_int(frame.fields, STR("rows")), 0);
    assert_int_equal(frame_int(frame.fields, STR("big")), 0);
    assert_true(frame_flag(frame.fields, STR("yes")));
    assert_false(frame_flag(frame.fields, STR("no")));
    assert_str(config_text(frame.fields, STR("none")), "", "absent");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(frames_arrive_whole_however_they_are_cut), TEST(a_frame_that_is_too_long_is_refused_by_its_length_alone),
        TEST(the_longest_frame_is_not_refused),         TEST(nonsense_is_a_protocol_error),
        TEST(fields_of_another_kind_read_as_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
