/* The tools of the MCP server as data: a tool is one row. Most rows name a command: its JSON document is the tool's
 * result, so that the two cannot differ. Arguments are checked, and their JSON schema is written, from the same rows.
 */
#ifndef INTERLACE_CLI_MCP_TOOLS_H
#define INTERLACE_CLI_MCP_TOOLS_H

#include "cli/cli.h"
#include "config/config_value.h"

typedef struct McpTool McpTool;

/* One call: the project is read afresh, and `cli` is of this call only. */
typedef struct McpCall {
    const McpTool *tool;
    const ConfigValue *arguments; /* a map that was checked, or NULL */
    Cli *cli;                     /* its text becomes the result */
} McpCall;

/* NULL when there is no such tool, or when it writes and only reading ones are offered. */
const McpTool *mcp_tool_find(Str name, bool read_only);
/* The array of descriptions. */
void mcp_tools_write(bool read_only, JsonWriter *writer);

/* What no caller could mean: names the argument. */
MUST_CHECK Status mcp_tool_check(const McpTool *tool, const ConfigValue *arguments, Error *err);
/* `text_out` in `arena`: the document, or the message of the failure. `events` hears of what is built. */
MUST_CHECK Status mcp_tool_call(const McpTool *tool, const ConfigValue *arguments, const Cli *server, EventSink events,
                                Arena *arena, Str *text_out);

/* The rest of a server's own command line for a command that is run for a call: `words` follow `interlace`. */
MUST_CHECK Status mcp_cli_open(const Cli *server, StrVec *words, Arena *arena, Cli *cli_out, Error *err);

/* mcp_model_tools.c: tools that are no command's. */
Status mcp_list_models(McpCall *call, ErrorList *faults);
Status mcp_get_model(McpCall *call, ErrorList *faults);
Status mcp_preview_model(McpCall *call, ErrorList *faults);
Status mcp_failing_rows(McpCall *call, ErrorList *faults);

#endif
