/* Console: the one writer of stderr while a command works: messages, events as lines, and the live rows of a build.
 * A message that comes while rows are shown stands above them. Any thread may call; calls are serialised. */
#ifndef INTERLACE_CLI_CONSOLE_H
#define INTERLACE_CLI_CONSOLE_H

#include "cli/terminal.h"
#include "run/event.h"

typedef enum ConsoleMode {
    CONSOLE_QUIET, /* messages only */
    CONSOLE_LINES, /* each event is a line with its time */
    CONSOLE_LIVE   /* rows that are drawn again and again; needs a terminal */
} ConsoleMode;

typedef struct ConsoleOptions {
    Terminal terminal; /* stderr */
    ConsoleMode mode;
    bool is_json; /* each line is a JSON object: {"ts", "level", "message", …} */
} ConsoleOptions;

typedef struct Console Console;

Console *console_create(const ConsoleOptions *options);
void console_destroy(Console *console); /* ends the live rows; NULL is fine */
DEFINE_AUTO(Console, console, console_destroy)

typedef enum MessageLevel {
    MESSAGE_ERROR,
    MESSAGE_HINT,
    MESSAGE_WARNING,
    MESSAGE_NOTE,
    MESSAGE_LEVEL_COUNT
} MessageLevel;

/* "error: text", "hint: text", … in one line. Control characters are shown escaped. */
void console_say(Console *console, MessageLevel level, Str text);
/* Lines as they are, without a prefix: the SQL that failed, a traceback. In JSON mode one object of level `level`. */
void console_say_block(Console *console, const char *level, Str lines);
void console_take_event(Console *console, const Event *event);
/* Rows disappear, finished ones stay; the terminal is as it was. Messages are still possible. */
void console_end_live(Console *console);

#endif
