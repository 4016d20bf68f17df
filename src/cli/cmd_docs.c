/* The manual of this very version, from inside the program. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/embedded_files.h"

#include "base/files.h"

static Status write_pages(Cli *cli, Str folder, Error *err) {
    for (size_t i = 0; i < embedded_manual.count; i++) {
        const EmbeddedFile *file = &embedded_manual.files[i];
        Str path = path_join(cli->arena, folder, str_from(file->path));
        TRY(directory_create_all(path_directory(path), err));
        TRY(file_write_atomic(path, (Str){.ptr = file->content, .size = file->size}, false, err));
    }
    return OK;
}

Status command_docs(Cli *cli, ErrorList *faults) {
    AUTO(error) Error err = {0};
    Str folder = invocation_argument(cli->invocation, 0);
    CLI_TRY(write_pages(cli, path_absolute(cli->arena, folder), &err));
    Str first = path_join(cli->arena, folder, STR("README.md"));
    if (cli_wants_json(cli)) {
        JsonWriter *writer = cli_json_begin(cli);
        json_begin_object(writer);
        json_text_field(writer, STR("folder"), folder);
        json_text_field(writer, STR("first"), first);
        json_int_field(writer, STR("pages"), (int64_t)embedded_manual.count);
        json_end_object(writer);
        cli_json_end(cli);
    } else {
        cli_line(cli, "Wrote %zu pages; begin with " STR_FMT, embedded_manual.count, STR_ARG(first));
    }
    return OK;
}
