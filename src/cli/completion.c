#include "cli/completion.h"

#include "base/files.h"
#include "cli/command.h"
#include "cli/embedded_files.h"
#include "state/state_store.h"

#include <stdlib.h>

#define INDEX_FILE "completion"
#define INDEX_SIZE_MAX ((size_t)16 << 20)

typedef struct Completion {
    Arena *arena;
    StrVec words;           /* complete ones, without the program's name */
    Str current;            /* what is typed of the last one */
    Str root;               /* the project's folder */
    const Command *command; /* NULL: not named yet */
    const CommandGroup *group;
    bool is_unknown;       /* a word stands where a command should, and is none */
    size_t argument_count; /* that stand before the current word */
    OptionId open_option;  /* the current word is its value; OPTION_COUNT: none */
    StrVec *candidates;
} Completion;

static void add(Completion *completion, Str candidate) {
    if (str_starts_with(candidate, completion->current) && !str_vec_contains(completion->candidates, candidate)) {
        str_vec_push(completion->arena, completion->candidates, candidate);
    }
}

/* ---- The words of the line */

/* Blanks separate words; quotes hold them together and are not part of them. */
static void split_line(Completion *completion, Str line) {
    AUTO(strbuf) StrBuf word = {0};
    char quote = 0;
    for (size_t i = 0; i < line.size; i++) {
        char c = line.ptr[i];
        if (quote != 0 ? c == quote : c == '\'' || c == '"') {
            quote = quote != 0 ? 0 : c;
        } else if (quote == 0 && (c == ' ' || c == '\t')) {
            if (word.size > 0) {
                str_vec_push(completion->arena, &completion->words, strbuf_copy(&word, completion->arena));
                strbuf_clear(&word);
            }
        } else {
            strbuf_char(&word, c);
        }
    }
    completion->current = strbuf_copy(&word, completion->arena);
    if (completion->words.count > 0) { /* the program */
        completion->words.items++;
        completion->words.count--;
    }
}

static OptionSet known_options(const Completion *completion) {
    OptionSet all = (OPTION_BIT(OPTION_COUNT - 1) << 1) - 1;
    return completion->command == NULL ? all : completion->command->options | global_options;
}

/* The option of `--name`, `--name=…`, `-n`, `-n…`; OPTION_COUNT: it is no option. `value_at`: where its value begins in
 * the word; the word's size: it is the next word. */
static OptionId option_of_word(const Completion *completion, Str word, size_t *value_at) {
    *value_at = word.size;
    if (str_starts_with(word, STR("--"))) {
        size_t equals = str_find_char(word, '=');
        size_t end = equals == STR_NOT_FOUND ? word.size : equals;
        *value_at = equals == STR_NOT_FOUND ? word.size : equals + 1;
        return option_find_name(known_options(completion), str_slice(word, 2, end));
    }
    if (word.size < 2 || word.ptr[0] != '-') {
        return OPTION_COUNT;
    }
    *value_at = 2;
    return option_find_letter(known_options(completion), word.ptr[1]);
}

static bool takes_value(OptionId id) {
    return id != OPTION_COUNT && option_type_takes_value(option_table[id].type);
}

static void take_word(Completion *completion, Str word) {
    if (completion->command != NULL) {
        completion->argument_count++;
    } else if (completion->group != NULL) {
        completion->command =
            command_find(str_format(completion->arena, "%s " STR_FMT, completion->group->name, STR_ARG(word)));
    } else {
        completion->command = command_find(word);
        completion->group = completion->command == NULL ? command_group_find(word) : NULL;
        completion->is_unknown = completion->command == NULL && completion->group == NULL;
        return;
    }
    completion->is_unknown = completion->is_unknown || completion->command == NULL;
}

static void take_value(Completion *completion, OptionId id, Str value) {
    if (id == OPTION_PATH) {
        completion->root = value;
    }
}

static void read_words(Completion *completion) {
    completion->open_option = OPTION_COUNT;
    for (size_t i = 0; i < completion->words.count; i++) {
        Str word = completion->words.items[i];
        size_t value_at = 0;
        OptionId id = option_of_word(completion, word, &value_at);
        if (str_starts_with(word, STR("-")) && !takes_value(id)) {
            continue;
        }
        if (id == OPTION_COUNT) {
            take_word(completion, word);
        } else if (value_at < word.size) {
            take_value(completion, id, str_skip(word, value_at));
        } else if (i + 1 < completion->words.count) {
            take_value(completion, id, completion->words.items[++i]);
        } else {
            completion->open_option = id;
        }
    }
}

/* ---- The index: lines of a kind, a tab, a name. */

static Str index_path(Arena *arena, Str root) {
    return path_join(arena, path_absolute(arena, root), STR(".interlace/cache/" INDEX_FILE));
}

static Str next_line(Str *rest) {
    size_t end = str_find_char(*rest, '\n');
    Str line = end == STR_NOT_FOUND ? *rest : str_slice(*rest, 0, end);
    *rest = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(*rest, end + 1);
    return line;
}

static StrVec indexed(const Completion *completion, const char *kind) {
    AUTO(error) Error ignored = {0};
    StrVec names = {0};
    Str text = STR_EMPTY;
    if (failed(file_read(index_path(completion->arena, completion->root), INDEX_SIZE_MAX, completion->arena, &text,
                         &ignored))) {
        return names;
    }
    Str mark = str_format(completion->arena, "%s\t", kind);
    while (text.size > 0) {
        Str line = next_line(&text);
        if (str_starts_with(line, mark)) {
            str_vec_push(completion->arena, &names, str_skip(line, mark.size));
        }
    }
    return names;
}

static void write_lines(StrBuf *out, const char *kind, Str name) {
    strbuf_format(out, "%s\t" STR_FMT "\n", kind, STR_ARG(name));
}

static void write_index(const Project *project, Arena *arena, StrBuf *out) {
    StrVec tags = {0};
    const ProjectConfig *config = project->config;
    Str inside = str_format(arena, STR_FMT "/", STR_ARG(config->root));
    bool is_inside = str_starts_with(config->state_path, inside);
    write_lines(out, "state", is_inside ? str_skip(config->state_path, inside.size) : config->state_path);
    for (size_t i = 0; i < config->engines.count; i++) {
        write_lines(out, "engine", config->engines.items[i].name);
    }
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i];
        write_lines(out, "model", model->name);
        for (size_t t = 0; t < model->tags.count; t++) {
            if (!str_vec_contains(&tags, model->tags.items[t])) {
                str_vec_push(arena, &tags, model->tags.items[t]);
                write_lines(out, "tag", model->tags.items[t]);
            }
        }
    }
}

void completion_index_save(const Project *project) {
    AUTO(error) Error ignored = {0};
    AUTO(arena) Arena *arena = arena_create();
    AUTO(strbuf) StrBuf text = {0};
    Str before = STR_EMPTY;
    Str path = index_path(arena, project->config->root);
    if (project->model_count == 0) {
        return;
    }
    write_index(project, arena, &text);
    bool is_known =
        !failed(file_read(path, INDEX_SIZE_MAX, arena, &before, &ignored)) && str_equal(before, strbuf_str(&text));
    if (!is_known) {
        error_clear(&ignored);
        (void)failed(file_write_atomic(path, strbuf_str(&text), false, &ignored));
    }
}

/* ---- Candidates */

static void add_all(Completion *completion, const StrVec *names, Str before) {
    for (size_t i = 0; i < names->count; i++) {
        add(completion, str_format(completion->arena, STR_FMT STR_FMT, STR_ARG(before), STR_ARG(names->items[i])));
    }
}

static void add_indexed(Completion *completion, const char *kind, Str before) {
    StrVec names = indexed(completion, kind);
    add_all(completion, &names, before);
}

/* `before` is what the word has in front of a value: "--env=", "-e", or nothing. */
static void add_environments(Completion *completion, Str before) {
    AUTO(error) Error ignored = {0};
    AUTO(state_store) StateStore *state = NULL;
    EnvironmentSummaryVec environments = {0};
    StrVec places = indexed(completion, "state");
    Str root = path_absolute(completion->arena, completion->root);
    if (places.count == 0) {
        return;
    }
    Str path = path_join(completion->arena, root, places.items[0]);
    if (!file_exists(path) || failed(state_store_open_existing(path, &state, &ignored)) ||
        failed(state_load_environments(state, completion->arena, &environments, &ignored))) {
        return;
    }
    for (size_t i = 0; i < environments.count; i++) {
        Str name = environments.items[i].name;
        add(completion, str_format(completion->arena, STR_FMT STR_FMT, STR_ARG(before), STR_ARG(name)));
    }
}

/* The last of several, `a,+b`: what stands before it is kept. */
static void add_selectors(Completion *completion, Str before) {
    Str typed = str_skip(completion->current, before.size);
    size_t comma = str_find_last_char(typed, ',');
    size_t start = comma == STR_NOT_FOUND ? 0 : comma + 1;
    bool has_plus = start < typed.size && typed.ptr[start] == '+';
    Str kept = str_slice(completion->current, 0, before.size + start + has_plus);
    add_indexed(completion, "model", kept);
    add_indexed(completion, "tag", str_format(completion->arena, STR_FMT "tag:", STR_ARG(kept)));
    add(completion, str_format(completion->arena, STR_FMT "state:modified", STR_ARG(kept)));
}

static void add_choices(Completion *completion, const char *choices, Str before) {
    Str rest = str_from(choices);
    while (rest.size > 0) {
        Str choice = str_slice(rest, 0, str_find_char(rest, ' '));
        rest = str_skip(rest, choice.size + 1);
        add(completion, str_format(completion->arena, STR_FMT STR_FMT, STR_ARG(before), STR_ARG(choice)));
    }
}

/* The first folder of each embedded file. */
static void add_templates(Completion *completion, Str before) {
    for (size_t i = 0; i < embedded_templates.count; i++) {
        Str path = str_from(embedded_templates.files[i].path);
        Str name = str_slice(path, 0, str_find_char(path, '/'));
        add(completion, str_format(completion->arena, STR_FMT STR_FMT, STR_ARG(before), STR_ARG(name)));
    }
}

static void add_values(Completion *completion, OptionId id, Str before) {
    const Option *option = &option_table[id];
    if (option->choices != NULL) {
        add_choices(completion, option->choices, before);
    } else if (option->type == OPTION_TYPE_ENVIRONMENT) {
        add_environments(completion, before);
    } else if (id == OPTION_SELECT || id == OPTION_EXCLUDE) {
        add_selectors(completion, before);
    } else if (id == OPTION_TEMPLATE) {
        add_templates(completion, before);
    } else if (id == OPTION_TAG) {
        add_indexed(completion, "tag", before);
    } else if (id == OPTION_MODEL || id == OPTION_CHANGES_MODEL) {
        add_indexed(completion, "model", before);
    }
}

static void add_commands(Completion *completion) {
    for (size_t i = 0; i < command_count; i++) {
        const Command *command = &command_table[i];
        Str name = str_from(command->name);
        size_t blank = str_find_char(name, ' ');
        if (command->is_hidden || (completion->group != NULL && !command_is_in_group(command, completion->group))) {
            continue;
        }
        add(completion, blank == STR_NOT_FOUND      ? name
                        : completion->group == NULL ? str_slice(name, 0, blank)
                                                    : str_skip(name, blank + 1));
    }
}

static void add_options(Completion *completion) {
    for (size_t id = 0; id < OPTION_COUNT; id++) {
        bool is_offered = completion->command != NULL ? (known_options(completion) & OPTION_BIT(id)) != 0
                                                      : (global_options & OPTION_BIT(id)) != 0;
        if (is_offered) {
            add(completion, str_format(completion->arena, "--%s", option_table[id].name));
        }
    }
}

static void add_arguments(Completion *completion) {
    const Command *command = completion->command;
    if (completion->argument_count >= command_argument_count(command)) {
        return;
    }
    Str name = str_from(command->arguments[completion->argument_count].name);
    if (str_starts_with(name, STR("MODEL"))) {
        add_indexed(completion, "model", STR_EMPTY);
    } else if (str_equal(name, STR("SHELL"))) {
        add_choices(completion, "bash fish zsh", STR_EMPTY);
    } else if (str_starts_with(str_from(command->name), STR("env "))) {
        add_environments(completion, STR_EMPTY);
    }
}

void completion_candidates(Str line, Arena *arena, StrVec *candidates_out) {
    Str root = str_from(getenv("INTERLACE_PATH"));
    Completion completion = {.arena = arena, .root = root.size == 0 ? STR(".") : root, .candidates = candidates_out};
    split_line(&completion, line);
    read_words(&completion);
    size_t value_at = 0;
    OptionId id = option_of_word(&completion, completion.current, &value_at);
    bool has_value =
        takes_value(id) && (value_at < completion.current.size || str_ends_with(completion.current, STR("=")));
    if (completion.open_option != OPTION_COUNT) {
        add_values(&completion, completion.open_option, STR_EMPTY);
    } else if (has_value) {
        add_values(&completion, id, str_slice(completion.current, 0, value_at));
    } else if (str_starts_with(completion.current, STR("-"))) {
        add_options(&completion);
    } else if (completion.is_unknown) {
        return;
    } else if (completion.command == NULL) {
        add_commands(&completion);
    } else {
        add_arguments(&completion);
    }
    str_vec_sort(candidates_out);
}
