#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/model_text.h"

#include "base/files.h"
#include "cli/text_width.h"
#include "run/model_test.h"

static bool is_good(const ModelTestResult *result) {
    return result->status == MODEL_TEST_PASSED || result->status == MODEL_TEST_UPDATED;
}

static size_t count_status(const ModelTestResultVec *results, ModelTestStatus status) {
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        count += results->items[i].status == status;
    }
    return count;
}

static Str label_of(const Cli *cli, const ModelTestResult *result) {
    return result->case_name.size == 0
               ? result->model
               : str_format(cli->arena, STR_FMT " (" STR_FMT ")", STR_ARG(result->model), STR_ARG(result->case_name));
}

/* ---- Text */

static void append_indented(StrBuf *out, Str text) {
    while (text.size > 0) {
        size_t end = str_find_char(text, '\n');
        Str line = end == STR_NOT_FOUND ? text : str_slice(text, 0, end);
        strbuf_text(out, "  ");
        text_append_visible(out, line);
        strbuf_char(out, '\n');
        text = str_skip(text, line.size + 1);
    }
}

static void print_result(Cli *cli, const ModelTestResult *result) {
    style_append(&cli->text, &cli->out, is_good(result) ? STYLE_GOOD : STYLE_BAD,
                 str_from(model_test_status_name(result->status)));
    strbuf_char(&cli->text, ' ');
    text_append_visible(&cli->text, label_of(cli, result));
    strbuf_char(&cli->text, '\n');
    append_indented(&cli->text, result->message);
}

static void print_results(Cli *cli, const ModelTestResultVec *results) {
    for (size_t i = 0; i < results->count; i++) {
        if (!is_good(&results->items[i]) || !cli_is_quiet(cli)) {
            print_result(cli, &results->items[i]);
        }
    }
    size_t passed = count_status(results, MODEL_TEST_PASSED), updated = count_status(results, MODEL_TEST_UPDATED);
    size_t bad = results->count - passed - updated;
    Str failed = bad == 0 ? STR_EMPTY : str_format(cli->arena, ", %zu failed", bad);
    if (invocation_flag(cli->invocation, OPTION_UPDATE_GOLDEN)) {
        cli_line(cli, "%zu golden file(s) written" STR_FMT, updated, STR_ARG(failed));
    } else {
        cli_line(cli, "%zu passed" STR_FMT, passed, STR_ARG(failed));
    }
}

/* ---- JSON */

static void print_results_as_json(Cli *cli, const ModelTestResultVec *results) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_array(writer);
    for (size_t i = 0; i < results->count; i++) {
        const ModelTestResult *result = &results->items[i];
        json_begin_object(writer);
        json_text_field(writer, STR("model"), result->model);
        json_optional_text_field(writer, STR("case"), result->case_name);
        json_text_field(writer, STR("status"), str_from(model_test_status_name(result->status)));
        json_optional_text_field(writer, STR("message"), result->message);
        json_end_object(writer);
    }
    json_end_array(writer);
    cli_json_end(cli);
}

/* ---- JUnit */

/* Control characters have no place in XML 1.0, not even escaped. */
static void append_xml(StrBuf *out, Str text) {
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        switch (c) {
        case '&':
            strbuf_text(out, "&amp;");
            break;
        case '<':
            strbuf_text(out, "&lt;");
            break;
        case '>':
            strbuf_text(out, "&gt;");
            break;
        case '"':
            strbuf_text(out, "&quot;");
            break;
        default:
            strbuf_char(out, c < ' ' && c != '\n' && c != '\t' ? '?' : (char)c);
        }
    }
}

static void append_problem(StrBuf *out, const ModelTestResult *result) {
    const char *element = result->status == MODEL_TEST_ERROR ? "error" : "failure";
    size_t line_end = str_find_char(result->message, '\n');
    Str first = line_end == STR_NOT_FOUND ? result->message : str_slice(result->message, 0, line_end);
    strbuf_format(out, ">\n    <%s message=\"", element);
    append_xml(out, first);
    strbuf_text(out, "\">");
    append_xml(out, result->message);
    strbuf_format(out, "</%s>\n  </testcase>\n", element);
}

static Status write_junit(const ModelTestResultVec *results, Str path, Error *err) {
    AUTO(strbuf) StrBuf xml = {0};
    strbuf_text(&xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    strbuf_format(&xml, "<testsuite name=\"interlace\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
                  results->count, count_status(results, MODEL_TEST_FAILED), count_status(results, MODEL_TEST_ERROR));
    for (size_t i = 0; i < results->count; i++) {
        const ModelTestResult *result = &results->items[i];
        strbuf_text(&xml, "  <testcase classname=\"");
        append_xml(&xml, result->case_name.size == 0 ? STR("tests") : result->case_name);
        strbuf_text(&xml, "\" name=\"");
        append_xml(&xml, result->model);
        strbuf_format(&xml, "\" time=\"%.3f\"", result->seconds);
        if (is_good(result)) {
            strbuf_text(&xml, "/>\n");
        } else {
            append_problem(&xml, result);
        }
    }
    strbuf_text(&xml, "</testsuite>\n");
    return file_write_atomic(path, strbuf_str(&xml), false, err);
}

/* ---- Command */

static Status run_tests(Cli *cli, Session *session, Str junit, Error *err) {
    const Invocation *invocation = cli->invocation;
    ModelTestOptions options = {
        .select = invocation_list(invocation, OPTION_SELECT),
        .exclude = invocation_list(invocation, OPTION_EXCLUDE),
        .updates_golden = invocation_flag(invocation, OPTION_UPDATE_GOLDEN),
        .has_now = invocation->options[OPTION_NOW].is_given,
        .now = invocation_number(invocation, OPTION_NOW),
    };
    ModelTestResultVec results = {0};
    TRY(model_tests_run(session, &options, cli->arena, &results, err));
    if (junit.size > 0) {
        TRY(write_junit(&results, junit, err));
    }
    if (cli_wants_json(cli)) {
        print_results_as_json(cli, &results);
    } else {
        print_results(cli, &results);
    }
    for (size_t i = 0; i < results.count; i++) {
        cli->exit_code = is_good(&results.items[i]) ? cli->exit_code : 1;
    }
    return OK;
}

Status command_test(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    AUTO(session) Session *session = NULL;
    Str junit = invocation_text(cli->invocation, OPTION_JUNIT);
    if (junit.size > 0) {
        junit = path_absolute(cli->arena, junit); /* before the session enters the project's folder */
    }
    TRY(cli_open_session(cli, cli_console_events(cli), &session, faults));
    CLI_TRY(run_tests(cli, session, junit, &err));
    return OK;
}
