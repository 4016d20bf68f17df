#include "cli/mcp_framing.h"

static const McpFrame frame_none = {.kind = MCP_FRAME_NONE};

void mcp_framer_deinit(McpFramer *framer) {
    strbuf_deinit(&framer->bytes);
}

static Str rest_of(const McpFramer *framer) {
    return str_skip(strbuf_str(&framer->bytes), framer->used);
}

void mcp_framer_add(McpFramer *framer, Str bytes) {
    if (framer->used > 0) { /* what was returned is not needed any more */
        StrBuf kept = {0};
        strbuf_append(&kept, rest_of(framer));
        strbuf_deinit(&framer->bytes);
        framer->bytes = kept;
        framer->used = 0;
    }
    strbuf_append(&framer->bytes, bytes);
}

/* False: the bytes that are there were not enough. */
static bool skip_rest(McpFramer *framer) {
    Str rest = rest_of(framer);
    if (framer->skips_to_break) {
        size_t end = str_find_char(rest, '\n');
        framer->skips_to_break = end == STR_NOT_FOUND;
        framer->used += end == STR_NOT_FOUND ? rest.size : end + 1;
        return !framer->skips_to_break;
    }
    size_t count = framer->skip < rest.size ? framer->skip : rest.size;
    framer->used += count;
    framer->skip -= count;
    return framer->skip == 0;
}

static McpFrame next_line(McpFramer *framer, Str rest, bool is_end) {
    size_t end = str_find_char(rest, '\n');
    if (end == STR_NOT_FOUND && rest.size > MCP_MESSAGE_SIZE_MAX) {
        framer->skips_to_break = true;
        return (McpFrame){.kind = MCP_FRAME_TOO_LONG};
    }
    if (end == STR_NOT_FOUND && (!is_end || rest.size == 0)) {
        return frame_none;
    }
    size_t size = end == STR_NOT_FOUND ? rest.size : end;
    framer->used += end == STR_NOT_FOUND ? size : size + 1;
    if (size > MCP_MESSAGE_SIZE_MAX) {
        return (McpFrame){.kind = MCP_FRAME_TOO_LONG};
    }
    return (McpFrame){.kind = MCP_FRAME_MESSAGE, .text = str_trim(str_slice(rest, 0, size))};
}

#define HEADER_LENGTH STR("Content-Length:")

static bool starts_headers(Str rest) {
    return str_starts_with_fold(rest, HEADER_LENGTH) || str_starts_with_fold(rest, STR("Content-Type:"));
}

/* The offset behind the empty line; STR_NOT_FOUND while it has not come. `length_out`: -1 without a sound length. */
static size_t read_headers(Str rest, int64_t *length_out) {
    size_t start = 0;
    *length_out = -1;
    for (;;) {
        size_t size = str_find_char(str_skip(rest, start), '\n');
        if (size == STR_NOT_FOUND) {
            return STR_NOT_FOUND;
        }
        Str line = str_trim(str_slice(rest, start, start + size));
        start += size + 1;
        if (line.size == 0) {
            return start;
        }
        if (str_starts_with_fold(line, HEADER_LENGTH) &&
            !str_to_int64(str_trim(str_skip(line, HEADER_LENGTH.size)), length_out)) {
            *length_out = -1;
        }
    }
}

static McpFrame next_with_headers(McpFramer *framer, Str rest, bool is_end) {
    int64_t length;
    size_t start = read_headers(rest, &length);
    if (start == STR_NOT_FOUND) {
        if (rest.size <= MCP_HEADERS_SIZE_MAX && !is_end) {
            return frame_none;
        }
        framer->used += rest.size;
        return (McpFrame){.kind = MCP_FRAME_BAD_HEADERS, .framing = MCP_HEADERS};
    }
    if (length < 0) {
        framer->used += start;
        return (McpFrame){.kind = MCP_FRAME_BAD_HEADERS, .framing = MCP_HEADERS};
    }
    if ((uint64_t)length > MCP_MESSAGE_SIZE_MAX) {
        framer->used += start;
        framer->skip = (size_t)length;
        return (McpFrame){.kind = MCP_FRAME_TOO_LONG, .framing = MCP_HEADERS};
    }
    size_t end = start + (size_t)length;
    if (end > rest.size) {
        return frame_none;
    }
    framer->used += end;
    return (McpFrame){.kind = MCP_FRAME_MESSAGE, .framing = MCP_HEADERS, .text = str_slice(rest, start, end)};
}

McpFrame mcp_framer_next(McpFramer *framer, bool is_end) {
    if ((framer->skip > 0 || framer->skips_to_break) && !skip_rest(framer)) {
        return frame_none;
    }
    Str rest = rest_of(framer);
    while (rest.size > 0 && (rest.ptr[0] == '\n' || rest.ptr[0] == '\r')) { /* empty lines between messages */
        rest = str_skip(rest, 1);
        framer->used++;
    }
    return starts_headers(rest) ? next_with_headers(framer, rest, is_end) : next_line(framer, rest, is_end);
}

void mcp_frame_append(StrBuf *out, McpFraming framing, Str json) {
    if (framing == MCP_HEADERS) {
        strbuf_format(out, "Content-Length: %zu\r\n\r\n", json.size);
        strbuf_append(out, json);
        return;
    }
    strbuf_append(out, json);
    strbuf_char(out, '\n');
}
