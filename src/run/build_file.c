/* A model that is delivered as a file: written beside its place, on the disk, then renamed over (spec 01 §12.1). */
#include "run/build_step.h"

#include "base/files.h"
#include "base/test_hooks.h"
#include "config/path_tokens.h"
#include "config/scalar.h"

/* Tokens are of the start of the build. */
static Str expand_path(const Build *build) {
    Str root = build->context->session->project->config->root;
    Str path = path_tokens_expand(build->task->model->path, root, build->now, build->arena);
    return path_join(build->arena, root, path);
}

/* ---- The statement. */

static Str option_text(const Model *model, const char *name, const char *fallback) {
    const ConfigValue *value = model->options == NULL ? NULL : config_find(model->options, str_from(name));
    return value == NULL || value->kind != CONFIG_SCALAR ? str_from(fallback) : value->text;
}

static bool option_flag(const Model *model, const char *name) {
    bool flag = true;
    (void)scalar_to_bool(option_text(model, name, "true"), &flag); /* checked when the project loaded */
    return flag;
}

static void append_csv_options(const Model *model, StrBuf *sql) {
    strbuf_text(sql, "FORMAT CSV, HEADER ");
    strbuf_text(sql, option_flag(model, "header") ? "true" : "false");
    strbuf_text(sql, ", DELIMITER ");
    sql_literal(sql, option_text(model, "delimiter", ","));
    strbuf_text(sql, ", NULL ");
    sql_literal(sql, option_text(model, "null", ""));
}

/* A column or a list of them; NULL: one file. */
static const ConfigValue *partition_columns(const Model *model) {
    const ConfigValue *columns = model->options == NULL ? NULL : config_find(model->options, STR("partition_by"));
    return columns == NULL || columns->kind == CONFIG_NULL ? NULL : columns;
}

static void append_partitions(const Model *model, StrBuf *sql) {
    const ConfigValue *columns = partition_columns(model);
    if (columns == NULL) {
        return;
    }
    strbuf_text(sql, ", PARTITION_BY (");
    if (columns->kind == CONFIG_SCALAR) {
        sql_identifier(sql, columns->text);
    }
    for (size_t i = 0; columns->kind == CONFIG_LIST && i < columns->count; i++) {
        strbuf_text(sql, i > 0 ? ", " : "");
        sql_identifier(sql, columns->items[i]->text);
    }
    strbuf_char(sql, ')');
}

static void append_parquet_options(const Model *model, StrBuf *sql) {
    Str compression = option_text(model, "compression", "snappy");
    strbuf_text(sql, "FORMAT PARQUET, COMPRESSION ");
    sql_literal(sql, str_equal(compression, STR("none")) ? STR("uncompressed") : compression);
    Str group = option_text(model, "row_group_size", "");
    if (group.size > 0) {
        strbuf_text(sql, ", ROW_GROUP_SIZE ");
        strbuf_append(sql, group);
    }
    append_partitions(model, sql);
}

static SqlText copy_statement(const Build *build, Str temporary, const SqlRelation *staged) {
    const Model *model = build->task->model;
    AUTO(strbuf) StrBuf tail = {0};
    strbuf_text(&tail, "\n) TO "); /* a line comment may end the query */
    sql_literal(&tail, temporary);
    strbuf_text(&tail, " (");
    if (str_equal(model->format, STR("csv"))) {
        append_csv_options(model, &tail);
    } else if (str_equal(model->format, STR("json"))) {
        strbuf_text(&tail, "FORMAT JSON, ARRAY false");
    } else {
        append_parquet_options(model, &tail);
    }
    strbuf_char(&tail, ')');
    SqlText parts[] = {
        sql_text_own(build->arena, STR("COPY (")),
        staged != NULL ? sql_text_all_rows(build->arena, *staged) : build->query,
        sql_text_own(build->arena, strbuf_copy(&tail, build->arena)),
    };
    return sql_text_concat(build->arena, parts, COUNT_OF(parts));
}

/* ---- What is there already. */

/* Only a folder of parts, `column=value`, is ours to exchange: anything else in it is somebody's. */
static Status refuse_foreign_entry(Str path, Str entry, Error *err) {
    if (str_find_char(str_slice(entry, 0, str_find_char(entry, '/')), '=') != STR_NOT_FOUND) {
        return OK;
    }
    error_set(err, ERROR_EXECUTION,
              "cannot write '" STR_FMT "': the folder holds '" STR_FMT "', which is no part of it", STR_ARG(path),
              STR_ARG(entry));
    error_hint(err, "move it away, or give the model another path:");
    return FAILED;
}

static Status check_place(const Model *model, Str path, Error *err) {
    if (!file_is_directory(path)) {
        return OK;
    }
    if (partition_columns(model) == NULL) {
        error_set(err, ERROR_EXECUTION, "cannot write '" STR_FMT "': it is a folder", STR_ARG(path));
        error_hint(err, "let path: name a file, or write a folder of parts with options: {partition_by: …}");
        return FAILED;
    }
    AUTO(arena) Arena *scratch = arena_create();
    FileEntryVec entries = {0};
    TRY(directory_walk(path, STR_EMPTY, scratch, &entries, err));
    for (size_t i = 0; i < entries.count; i++) {
        TRY(refuse_foreign_entry(path, entries.items[i].path, err));
    }
    return OK;
}

static Status write_temporary(Build *build, const SqlText *copy, Str temporary, int64_t *rows_out, Error *err) {
    TRY(test_hook("build.file", err));
    TRY(engine_execute(build->connection, copy, rows_out, err));
    if (partition_columns(build->task->model) != NULL && *rows_out == 0) {
        TRY(directory_create_all(temporary, err)); /* no row, no part, but still a folder */
    }
    return test_hook("build.file_written", err);
}

Status build_deliver_file(Build *build, const SqlRelation *staged, Error *err) {
    Str path = expand_path(build);
    Str temporary = file_temporary_name(build->arena, path);
    SqlText copy = copy_statement(build, temporary, staged);
    TRY(check_place(build->task->model, path, err));
    TRY(directory_create_all(path_directory(path), err));
    file_remove_temporaries(path); /* of a process that was killed */

    int64_t rows = 0;
    if (failed(write_temporary(build, &copy, temporary, &rows, err))) {
        file_remove_tree(temporary);
        return err->kind == ERROR_INTERRUPTED ? FAILED : error_wrap(err, "writing '" STR_FMT "'", STR_ARG(path));
    }
    TRY(file_publish(temporary, path, err));
    build->rows = (RowCounts){.is_known = engine_capabilities(build->context->engine)->row_counts, .inserted = rows};
    return OK;
}
