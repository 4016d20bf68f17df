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

static void append_partitions(const Model *model, StrBuf *sql) {
    const ConfigValue *columns = model->options == NULL ? NULL : config_find(model->options, STR("partition_by"));
    if (columns == NULL || columns->kind == CONFIG_NULL) {
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
    AUTO(strbuf) StrBuf source = {0};
    AUTO(strbuf) StrBuf tail = {0};
    if (staged != NULL) {
        strbuf_text(&source, "SELECT * FROM ");
        sql_relation(&source, *staged);
    }
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
        staged != NULL ? sql_text_own(build->arena, strbuf_copy(&source, build->arena)) : build->query,
        sql_text_own(build->arena, strbuf_copy(&tail, build->arena)),
    };
    return sql_text_concat(build->arena, parts, COUNT_OF(parts));
}

Status build_deliver_file(Build *build, const SqlRelation *staged, Error *err) {
    Str path = expand_path(build);
    Str temporary = file_temporary_name(build->arena, path);
    SqlText copy = copy_statement(build, temporary, staged);
    TRY(directory_create_all(path_directory(path), err));
    file_remove_temporaries(path); /* of a process that was killed */

    int64_t rows = 0;
    TRY(test_hook("build.file", err));
    if (failed(engine_execute(build->connection, &copy, &rows, err))) {
        file_remove_tree(temporary);
        return FAILED;
    }
    TRY(test_hook("build.file_written", err));
    TRY(file_publish(temporary, path, err));
    build->rows = (RowCounts){.is_known = engine_capabilities(build->context->engine)->row_counts, .inserted = rows};
    return OK;
}
