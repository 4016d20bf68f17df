#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/rows_text.h"

#include "engine/rows_json.h"
#include "run/arrow_type_name.h"
#include "run/read_query.h"

#include <errno.h>
#include <unistd.h>

/* --- The text --------------------------------------------------------------------------------------------------------
 */

static Status read_stdin(Cli *cli, Str *sql_out, Error *err) {
    AUTO(strbuf) StrBuf text = {0};
    char block[4096];
    while (text.size <= QUERY_TEXT_MAX) {
        ssize_t size = read(STDIN_FILENO, block, sizeof block);
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size < 0) {
            return error_set_errno(err, ERROR_QUERY, "cannot read the query from stdin");
        }
        if (size == 0) {
            break;
        }
        strbuf_append(&text, (Str){.ptr = block, .size = (size_t)size});
    }
    *sql_out = strbuf_copy(&text, cli->arena);
    return OK;
}

static Status read_text(Cli *cli, Str *sql_out, Error *err) {
    *sql_out = invocation_argument(cli->invocation, 0);
    return str_equal(*sql_out, STR("-")) ? read_stdin(cli, sql_out, err) : OK;
}

/* --- Table -----------------------------------------------------------------------------------------------------------
 */

static void print_table(Cli *cli, const ReadQueryResult *result) {
    rows_print_table(cli, STR_EMPTY, &result->rows, NULL);
    rows_print_count(cli, &result->rows, result->is_truncated);
}

/* --- CSV -------------------------------------------------------------------------------------------------------------
 */

/* RFC 4180; NULL is an empty field, an empty text is "". */
static void append_csv_field(StrBuf *out, Str text, bool is_null) {
    bool is_plain = text.size > 0;
    for (size_t i = 0; i < text.size && is_plain; i++) {
        char c = text.ptr[i];
        is_plain = c != '"' && c != ',' && c != '\n' && c != '\r';
    }
    if (is_plain || is_null) {
        strbuf_append(out, text);
        return;
    }
    strbuf_char(out, '"');
    for (size_t i = 0; i < text.size; i++) {
        strbuf_text(out, text.ptr[i] == '"' ? "\"" : "");
        strbuf_char(out, text.ptr[i]);
    }
    strbuf_char(out, '"');
}

static void print_csv(Cli *cli, const ReadQueryResult *result) {
    const DuckRows *rows = &result->rows;
    for (size_t i = 0; i < rows->columns.count; i++) {
        strbuf_text(&cli->text, i > 0 ? "," : "");
        append_csv_field(&cli->text, rows->columns.items[i].name, false);
    }
    strbuf_char(&cli->text, '\n');
    for (size_t row = 0; row < rows->row_count; row++) {
        for (size_t i = 0; i < rows->columns.count; i++) {
            const DuckCell *cell = duck_cell(rows, row, i);
            strbuf_text(&cli->text, i > 0 ? "," : "");
            append_csv_field(&cli->text, cell->text, cell->kind == DUCK_CELL_NULL);
        }
        strbuf_char(&cli->text, '\n');
    }
}

/* --- JSON ------------------------------------------------------------------------------------------------------------
 */

static void write_column_texts(const DuckRows *rows, Arena *arena, JsonWriter *writer) {
    json_key(writer, STR("columns"));
    json_begin_array(writer);
    for (size_t i = 0; i < rows->columns.count; i++) {
        json_text(writer, rows->columns.items[i].name);
    }
    json_end_array(writer);
    json_key(writer, STR("types"));
    json_begin_array(writer);
    for (size_t i = 0; i < rows->columns.count; i++) {
        json_text(writer, arrow_type_name(rows->columns.items[i].type, arena));
    }
    json_end_array(writer);
}

static void print_json(Cli *cli, const ReadQueryResult *result) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    write_column_texts(&result->rows, cli->arena, writer);
    json_key(writer, STR("rows"));
    json_begin_array(writer);
    for (size_t row = 0; row < result->rows.row_count; row++) {
        rows_write_row(&result->rows, row, writer);
    }
    json_end_array(writer);
    json_bool_field(writer, STR("truncated"), result->is_truncated);
    json_end_object(writer);
    cli_json_end(cli);
}

/* One object a row; its keys are the columns' names, which the engine has made unique. */
static void print_lines(Cli *cli, const ReadQueryResult *result) {
    for (size_t row = 0; row < result->rows.row_count; row++) {
        JsonWriter writer;
        json_writer_init(&writer, &cli->text, JSON_COMPACT);
        rows_write_object(&result->rows, row, &writer);
        strbuf_char(&cli->text, '\n');
    }
}

/* --- Command ---------------------------------------------------------------------------------------------------------
 */

static const struct QueryFormat {
    Str name;
    void (*print)(Cli *cli, const ReadQueryResult *result);
    bool tells_truncation;
} formats[] = {
    {STR_INIT("table"), print_table, true},
    {STR_INIT("csv"), print_csv, false},
    {STR_INIT("json"), print_json, true},
    {STR_INIT("lines"), print_lines, false},
};

static void print_result(Cli *cli, const ReadQueryResult *result) {
    Str wanted = cli_wants_json(cli) ? STR("json") : invocation_text(cli->invocation, OPTION_QUERY_FORMAT);
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        if (!str_equal(wanted, formats[i].name)) {
            continue;
        }
        formats[i].print(cli, result);
        if (result->is_truncated && !formats[i].tells_truncation) {
            console_say(cli->console, MESSAGE_NOTE, STR("the result is truncated; raise --limit for more"));
        }
    }
}

static Status ask(Cli *cli, Session *session, Error *err) {
    ReadQueryOptions options = {
        .environment = invocation_text(cli->invocation, OPTION_ENV),
        .limit = invocation_number(cli->invocation, OPTION_QUERY_LIMIT),
    };
    ReadQueryResult result = {0};
    TRY(read_text(cli, &options.sql, err));
    TRY(read_query(session, &options, cli->arena, &result, err));
    print_result(cli, &result);
    return OK;
}

Status command_query(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(ask(cli, session, &err));
    return OK;
}
