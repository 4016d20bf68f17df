/* Which files make up a project. */
#include "project/project_load.h"

#include "base/files.h"
#include "project/model_name.h"

#define SQL_ENDING STR(".sql")
#define PYTHON_ENDING STR(".py")

static Status refuse_directory(Str path, Error *err) {
    error_set_at(err, ERROR_DEFINITION, (SourceSpan){.file = path},
                 "'" STR_FMT "' is a folder, but its name ends like that of a model file", STR_ARG(path));
    error_code(err, STR("file.directory"));
    return FAILED;
}

static bool is_below(Str path, Str directory) {
    return path.size > directory.size && str_starts_with(path, directory) && path.ptr[directory.size] == '/';
}

/* "models/" and "./models" are the folder "models". */
static Str clean_directory(Str directory) {
    while (str_starts_with(directory, STR("./"))) {
        directory = str_skip(directory, 2);
    }
    while (directory.size > 1 && str_ends_with(directory, STR("/"))) {
        directory = str_slice(directory, 0, directory.size - 1);
    }
    return directory;
}

/* Files below a folder that is refused are not reported once more. */
typedef struct Walk {
    FileEntryVec entries;
    Str refused; /* the last refused folder; empty: none */
} Walk;

static void walk_models(ProjectLoad *load, Str directory, Walk *walk) {
    AUTO(error) Error err;
    error_init(&err);
    if (failed(directory_walk(load->config->root, directory, load->arena, &walk->entries, &err))) {
        project_fault(load, &err);
    }
}

static bool is_model_entry(ProjectLoad *load, Walk *walk, const FileEntry *entry) {
    if (walk->refused.size > 0 && is_below(entry->path, walk->refused)) {
        return false;
    }
    if (!entry->is_directory) {
        return str_ends_with(entry->path, SQL_ENDING) || str_ends_with(entry->path, PYTHON_ENDING);
    }
    if (str_ends_with(entry->path, SQL_ENDING) || str_ends_with(entry->path, PYTHON_ENDING)) {
        walk->refused = entry->path;
        AUTO(error) Error err;
        error_init(&err);
        (void)refuse_directory(entry->path, &err);
        project_fault(load, &err);
    }
    return false;
}

static void add_python_file(ProjectLoad *load, Str path, PythonFileVec *files) {
    AUTO(error) Error err;
    error_init(&err);
    const SourceFile *source;
    if (failed(source_file_read(load->config->root, path, load->arena, &source, &err))) {
        project_fault(load, &err);
        return;
    }
    PythonFile file = {
        .path = path, .content = source->content, .is_helper = str_starts_with(path_base_name(path), STR("_"))};
    python_file_vec_push(load->arena, files, file);
}

static void add_entry(ProjectLoad *load, Str directory, const FileEntry *entry, ModelFileVec *sql,
                      PythonFileVec *python) {
    if (str_ends_with(entry->path, PYTHON_ENDING)) {
        add_python_file(load, entry->path, python);
        return;
    }
    Str inside = str_equal(directory, STR(".")) ? entry->path : str_skip(entry->path, directory.size + 1);
    ModelFile file = {.path = entry->path, .name = model_name_from_path(inside, load->arena)};
    model_file_vec_push(load->arena, sql, file);
}

void project_find_files(ProjectLoad *load, ModelFileVec *sql_out, PythonFileVec *python_out) {
    const StrVec *directories = &load->config->model_paths;
    for (size_t i = 0; i < directories->count; i++) {
        Str directory = clean_directory(directories->items[i]);
        Walk walk = {0};
        walk_models(load, directory, &walk);
        for (size_t k = 0; k < walk.entries.count; k++) {
            if (is_model_entry(load, &walk, &walk.entries.items[k])) {
                add_entry(load, directory, &walk.entries.items[k], sql_out, python_out);
            }
        }
    }
}

static void read_macro_file(ProjectLoad *load, Str path) {
    AUTO(error) Error err;
    error_init(&err);
    const SourceFile *source;
    if (failed(source_file_read(load->config->root, path, load->arena, &source, &err)) ||
        failed(sql_macro_set_read(load->macros, source, &err))) {
        project_fault(load, &err);
    }
}

void project_read_macros(ProjectLoad *load) {
    const StrVec *directories = &load->config->macro_paths;
    for (size_t i = 0; i < directories->count; i++) {
        Walk walk = {0};
        walk_models(load, clean_directory(directories->items[i]), &walk);
        for (size_t k = 0; k < walk.entries.count; k++) {
            const FileEntry *entry = &walk.entries.items[k];
            if (!entry->is_directory && str_ends_with(entry->path, SQL_ENDING)) {
                read_macro_file(load, entry->path);
            }
        }
    }
}
