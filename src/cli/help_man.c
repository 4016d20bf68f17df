/* The manual page, in the man macros of troff. */
#include "cli/help.h"

/* A backslash and a leading dot or quote mean something to troff; a hyphen is a minus where it is to be typed. */
static void write_text(StrBuf *out, Str text) {
    for (size_t i = 0; i < text.size; i++) {
        char c = text.ptr[i];
        bool is_line_start = i == 0 || text.ptr[i - 1] == '\n';
        if (is_line_start && (c == '.' || c == '\'')) {
            strbuf_text(out, "\\&");
        }
        if (c == '\\') {
            strbuf_text(out, "\\e");
        } else if (c == '-') {
            strbuf_text(out, "\\-");
        } else {
            strbuf_char(out, c);
        }
    }
}

static void write_option(const Option *option, StrBuf *out) {
    AUTO(strbuf) StrBuf notes = {0};
    strbuf_text(out, ".TP\n.B ");
    AUTO(strbuf) StrBuf names = {0};
    help_write_option_names(option, &names);
    write_text(out, strbuf_str(&names));
    strbuf_char(out, '\n');
    strbuf_text(&notes, option->summary);
    help_write_option_notes(option, &notes);
    write_text(out, strbuf_str(&notes));
    strbuf_text(out, ".\n");
}

static void write_options(OptionSet set, StrBuf *out) {
    for (size_t id = 0; id < OPTION_COUNT; id++) {
        if ((set & OPTION_BIT(id)) != 0) {
            write_option(&option_table[id], out);
        }
    }
}

static void write_command(const Command *command, StrBuf *out) {
    AUTO(strbuf) StrBuf usage = {0};
    help_write_usage(&(Invocation){.command = command}, &usage);
    strbuf_text(out, ".SS ");
    write_text(out, strbuf_str(&usage));
    strbuf_char(out, '\n');
    write_text(out, str_from(command->summary));
    strbuf_text(out, ".\n");
    if (command->details != NULL) {
        write_text(out, str_from(command->details));
        strbuf_char(out, '\n');
    }
    for (size_t i = 0; i < command_argument_count(command); i++) {
        strbuf_format(out, ".TP\n.I %s\n", command->arguments[i].name);
        write_text(out, str_from(command->arguments[i].summary));
        strbuf_text(out, ".\n");
    }
    write_options(command->options, out);
}

static const char head[] = ".TH INTERLACE 1 \"\" \"interlace " INTERLACE_VERSION "\" \"User Commands\"\n"
                           ".SH NAME\n"
                           "interlace \\- SQL and Python models, built and kept up to date\n"
                           ".SH SYNOPSIS\n"
                           ".B interlace\n"
                           ".I COMMAND\n"
                           "[\\fISUBCOMMAND\\fR] [\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n"
                           ".SH DESCRIPTION\n"
                           "Models, SELECT statements in files and functions in Python, become one graph.\n"
                           ".B interlace plan\n"
                           "shows what a change of them will do to an environment,\n"
                           ".B interlace apply\n"
                           "builds what must be built, checks it, and moves the views of the environment in one step;\n"
                           ".B interlace run\n"
                           "and\n"
                           ".B interlace restate\n"
                           "fill periods, for the first time or again.\n"
                           "Options stand before or behind the arguments; \\-\\- ends them.\n";

static const char tail[] =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nDone, also when there was nothing to do.\n"
    ".TP\n.B 1\nRefused or failed.\n"
    ".TP\n.B 2\nBad command line or malformed value.\n"
    ".TP\n.B 3, 4\nOnly with \\fBplan \\-\\-detailed\\-exit\\-code\\fR: changes; breaking changes.\n"
    ".TP\n.B 70\nA fault inside interlace.\n"
    ".TP\n.B 130, 143\nInterrupted by SIGINT, by SIGTERM.\n"
    ".TP\n.B 141\nThe reader of stdout went away.\n"
    ".SH ENVIRONMENT\n"
    "Every option has a twin:\n"
    ".B INTERLACE_\n"
    "and its name in upper case with _ for \\-, as in \\fBINTERLACE_ENV=dev\\fR. The command line "
    "wins over it.\n"
    ".TP\n.B NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE\nColours off; on.\n"
    ".SH FILES\n"
    ".TP\n.I interlace.yaml\nThe configuration of a project.\n"
    ".TP\n.I models/\nIts models.\n"
    ".TP\n.I .interlace/\nIts state, its warehouse and its caches.\n";

void help_write_man(StrBuf *out) {
    strbuf_text(out, head);
    strbuf_text(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < command_count; i++) {
        if (!command_table[i].is_hidden) {
            write_command(&command_table[i], out);
        }
    }
    strbuf_text(out, ".SH OPTIONS OF EVERY COMMAND\n");
    write_options(global_options, out);
    strbuf_text(out, tail);
}
