#include "cli/cli.h"
#include "cli/commands.h"

#include "duck/duck_library.h"

/* What this build works with. A part that cannot be found is said, not failed on: this is where one looks then. */
typedef struct Versions {
    const char *engine_version, *engine_path; /* NULL: not found */
    Str engine_problem;
} Versions;

static Versions find_versions(Arena *arena) {
    AUTO(error) Error err = {0};
    Versions versions = {.engine_problem = STR_EMPTY};
    if (failed(duck_library_load(&err))) {
        versions.engine_problem = error_line(&err, arena);
    } else {
        versions.engine_version = duck_library_version_text();
        versions.engine_path = duck_library_path();
    }
    return versions;
}

static const char *build_type(void) {
#ifdef INTERLACE_TEST_HOOKS
    return "test hooks";
#else
    return "plain";
#endif
}

static void print_json(Cli *cli, const Versions *versions) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    json_text_field(writer, STR("version"), STR(INTERLACE_VERSION));
    json_text_field(writer, STR("build"), str_from(build_type()));
    json_text_field(writer, STR("compiler"), STR(__VERSION__));
    json_key(writer, STR("engine"));
    json_begin_object(writer);
    json_text_field(writer, STR("name"), STR("duckdb"));
    json_optional_text_field(writer, STR("version"), str_from(versions->engine_version));
    json_optional_text_field(writer, STR("library"), str_from(versions->engine_path));
    json_optional_text_field(writer, STR("problem"), versions->engine_problem);
    json_end_object(writer);
    json_int_field(writer, STR("state_format"), STATE_FORMAT_VERSION);
    json_end_object(writer);
    cli_json_end(cli);
}

static void print_text(Cli *cli, const Versions *versions) {
    cli_line(cli, "interlace %s", INTERLACE_VERSION);
    if (versions->engine_version != NULL) {
        cli_line(cli, "duckdb %s (%s)", versions->engine_version, versions->engine_path);
    } else {
        cli_line(cli, "duckdb: " STR_FMT, STR_ARG(versions->engine_problem));
    }
    cli_line(cli, "state format %d", STATE_FORMAT_VERSION);
}

Status command_version(Cli *cli, ErrorList *faults) {
    (void)faults;
    Versions versions = find_versions(cli->arena);
    if (cli_wants_json(cli)) {
        print_json(cli, &versions);
    } else {
        print_text(cli, &versions);
    }
    return OK;
}
