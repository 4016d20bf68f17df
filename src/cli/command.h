/* The command line as data: every command, its arguments and options stand in the tables of command_table.c. Dispatch,
 * checks, help, suggestions and docs/reference/cli.md are made from them. A new command is one row and one function. */
#ifndef INTERLACE_CLI_COMMAND_H
#define INTERLACE_CLI_COMMAND_H

#include "base/error.h"

typedef enum OptionType {
    OPTION_TYPE_FLAG,
    OPTION_TYPE_COUNT, /* a flag that may stand several times */
    OPTION_TYPE_TEXT,
    OPTION_TYPE_LIST,         /* may stand several times */
    OPTION_TYPE_NUMBER,       /* whole, at least `minimum` */
    OPTION_TYPE_CHOICE,       /* one of `choices` */
    OPTION_TYPE_MAYBE_CHOICE, /* a flag, or `--option=choice` */
    OPTION_TYPE_DURATION,     /* microseconds; 0 without a unit too */
    OPTION_TYPE_TIME,         /* TimeUs */
    OPTION_TYPE_ENVIRONMENT,  /* an environment's name */
    OPTION_TYPE_RANGE,        /* two words: a start and an end */
    OPTION_TYPE_TOTAL
} OptionType;

typedef enum OptionId {
    OPTION_ENV,
    OPTION_ENV_FILTER,
    OPTION_PATH,
    OPTION_SELECT,
    OPTION_EXCLUDE,
    OPTION_JSON,
    OPTION_JSON_OR_LINES,
    OPTION_PARALLELISM,
    OPTION_MARKDOWN,
    OPTION_DETAILED_EXIT_CODE,
    OPTION_DIFF,
    OPTION_AGAINST,
    OPTION_FROM,
    OPTION_EXPLAIN,
    OPTION_FORWARD_ONLY,
    OPTION_FORCE,
    OPTION_KEEP_GOING,
    OPTION_STRICT,
    OPTION_DRY_RUN,
    OPTION_NAME,
    OPTION_TEMPLATE,
    OPTION_LIST,
    OPTION_TAG,
    OPTION_COLUMNS,
    OPTION_LINEAGE_FORMAT,
    OPTION_DEPTH,
    OPTION_MODEL,
    OPTION_STATUS,
    OPTION_SINCE,
    OPTION_CHECKS_LIMIT,
    OPTION_CHECK,
    OPTION_ROWS_LIMIT,
    OPTION_FAIL_FAST,
    OPTION_JSON_OR_FULL,
    OPTION_UPDATE_GOLDEN,
    OPTION_JUNIT,
    OPTION_NOW,
    OPTION_QUERY_LIMIT,
    OPTION_QUERY_FORMAT,
    OPTION_START,
    OPTION_END,
    OPTION_BATCH,
    OPTION_CONCURRENCY,
    OPTION_ORDER,
    OPTION_CATCH_UP,
    OPTION_WINDOW,
    OPTION_SQL,
    OPTION_RENDERED,
    OPTION_SAMPLE,
    OPTION_TO,
    OPTION_LIST_GENERATIONS,
    OPTION_FORCE_DROP,
    OPTION_GRACE,
    OPTION_YES,
    OPTION_CONNECT,
    OPTION_READ_ONLY,
    OPTION_SOURCE,
    OPTION_TARGET,
    OPTION_ON,
    OPTION_DIFF_LIMIT,
    OPTION_TOLERANCE,
    OPTION_SCHEMA,
    OPTION_CAMPAIGN_START,
    OPTION_GAPS,
    OPTION_RESTATE,
    OPTION_AUDIT,
    OPTION_NO_AUDIT,
    OPTION_PUBLISH,
    OPTION_ALLOW_REFUSED,
    OPTION_NO_STALE,
    OPTION_AGAIN,
    OPTION_HTML,
    OPTION_ACCEPT,
    OPTION_PROBE,
    OPTION_REBASE,
    OPTION_PLAN,
    OPTION_HOURS,
    OPTION_WAIT,
    OPTION_DELIVER,
    OPTION_MAX_TIME,
    OPTION_MAX_ROWS,
    OPTION_MAX_WINDOWS,
    /* of every command */
    OPTION_QUIET,
    OPTION_VERBOSE,
    OPTION_DEBUG,
    OPTION_COLOR,
    OPTION_NO_PROGRESS,
    OPTION_LOG_FORMAT,
    OPTION_LOCK_TIMEOUT,
    OPTION_OVERLAY,
    OPTION_NO_CACHE,
    OPTION_INSTALL_COMPLETION,
    OPTION_SHOW_COMPLETION,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_NOTE,
    OPTION_CHANGES_MODEL,
    OPTION_CHANGES_ENV,
    OPTION_CHANGES_SINCE,
    OPTION_CHANGES_LIMIT,
    OPTION_UNDELIVERED,
    OPTION_REDELIVER,
    OPTION_COUNT
} OptionId;

__extension__ typedef unsigned __int128 OptionSet;
#define OPTION_BIT(id) ((OptionSet)1 << (id))
static_assert(OPTION_COUNT <= 128, "an OptionSet holds them all");

typedef struct Option {
    const char *name; /* long name without dashes; rows for different commands may share one */
    char letter;      /* 0: none */
    OptionType type;
    const char *value_name;    /* NEXT to the name in help; NULL for flags */
    const char *default_value; /* NULL: none */
    const char *choices;       /* separated by blanks; the first of a MAYBE_CHOICE is what the bare flag means */
    int64_t minimum;
    const char *summary;
} Option;

extern const Option option_table[OPTION_COUNT];

/* Those that every command takes, before or behind its name. */
extern const OptionSet global_options;

#define COMMAND_ARGUMENTS_MAX 2
typedef struct CommandArgument {
    const char *name;
    const char *default_value; /* NULL: it must be given, unless it is optional */
    bool is_optional;
    const char *summary;
} CommandArgument;

struct Cli; /* cli/cli.h */

typedef struct Command {
    const char *name;    /* its words, with one blank between them */
    const char *summary; /* one line */
    const char *details; /* further lines for its own help; NULL: none */
    CommandArgument arguments[COMMAND_ARGUMENTS_MAX];
    OptionSet options;
    bool is_hidden; /* works, but is in no list */
    Status (*run)(struct Cli *cli, ErrorList *faults);
} Command;

extern const Command command_table[];
extern const size_t command_count;

/* The first word of commands of two words. */
typedef struct CommandGroup {
    const char *name, *summary;
} CommandGroup;
extern const CommandGroup command_groups[];
extern const size_t command_group_count;

const Command *command_find(Str name);
const CommandGroup *command_group_find(Str name);
bool command_is_in_group(const Command *command, const CommandGroup *group);
size_t command_argument_count(const Command *command);

/* The row of a long name or a letter among `set`; OPTION_COUNT when there is none. */
OptionId option_find_name(OptionSet set, Str name);
OptionId option_find_letter(OptionSet set, char letter);
bool option_type_takes_value(OptionType type); /* as a word of its own behind the option */

#endif
