/* `interlace mcp`: the Model Context Protocol on stdin and stdout (spec 06 §6): JSON-RPC 2.0, one request at a time. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/mcp_input.h"
#include "cli/mcp_tools.h"

#include "base/files.h"
#include "run/apply.h"
#include "run/cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

typedef enum RpcCode {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    RPC_RESOURCE_NOT_FOUND = -32002, /* of MCP */
} RpcCode;

typedef struct Server {
    const Cli *cli;
    int in, out; /* the client's: descriptors 0 and 1 are not, so that nothing else can read or write the protocol */
    bool read_only;
    bool is_gone; /* the client reads no more */
} Server;

/* One message being answered. */
typedef struct Request {
    Server *server;
    McpFraming framing;
    Arena *arena;
    const ConfigValue *id, *params; /* params: NULL when absent */
    StrBuf result;                  /* JSON */
    RpcCode code;                   /* of a failure */
    int64_t done, total;            /* models, for progress */
} Request;

/* --- Sending ---------------------------------------------------------------------------------------------------------
 */

static void send_json(Server *server, McpFraming framing, Str json) {
    AUTO(strbuf) StrBuf frame = {0};
    mcp_frame_append(&frame, framing, json);
    Str rest = strbuf_str(&frame);
    while (rest.size > 0 && !server->is_gone) {
        ssize_t written = write(server->out, rest.ptr, rest.size);
        server->is_gone = written < 0 && errno != EINTR;
        rest = str_skip(rest, written > 0 ? (size_t)written : 0);
    }
}

static void begin_message(JsonWriter *writer, StrBuf *json) {
    json_writer_init(writer, json, JSON_COMPACT);
    json_begin_object(writer);
    json_text_field(writer, STR("jsonrpc"), STR("2.0"));
}

static void begin_answer(JsonWriter *writer, StrBuf *json, const ConfigValue *id) {
    begin_message(writer, json);
    json_key(writer, STR("id"));
    if (id == NULL) {
        json_null(writer);
    } else {
        json_config(writer, id);
    }
}

static void send_error(Server *server, McpFraming framing, const ConfigValue *id, RpcCode code, Str message) {
    AUTO(strbuf) StrBuf json = {0};
    JsonWriter writer;
    begin_answer(&writer, &json, id);
    json_key(&writer, STR("error"));
    json_begin_object(&writer);
    json_int_field(&writer, STR("code"), code);
    json_text_field(&writer, STR("message"), message);
    json_end_object(&writer);
    json_end_object(&writer);
    send_json(server, framing, strbuf_str(&json));
}

static void send_result(const Request *request) {
    AUTO(strbuf) StrBuf json = {0};
    JsonWriter writer;
    begin_answer(&writer, &json, request->id);
    json_key(&writer, STR("result"));
    json_raw(&writer, strbuf_str(&request->result));
    json_end_object(&writer);
    send_json(request->server, request->framing, strbuf_str(&json));
}

static Status refuse(Request *request, RpcCode code, Error *err, const char *format, ...) PRINTF_LIKE(4, 5);
static Status refuse(Request *request, RpcCode code, Error *err, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    Str message = str_format_v(request->arena, format, arguments);
    va_end(arguments);
    request->code = code;
    return error_set(err, ERROR_USAGE, STR_FMT, STR_ARG(message));
}

static bool is_text(const ConfigValue *value) {
    return value != NULL && value->kind == CONFIG_SCALAR && value->quoted;
}

static Status read_text(Request *request, const char *name, Str *text_out, Error *err) {
    const ConfigValue *value = config_find(request->params, str_from(name));
    if (!is_text(value)) {
        return refuse(request, RPC_INVALID_PARAMS, err, "params.%s must be a text", name);
    }
    *text_out = value->text;
    return OK;
}

/* --- initialize, ping ------------------------------------------------------------------------------------------------
 */

/* An unknown one is answered with the first. */
static Str protocol_version(Str wanted) {
    static const Str versions[] = {STR_INIT("2024-11-05"), STR_INIT("2025-03-26"), STR_INIT("2025-06-18")};
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        if (str_equal(wanted, versions[i])) {
            return versions[i];
        }
    }
    return versions[0];
}

static Status answer_initialize(Request *request, JsonWriter *result, Error *err) {
    (void)err;
    json_begin_object(result);
    json_text_field(result, STR("protocolVersion"),
                    protocol_version(config_text(request->params, STR("protocolVersion"))));
    json_key(result, STR("capabilities"));
    json_raw(result, STR("{\"tools\":{},\"resources\":{}}"));
    json_key(result, STR("serverInfo"));
    json_begin_object(result);
    json_text_field(result, STR("name"), STR("interlace"));
    json_text_field(result, STR("version"), STR(INTERLACE_VERSION));
    json_end_object(result);
    json_end_object(result);
    return OK;
}

static Status answer_ping(Request *request, JsonWriter *result, Error *err) {
    (void)request;
    (void)err;
    json_raw(result, STR("{}"));
    return OK;
}

/* --- tools -----------------------------------------------------------------------------------------------------------
 */

static Status answer_tools_list(Request *request, JsonWriter *result, Error *err) {
    (void)err;
    json_begin_object(result);
    json_key(result, STR("tools"));
    mcp_tools_write(request->server->read_only, result);
    json_end_object(result);
    return OK;
}

static void write_content(JsonWriter *result, Str text, bool is_failure) {
    json_begin_object(result);
    json_key(result, STR("content"));
    json_begin_array(result);
    json_begin_object(result);
    json_text_field(result, STR("type"), STR("text"));
    json_text_field(result, STR("text"), text);
    json_end_object(result);
    json_end_array(result);
    if (is_failure) {
        json_bool_field(result, STR("isError"), true);
    }
    json_end_object(result);
}

static void send_progress(Request *request, const ConfigValue *token, Str message) {
    AUTO(strbuf) StrBuf json = {0};
    JsonWriter writer;
    begin_message(&writer, &json);
    json_text_field(&writer, STR("method"), STR("notifications/progress"));
    json_key(&writer, STR("params"));
    json_begin_object(&writer);
    json_key(&writer, STR("progressToken"));
    json_config(&writer, token);
    json_int_field(&writer, STR("progress"), request->done);
    json_int_field(&writer, STR("total"), request->total);
    json_text_field(&writer, STR("message"), message);
    json_end_object(&writer);
    json_end_object(&writer);
    send_json(request->server, request->framing, strbuf_str(&json));
}

/* Called while the main thread waits for the call, so nothing else is sent meanwhile. */
static void take_event(void *context, const Event *event) {
    Request *request = context;
    const ConfigValue *token = config_find(config_find(request->params, STR("_meta")), STR("progressToken"));
    if (event->type == EVENT_PLAN) {
        request->total += (int64_t)event->plan->tasks.count;
    } else if (event->type == EVENT_MODEL_DONE && token != NULL) {
        AUTO(arena) Arena *arena = arena_create();
        request->done++;
        send_progress(request, token, str_format(arena, STR_FMT " is built", STR_ARG(event->model->name)));
    }
}

/* Also an unknown tool is a result that says so: the caller is to read it. */
static Status answer_tools_call(Request *request, JsonWriter *result, Error *err) {
    Str name, text;
    TRY(read_text(request, "name", &name, err));
    const McpTool *tool = mcp_tool_find(name, request->server->read_only);
    if (tool == NULL) {
        bool is_closed = mcp_tool_find(name, false) != NULL;
        text = str_format(request->arena,
                          is_closed ? "tool '" STR_FMT "' writes, and this server only reads"
                                    : "there is no tool '" STR_FMT "'",
                          STR_ARG(name));
        write_content(result, text, true);
        return OK;
    }
    const ConfigValue *arguments = config_find(request->params, STR("arguments"));
    if (arguments != NULL && arguments->kind == CONFIG_NULL) {
        arguments = NULL;
    }
    request->code = RPC_INVALID_PARAMS;
    TRY(mcp_tool_check(tool, arguments, err));
    EventSink events = {.emit = take_event, .context = request};
    Status status = mcp_tool_call(tool, arguments, request->server->cli, events, request->arena, &text);
    write_content(result, text, failed(status));
    return OK;
}

/* --- resources: the SQL files of the models --------------------------------------------------------------------------
 */

#define RESOURCE_PREFIX STR("interlace:///")

static Status open_project(Request *request, Cli *cli, Session **session_out, Error *err) {
    AUTO(error_list) ErrorList faults = {0};
    error_list_init(&faults);
    StrVec words = {0};
    str_vec_push(request->arena, &words, STR("models"));
    request->code = RPC_INTERNAL_ERROR;
    TRY(mcp_cli_open(request->server->cli, &words, request->arena, cli, err));
    Status status = cli_open_session(cli, cli_console_events(cli), session_out, &faults);
    if (failed(status)) {
        error_copy(err, &faults.items[0]);
    }
    return status;
}

static Str resource_uri(const Model *model, Arena *arena) {
    return str_format(arena, STR_FMT STR_FMT, STR_ARG(RESOURCE_PREFIX), STR_ARG(model->place.file));
}

static Status answer_resources_list(Request *request, JsonWriter *result, Error *err) {
    AUTO(session) Session *session = NULL;
    Cli cli;
    TRY(open_project(request, &cli, &session, err));
    json_begin_object(result);
    json_key(result, STR("resources"));
    json_begin_array(result);
    for (size_t i = 0; i < session->project->model_count; i++) {
        const Model *model = session->project->models[i];
        if (model->kind != MODEL_SQL) {
            continue;
        }
        json_begin_object(result);
        json_text_field(result, STR("uri"), resource_uri(model, request->arena));
        json_text_field(result, STR("name"), model->name);
        json_text_field(result, STR("mimeType"), STR("application/sql"));
        json_end_object(result);
    }
    json_end_array(result);
    json_end_object(result);
    return OK;
}

/* Only what the list names is read, so no address leads out of the project. */
static Status answer_resources_read(Request *request, JsonWriter *result, Error *err) {
    AUTO(session) Session *session = NULL;
    Cli cli;
    Str uri;
    TRY(read_text(request, "uri", &uri, err));
    TRY(open_project(request, &cli, &session, err));
    for (size_t i = 0; i < session->project->model_count; i++) {
        const Model *model = session->project->models[i];
        if (model->kind != MODEL_SQL || !str_equal(uri, resource_uri(model, request->arena))) {
            continue;
        }
        Str content;
        Str path = path_join(request->arena, session->project->config->root, model->place.file);
        TRY(file_read(path, MCP_MESSAGE_SIZE_MAX, request->arena, &content, err));
        json_begin_object(result);
        json_key(result, STR("contents"));
        json_begin_array(result);
        json_begin_object(result);
        json_text_field(result, STR("uri"), uri);
        json_text_field(result, STR("mimeType"), STR("application/sql"));
        json_text_field(result, STR("text"), content);
        json_end_object(result);
        json_end_array(result);
        json_end_object(result);
        return OK;
    }
    return refuse(request, RPC_RESOURCE_NOT_FOUND, err, "there is no resource '" STR_FMT "'", STR_ARG(uri));
}

/* --- Dispatch --------------------------------------------------------------------------------------------------------
 */

static const struct Method {
    Str name;
    Status (*answer)(Request *request, JsonWriter *result, Error *err);
} methods[] = {
    {STR_INIT("initialize"), answer_initialize},         {STR_INIT("ping"), answer_ping},
    {STR_INIT("tools/list"), answer_tools_list},         {STR_INIT("tools/call"), answer_tools_call},
    {STR_INIT("resources/list"), answer_resources_list}, {STR_INIT("resources/read"), answer_resources_read},
};

static Status answer(Request *request, Str name, Error *err) {
    if (request->params != NULL && request->params->kind != CONFIG_MAP) {
        return refuse(request, RPC_INVALID_PARAMS, err, "params must be an object");
    }
    for (size_t i = 0; i < COUNT_OF(methods); i++) {
        if (str_equal(name, methods[i].name)) {
            JsonWriter result;
            json_writer_init(&result, &request->result, JSON_COMPACT);
            return methods[i].answer(request, &result, err);
        }
    }
    return refuse(request, RPC_METHOD_NOT_FOUND, err, "there is no method '" STR_FMT "'", STR_ARG(name));
}

static void serve_request(Server *server, McpInput *input, McpMessage *message) {
    AUTO(error) Error err = {0};
    Request request = {
        .server = server,
        .framing = message->framing,
        .arena = message->arena,
        .id = config_find(message->value, STR("id")),
        .params = config_find(message->value, STR("params")),
        .code = RPC_INTERNAL_ERROR,
    };
    Status status = message->is_cancelled ? OK : answer(&request, config_text(message->value, STR("method")), &err);
    if (mcp_input_done(input, message)) {
        strbuf_deinit(&request.result);
        return;
    }
    if (failed(status)) {
        send_error(server, request.framing, request.id, request.code, error_line(&err, request.arena));
    } else {
        send_result(&request);
    }
    strbuf_deinit(&request.result);
}

/* Notifications and answers (to questions that we never ask) are taken in silence. */
static void take_message(Server *server, McpInput *input, McpMessage *message) {
    const ConfigValue *value = message->value;
    if (value == NULL) {
        Str text = str_format(message->arena, "not JSON: " STR_FMT, STR_ARG(message->problem));
        send_error(server, message->framing, NULL, RPC_PARSE_ERROR, text);
    } else if (value->kind != CONFIG_MAP) {
        send_error(server, message->framing, NULL, RPC_INVALID_REQUEST,
                   value->kind == CONFIG_LIST ? STR("batches are not supported: send one request a message")
                                              : STR("a request is an object"));
    } else if (config_find(value, STR("id")) == NULL || config_find(value, STR("result")) != NULL ||
               config_find(value, STR("error")) != NULL) {
        (void)0;
    } else if (!is_text(config_find(value, STR("method"))) ||
               !str_equal(config_text(value, STR("jsonrpc")), STR("2.0"))) {
        send_error(server, message->framing, config_find(value, STR("id")), RPC_INVALID_REQUEST,
                   STR("a request has jsonrpc \"2.0\" and a method"));
    } else {
        serve_request(server, input, message);
        return;
    }
    (void)mcp_input_done(input, message);
}

static void serve(Server *server) {
    AUTO(mcp_input) McpInput *input = mcp_input_open(server->in, server->out);
    while (!server->is_gone) {
        McpMessage *message = mcp_input_next(input);
        if (message == NULL) {
            return;
        }
        take_message(server, input, message);
        mcp_message_destroy(message);
    }
}

/* What a model, a library or a command prints goes to stderr; nothing but us reads the client's requests. */
static Status take_streams(Server *server, Error *err) {
    server->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    server->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (server->in < 0 || server->out < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        return error_set_errno(err, ERROR_EXECUTION, "cannot take stdin and stdout for the protocol");
    }
    (void)close(nothing);
    return OK;
}

Status command_mcp(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    Server server = {.cli = cli, .read_only = invocation_flag(cli->invocation, OPTION_READ_ONLY)};
    CLI_TRY(take_streams(&server, &err));
    serve(&server);
    (void)close(server.in);
    (void)close(server.out);
    cli->exit_code = cancel_requested() ? cancel_exit_code() : 0;
    return OK;
}
