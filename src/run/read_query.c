#include "run/read_query.h"

#include "base/files.h"
#include "base/test_hooks.h"
#include "project/graph.h"
#include "project/input_scan.h"
#include "run/apply.h"
#include "run/input_access.h"
#include "run/query_watchdog.h"
#include "run/readable_relations.h"
#include "sql/sql_fence.h"
#include "sql/sql_item_names.h"
#include "sql/sql_splice.h"

/* What a cell that is no text counts towards QUERY_CELLS_SIZE_MAX. */
#define PLAIN_CELL_SIZE ((size_t)16)

/* One query on its way. */
typedef struct ReadQuery {
    Session *session;
    const ReadQueryOptions *options;
    Arena *arena;
    ReadableRelations *readable;
    const Str *inputs;   /* the scan of each input of the configuration */
    bool *is_input_read; /* by the query, or by a view that it may read */
    SqlFacts facts;
    Str sql; /* with the views' names, wrapped */
} ReadQuery;

/* --- Layer one: what the text may say --------------------------------------------------------------------------------
 */

static Status refuse_unbuilt(const ReadQuery *query, Error *err) {
    Status status =
        error_set(err, ERROR_QUERY, "nothing is built in '" STR_FMT "' yet", STR_ARG(query->options->environment));
    bool is_production = str_equal(query->options->environment, STR("prod"));
    error_hint(err, "run interlace apply%s" STR_FMT, is_production ? "" : " -e ",
               STR_ARG(is_production ? STR_EMPTY : query->options->environment));
    return status;
}

static bool owns_relation(void *context, const SqlTableRef *table) {
    const ReadQuery *query = context;
    return readable_relations_find(query->readable, table) != NULL ||
           input_find(query->session->project->config, table) != INPUT_NONE;
}

/* Before anything is built no name can be known; what else is wrong with the text is still said first. */
static bool owns_any_relation(void *context, const SqlTableRef *table) {
    (void)context;
    return !table->is_file;
}

static Status check_text(ReadQuery *query, Error *err) {
    if (query->options->sql.size > QUERY_TEXT_MAX) {
        return error_set(err, ERROR_QUERY, "the query has %zu bytes; at most %zu are read", query->options->sql.size,
                         QUERY_TEXT_MAX);
    }
    bool is_empty = readable_relations_is_empty(query->readable);
    SqlFencePolicy policy = {.owns_relation = is_empty ? owns_any_relation : owns_relation, .context = query};
    AUTO(duck_parser) DuckParser *parser = NULL;
    TRY(duck_parser_open(&parser, err));
    TRY(sql_fence_check(parser, query->options->sql, &policy, query->arena, &query->facts, err));
    TRY(sql_item_names(parser, query->options->sql, query->arena, &query->facts, err));
    return is_empty ? refuse_unbuilt(query, err) : OK;
}

/* --- The statement that is sent --------------------------------------------------------------------------------------
 */

/* One row more than asked for tells whether there are more. */
static Status make_statement(ReadQuery *query, Error *err) {
    const SqlFacts *facts = &query->facts;
    SqlReplacement *replacements = ARENA_NEW_ARRAY(query->arena, SqlReplacement, facts->tables.count);
    for (size_t i = 0; i < facts->tables.count; i++) {
        const SqlRelation *relation = readable_relations_find(query->readable, &facts->tables.items[i]);
        if (relation != NULL) {
            replacements[i].relation = *relation;
            continue;
        }
        size_t input = input_find(query->session->project->config, &facts->tables.items[i]);
        if (input != INPUT_NONE) {
            query->is_input_read[input] = true;
            replacements[i].source = query->inputs[input];
        }
    }
    SqlText text = sql_text_own(query->arena, query->options->sql);
    SqlText spliced;
    SqlSplice splice = {.replacements = replacements};
    TRY(sql_splice(&text, facts, &splice, query->arena, &spliced, err));
    SqlText body = sql_text_as_body(&spliced, query->arena);
    query->sql = str_format(query->arena, "SELECT * FROM (" STR_FMT "\n) LIMIT %lld", STR_ARG(body.text),
                            (long long)query->options->limit + 1);
    return OK;
}

/* --- Layer two: what the engine may do -------------------------------------------------------------------------------
 */

static bool reads_files(const Model *model) {
    if (model->kind != MODEL_SQL || model->materialise == MATERIALISE_VIRTUAL) {
        return false;
    }
    bool reads = model->facts->file_readers.count > 0;
    for (size_t i = 0; i < model->facts->tables.count; i++) {
        reads = reads || model->facts->tables.items[i].is_file;
    }
    return reads;
}

static bool has_view_of_files(const Project *project) {
    for (size_t i = 0; i < project->model_count; i++) {
        if (reads_files(project->models[i])) {
            return true;
        }
    }
    return false;
}

/* What is in the folder of the path may be read, or below it when the path is a pattern. */
static Str folder_of_input(const ProjectConfig *config, const InputConfig *input, Arena *arena) {
    Str path = input_path(config, input, clock_now_us(), arena);
    return file_is_directory(path) ? path : path_directory(input_path_prefix(path));
}

static void add_input_folders(const ReadQuery *query, Arena *arena, StrVec *folders) {
    const ProjectConfig *config = query->session->project->config;
    for (size_t i = 0; i < config->inputs.count; i++) {
        if (query->is_input_read[i]) {
            str_vec_push(arena, folders, folder_of_input(config, &config->inputs.items[i], arena));
        }
    }
}

/* Shuts this instance off from files and network for good, and its settings with it. What the engine keeps its own rows
 * in stays open; and, when a view of the project reads files, the project's own folder, for it reads them now; and the
 * folders of inputs that are read. */
static Status shut_external_access(const ReadQuery *query, EngineConnection *connection, Error *err) {
    const Project *project = query->session->project;
    DuckConnection *duck = engine_connection_duck(connection);
    AUTO(arena) Arena *arena = arena_create();
    int64_t is_shut = 0;
    TRY(duck_query_int(duck, STR("SELECT current_setting('lock_configuration')::INTEGER"), &is_shut, err));
    if (is_shut != 0) {
        return OK;
    }
    StrVec folders = {0};
    Str data;
    TRY(engine_data_folder(connection, arena, &data, err));
    if (data.size > 0) {
        str_vec_push(arena, &folders, data);
    }
    if (has_view_of_files(project)) {
        str_vec_push(arena, &folders, project->config->root);
    }
    add_input_folders(query, arena, &folders);
    AUTO(strbuf) StrBuf sql = {0};
    for (size_t i = 0; i < folders.count; i++) {
        strbuf_text(&sql, i == 0 ? "SET allowed_directories = [" : ", ");
        sql_literal(&sql, folders.items[i]);
    }
    strbuf_text(&sql, folders.count > 0 ? "]; " : "");
    strbuf_text(&sql, "SET enable_external_access = false; SET lock_configuration = true");
    return duck_execute(duck, strbuf_str(&sql), NULL, err);
}

/* A test cannot wait for the real limit. */
static int64_t limit_us(void) {
    AUTO(error) Error ignored;
    error_init(&ignored);
    bool is_shortened = failed(test_hook("query.short_limit", &ignored));
    return is_shortened ? 200000 : (int64_t)QUERY_SECONDS_MAX * 1000000;
}

static Status run_watched(ReadQuery *query, DuckConnection *connection, DuckRows *rows_out, Error *err) {
    QueryWatchdog *watchdog = NULL;
    TRY(query_watchdog_start(connection, limit_us(), &watchdog, err));
    Status status = duck_begin_read_only(connection, err);
    if (!failed(status)) {
        status = duck_query(connection, query->sql, query->arena, rows_out, err);
    }
    bool took_too_long = query_watchdog_stop(watchdog);
    duck_rollback(connection);
    if (failed(status) && took_too_long) {
        return error_set(err, ERROR_QUERY, "the query took longer than %d s and was stopped", QUERY_SECONDS_MAX);
    }
    return status;
}

static Status run_on_warehouse(ReadQuery *query, DuckRows *rows_out, Error *err) {
    Engine *engine = NULL;
    AUTO(engine_connection) EngineConnection *connection = NULL;
    TRY(session_engine(query->session, true, &engine, err));
    if (!engine_database_exists(engine)) {
        return refuse_unbuilt(query, err);
    }
    TRY(engine_connect(engine, &connection, err));
    DuckConnection *duck = engine_connection_duck(connection);
    if (duck == NULL) {
        return error_set(err, ERROR_QUERY, "engine '" STR_FMT "' cannot be asked yet", STR_ARG(engine_name(engine)));
    }
    input_flags_add_views(query->session->project, query->is_input_read);
    TRY(input_access_prepare(connection, query->session->project->config, query->is_input_read, err));
    TRY(shut_external_access(query, connection, err));
    return run_watched(query, duck, rows_out, err);
}

/* What the engine says of the user's own query is a QueryError, without the statement that was made of it. */
static Status as_query_error(Error *err) {
    if (err->kind == ERROR_EXECUTION || err->kind == ERROR_COMPILATION) {
        err->kind = ERROR_QUERY;
    }
    err->sql = STR_EMPTY;
    err->sql_offset = STR_NOT_FOUND;
    return FAILED;
}

/* --- The result ------------------------------------------------------------------------------------------------------
 */

static size_t cell_size(const DuckCell *cell) {
    return cell->kind == DUCK_CELL_TEXT ? cell->text.size : PLAIN_CELL_SIZE;
}

/* How many whole rows stay within the limits. */
static size_t rows_within_limits(const DuckRows *rows, int64_t limit) {
    size_t size = 0;
    for (size_t row = 0; row < rows->row_count; row++) {
        for (size_t column = 0; column < rows->columns.count; column++) {
            size += cell_size(duck_cell(rows, row, column));
        }
        if (size > QUERY_CELLS_SIZE_MAX || row == (size_t)limit) {
            return row;
        }
    }
    return rows->row_count;
}

static Status open_query(ReadQuery *query, Error *err) {
    StateStore *state = NULL;
    TRY(recovery_finish_if_needed(query->session, err));
    TRY(session_state_for_reading(query->session, &state, err));
    query->inputs = input_scans(query->session->project->config, clock_now_us(), query->arena);
    query->is_input_read = input_flags(query->session->project->config, query->arena);
    return readable_relations_load(query->session->project, state, query->options->environment, query->arena,
                                   &query->readable, err);
}

Status read_query(Session *session, const ReadQueryOptions *options, Arena *arena, ReadQueryResult *result_out,
                  Error *err) {
    assert(options->limit >= 1);
    ReadQueryOptions bounded = *options;
    bounded.limit = options->limit < QUERY_LIMIT_MAX ? options->limit : QUERY_LIMIT_MAX;
    ReadQuery query = {.session = session, .options = &bounded, .arena = arena};
    int64_t started_us = clock_monotonic_us();

    TRY(environment_check_name(options->environment, err));
    TRY(open_query(&query, err));
    TRY(check_text(&query, err));
    TRY(make_statement(&query, err));
    DuckRows rows = {0};
    if (failed(run_on_warehouse(&query, &rows, err))) {
        return as_query_error(err);
    }
    size_t kept = rows_within_limits(&rows, bounded.limit);
    result_out->is_truncated = kept < rows.row_count;
    result_out->rows = rows;
    result_out->rows.row_count = kept;
    result_out->seconds = (double)(clock_monotonic_us() - started_us) / 1e6;
    return OK;
}
