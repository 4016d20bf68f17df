#include "cli/help.h"

/* Where the summaries start. A longer left side gets a line of its own. */
#define SUMMARY_COLUMN ((size_t)30)

/* --- Usage -----------------------------------------------------------------------------------------------------------
 */

void help_write_name(const Invocation *invocation, StrBuf *out) {
    strbuf_text(out, "interlace");
    if (invocation->command != NULL) {
        strbuf_format(out, " %s", invocation->command->name);
    } else if (invocation->group != NULL) {
        strbuf_format(out, " %s", invocation->group->name);
    }
}

static void write_arguments(const Command *command, StrBuf *out) {
    for (size_t i = 0; i < command_argument_count(command); i++) {
        const CommandArgument *argument = &command->arguments[i];
        strbuf_format(out, argument->is_optional ? " [%s]" : " %s", argument->name);
    }
}

void help_write_usage(const Invocation *invocation, StrBuf *out) {
    help_write_name(invocation, out);
    if (invocation->command == NULL) {
        strbuf_text(out, " COMMAND");
    } else {
        write_arguments(invocation->command, out);
    }
    strbuf_text(out, " [OPTIONS]");
}

/* --- Options ---------------------------------------------------------------------------------------------------------
 */

void help_write_option_notes(const Option *option, StrBuf *out) {
    if (option->choices != NULL && option->type == OPTION_TYPE_CHOICE) {
        Str rest = str_from(option->choices);
        strbuf_text(out, " (");
        for (size_t i = 0; i < rest.size; i++) {
            strbuf_text(out, rest.ptr[i] == ' ' ? ", " : (char[]){rest.ptr[i], '\0'});
        }
        strbuf_text(out, ")");
    }
    if (option->default_value != NULL) {
        strbuf_format(out, " [%s]", option->default_value);
    }
    if (option->type == OPTION_TYPE_LIST) {
        strbuf_text(out, "; may be repeated");
    }
}

void help_write_option_names(const Option *option, StrBuf *out) {
    if (option->letter != 0) {
        strbuf_format(out, "-%c, ", option->letter);
    }
    strbuf_format(out, "--%s", option->name);
    if (option->type == OPTION_TYPE_MAYBE_CHOICE) {
        strbuf_format(out, "[=%s]", option->value_name);
    } else if (option->value_name != NULL) {
        strbuf_format(out, " %s", option->value_name);
    }
}

static void write_row(StrBuf *out, Str left, Str summary) {
    strbuf_format(out, "  " STR_FMT, STR_ARG(left));
    size_t used = left.size + 2;
    if (used + 2 > SUMMARY_COLUMN) {
        strbuf_char(out, '\n');
        used = 0;
    }
    for (; used < SUMMARY_COLUMN; used++) {
        strbuf_char(out, ' ');
    }
    strbuf_append(out, summary);
    strbuf_char(out, '\n');
}

static void write_options(OptionSet set, StrBuf *out) {
    for (size_t id = 0; id < OPTION_COUNT; id++) {
        if ((set & OPTION_BIT(id)) == 0) {
            continue;
        }
        const Option *option = &option_table[id];
        AUTO(strbuf) StrBuf left = {0};
        AUTO(strbuf) StrBuf summary = {0};
        strbuf_text(&left, option->letter == 0 ? "    " : "");
        help_write_option_names(option, &left);
        strbuf_text(&summary, option->summary);
        help_write_option_notes(option, &summary);
        write_row(out, strbuf_str(&left), strbuf_str(&summary));
    }
}

/* --- Help ------------------------------------------------------------------------------------------------------------
 */

static void write_command_help(const Command *command, StrBuf *out) {
    strbuf_format(out, "%s.\n", command->summary);
    if (command->details != NULL) {
        strbuf_format(out, "%s\n", command->details);
    }
    if (command_argument_count(command) > 0) {
        strbuf_text(out, "\nArguments:\n");
        for (size_t i = 0; i < command_argument_count(command); i++) {
            write_row(out, str_from(command->arguments[i].name), str_from(command->arguments[i].summary));
        }
    }
    if (command->options != 0) {
        strbuf_text(out, "\nOptions:\n");
        write_options(command->options, out);
    }
    strbuf_text(out, "\nOptions of every command:\n");
    write_options(global_options, out);
}

static void write_command_list(const CommandGroup *group, StrBuf *out) {
    strbuf_text(out, "Commands:\n");
    for (size_t i = 0; i < command_count; i++) {
        const Command *command = &command_table[i];
        if (!command->is_hidden && (group == NULL || command_is_in_group(command, group))) {
            write_row(out, str_from(command->name), str_from(command->summary));
        }
    }
}

void help_write(const Invocation *invocation, StrBuf *out) {
    strbuf_text(out, "Usage: ");
    help_write_usage(invocation, out);
    strbuf_text(out, "\n\n");
    if (invocation->command != NULL) {
        write_command_help(invocation->command, out);
        return;
    }
    strbuf_format(out, "%s.\n\n",
                  invocation->group != NULL ? invocation->group->summary
                                            : "SQL and Python models, built and kept up to date");
    write_command_list(invocation->group, out);
    strbuf_text(out, "\nOptions of every command:\n");
    write_options(global_options, out);
    strbuf_text(out, "\nEvery option can also be set as an environment variable: --no-cache as INTERLACE_NO_CACHE=1.\n"
                     "'interlace COMMAND --help' shows a command's own options.\n");
}

/* --- Reference -------------------------------------------------------------------------------------------------------
 */

static void write_table_text(StrBuf *out, Str text) {
    for (size_t i = 0; i < text.size; i++) {
        strbuf_text(out, text.ptr[i] == '|' ? "\\|" : (char[]){text.ptr[i], '\0'});
    }
}

static void write_option_table(OptionSet set, StrBuf *out) {
    strbuf_text(out, "| Option | Meaning |\n|---|---|\n");
    for (size_t id = 0; id < OPTION_COUNT; id++) {
        if ((set & OPTION_BIT(id)) == 0) {
            continue;
        }
        AUTO(strbuf) StrBuf summary = {0};
        strbuf_text(&summary, option_table[id].summary);
        help_write_option_notes(&option_table[id], &summary);
        strbuf_text(out, "| `");
        help_write_option_names(&option_table[id], out);
        strbuf_text(out, "` | ");
        write_table_text(out, strbuf_str(&summary));
        strbuf_text(out, " |\n");
    }
    strbuf_char(out, '\n');
}

static void write_command_section(const Command *command, StrBuf *out) {
    Invocation invocation = {.command = command};
    strbuf_format(out, "## interlace %s\n\n%s.\n", command->name, command->summary);
    if (command->details != NULL) {
        strbuf_format(out, "%s\n", command->details);
    }
    strbuf_text(out, "\n```\n");
    help_write_usage(&invocation, out);
    strbuf_text(out, "\n```\n\n");
    for (size_t i = 0; i < command_argument_count(command); i++) {
        const CommandArgument *argument = &command->arguments[i];
        strbuf_format(out, "- `%s`: %s", argument->name, argument->summary);
        if (argument->default_value != NULL) {
            strbuf_format(out, " [%s]", argument->default_value);
        }
        strbuf_text(out, "\n");
    }
    strbuf_text(out, command_argument_count(command) > 0 ? "\n" : "");
    if (command->options != 0) {
        write_option_table(command->options, out);
    }
}

static const char reference_introduction[] =
    "# Command line\n"
    "\n"
    "This page is made from the program's own command table (`interlace docs-reference`).\n"
    "\n"
    "```\n"
    "interlace COMMAND [SUBCOMMAND] [ARGUMENTS] [OPTIONS]\n"
    "```\n"
    "\n"
    "Options stand before or behind the arguments: `--option value`, `--option=value`, `-o value`, `-ovalue`; `--` "
    "ends\n"
    "them. Commands and options have no abbreviations. Every option has a twin in the environment, `INTERLACE_` and "
    "its\n"
    "name in upper case with `_` for `-` (`INTERLACE_ENV`, `INTERLACE_NO_CACHE=1`); the command line wins over it.\n"
    "\n"
    "Results go to stdout. Errors, notes, progress and logs go to stderr.\n"
    "\n"
    "| Exit code | Meaning |\n"
    "|---|---|\n"
    "| 0 | Done, also when there was nothing to do |\n"
    "| 1 | Refused or failed: a fault of the project, an unknown name, a breaking plan without `--force`, a check, a "
    "build, a lock |\n"
    "| 2 | Bad command line or malformed value |\n"
    "| 3, 4 | Only with `plan --detailed-exit-code`: changes; breaking changes |\n"
    "| 70 | A fault inside interlace |\n"
    "| 130, 143 | Interrupted by SIGINT, by SIGTERM |\n"
    "| 141 | The reader of stdout went away |\n"
    "\n"
    "With `--json` stdout holds one JSON document and nothing else. When a command fails it is\n"
    "`{\"error\": {\"kind\", \"message\", \"details\"}}`, or `{\"errors\": [...]}` for several failures; the line for "
    "people "
    "is still\n"
    "written to stderr. The shapes are published as JSON Schemas, one a command, in `schemas/` beside this page; "
    "fields may\n"
    "be added to them, none is taken away.\n"
    "\n";

void help_write_reference(StrBuf *out) {
    strbuf_text(out, reference_introduction);
    strbuf_text(out, "## Options of every command\n\n");
    write_option_table(global_options, out);
    for (size_t i = 0; i < command_count; i++) {
        if (!command_table[i].is_hidden) {
            write_command_section(&command_table[i], out);
        }
    }
    out->size--; /* the last blank line */
}
