/* McpInput: the messages of a client, read on a thread of their own, so that a cancellation is heard while a call works
 * and a client that went away is noticed. All functions are for the thread that made it. */
#ifndef INTERLACE_CLI_MCP_INPUT_H
#define INTERLACE_CLI_MCP_INPUT_H

#include "cli/mcp_framing.h"
#include "config/config_value.h"

#define MCP_QUEUE_MAX 64 /* messages; reading waits while so many are not answered yet */

typedef struct McpMessage {
    struct McpMessage *next;
    Arena *arena; /* owns all below */
    McpFraming framing;
    const ConfigValue *value; /* NULL: see `problem` */
    Str problem;              /* why it is no JSON */
    bool is_cancelled;        /* by the client; settled once mcp_input_done was called */
} McpMessage;

typedef struct McpInput McpInput;

/* `in` is what is read; `out` is watched: when nobody can read it any more, the running call is stopped. */
McpInput *mcp_input_open(int in, int out);
void mcp_input_close(McpInput *input); /* NULL is fine */
DEFINE_AUTO(McpInput, mcp_input, mcp_input_close)

/* The next message, which counts as running until mcp_input_done; NULL: the client said all, or went away, or a signal
 * asked us to end. */
McpMessage *mcp_input_next(McpInput *input);
/* True: it was cancelled meanwhile, and wants no answer. A request to stop that came for it is taken back. */
bool mcp_input_done(McpInput *input, McpMessage *message);
void mcp_message_destroy(McpMessage *message); /* NULL is fine */

#endif
