#include "cli/mcp_framing.h"

#include "base/testing.h"

/* Reads `bytes` in blocks of `step`, and writes what was found: "kind framing text;" each. */
static Str frames_of(Arena *arena, Str bytes, size_t step) {
    AUTO(strbuf) StrBuf found = {0};
    McpFramer framer = {0};
    for (size_t at = 0; at <= bytes.size; at += step) {
        bool is_end = at + step > bytes.size;
        mcp_framer_add(&framer, str_slice(bytes, at, at + step));
        for (McpFrame frame = mcp_framer_next(&framer, is_end); frame.kind != MCP_FRAME_NONE;
             frame = mcp_framer_next(&framer, is_end)) {
            static const char *const kinds[] = {"none", "message", "too long", "bad headers"};
            strbuf_format(&found, "%s %s " STR_FMT ";", kinds[frame.kind],
                          frame.framing == MCP_LINE ? "line" : "headers", STR_ARG(frame.text));
        }
    }
    mcp_framer_deinit(&framer);
    return strbuf_copy(&found, arena);
}

static void messages_are_found_however_the_bytes_come(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    static const struct {
        const char *bytes, *frames;
    } cases[] = {
        {"", ""},
        {"{}\n", "message line {};"},
        {"{}\r\n\n{1}\n", "message line {};message line {1};"},
        {"{}", "message line {};"},
        {"Content-Length: 2\r\n\r\n{}", "message headers {};"},
        {"content-length:2\r\nContent-Type: a\r\n\r\n{}{1}\n", "message headers {};message line {1};"},
        {"Content-Type: a\nContent-Length: 4\n\n{\n1}{2}\n", "message headers {\n1};message line {2};"},
        {"Content-Length: x\r\n\r\n{}\n", "bad headers headers ;message line {};"},
        {"Content-Length: -1\r\n\r\n{}\n", "bad headers headers ;message line {};"},
        {"Content-Length: 10\r\n\r\n{}", ""},
        {"Content-Length: 3", "bad headers headers ;"},
        {"garbage\n{}\n", "message line garbage;message line {};"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (size_t step = 1; step < 100; step += 7) {
            assert_str(frames_of(arena, str_from(cases[i].bytes), step), cases[i].frames, cases[i].bytes);
        }
    }
}

static void what_is_too_long_is_skipped(void **state) {
    (void)state;
    AUTO(arena) Arena *arena = arena_create();
    AUTO(strbuf) StrBuf line = {0}, headed = {0};
    strbuf_format(&headed, "Content-Length: %zu\r\n\r\n", MCP_MESSAGE_SIZE_MAX + 1);
    for (size_t i = 0; i <= MCP_MESSAGE_SIZE_MAX; i++) {
        strbuf_char(&line, 'x');
        strbuf_char(&headed, 'x');
    }
    strbuf_text(&line, "\n{}\n");
    strbuf_text(&headed, "{}\n");
    for (size_t step = 1 << 16; step < (size_t)1 << 24; step *= 16) {
        assert_str(frames_of(arena, strbuf_str(&line), step), "too long line ;message line {};", "line");
        assert_str(frames_of(arena, strbuf_str(&headed), step), "too long headers ;message line {};", "headers");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(messages_are_found_however_the_bytes_come),
                                       TEST(what_is_too_long_is_skipped)};
    return cmocka_run_group_tests_name("mcp_framing", tests, NULL, NULL);
}
