/* Writes docs/reference: pages that are made from the tables of the program, so that they cannot fall behind it. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/help.h"

#include "base/files.h"

static const struct ReferencePage {
    Str file;
    const char *heading; /* what the writer leaves to this page */
    void (*write)(StrBuf *out);
} pages[] = {
    {STR_INIT("cli.md"), "", help_write_reference},
    {STR_INIT("interlace.1"), "", help_write_man},
    {STR_INIT("configuration.md"),
     "# Configuration\n"
     "\n"
     "What may stand in `interlace.yaml`. This page is made from the program's own tables (`interlace "
     "docs-reference`).\n"
     "`${NAME}` and `${NAME:-text}` stand for variables of the environment or of `.env`, in values only. A file\n"
     "`interlace.NAME.yaml` is laid over the main one with `--overlay NAME`.\n"
     "\n",
     project_config_write_reference},
    {STR_INIT("models.md"),
     "# Keys of models\n"
     "\n"
     "What may stand in the block at the top of a SQL model (`/* interlace: ... */`) and in Python's `@model(...)`. "
     "This\n"
     "page is made from the program's own table (`interlace docs-reference`).\n"
     "\n",
     model_keys_write_reference},
};

static Status write_pages(Cli *cli, Error *err) {
    Str folder = path_absolute(cli->arena, invocation_argument(cli->invocation, 0));
    TRY(directory_create_all(folder, err));
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        AUTO(strbuf) StrBuf text = {0};
        strbuf_text(&text, pages[i].heading);
        pages[i].write(&text);
        TRY(file_write_atomic(path_join(cli->arena, folder, pages[i].file), strbuf_str(&text), false, err));
        cli_line(cli, STR_FMT, STR_ARG(pages[i].file));
    }
    return OK;
}

Status command_docs_reference(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    CLI_TRY(write_pages(cli, &err));
    return OK;
}
