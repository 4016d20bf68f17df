#include "project/dynamic_models.h"

#include "base/files.h"
#include "config/json_writer.h"
#include "project/project_load.h"

#define OWNER_MARK STR("-- registered by ")
#define ENDING STR(".sql")

Str dynamic_model_path(Arena *arena, Str name) {
    return str_format(arena, DYNAMIC_FOLDER "/" STR_FMT ".sql", STR_ARG(name));
}

/* ---- Writing */

/* What says where and what a model is stands elsewhere: in the file's name, its body and its owner. */
static bool is_key(Str key) {
    static const Str others[] = {STR_INIT("name"), STR_INIT("sql"), STR_INIT("file"), STR_INIT("line")};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        if (str_equal(key, others[i])) {
            return false;
        }
    }
    return true;
}

/* A star before a slash would end the comment; in JSON they stand in texts alone, where a slash may be escaped. */
static void append_in_comment(StrBuf *out, Str json) {
    for (size_t i = 0; i < json.size; i++) {
        bool ends_comment = json.ptr[i] == '/' && i > 0 && json.ptr[i - 1] == '*';
        strbuf_text(out, ends_comment ? "\\" : "");
        strbuf_char(out, json.ptr[i]);
    }
}

static void write_keys(const ConfigValue *registration, StrBuf *out) {
    JsonWriter json;
    json_writer_init(&json, out, JSON_COMPACT);
    json_begin_object(&json);
    for (size_t i = 0; i < registration->count; i++) {
        const ConfigEntry *entry = &registration->entries[i];
        if (is_key(entry->key) && entry->value->kind != CONFIG_NULL) {
            json_key(&json, entry->key);
            json_config(&json, entry->value);
        }
    }
    json_end_object(&json);
}

Str dynamic_model_text(const ConfigValue *registration, Str owner, Arena *arena) {
    AUTO(strbuf) StrBuf keys = {0};
    AUTO(strbuf) StrBuf text = {0};
    write_keys(registration, &keys);
    strbuf_append(&text, OWNER_MARK);
    strbuf_append(&text, owner);
    strbuf_text(&text, "\n/* interlace: ");
    append_in_comment(&text, strbuf_str(&keys));
    strbuf_text(&text, " */\n");
    strbuf_append(&text, str_trim(config_find(registration, STR("sql"))->text));
    strbuf_char(&text, '\n');
    return strbuf_copy(&text, arena);
}

/* ---- Reading */

static const DynamicModel *find_replacement(const ProjectLoad *load, Str name) {
    for (size_t i = 0; load->dynamic != NULL && i < load->dynamic->count; i++) {
        if (str_equal(load->dynamic->items[i].name, name)) {
            return &load->dynamic->items[i];
        }
    }
    return NULL;
}

static const Model *find_draft(const ProjectLoad *load, Str name) {
    for (size_t i = 0; i < load->drafts.count; i++) {
        if (str_equal_fold(load->drafts.items[i]->model->name, name)) {
            return load->drafts.items[i]->model;
        }
    }
    return NULL;
}

/* Empty: a file that somebody put there by hand, which counts as a source file. */
static Str owner_of(const SourceFile *source) {
    if (!str_starts_with(source->content, OWNER_MARK)) {
        return STR_EMPTY;
    }
    Str line = str_slice(source->content, OWNER_MARK.size, str_find_char(source->content, '\n'));
    return str_trim(line);
}

/* A file whose owner is gone is left out, as if it had gone with it, and comes back with it (another branch). A source
 * file of the same name takes its place. */
static bool is_wanted(ProjectLoad *load, Str name, Str owner) {
    if (owner.size > 0 && find_draft(load, owner) == NULL) {
        return false;
    }
    const Model *present = find_draft(load, name);
    if (present != NULL) {
        str_vec_push(load->arena, &load->project->notes,
                     str_format(load->arena,
                                "model '" STR_FMT "' of " STR_FMT " takes the place of the one that '" STR_FMT
                                "' registered",
                                STR_ARG(present->name), STR_ARG(present->place.file), STR_ARG(owner)));
    }
    return present == NULL;
}

static void read_source(ProjectLoad *load, Str name, const SourceFile *source) {
    Str owner = owner_of(source);
    if (is_wanted(load, name, owner)) {
        project_read_sql_source(load, name, source)->registered_by = owner;
    }
}

static void read_file(ProjectLoad *load, Str path, Str name) {
    AUTO(error) Error err = {0};
    const SourceFile *source;
    if (failed(source_file_read(load->config->root, path, load->arena, &source, &err))) {
        project_fault(load, &err);
        return;
    }
    read_source(load, name, source);
}

static void read_replacements(ProjectLoad *load) {
    for (size_t i = 0; load->dynamic != NULL && i < load->dynamic->count; i++) {
        const DynamicModel *model = &load->dynamic->items[i];
        if (model->text.size > 0) {
            SourceFile *source = ARENA_NEW(load->arena, SourceFile);
            source->path = dynamic_model_path(load->arena, model->name);
            source->content = str_copy(load->arena, model->text);
            read_source(load, str_copy(load->arena, model->name), source);
        }
    }
}

void project_read_dynamic_models(ProjectLoad *load) {
    FileEntryVec entries = {0};
    AUTO(error) Error err = {0};
    if (failed(directory_walk(load->config->root, STR(DYNAMIC_FOLDER), load->arena, &entries, &err))) {
        project_fault(load, &err);
        return;
    }
    for (size_t i = 0; i < entries.count; i++) {
        Str file = path_base_name(entries.items[i].path);
        bool is_model = !entries.items[i].is_directory && str_ends_with(file, ENDING);
        Str name = is_model ? str_slice(file, 0, file.size - ENDING.size) : STR_EMPTY;
        if (is_model && find_replacement(load, name) == NULL) {
            read_file(load, entries.items[i].path, name);
        }
    }
    read_replacements(load);
}
