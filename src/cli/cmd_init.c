#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/embedded_files.h"
#include "cli/table.h"

#include "base/files.h"

#define NAME_TOKEN STR("__PROJECT_NAME__")

typedef struct Template {
    Str name;
    const char *description, *needs; /* needs NULL: nothing beside interlace and Python */
} Template;

static const Template templates[] = {
    {STR_INIT("quickstart"), "Three models, SQL and Python, with two checks", NULL},
    {STR_INIT("backfill"), "Orders with a wrong rule since August, to be corrected by a campaign", NULL},
};

/* A file of the new project. */
typedef struct NewFile {
    Str path; /* below the project's folder */
    Str content;
} NewFile;
DEFINE_VEC(NewFileVec, new_file_vec, NewFile)

/* --- Templates -------------------------------------------------------------------------------------------------------
 */

static Status find_template(Str name, Arena *arena, const Template **template_out, Error *err) {
    StrVec known = {0};
    for (size_t i = 0; i < COUNT_OF(templates); i++) {
        if (str_equal(name, templates[i].name)) {
            *template_out = &templates[i];
            return OK;
        }
        str_vec_push(arena, &known, templates[i].name);
    }
    Str names = str_join(arena, known.items, known.count, STR(", "));
    return error_set(err, ERROR_CONFIGURATION, "unknown template '" STR_FMT "'; there is: " STR_FMT, STR_ARG(name),
                     STR_ARG(names));
}

static void list_templates_as_json(Cli *cli) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_array(writer);
    for (size_t i = 0; i < COUNT_OF(templates); i++) {
        json_begin_object(writer);
        json_text_field(writer, STR("name"), templates[i].name);
        json_text_field(writer, STR("description"), str_from(templates[i].description));
        json_optional_text_field(writer, STR("needs"), str_from(templates[i].needs));
        json_end_object(writer);
    }
    json_end_array(writer);
    cli_json_end(cli);
}

static void list_templates(Cli *cli) {
    static const TableColumn columns[] = {
        {.title = "Template", .is_name = true}, {.title = "Description"}, {.title = "Needs", .is_dim = true}};
    if (cli_wants_json(cli)) {
        list_templates_as_json(cli);
        return;
    }
    Table *table = table_create(cli->arena, STR_EMPTY, columns, COUNT_OF(columns));
    for (size_t i = 0; i < COUNT_OF(templates); i++) {
        TableCell cells[] = {CELL(templates[i].name), CELL(str_from(templates[i].description)),
                             CELL(str_from(templates[i].needs))};
        table_add(table, cells);
    }
    table_write(table, &cli->out, &cli->text);
}

/* --- Content ---------------------------------------------------------------------------------------------------------
 */

static bool is_plain_in_yaml(Str name) {
    bool is_plain = name.size > 0;
    for (size_t i = 0; i < name.size; i++) {
        char c = name.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_inner = i > 0 && ((c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.');
        is_plain = is_plain && (is_letter || is_inner);
    }
    return is_plain && !str_equal_fold(name, STR("null")) && !str_equal_fold(name, STR("true")) &&
           !str_equal_fold(name, STR("false"));
}

/* A JSON string is a YAML scalar as well. `${` would be read as a variable, in quotes too. */
static Str yaml_scalar(Arena *arena, Str name) {
    if (is_plain_in_yaml(name)) {
        return name;
    }
    AUTO(strbuf) StrBuf out = {0};
    JsonWriter writer;
    json_writer_init(&writer, &out, JSON_COMPACT);
    json_text(&writer, name);
    return strbuf_copy(&out, arena);
}

static Str replace_token(Arena *arena, Str content, Str value) {
    AUTO(strbuf) StrBuf out = {0};
    size_t at;
    while ((at = str_find(content, NAME_TOKEN)) != STR_NOT_FOUND) {
        strbuf_append(&out, str_slice(content, 0, at));
        strbuf_append(&out, value);
        content = str_skip(content, at + NAME_TOKEN.size);
    }
    strbuf_append(&out, content);
    return strbuf_copy(&out, arena);
}

static NewFileVec files_of_template(const Template *template, Str name, Arena *arena) {
    NewFileVec files = {0};
    Str folder = str_format(arena, STR_FMT "/", STR_ARG(template->name));
    for (size_t i = 0; i < embedded_templates.count; i++) {
        Str path = str_from(embedded_templates.files[i].path);
        if (!str_starts_with(path, folder)) {
            continue;
        }
        bool is_yaml = str_equal(path_extension(path), STR(".yaml"));
        Str content = {.ptr = embedded_templates.files[i].content, .size = embedded_templates.files[i].size};
        NewFile file = {
            .path = str_skip(path, folder.size),
            .content = replace_token(arena, content, is_yaml ? yaml_scalar(arena, name) : name),
        };
        new_file_vec_push(arena, &files, file);
    }
    return files;
}

/* --- Writing ---------------------------------------------------------------------------------------------------------
 */

static Status refuse_existing(Str root, const NewFileVec *files, Arena *arena, Error *err) {
    if (file_exists(path_join(arena, root, STR("interlace.yaml")))) {
        return error_set(err, ERROR_CONFIGURATION, "project already initialised (interlace.yaml)");
    }
    for (size_t i = 0; i < files->count; i++) {
        if (file_exists(path_join(arena, root, files->items[i].path))) {
            return error_set(err, ERROR_CONFIGURATION,
                             STR_FMT " is there already and would be overwritten; nothing is written",
                             STR_ARG(files->items[i].path));
        }
    }
    return OK;
}

static Status write_files(Str root, const NewFileVec *files, Arena *arena, Error *err) {
    for (size_t i = 0; i < files->count; i++) {
        Str path = path_join(arena, root, files->items[i].path);
        TRY(directory_create_all(path_directory(path), err));
        TRY(file_write_atomic(path, files->items[i].content, false, err));
    }
    return OK;
}

/* --- Result ----------------------------------------------------------------------------------------------------------
 */

static void print_json(Cli *cli, const Template *template, Str root, Str name, const NewFileVec *files) {
    JsonWriter *writer = cli_json_begin(cli);
    json_begin_object(writer);
    json_text_field(writer, STR("path"), root);
    json_text_field(writer, STR("name"), name);
    json_text_field(writer, STR("template"), template->name);
    json_key(writer, STR("files"));
    json_begin_array(writer);
    for (size_t i = 0; i < files->count; i++) {
        json_text(writer, files->items[i].path);
    }
    json_end_array(writer);
    json_optional_text_field(writer, STR("needs"), str_from(template->needs));
    json_end_object(writer);
    cli_json_end(cli);
}

static void print_text(Cli *cli, const Template *template, Str given_path, const NewFileVec *files) {
    cli_line(cli, "Initialised interlace project in " STR_FMT " (template: " STR_FMT ")", STR_ARG(given_path),
             STR_ARG(template->name));
    for (size_t i = 0; i < files->count; i++) {
        strbuf_text(&cli->text, "  ");
        style_append(&cli->text, &cli->out, STYLE_GOOD, STR("+"));
        cli_line(cli, " " STR_FMT, STR_ARG(files->items[i].path));
    }
    if (template->needs != NULL) {
        cli_line(cli, "Needs: %s", template->needs);
    }
    bool is_here = str_equal(given_path, STR("."));
    cli_line(cli, "Next: interlace apply%s" STR_FMT, is_here ? "" : " -p ", STR_ARG(is_here ? STR_EMPTY : given_path));
}

/* The name stands in files of several formats, each on one line. */
static Status check_name(Str name, Error *err) {
    for (size_t i = 0; i < name.size; i++) {
        if ((unsigned char)name.ptr[i] < 0x20 || name.ptr[i] == 0x7f || name.ptr[i] == '$') {
            return error_set(
                err, ERROR_USAGE,
                "the project's name must not hold control characters or '$'; give another one with --name");
        }
    }
    return OK;
}

static Status make_project(Cli *cli, const Template *template, Error *err) {
    Str given_path = invocation_argument(cli->invocation, 0);
    Str root = path_absolute(cli->arena, given_path);
    Str name = invocation_text(cli->invocation, OPTION_NAME);
    name = name.size > 0 ? name : path_base_name(root);
    name = name.size > 0 ? name : template->name; /* the root of the file system has no name */
    TRY(check_name(name, err));

    NewFileVec files = files_of_template(template, name, cli->arena);
    TRY(refuse_existing(root, &files, cli->arena, err));
    TRY(write_files(root, &files, cli->arena, err));
    if (cli_wants_json(cli)) {
        print_json(cli, template, root, name, &files);
    } else {
        print_text(cli, template, given_path, &files);
    }
    return OK;
}

Status command_init(Cli *cli, ErrorList *faults) {
    if (invocation_flag(cli->invocation, OPTION_LIST)) {
        list_templates(cli);
        return OK;
    }
    AUTO(error) Error err = {0};
    const Template *template = NULL;
    CLI_TRY(find_template(invocation_text(cli->invocation, OPTION_TEMPLATE), cli->arena, &template, &err));
    CLI_TRY(make_project(cli, template, &err));
    return OK;
}
