/* Completion of command lines in bash, zsh and fish: one small script a shell, which asks `interlace complete LINE` for
 * the candidates. They come from the command table, and from an index of the project that every command which loads it
 * leaves in the cache folder, so that no source is read and no Python runs. Whatever goes wrong gives no candidates. */
#ifndef INTERLACE_CLI_COMPLETION_H
#define INTERLACE_CLI_COMPLETION_H

#include "project/project.h"

struct Cli; /* cli/cli.h */

/* What may stand in place of the last word of `line` (the text from the program's name up to the cursor), each with
 * what is typed of it already. */
void completion_candidates(Str line, Arena *arena, StrVec *candidates_out);

/* Renews the index when it says something else. A folder that cannot be written is no error. */
void completion_index_save(const Project *project);

/* The script of a shell; empty: not one of completion_shells. */
Str completion_script(Str shell);
extern const char completion_shells[]; /* "bash, zsh, fish" */

/* --show-completion; with `is_installed` --install-completion. */
Status cli_show_completion(struct Cli *cli, bool is_installed, ErrorList *faults);

/* The shell that $SHELL names, without its folder. UsageError: none of ours. */
MUST_CHECK Status completion_current_shell(Str *shell_out, Error *err);

/* Writes the script where the shell looks for those of the user. `hint_out`: what is left to do; empty: nothing. */
MUST_CHECK Status completion_install(Str shell, Arena *arena, Str *path_out, Str *hint_out, Error *err);

#endif
