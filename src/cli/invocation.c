/* In three steps: the words of the command line are told from its options (what takes a value is known from the table
 * of all options), the words name the command, and the options are read by the command's own rows. */
#include "cli/invocation.h"

#include "base/clock.h"
#include "project/graph.h"

#include <stdlib.h>

#define ALL_OPTIONS ((OPTION_BIT(OPTION_COUNT - 1) << 1) - 1)

/* One option as it stands on the command line. */
typedef struct GivenOption {
    Str name; /* without dashes */
    bool is_letter;
    bool has_value;
    bool lacks_value; /* the command line ended where its value should stand */
    Str value;
    size_t word_count; /* words before it */
} GivenOption;
DEFINE_VEC(GivenOptionVec, given_option_vec, GivenOption)

typedef struct Scan {
    Arena *arena;
    size_t count;
    char *const *words; /* argv without the program's name */
    size_t next;
    StrVec arguments; /* words of the command and its arguments */
    GivenOptionVec options;
} Scan;

/* --- 1: words and options --------------------------------------------------------------------------------------------
 */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name_character(char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* The name in `--name` or `--name=…`; empty for a word that only looks like an option: `-- a comment`, `--`. */
static Str long_name(Str word) {
    if (!str_starts_with(word, STR("--"))) {
        return STR_EMPTY;
    }
    size_t end = 2;
    while (end < word.size && is_name_character(word.ptr[end])) {
        end++;
    }
    bool is_whole = end == word.size || word.ptr[end] == '=';
    return is_whole && end > 2 && is_letter(word.ptr[2]) ? str_slice(word, 2, end) : STR_EMPTY;
}

static void take_value_from_next_word(Scan *scan, GivenOption *option) {
    if (scan->next == scan->count) {
        option->lacks_value = true;
        return;
    }
    option->value = str_from(scan->words[scan->next++]);
    option->has_value = true;
}

/* The second word of a range. */
static void take_end_from_next_word(Scan *scan, GivenOption *option) {
    bool is_whole = !option->has_value || str_find_char(option->value, ' ') != STR_NOT_FOUND;
    if (!is_whole && scan->next < scan->count) {
        option->value = str_format(scan->arena, STR_FMT " %s", STR_ARG(option->value), scan->words[scan->next++]);
    }
}

static bool takes_value(OptionId id) {
    return id != OPTION_COUNT && option_type_takes_value(option_table[id].type);
}

static void scan_long(Scan *scan, Str word, Str name) {
    GivenOption option = {.name = name, .word_count = scan->arguments.count};
    if (name.size + 2 < word.size) {
        option.has_value = true;
        option.value = str_skip(word, name.size + 3);
    } else if (takes_value(option_find_name(ALL_OPTIONS, name))) {
        take_value_from_next_word(scan, &option);
    }
    OptionId id = option_find_name(ALL_OPTIONS, name);
    if (id != OPTION_COUNT && option_table[id].type == OPTION_TYPE_RANGE) {
        take_end_from_next_word(scan, &option);
    }
    given_option_vec_push(scan->arena, &scan->options, option);
}

/* `-e dev`, `-edev`, `-e=dev`, and flags together: `-qe dev`. */
static void scan_letters(Scan *scan, Str word) {
    for (size_t i = 1; i < word.size; i++) {
        GivenOption option = {
            .name = str_slice(word, i, i + 1), .is_letter = true, .word_count = scan->arguments.count};
        bool has_rest = i + 1 < word.size;
        bool ends_word = takes_value(option_find_letter(ALL_OPTIONS, word.ptr[i]));
        if (ends_word && has_rest) {
            Str rest = str_skip(word, i + 1);
            option.has_value = true;
            option.value = str_starts_with(rest, STR("=")) ? str_skip(rest, 1) : rest;
        } else if (ends_word) {
            take_value_from_next_word(scan, &option);
        }
        given_option_vec_push(scan->arena, &scan->options, option);
        if (ends_word) {
            return;
        }
    }
}

static void scan_word(Scan *scan, Str word) {
    Str name = long_name(word);
    if (name.size > 0) {
        scan_long(scan, word, name);
    } else if (word.size > 1 && word.ptr[0] == '-' && is_letter(word.ptr[1])) {
        scan_letters(scan, word);
    } else {
        str_vec_push(scan->arena, &scan->arguments, word);
    }
}

static void scan_words(Scan *scan) {
    while (scan->next < scan->count) {
        Str word = str_from(scan->words[scan->next++]);
        if (str_equal(word, STR("--"))) {
            break;
        }
        scan_word(scan, word);
    }
    while (scan->next < scan->count) {
        str_vec_push(scan->arena, &scan->arguments, str_from(scan->words[scan->next++]));
    }
}

static bool scan_has(const Scan *scan, OptionId id) {
    for (size_t i = 0; i < scan->options.count; i++) {
        const GivenOption *given = &scan->options.items[i];
        OptionId found = given->is_letter ? option_find_letter(global_options, given->name.ptr[0])
                                          : option_find_name(global_options, given->name);
        if (found == id) {
            return true;
        }
    }
    return false;
}

/* --- 2: the command --------------------------------------------------------------------------------------------------
 */

static Status unknown_command(Str word, const CommandGroup *group, Arena *arena, Error *err) {
    StrVec known = {0};
    for (size_t i = 0; i < command_count; i++) {
        const Command *command = &command_table[i];
        if (command->is_hidden || (group != NULL && !command_is_in_group(command, group))) {
            continue;
        }
        Str name = str_from(command->name);
        size_t blank = str_find_char(name, ' ');
        Str candidate = blank == STR_NOT_FOUND ? name
                        : group == NULL        ? str_slice(name, 0, blank)
                                               : str_skip(name, blank + 1);
        str_vec_push(arena, &known, candidate);
    }
    const Str *nearest = str_nearest(word, known.items, known.count);
    Str full_word = group == NULL ? word : str_format(arena, "%s " STR_FMT, group->name, STR_ARG(word));
    if (nearest == NULL) {
        return error_set(err, ERROR_USAGE, "unknown command '" STR_FMT "'", STR_ARG(full_word));
    }
    return error_set(err, ERROR_USAGE, "unknown command '" STR_FMT "'; did you mean '" STR_FMT "'?", STR_ARG(full_word),
                     STR_ARG(*nearest));
}

/* Takes the words of the command off `words`. No word at all is no error: help is shown. */
static Status find_command(StrVec *words, Arena *arena, Invocation *invocation, Error *err) {
    if (words->count == 0) {
        return OK;
    }
    Str first = words->items[0];
    size_t used = 1;
    invocation->command = command_find(first);
    invocation->group = command_group_find(first);
    if (invocation->command == NULL && invocation->group == NULL) {
        return unknown_command(first, NULL, arena, err);
    }
    if (invocation->group != NULL && words->count > 1) {
        Str second = words->items[1];
        used = 2;
        invocation->command = command_find(str_format(arena, STR_FMT " " STR_FMT, STR_ARG(first), STR_ARG(second)));
        if (invocation->command == NULL) {
            return unknown_command(second, invocation->group, arena, err);
        }
    }
    words->items += used;
    words->count -= used;
    return OK;
}

/* --- 3: values -------------------------------------------------------------------------------------------------------
 */

/* `source` is how the user named the option: --limit, or INTERLACE_LIMIT. */
typedef Status (*ValueReader)(const Option *option, Str source, Str text, OptionValue *value, Arena *arena, Error *err);

static Status read_flag(const Option *option, Str source, Str text, OptionValue *value, Arena *arena, Error *err) {
    (void)option;
    (void)arena;
    static const Str on[] = {STR_INIT("1"), STR_INIT("true"), STR_INIT("yes"), STR_INIT("on")};
    static const Str off[] = {STR_INIT("0"), STR_INIT("false"), STR_INIT("no"), STR_INIT("off")};
    for (size_t i = 0; i < COUNT_OF(on); i++) {
        if (str_equal_fold(text, on[i]) || str_equal_fold(text, off[i])) {
            value->is_given = str_equal_fold(text, on[i]);
            value->number = value->is_given;
            return OK;
        }
    }
    return error_set(err, ERROR_USAGE, STR_FMT " must be true or false; got '" STR_FMT "'", STR_ARG(source),
                     STR_ARG(text));
}

static Status read_text(const Option *option, Str source, Str text, OptionValue *value, Arena *arena, Error *err) {
    (void)option;
    (void)arena;
    if (text.size == 0) {
        return error_set(err, ERROR_USAGE, STR_FMT " must not be empty", STR_ARG(source));
    }
    value->text = text;
    return OK;
}

static Status read_list(const Option *option, Str source, Str text, OptionValue *value, Arena *arena, Error *err) {
    TRY(read_text(option, source, text, value, arena, err));
    str_vec_push(arena, &value->list, text);
    return OK;
}

static Status read_number(const Option *option, Str source, Str text, OptionValue *value, Arena *arena, Error *err) {
    (void)arena;
    if (!str_to_int64(text, &value->number) || value->number < option->minimum) {
        return error_set(err, ERROR_USAGE, STR_FMT " must be a whole number, at least %lld; got '" STR_FMT "'",
                         STR_ARG(source), (long long)option->minimum, STR_ARG(text));
    }
    value->text = text;
    return OK;
}

static Str next_choice(Str *rest) {
    Str choice = str_slice(*rest, 0, str_find_char(*rest, ' '));
    *rest = str_skip(*rest, choice.size + 1);
    return choice;
}

static Status read_choice(const Option *option, Str source, Str text, OptionValue *value, Arena *arena, Error *err) {
    Str rest = str_from(option->choices);
    StrVec choices = {0};
    while (rest.size > 0) {
        Str choice = next_choice(&rest);
        if (str_equal(choice, text)) {
            value->text = choice;
            return OK;
        }
        str_vec_push(arena, &choices, choice);
    }
    Str known = str_join(arena, choices.items, choices.count, STR(", "));
    return error_set(err, ERROR_USAGE, STR_FMT " must be one of %s; got '" STR_FMT "'", STR_ARG(source),
                     str_to_c(arena, known), STR_ARG(text));
}

/* The twin of a MAYBE_CHOICE may also just switch it on or off. */
static Status read_maybe_choice(const Option *option, Str source, Str text, OptionValue *value, Arena *arena,
                                Error *err) {
    AUTO(error) Error ignored = {0};
    if (failed(read_flag(option, source, text, value, arena, &ignored))) {
        return read_choice(option, source, text, value, arena, err);
    }
    Str choices = str_from(option->choices);
    value->text = next_choice(&choices);
    return OK;
}

static Status read_duration(const Option *option, Str source, Str text, OptionValue *value, Arena *arena, Error *err) {
    (void)option;
    (void)arena;
    value->text = text;
    if (str_equal(text, STR("0"))) {
        value->number = 0;
        return OK;
    }
    if (failed(duration_parse(text, &value->number, err))) {
        return error_set(err, ERROR_USAGE, STR_FMT " must be a duration (90s, 5m, 1h) or 0; got '" STR_FMT "'",
                         STR_ARG(source), STR_ARG(text));
    }
    return OK;
}

static Status read_time(const Option *option, Str source, Str text, OptionValue *value, Arena *arena, Error *err) {
    (void)option;
    (void)arena;
    value->text = text;
    if (failed(time_parse_iso(text, &value->number, err))) {
        return error_set(err, ERROR_USAGE,
                         STR_FMT " must be an ISO timestamp (e.g. 2026-07-01T00:00:00); got '" STR_FMT "'",
                         STR_ARG(source), STR_ARG(text));
    }
    return OK;
}

static Status read_environment(const Option *option, Str source, Str text, OptionValue *value, Arena *arena,
                               Error *err) {
    TRY(read_text(option, source, text, value, arena, err));
    return environment_check_name(text, err);
}

static Status read_range(const Option *option, Str source, Str text, OptionValue *value, Arena *arena, Error *err) {
    size_t blank = str_find_char(text, ' ');
    Str end = blank == STR_NOT_FOUND ? STR_EMPTY : str_trim(str_skip(text, blank));
    if (blank == 0 || end.size == 0) {
        return error_set(err, ERROR_USAGE, STR_FMT " needs two values (%s); got '" STR_FMT "'", STR_ARG(source),
                         option->value_name, STR_ARG(text));
    }
    value->text = text;
    value->list = (StrVec){0};
    str_vec_push(arena, &value->list, str_slice(text, 0, blank));
    str_vec_push(arena, &value->list, end);
    return OK;
}

static const ValueReader value_readers[OPTION_TYPE_TOTAL] = {
    [OPTION_TYPE_FLAG] = read_flag,
    [OPTION_TYPE_COUNT] = read_flag,
    [OPTION_TYPE_TEXT] = read_text,
    [OPTION_TYPE_LIST] = read_list,
    [OPTION_TYPE_NUMBER] = read_number,
    [OPTION_TYPE_CHOICE] = read_choice,
    [OPTION_TYPE_MAYBE_CHOICE] = read_maybe_choice,
    [OPTION_TYPE_DURATION] = read_duration,
    [OPTION_TYPE_TIME] = read_time,
    [OPTION_TYPE_ENVIRONMENT] = read_environment,
    [OPTION_TYPE_RANGE] = read_range,
};

static Str spelling(const GivenOption *given, Arena *arena) {
    return str_format(arena, "%s" STR_FMT, given->is_letter ? "-" : "--", STR_ARG(given->name));
}

static Status unknown_option(const GivenOption *given, const Command *command, Arena *arena, Error *err) {
    OptionSet set = command == NULL ? ALL_OPTIONS : command->options | global_options;
    StrVec known = {0};
    for (size_t id = 0; id < OPTION_COUNT && !given->is_letter; id++) {
        if ((set & OPTION_BIT(id)) != 0) {
            str_vec_push(arena, &known, str_from(option_table[id].name));
        }
    }
    const Str *nearest = str_nearest(given->name, known.items, known.count);
    Str subject = command == NULL ? STR_EMPTY : str_format(arena, " for '%s'", command->name);
    Str shown = spelling(given, arena);
    if (nearest == NULL) {
        return error_set(err, ERROR_USAGE, "no such option" STR_FMT ": " STR_FMT, STR_ARG(subject), STR_ARG(shown));
    }
    return error_set(err, ERROR_USAGE, "no such option" STR_FMT ": " STR_FMT "; did you mean --" STR_FMT "?",
                     STR_ARG(subject), STR_ARG(shown), STR_ARG(*nearest));
}

static Status read_given_without_value(OptionId id, Str source, Invocation *invocation, Error *err) {
    const Option *option = &option_table[id];
    OptionValue *value = &invocation->options[id];
    if (option_type_takes_value(option->type)) {
        return error_set(err, ERROR_USAGE, STR_FMT " needs a value (%s)", STR_ARG(source), option->value_name);
    }
    value->is_given = true;
    value->number++;
    if (option->type == OPTION_TYPE_MAYBE_CHOICE) {
        Str choices = str_from(option->choices);
        value->text = next_choice(&choices);
    }
    return OK;
}

static Status read_given(const GivenOption *given, Arena *arena, Invocation *invocation, Error *err) {
    OptionSet set = invocation->command->options | global_options;
    OptionId id = given->is_letter ? option_find_letter(set, given->name.ptr[0]) : option_find_name(set, given->name);
    if (id == OPTION_COUNT) {
        return unknown_option(given, invocation->command, arena, err);
    }
    Str source = spelling(given, arena);
    if (!given->has_value) {
        return read_given_without_value(id, source, invocation, err);
    }
    const Option *option = &option_table[id];
    if (option->type == OPTION_TYPE_FLAG || option->type == OPTION_TYPE_COUNT) {
        return error_set(err, ERROR_USAGE, STR_FMT " takes no value; got '" STR_FMT "'", STR_ARG(source),
                         STR_ARG(given->value));
    }
    invocation->options[id].is_given = true;
    return value_readers[option->type](option, source, given->value, &invocation->options[id], arena, err);
}

static Str twin_name(const Option *option, Arena *arena) {
    AUTO(strbuf) StrBuf name = {0};
    strbuf_text(&name, "INTERLACE_");
    for (const char *c = option->name; *c != '\0'; c++) {
        strbuf_char(&name, *c == '-' ? '_' : (char)(*c - 'a' + 'A'));
    }
    return strbuf_copy(&name, arena);
}

/* An empty variable counts as not set, as in most tools. */
static Status read_twin(OptionId id, Arena *arena, Invocation *invocation, Error *err) {
    const Option *option = &option_table[id];
    OptionValue *value = &invocation->options[id];
    bool is_answered =
        id == OPTION_HELP || id == OPTION_VERSION || id == OPTION_SHOW_COMPLETION || id == OPTION_INSTALL_COMPLETION;
    if (value->is_given || is_answered) {
        return OK;
    }
    Str source = twin_name(option, arena);
    Str text = str_from(getenv(str_to_c(arena, source)));
    if (text.size == 0) {
        return OK;
    }
    value->is_given = true;
    return value_readers[option->type](option, source, text, value, arena, err);
}

static Status read_default(OptionId id, Arena *arena, Invocation *invocation, Error *err) {
    const Option *option = &option_table[id];
    OptionValue *value = &invocation->options[id];
    if (value->is_given || option->default_value == NULL) {
        return OK;
    }
    Str text = str_from(option->default_value);
    return value_readers[option->type](option, str_from(option->name), text, value, arena, err);
}

static Status read_options(const Scan *scan, Invocation *invocation, Error *err) {
    for (size_t i = 0; i < scan->options.count; i++) {
        TRY(read_given(&scan->options.items[i], scan->arena, invocation, err));
    }
    OptionSet set = invocation->command->options | global_options;
    for (size_t id = 0; id < OPTION_COUNT; id++) {
        if ((set & OPTION_BIT(id)) != 0) {
            TRY(read_twin((OptionId)id, scan->arena, invocation, err));
            TRY(read_default((OptionId)id, scan->arena, invocation, err));
        }
    }
    return OK;
}

static Status check_arguments(const Invocation *invocation, Error *err) {
    const Command *command = invocation->command;
    size_t known = command_argument_count(command);
    size_t given = invocation->arguments.count;
    if (given > known) {
        return error_set(err, ERROR_USAGE, "unexpected argument '" STR_FMT "'",
                         STR_ARG(invocation->arguments.items[known]));
    }
    if (given < known && !command->arguments[given].is_optional) {
        return error_set(err, ERROR_USAGE, "missing argument %s", command->arguments[given].name);
    }
    return OK;
}

/* The first option that no command has, when it stands before the first word: what comes behind it may be its value. */
static const GivenOption *unknown_first_option(const Scan *scan) {
    for (size_t i = 0; i < scan->options.count && scan->options.items[i].word_count == 0; i++) {
        const GivenOption *given = &scan->options.items[i];
        OptionId id = given->is_letter ? option_find_letter(ALL_OPTIONS, given->name.ptr[0])
                                       : option_find_name(ALL_OPTIONS, given->name);
        if (id == OPTION_COUNT) {
            return given;
        }
    }
    return NULL;
}

Status invocation_parse(int argc, char *const *argv, Arena *arena, Invocation *invocation, Error *err) {
    *invocation = (Invocation){0};
    Scan scan = {.arena = arena, .count = argc > 0 ? (size_t)argc - 1 : 0, .words = argv + 1};
    scan_words(&scan);
    invocation->wants_help = scan_has(&scan, OPTION_HELP);
    invocation->wants_version = scan_has(&scan, OPTION_VERSION);
    invocation->wants_completion = scan_has(&scan, OPTION_SHOW_COMPLETION);
    invocation->wants_completion_installed = scan_has(&scan, OPTION_INSTALL_COMPLETION);

    Status status = find_command(&scan.arguments, arena, invocation, err);
    if (invocation->wants_help || invocation->wants_version || invocation->wants_completion ||
        invocation->wants_completion_installed) {
        error_clear(err);
        return OK;
    }
    const GivenOption *unknown = unknown_first_option(&scan);
    if (unknown != NULL) {
        return unknown_option(unknown, NULL, arena, err);
    }
    TRY(status);
    if (invocation->command == NULL) {
        return OK;
    }
    invocation->arguments = scan.arguments;
    TRY(read_options(&scan, invocation, err));
    return check_arguments(invocation, err);
}

/* --- Reading ---------------------------------------------------------------------------------------------------------
 */

Str invocation_argument(const Invocation *invocation, size_t index) {
    if (index < invocation->arguments.count) {
        return invocation->arguments.items[index];
    }
    return str_from(invocation->command->arguments[index].default_value);
}

bool invocation_flag(const Invocation *invocation, OptionId id) {
    return invocation->options[id].is_given;
}

Str invocation_text(const Invocation *invocation, OptionId id) {
    return invocation->options[id].text;
}

int64_t invocation_number(const Invocation *invocation, OptionId id) {
    return invocation->options[id].number;
}

const StrVec *invocation_list(const Invocation *invocation, OptionId id) {
    return &invocation->options[id].list;
}
