#include "python/discovery_cache.h"

#include "base/files.h"
#include "base/hash.h"
#include "config/json_writer.h"
#include "python/frame.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_COUNT 20
#define FILE_SIZE_MAX ((size_t)256 << 20)
#define DATA_SIZE_MAX ((size_t)256 << 20)
#define FORMAT STR("interlace discovery 1")

/* ---- Key */

/* Files of the root that say which packages are installed. */
static const Str lock_files[] = {
    STR_INIT("pyproject.toml"), STR_INIT("requirements.txt"), STR_INIT("uv.lock"),
    STR_INIT("poetry.lock"),    STR_INIT("pdm.lock"),         STR_INIT("Pipfile.lock"),
};

/* Empty for a file that is not there or cannot be read. */
static Str digest_of_file(Str root, Str path, Arena *arena) {
    AUTO(error) Error ignored;
    error_init(&ignored);
    Str absolute = path_join(arena, root, path);
    AUTO(arena) Arena *content_arena = arena_create();
    Str content;
    if (!file_exists(absolute) || failed(file_read(absolute, DATA_SIZE_MAX, content_arena, &content, &ignored))) {
        return STR_EMPTY;
    }
    return sha256_hex(arena, content);
}

static void add_part(StrBuf *text, Str name, Str value) {
    strbuf_format(text, STR_FMT "=%zu:" STR_FMT "\n", STR_ARG(name), value.size, STR_ARG(value));
}

static void add_vars(StrBuf *text, const ProjectConfig *config) {
    for (size_t i = 0; i < config->vars.count; i++) {
        const VarConfig *var = &config->vars.items[i];
        strbuf_format(text, "%d ", (int)var->type);
        add_part(text, var->name, var->value);
    }
}

Str discovery_key(const WorkerOptions *options, const PythonFileVec *files, Arena *arena) {
    AUTO(strbuf) StrBuf text = {0};
    const ProjectConfig *config = options->config;
    add_part(&text, STR("format"), FORMAT);
    add_part(&text, STR("root"), config->root); /* models may be named after it */
    add_part(&text, STR("sdk"), options->sdk->identity);
    add_part(&text, STR("interpreter"), options->interpreter->identity);
    add_vars(&text, config);
    for (size_t i = 0; i < files->count; i++) {
        add_part(&text, files->items[i].path, sha256_hex(arena, files->items[i].content));
    }
    for (size_t i = 0; i < COUNT_OF(lock_files); i++) {
        add_part(&text, lock_files[i], digest_of_file(config->root, lock_files[i], arena));
    }
    return sha256_hex(arena, strbuf_str(&text));
}

/* The variable may be a secret: its digest differs from key to key. "-" when it is not set. */
static Str digest_of_variable(Str key, Str name, Arena *arena) {
    const char *value = getenv(str_to_c(arena, name));
    return value == NULL ? STR("-") : sha256_hex(arena, str_format(arena, STR_FMT " %s", STR_ARG(key), value));
}

/* ---- Reading */

static Str folder_of(const ProjectConfig *config, Arena *arena) {
    return path_join(arena, config->cache_path, STR("discovery"));
}

static Str path_of(const ProjectConfig *config, Str key, Arena *arena) {
    return path_join(arena, folder_of(config, arena), str_format(arena, STR_FMT ".json", STR_ARG(key)));
}

static bool still_holds(const ProjectConfig *config, Str key, const ConfigValue *stored, Arena *arena) {
    const ConfigValue *variables = config_find(stored, STR("env"));
    const ConfigValue *data = config_find(stored, STR("data"));
    for (size_t i = 0; variables != NULL && i < variables->count; i++) {
        Str name = variables->entries[i].key;
        if (!str_equal(variables->entries[i].value->text, digest_of_variable(key, name, arena))) {
            return false;
        }
    }
    for (size_t i = 0; data != NULL && i < data->count; i++) {
        Str path = data->entries[i].key;
        if (!str_equal(data->entries[i].value->text, digest_of_file(config->root, path, arena))) {
            return false;
        }
    }
    return true;
}

/* The ones that are used stay. */
static void touch(Str path, Arena *arena) {
    (void)utimensat(AT_FDCWD, str_to_c(arena, path), NULL, 0);
}

void discovery_cache_read(const ProjectConfig *config, Str key, Arena *arena, const ConfigValue **chunks_out) {
    AUTO(error) Error ignored; /* a file that cannot be read is a miss */
    error_init(&ignored);
    Str path = path_of(config, key, arena);
    Str text;
    ConfigValue *stored = NULL;
    *chunks_out = NULL;
    if (!file_exists(path) || failed(file_read(path, FILE_SIZE_MAX, arena, &text, &ignored)) ||
        failed(json_read(text, path, arena, &stored, &ignored))) {
        return;
    }
    const ConfigValue *chunks = config_find(stored, STR("chunks"));
    bool is_sound =
        str_equal(config_text(stored, STR("format")), FORMAT) && chunks != NULL && chunks->kind == CONFIG_LIST;
    if (is_sound && still_holds(config, key, stored, arena)) {
        touch(path, arena);
        *chunks_out = chunks;
    }
}

/* ---- Writing */

typedef struct Dependencies {
    Arena *arena;
    StrMap *files;    /* digests of the files that the key covers, by path */
    StrVec variables; /* each once */
    StrMap *data;     /* digests of other files, by path */
    bool may_be_kept;
} Dependencies;

static size_t count_of(const ConfigValue *list) {
    return list != NULL && list->kind == CONFIG_LIST ? list->count : 0;
}

static void add_data(Dependencies *found, Str path, Str digest) {
    if (!str_map_contains(found->files, path) && !str_map_contains(found->data, path)) {
        Str *kept = ARENA_NEW(found->arena, Str);
        *kept = digest;
        str_map_put(found->data, path, kept);
    }
}

static void add_variables(Dependencies *found, const ConfigValue *names) {
    for (size_t i = 0; i < count_of(names); i++) {
        if (!str_vec_contains(&found->variables, names->items[i]->text)) {
            str_vec_push(found->arena, &found->variables, names->items[i]->text);
        }
    }
}

static void add_file(Dependencies *found, const ProjectConfig *config, const ConfigValue *file) {
    const Str *expected = str_map_find(found->files, config_text(file, STR("path")));
    found->may_be_kept &= expected != NULL && str_equal(*expected, config_text(file, STR("sha256")));
    found->may_be_kept &= !frame_flag(file, STR("is_volatile")) && count_of(config_find(file, STR("errors"))) == 0;
    add_variables(found, config_find(file, STR("env_read")));
    const ConfigValue *imports = config_find(file, STR("imports"));
    for (size_t i = 0; i < count_of(imports); i++) {
        add_data(found, imports->items[i]->text, digest_of_file(config->root, imports->items[i]->text, found->arena));
    }
    const ConfigValue *data = config_find(file, STR("data_read"));
    for (size_t i = 0; i < count_of(data); i++) {
        add_data(found, config_text(data->items[i], STR("path")), config_text(data->items[i], STR("sha256")));
    }
}

static void collect(Dependencies *found, const ProjectConfig *config, const PythonFileVec *files,
                    const StrVec *chunks) {
    for (size_t i = 0; i < files->count; i++) {
        Str *digest = ARENA_NEW(found->arena, Str);
        *digest = sha256_hex(found->arena, files->items[i].content);
        str_map_put(found->files, files->items[i].path, digest);
    }
    for (size_t i = 0; i < chunks->count; i++) {
        AUTO(error) Error ignored;
        error_init(&ignored);
        ConfigValue *chunk = NULL;
        if (failed(json_read(chunks->items[i], STR("manifest"), found->arena, &chunk, &ignored))) {
            found->may_be_kept = false;
            return;
        }
        const ConfigValue *entries = config_find(chunk, STR("files"));
        for (size_t k = 0; k < count_of(entries); k++) {
            add_file(found, config, entries->items[k]);
        }
    }
}

static void write_stored(JsonWriter *json, const Dependencies *found, Str key, const StrVec *chunks) {
    json_begin_object(json);
    json_text_field(json, STR("format"), FORMAT);
    json_key(json, STR("env"));
    json_begin_object(json);
    for (size_t i = 0; i < found->variables.count; i++) {
        Str name = found->variables.items[i];
        json_text_field(json, name, digest_of_variable(key, name, found->arena));
    }
    json_end_object(json);
    json_key(json, STR("data"));
    json_begin_object(json);
    for (size_t i = 0; i < str_map_count(found->data); i++) {
        const StrMapEntry *entry = &str_map_entries(found->data)[i];
        json_text_field(json, entry->key, *(const Str *)entry->value);
    }
    json_end_object(json);
    json_key(json, STR("chunks"));
    json_begin_array(json);
    for (size_t i = 0; i < chunks->count; i++) {
        json_raw(json, chunks->items[i]);
    }
    json_end_array(json);
    json_end_object(json);
}

static int64_t changed_at(Str path, Arena *arena) {
    struct stat info;
    return stat(str_to_c(arena, path), &info) == 0 ? info.st_mtim.tv_sec * INT64_C(1000000000) + info.st_mtim.tv_nsec
                                                   : 0;
}

/* Removes the oldest until KEPT_COUNT are left. */
static void remove_old(Str folder, Arena *arena) {
    AUTO(error) Error ignored;
    error_init(&ignored);
    FileEntryVec entries = {0};
    if (failed(directory_walk(folder, STR("."), arena, &entries, &ignored))) {
        return;
    }
    while (entries.count > KEPT_COUNT) {
        size_t oldest = 0;
        for (size_t i = 1; i < entries.count; i++) {
            Str path = path_join(arena, folder, entries.items[i].path);
            if (changed_at(path, arena) < changed_at(path_join(arena, folder, entries.items[oldest].path), arena)) {
                oldest = i;
            }
        }
        (void)unlink(str_to_c(arena, path_join(arena, folder, entries.items[oldest].path)));
        entries.items[oldest] = entries.items[--entries.count];
    }
}

void discovery_cache_write(const ProjectConfig *config, Str key, const PythonFileVec *files, const StrVec *chunks) {
    AUTO(arena) Arena *arena = arena_create();
    AUTO(error) Error ignored;
    error_init(&ignored);
    Dependencies found = {
        .arena = arena,
        .files = str_map_create(arena, STR_MAP_EXACT),
        .data = str_map_create(arena, STR_MAP_EXACT),
        .may_be_kept = true,
    };
    collect(&found, config, files, chunks);
    if (!found.may_be_kept) {
        return;
    }
    AUTO(strbuf) StrBuf text = {0};
    JsonWriter json;
    json_writer_init(&json, &text, JSON_COMPACT);
    write_stored(&json, &found, key, chunks);
    Str folder = folder_of(config, arena);
    if (!failed(directory_create_all(folder, &ignored)) &&
        !failed(file_write_atomic(path_of(config, key, arena), strbuf_str(&text), false, &ignored))) {
        remove_old(folder, arena);
    }
}
