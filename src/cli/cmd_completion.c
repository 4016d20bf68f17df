#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/completion.h"

Status command_completion(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    Str shell = invocation_argument(cli->invocation, 0);
    Str script = completion_script(shell);
    if (script.size == 0) {
        (void)error_set(&err, ERROR_USAGE, "there is no completion for '" STR_FMT "'; there is for %s", STR_ARG(shell),
                        completion_shells);
        return cli_failed(faults, &err);
    }
    strbuf_append(&cli->text, script);
    return OK;
}

/* --show-completion and --install-completion, of the shell that runs. */
Status cli_show_completion(Cli *cli, bool is_installed, ErrorList *faults) {
    AUTO(error) Error err = {0};
    Str shell, path, hint;
    CLI_TRY(completion_current_shell(&shell, &err));
    if (!is_installed) {
        strbuf_append(&cli->text, completion_script(shell));
        return OK;
    }
    CLI_TRY(completion_install(shell, cli->arena, &path, &hint, &err));
    cli_line(cli, "Completion for " STR_FMT " installed: " STR_FMT, STR_ARG(shell), STR_ARG(path));
    if (hint.size > 0) {
        cli_line(cli, "  " STR_FMT, STR_ARG(hint));
    }
    cli_line(cli, "A new shell has it.");
    return OK;
}

/* For the scripts alone: says nothing but candidates, and never fails. */
Status command_complete(Cli *cli, ErrorList *faults) {
    (void)faults;
    StrVec candidates = {0};
    completion_candidates(invocation_argument(cli->invocation, 0), cli->arena, &candidates);
    for (size_t i = 0; i < candidates.count; i++) {
        cli_line(cli, STR_FMT, STR_ARG(candidates.items[i]));
    }
    return OK;
}
