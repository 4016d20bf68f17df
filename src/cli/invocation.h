/* Invocation: a command line that was understood: which command, with which arguments and options. Options that were
 * not given have the value of their environment twin INTERLACE_<OPTION>, else their default. */
#ifndef INTERLACE_CLI_INVOCATION_H
#define INTERLACE_CLI_INVOCATION_H

#include "cli/command.h"

typedef struct OptionValue {
    bool is_given; /* on the command line or in the environment */
    Str text;      /* as written; of a flag: empty; of a MAYBE_CHOICE: the choice */
    StrVec list;
    int64_t number; /* of numbers, times (TimeUs) and durations (µs); how often a counted flag stands */
} OptionValue;

typedef struct Invocation {
    const Command *command;    /* NULL: none was named */
    const CommandGroup *group; /* the group that was named, when `command` is NULL */
    bool wants_help, wants_version, wants_completion, wants_completion_installed;
    StrVec arguments;
    OptionValue options[OPTION_COUNT];
} Invocation;

/* UsageError for what the tables do not allow. Also then `command` and `group` say what was recognised. With `--help`
 * or
 * `--version` nothing else is checked. Texts live in the arena or in argv. */
MUST_CHECK Status invocation_parse(int argc, char *const *argv, Arena *arena, Invocation *invocation, Error *err);

/* The argument of that index, or its default; empty when it is optional and absent. */
Str invocation_argument(const Invocation *invocation, size_t index);
bool invocation_flag(const Invocation *invocation, OptionId id); /* given, and not switched off by its twin */
Str invocation_text(const Invocation *invocation, OptionId id);
int64_t invocation_number(const Invocation *invocation, OptionId id);
const StrVec *invocation_list(const Invocation *invocation, OptionId id);

#endif
