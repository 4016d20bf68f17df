#include "project/project_fixture.h"

#include "base/files.h"

#include <stdlib.h>

int fixture_open(void **state) {
    Fixture *f = heap_alloc_zeroed(1, sizeof *f);
    f->arena = arena_create();
    f->root = test_directory(f->arena);
    error_list_init(&f->faults);
    *state = f;
    return 0;
}

int fixture_close(void **state) {
    Fixture *f = *state;
    project_destroy(f->project);
    error_list_deinit(&f->faults);
    test_directory_remove(f->arena, f->root);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

void fixture_write_bytes(Fixture *f, const char *path, const char *bytes, size_t size) {
    AUTO(error) Error err;
    error_init(&err);
    Str target = path_join(f->arena, f->root, str_from(path));
    assert_done(directory_create_all(path_directory(target), &err), &err);
    assert_done(file_write_atomic(target, (Str){.ptr = bytes, .size = size}, false, &err), &err);
}

void fixture_write(Fixture *f, const char *path, const char *text) {
    fixture_write_bytes(f, path, text, strlen(text));
}

void fixture_remove(Fixture *f, const char *path) {
    assert_int_equal(unlink(str_to_c(f->arena, path_join(f->arena, f->root, str_from(path)))), 0);
}

static Status discover(void *context, const ProjectConfig *config, const PythonFileVec *files, Arena *arena,
                       const ConfigValue **manifest_out, ErrorList *faults) {
    (void)config, (void)files;
    Fixture *f = context;
    f->discoveries++;
    AUTO(error) Error err;
    error_init(&err);
    ConfigValue *manifest;
    if (failed(json_read(str_from(f->manifest), STR("manifest"), arena, &manifest, &err))) {
        error_list_take(faults, &err);
        return FAILED;
    }
    if (f->has_broken_file) {
        error_set_at(&err, ERROR_DEFINITION, (SourceSpan){.file = STR("models/bad.py")},
                     "could not load models/bad.py");
        error_list_take(faults, &err);
    }
    *manifest_out = manifest;
    return OK;
}

bool fixture_load(Fixture *f) {
    project_destroy(f->project);
    f->project = NULL;
    error_list_deinit(&f->faults);
    error_list_init(&f->faults);
    ProjectOptions options = {.config = {.root = f->root}, .no_cache = true};
    if (f->manifest != NULL) {
        options.python = (PythonDiscovery){.discover = discover, .context = f};
    }
    return !failed(project_load(&options, &f->project, &f->faults));
}

const Model *fixture_model(const Fixture *f, const char *name) {
    const Model *model = project_find(f->project, str_from(name));
    if (model == NULL) {
        print_error("there is no model '%s'\n", name);
    }
    assert_non_null(model);
    return model;
}

static Str code_of(const Error *fault) {
    Str code = error_detail_find(fault, STR("code"));
    return code.size > 0 ? code : str_from(error_kind_name(fault->kind));
}

static Str line_of(const Fixture *f, const Error *fault) {
    Str code = code_of(fault);
    return str_format(f->arena, "[" STR_FMT "] " STR_FMT " | " STR_FMT, STR_ARG(code),
                      STR_ARG(error_line(fault, f->arena)), STR_ARG(fault->hint));
}

static void print_faults(const Fixture *f) {
    for (size_t i = 0; i < f->faults.count; i++) {
        print_error("  " STR_FMT "\n", STR_ARG(line_of(f, &f->faults.items[i])));
    }
}

void assert_loads_at(Fixture *f, const char *file, int line) {
    if (!fixture_load(f)) {
        print_error("the project does not load:\n");
        print_faults(f);
        _fail(file, line);
    }
    if (f->faults.count > 0) {
        print_error("it loads, but with faults:\n");
        print_faults(f);
        _fail(file, line);
    }
}

void assert_fault_count_at(Fixture *f, size_t count, const char *file, int line) {
    bool is_loaded = fixture_load(f);
    if (is_loaded || f->faults.count != count) {
        print_error("%zu faults, not %zu%s:\n", f->faults.count, count, is_loaded ? ", and it loads" : "");
        print_faults(f);
        _fail(file, line);
    }
}

void assert_fault_at(Fixture *f, const char *code, const char *part, const char *file, int line) {
    for (size_t i = 0; i < f->faults.count; i++) {
        const Error *fault = &f->faults.items[i];
        if (str_equal(code_of(fault), str_from(code)) && str_find(line_of(f, fault), str_from(part)) != STR_NOT_FOUND) {
            return;
        }
    }
    print_error("no fault [%s] with '%s' among:\n", code, part);
    print_faults(f);
    _fail(file, line);
}

void assert_upstreams_at(const Fixture *f, const char *name, const char *expected, const char *file, int line) {
    const Model *model = fixture_model(f, name);
    StrVec names = {0};
    for (size_t i = 0; i < model->upstreams.count; i++) {
        str_vec_push(f->arena, &names, f->project->models[model->upstreams.items[i]]->name);
    }
    assert_str_at(str_join(f->arena, names.items, names.count, STR(", ")), expected, name, file, line);
}

void assert_contains_at(Str text, const char *part, const char *file, int line) {
    if (str_find(text, str_from(part)) == STR_NOT_FOUND) {
        print_error("'" STR_FMT "' has no '%s'\n", STR_ARG(text), part);
        _fail(file, line);
    }
}
