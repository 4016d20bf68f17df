/* Where a message ends in the bytes of a client: behind `Content-Length` headers, or at the end of its line. Each
 * message says by its first word which of the two it is, and is answered in kind. */
#ifndef INTERLACE_CLI_MCP_FRAMING_H
#define INTERLACE_CLI_MCP_FRAMING_H

#include "base/str.h"

#define MCP_MESSAGE_SIZE_MAX ((size_t)4 << 20)
#define MCP_HEADERS_SIZE_MAX ((size_t)4 << 10)

typedef enum McpFraming { MCP_LINE, MCP_HEADERS } McpFraming;

typedef enum McpFrameKind {
    MCP_FRAME_NONE, /* more bytes are needed */
    MCP_FRAME_MESSAGE,
    MCP_FRAME_TOO_LONG, /* over MCP_MESSAGE_SIZE_MAX: its bytes are skipped */
    MCP_FRAME_BAD_HEADERS
} McpFrameKind;

typedef struct McpFrame {
    McpFrameKind kind;
    McpFraming framing;
    Str text; /* of a message; valid until the next call */
} McpFrame;

/* A zeroed one has read nothing yet. */
typedef struct McpFramer {
    StrBuf bytes;
    size_t used;         /* of `bytes`: returned already */
    size_t skip;         /* bytes of a message that was too long */
    bool skips_to_break; /* a line that was too long is not at its end yet */
} McpFramer;
void mcp_framer_deinit(McpFramer *framer);

void mcp_framer_add(McpFramer *framer, Str bytes);
/* At the end of the input (`is_end`) an unfinished line is a message too. */
McpFrame mcp_framer_next(McpFramer *framer, bool is_end);

/* Appends `json`, which is one line, as a message. */
void mcp_frame_append(StrBuf *out, McpFraming framing, Str json);

#endif
