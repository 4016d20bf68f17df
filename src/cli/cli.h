/* Cli: one run of the command line: what was asked, where results and messages go, and the exit code. The main
 * thread's; only the console may be used from others. */
#ifndef INTERLACE_CLI_CLI_H
#define INTERLACE_CLI_CLI_H

#include "cli/console.h"
#include "cli/invocation.h"
#include "config/json_writer.h"
#include "run/session.h"

typedef struct Cli {
    const Invocation *invocation;
    Arena *arena;       /* of this run */
    Terminal out;       /* how stdout may be written to */
    StrBuf text;        /* what goes to stdout next */
    int out_errno;      /* the first failure of writing to stdout; what follows is dropped */
    Console *console;   /* stderr */
    int exit_code;      /* of a result that was printed; 0 = success */
    bool has_notices;   /* webhooks are to be told when the result is out */
    EventSink observer; /* hears of what is built, beside the console; .emit NULL: nobody */
    JsonStyle json_style;
    JsonWriter json; /* between cli_json_begin and cli_json_end */
} Cli;

/* The whole program: argv in, exit code out. */
int cli_main(int argc, char **argv);

/* Sends `text` to stdout now: before something that takes long, and before messages that belong behind it. */
void cli_flush(Cli *cli);

/* One JSON document is to be the result, and nothing else on stdout. */
bool cli_wants_json(const Cli *cli);
bool cli_wants_json_lines(const Cli *cli);
bool cli_is_quiet(const Cli *cli);
JsonWriter *cli_json_begin(Cli *cli);
void cli_json_end(Cli *cli);

/* Appends a line to the result. */
void cli_line(Cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
/* The same with the words of a glyph around it: see Glyph. */
Str cli_glyph(const Cli *cli, Glyph name);

/* What the shared options say of a session, and the session of the project of --path with them. */
SessionOptions cli_session_options(const Cli *cli, EventSink events);
MUST_CHECK Status cli_open_session(Cli *cli, EventSink events, Session **session_out, ErrorList *faults);
/* Its configuration alone: for commands that need no model. */
MUST_CHECK Status cli_load_config(Cli *cli, ProjectConfig **config_out, ErrorList *faults);
/* Messages and notes of run/ that need no other treatment. */
EventSink cli_console_events(Cli *cli);

/* Tells the webhooks, if there is anything to tell: after the result is out, since a receiver may be slow. */
void cli_send_notices(Cli *cli);

/* For commands that fail with one Error: takes it into `faults`. */
Status cli_failed(ErrorList *faults, Error *err);
#define CLI_TRY(call)                                                                                                  \
    do {                                                                                                               \
        if (failed(call)) {                                                                                            \
            return cli_failed(faults, &err);                                                                           \
        }                                                                                                              \
    } while (0)

#endif
