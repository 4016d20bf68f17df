#include "cli/report.h"

#include "cli/help.h"
#include "run/cancel.h"

/* A statement can be the text of a whole model; the rest of a long one helps nobody in a terminal. */
#define SQL_SHOWN_MAX ((size_t)12000)

/* --- Lines for people ------------------------------------------------------------------------------------------------
 */

/* What the user's own statement was, they know. A compile error has its place instead. */
static bool shows_sql(const Error *err) {
    return err->sql.size > 0 && err->kind == ERROR_EXECUTION;
}

static void report_sql(Cli *cli, Str sql) {
    AUTO(strbuf) StrBuf shown = {0};
    strbuf_append(&shown, str_slice(sql, 0, SQL_SHOWN_MAX));
    if (sql.size > SQL_SHOWN_MAX) {
        strbuf_format(&shown, "\n... (%zu bytes in all)", sql.size);
    }
    console_say_block(cli->console, "sql", strbuf_str(&shown));
}

static void report_debug(Cli *cli, const Error *err) {
    if (!invocation_flag(cli->invocation, OPTION_DEBUG)) {
        return;
    }
    if (err->traceback.size > 0) {
        console_say_block(cli->console, "traceback", err->traceback);
    }
    AUTO(strbuf) StrBuf details = {0};
    strbuf_format(&details, "  kind: %s\n", error_kind_name(err->kind));
    for (size_t i = 0; i < err->details.count; i++) {
        strbuf_format(&details, "  " STR_FMT ": " STR_FMT "\n", STR_ARG(err->details.items[i].key),
                      STR_ARG(err->details.items[i].value));
    }
    if (err->engine_type != 0) {
        strbuf_format(&details, "  engine error: %d\n", err->engine_type);
    }
    console_say_block(cli->console, "debug", strbuf_str(&details));
}

static void report_one(Cli *cli, const Error *err) {
    Str line = error_line(err, cli->arena);
    if (err->kind == ERROR_INTERRUPTED && str_starts_with(line, STR("interrupted"))) {
        console_say_block(cli->console, "error", line);
        return;
    }
    console_say(cli->console, MESSAGE_ERROR, line);
    if (err->hint.size > 0) {
        console_say(cli->console, MESSAGE_HINT, err->hint);
    }
    if (err->kind == ERROR_INTERNAL) {
        console_say(cli->console, MESSAGE_HINT,
                    STR("this is a fault of interlace; please report it, with what --debug adds"));
    }
    if (shows_sql(err)) {
        report_sql(cli, err->sql);
    }
    report_debug(cli, err);
}

void report_faults(Cli *cli, const ErrorList *faults) {
    for (size_t i = 0; i < faults->count; i++) {
        report_one(cli, &faults->items[i]);
    }
}

void report_usage_error(Cli *cli, const Error *err) {
    AUTO(strbuf) StrBuf lines = {0};
    strbuf_text(&lines, "Usage: ");
    help_write_usage(cli->invocation, &lines);
    strbuf_text(&lines, "\nTry '");
    help_write_name(cli->invocation, &lines);
    strbuf_text(&lines, " --help' for help.\n");
    console_say_block(cli->console, "error", strbuf_str(&lines));
    console_say(cli->console, MESSAGE_ERROR, error_line(err, cli->arena));
}

/* --- JSON ------------------------------------------------------------------------------------------------------------
 */

static void write_details(const Error *err, JsonWriter *writer) {
    json_begin_object(writer);
    for (size_t i = 0; i < err->details.count; i++) {
        const ErrorDetail *detail = &err->details.items[i];
        json_key(writer, detail->key);
        (detail->is_json ? json_raw : json_text)(writer, detail->value);
    }
    if (err->place.file.size > 0) {
        json_text_field(writer, STR("file"), err->place.file);
    }
    if (err->place.file.size > 0 && err->place.line > 0) {
        json_int_field(writer, STR("line"), (int64_t)err->place.line);
        json_int_field(writer, STR("column"), (int64_t)err->place.column);
    }
    if (err->hint.size > 0) {
        json_text_field(writer, STR("hint"), err->hint);
    }
    if (err->sql.size > 0) {
        json_text_field(writer, STR("statement"), str_slice(err->sql, 0, SQL_SHOWN_MAX));
    }
    json_end_object(writer);
}

void report_write_error_object(const Error *err, JsonWriter *writer, Arena *arena) {
    json_begin_object(writer);
    json_text_field(writer, STR("kind"), str_from(error_kind_name(err->kind)));
    json_text_field(writer, STR("message"), error_line(err, arena));
    json_key(writer, STR("details"));
    write_details(err, writer);
    json_end_object(writer);
}

void report_write_json(const ErrorList *faults, JsonWriter *writer, Arena *arena) {
    if (faults->count == 1) {
        json_key(writer, STR("error"));
        report_write_error_object(&faults->items[0], writer, arena);
        return;
    }
    json_key(writer, STR("errors"));
    json_begin_array(writer);
    for (size_t i = 0; i < faults->count; i++) {
        report_write_error_object(&faults->items[i], writer, arena);
    }
    json_end_array(writer);
}

/* --- Exit code -------------------------------------------------------------------------------------------------------
 */

/* The worst of them: a fault of ours, then an interruption, then a bad value, then any refusal. */
int report_exit_code(const ErrorList *faults) {
    int code = 1;
    for (size_t i = 0; i < faults->count; i++) {
        int own = error_exit_code(faults->items[i].kind);
        code = own > code ? own : code;
    }
    bool was_interrupted = code == error_exit_code(ERROR_INTERRUPTED);
    return was_interrupted && cancel_requested() ? cancel_exit_code() : code;
}
