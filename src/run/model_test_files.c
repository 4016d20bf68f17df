/* The files of model tests, and what their names stand for. */
#include "run/model_test_parts.h"

#include "base/files.h"
#include "project/input_scan.h"

#define TESTS_FOLDER "tests"

/* ---- Names. */

static const SqlTableRef *find_source(const Project *project, Str name, Arena *arena) {
    for (size_t i = 0; i < project->model_count; i++) {
        const Model *model = project->models[i];
        for (size_t t = 0; model->kind == MODEL_SQL && t < model->facts->tables.count; t++) {
            const SqlTableRef *table = &model->facts->tables.items[t];
            bool is_source = model->references[t].model == MODEL_NONE && model->references[t].input == INPUT_NONE;
            if (is_source && !table->is_file &&
                str_equal_fold(sql_dotted_name(sql_table_relation(table), arena), name)) {
                return table;
            }
        }
    }
    return NULL;
}

static Status refuse_unknown(const Project *project, Str path, Str name, bool is_golden, Arena *arena, Error *err) {
    StrVec names = {0};
    for (size_t i = 0; i < project->model_count; i++) {
        str_vec_push(arena, &names, project->models[i]->name);
    }
    error_set(err, ERROR_PLAN, "'" STR_FMT "' is for '" STR_FMT "', which is no model%s", STR_ARG(path), STR_ARG(name),
              is_golden ? "" : " and no table that one reads");
    error_code(err, STR("test.file"));
    const Str *nearest = str_nearest(name, names.items, names.count);
    if (nearest != NULL) {
        error_hint(err, "did you mean '" STR_FMT "'?", STR_ARG(*nearest));
    }
    return FAILED;
}

static Status resolve(const Project *project, Str path, bool is_golden, Arena *arena, TestFile *file_out, Error *err) {
    Str file_name = path_base_name(path);
    Str name = str_slice(file_name, 0, file_name.size - STR(".csv").size);
    TestFile file = {.path = path, .model = MODEL_NONE, .input = INPUT_NONE};
    const Model *model = project_find(project, name);
    if (model != NULL) {
        file.model = model->index;
    } else if (!is_golden) {
        file.input = input_find(project->config, &(SqlTableRef){.name = name});
        file.source = file.input == INPUT_NONE ? find_source(project, name, arena) : NULL;
    }
    if (file.model == MODEL_NONE && file.input == INPUT_NONE && file.source == NULL) {
        return refuse_unknown(project, path, name, is_golden, arena, err);
    }
    *file_out = file;
    return OK;
}

/* ---- Folders. */

static TestCase *find_case(TestCaseVec *cases, Str folder, Arena *arena) {
    for (size_t i = 0; i < cases->count; i++) {
        if (str_equal(cases->items[i].folder, folder)) {
            return &cases->items[i];
        }
    }
    test_case_vec_push(arena, cases, (TestCase){.name = path_base_name(folder), .folder = folder});
    return &cases->items[cases->count - 1];
}

/* tests/golden/<file> or tests/<case>/golden/<file>; anything else below tests/ is somebody else's. */
static Status take_file(const Project *project, Str path, Arena *arena, TestCaseVec *cases, Error *err) {
    Str folder = path_directory(path), parent = path_directory(folder);
    bool is_golden = str_equal(path_base_name(folder), STR("golden"));
    bool is_fixture = str_equal(path_base_name(folder), STR("fixtures"));
    bool is_in_case = str_equal(parent, STR(TESTS_FOLDER)) || str_equal(path_directory(parent), STR(TESTS_FOLDER));
    if (!(is_golden || is_fixture) || !is_in_case || !str_equal(path_extension(path), STR(".csv"))) {
        return OK;
    }
    TestFile file;
    TRY(resolve(project, path, is_golden, arena, &file, err));
    TestCase *test_case = find_case(cases, parent, arena);
    test_file_vec_push(arena, is_golden ? &test_case->golden : &test_case->fixtures, file);
    return OK;
}

Status test_cases_find(const Project *project, Arena *arena, TestCaseVec *cases_out, Error *err) {
    FileEntryVec entries = {0};
    TestCaseVec cases = {0};
    test_case_vec_push(arena, &cases, (TestCase){.name = STR_EMPTY, .folder = STR(TESTS_FOLDER)});
    TRY(directory_walk(project->config->root, STR(TESTS_FOLDER), arena, &entries, err));
    for (size_t i = 0; i < entries.count; i++) {
        if (!entries.items[i].is_directory) {
            TRY(take_file(project, entries.items[i].path, arena, &cases, err));
        }
    }
    *cases_out = cases;
    return OK;
}

const TestFile *test_file_of_model(const TestFileVec *files, size_t model) {
    for (size_t i = 0; i < files->count; i++) {
        if (files->items[i].model == model) {
            return &files->items[i];
        }
    }
    return NULL;
}

Str test_golden_path(const TestCase *test_case, const Model *model, Arena *arena) {
    const TestFile *golden = test_file_of_model(&test_case->golden, model->index);
    return golden != NULL
               ? golden->path
               : str_format(arena, STR_FMT "/golden/" STR_FMT ".csv", STR_ARG(test_case->folder), STR_ARG(model->name));
}
