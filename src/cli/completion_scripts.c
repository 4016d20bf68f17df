/* The scripts, and where a shell looks for them. */
#include "cli/completion.h"

#include "base/files.h"

#include <stdlib.h>

const char completion_shells[] = "bash, zsh, fish";

/* bash breaks words at = and :, and wants what comes behind the last break only. */
static const char bash_script[] = "# Completion of interlace in bash: made by `interlace completion bash`.\n"
                                  "_interlace() {\n"
                                  "    local line=${COMP_LINE:0:COMP_POINT} typed candidate\n"
                                  "    local word=${line##*[[:space:]]} current=${COMP_WORDS[COMP_CWORD]}\n"
                                  "    [[ $current == [=:] ]] && current=\n"
                                  "    typed=${word%\"$current\"}\n"
                                  "    COMPREPLY=()\n"
                                  "    while IFS= read -r candidate; do\n"
                                  "        COMPREPLY+=(\"${candidate#\"$typed\"}\")\n"
                                  "    done < <(\"${COMP_WORDS[0]}\" complete \"$line\" 2>/dev/null)\n"
                                  "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
                                  "    return 0\n"
                                  "}\n"
                                  "complete -o default -F _interlace interlace\n";

static const char zsh_script[] = "#compdef interlace\n"
                                 "# Completion of interlace in zsh: made by `interlace completion zsh`.\n"
                                 "_interlace() {\n"
                                 "    local -a candidates\n"
                                 "    candidates=(\"${(@f)$(\"${words[1]}\" complete \"$LBUFFER\" 2>/dev/null)}\")\n"
                                 "    if [[ -n ${candidates[1]-} ]]; then\n"
                                 "        compadd -Q -- \"${candidates[@]}\"\n"
                                 "    else\n"
                                 "        _files\n"
                                 "    fi\n"
                                 "}\n"
                                 "if [[ ${funcstack[1]-} == _interlace ]]; then\n"
                                 "    _interlace \"$@\"\n"
                                 "else\n"
                                 "    compdef _interlace interlace\n"
                                 "fi\n";

static const char fish_script[] = "# Completion of interlace in fish: made by `interlace completion fish`.\n"
                                  "function __interlace_complete\n"
                                  "    set -l line (commandline -cp)\n"
                                  "    interlace complete \"$line\" 2>/dev/null\n"
                                  "end\n"
                                  "complete -c interlace -a '(__interlace_complete)'\n";

static const struct {
    Str shell;
    const char *script;
    const char *home_variable; /* of the folder below; else… */
    const char *home;          /* … this one in the home folder */
    const char *path;
    const char *hint;
} shells[] = {
    {STR_INIT("bash"), bash_script, "XDG_DATA_HOME", ".local/share", "bash-completion/completions/interlace", ""},
    {STR_INIT("zsh"), zsh_script, "ZDOTDIR", "", ".zfunc/_interlace",
     "in .zshrc, before compinit: fpath+=(${ZDOTDIR:-$HOME}/.zfunc)"},
    {STR_INIT("fish"), fish_script, "XDG_CONFIG_HOME", ".config", "fish/completions/interlace.fish", ""},
};

static size_t shell_index(Str shell) {
    for (size_t i = 0; i < COUNT_OF(shells); i++) {
        if (str_equal(shells[i].shell, shell)) {
            return i;
        }
    }
    return COUNT_OF(shells);
}

Str completion_script(Str shell) {
    size_t i = shell_index(shell);
    return i == COUNT_OF(shells) ? STR_EMPTY : str_from(shells[i].script);
}

Status completion_current_shell(Str *shell_out, Error *err) {
    Str path = str_from(getenv("SHELL"));
    size_t slash = str_find_last_char(path, '/');
    *shell_out = slash == STR_NOT_FOUND ? path : str_skip(path, slash + 1);
    if (shell_index(*shell_out) == COUNT_OF(shells)) {
        return error_set(err, ERROR_USAGE,
                         "there is no completion for the shell '" STR_FMT "' of $SHELL; there is for %s",
                         STR_ARG(*shell_out), completion_shells);
    }
    return OK;
}

Status completion_install(Str shell, Arena *arena, Str *path_out, Str *hint_out, Error *err) {
    size_t i = shell_index(shell);
    assert(i < COUNT_OF(shells));
    Str folder = str_from(getenv(shells[i].home_variable));
    Str home = str_from(getenv("HOME"));
    if (folder.size == 0 && home.size == 0) {
        return error_set(err, ERROR_CONFIGURATION,
                         "HOME is not set: use `interlace completion %s` and place it yourself",
                         str_to_c(arena, shell));
    }
    if (folder.size == 0) {
        folder = path_join(arena, home, str_from(shells[i].home));
    }
    *path_out = path_join(arena, folder, str_from(shells[i].path));
    *hint_out = str_from(shells[i].hint);
    TRY(directory_create_all(path_directory(*path_out), err));
    return file_write_atomic(*path_out, str_from(shells[i].script), false, err);
}
