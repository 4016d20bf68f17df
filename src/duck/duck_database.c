#include "duck/duck_database.h"

#include "base/files.h"
#include "config/project_config.h"
#include "duck/duck_internal.h"
#include "duck/duck_library.h"

#include <pthread.h>
#include <unistd.h>

/* --- One instance for one file ------------------------------------------------------------------------------------ */

/* The engine's lock on a file holds between processes only: a second instance of the same file in this process would
 * write over the first. Through this cache both opens share one. */
static pthread_once_t instances_once = PTHREAD_ONCE_INIT;
static duckdb_instance_cache instances;

static void create_instances(void) {
    instances = duckdb_create_instance_cache();
}

static duckdb_state open_instance(const char *path, bool in_memory, duckdb_config config, duckdb_database *handle_out,
                                  char **reason_out) {
    if (in_memory) {
        return duckdb_open_ext(path, handle_out, config, reason_out);
    }
    (void)pthread_once(&instances_once, create_instances);
    return duckdb_get_or_create_from_cache(instances, path, handle_out, config, reason_out);
}

/* --- Why a file cannot be opened ---------------------------------------------------------------------------------- */

/* "… Conflicting lock is held in /usr/bin/x (PID 12). …" */
static void read_lock_holder(Str reason, Str *executable_out, Str *pid_out) {
    const Str before = STR("lock is held in ");
    const Str middle = STR(" (PID ");

    size_t start = str_find(reason, before);
    Str rest = start == STR_NOT_FOUND ? STR_EMPTY : str_skip(reason, start + before.size);
    size_t end = str_find(rest, middle);
    Str pid = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(rest, end + middle.size);
    size_t pid_end = str_find_char(pid, ')');

    *executable_out = end == STR_NOT_FOUND ? STR_EMPTY : str_slice(rest, 0, end);
    *pid_out = pid_end == STR_NOT_FOUND ? STR_EMPTY : str_slice(pid, 0, pid_end);
}

static Status explain_locked(Str path, Str reason, Error *err) {
    Str executable, pid;
    read_lock_holder(reason, &executable, &pid);

    if (pid.size == 0) {
        (void)error_set(err, ERROR_CONFIGURATION, "database '" STR_FMT "' is in use by another process", STR_ARG(path));
    } else {
        (void)error_set(err, ERROR_CONFIGURATION,
                        "database '" STR_FMT "' is in use by process " STR_FMT " (" STR_FMT ")", STR_ARG(path),
                        STR_ARG(pid), STR_ARG(executable));
        error_detail(err, STR("pid"), pid);
        error_detail(err, STR("executable"), executable);
    }
    error_code(err, STR("warehouse.locked"));
    error_detail(err, STR("path"), path);
    error_hint(err, "only one process at a time can open a DuckDB file for writing: wait until it ends, or stop it");
    return FAILED;
}

static Status explain_foreign(Str path, Str reason, Error *err) {
    (void)reason;
    (void)error_set(err, ERROR_CONFIGURATION, "file '" STR_FMT "' is no DuckDB database", STR_ARG(path));
    error_hint(err, "name another file under `database`, or move this one away");
    return FAILED;
}

static Status explain_damaged(Str path, Str reason, Error *err) {
    (void)error_set(err, ERROR_CONFIGURATION, "database '" STR_FMT "' is damaged: " STR_FMT, STR_ARG(path),
                    STR_ARG(reason));
    error_hint(err, "put a copy in its place, or move it away: what the project can compute is then built anew");
    return FAILED;
}

static Status explain_missing(Str path, Str reason, Error *err) {
    (void)reason;
    return error_set(err, ERROR_CONFIGURATION, "database '" STR_FMT "' does not exist", STR_ARG(path));
}

static Status explain_other(Str path, Str reason, Error *err) {
    return error_set(err, ERROR_CONFIGURATION, "cannot open database '" STR_FMT "': " STR_FMT, STR_ARG(path),
                     STR_ARG(reason));
}

/* `reason` is the engine's, in `err`; `err` is written anew. */
static Status explain_open_error(Str path, Error *err) {
    static const struct {
        const char *sign;
        Status (*explain)(Str path, Str reason, Error *err);
    } reasons[] = {
        {"Could not set lock on file", explain_locked}, {"not a valid DuckDB database file", explain_foreign},
        {"Corrupt database file", explain_damaged},     {"Could not read enough bytes", explain_damaged},
        {"database does not exist", explain_missing},   {"", explain_other},
    };
    AUTO(arena) Arena *arena = arena_create();
    Str reason = config_redact_dsn(arena, err->message);
    size_t i = 0;
    while (str_find(reason, str_from(reasons[i].sign)) == STR_NOT_FOUND) {
        i++;
    }
    return reasons[i].explain(path, reason, err);
}

/* --- Settings ----------------------------------------------------------------------------------------------------- */

static bool is_number(Str text) {
    double number;
    return str_to_double(text, &number);
}

static Status apply_setting(DuckConnection *connection, Str name, Str value, Error *err) {
    if (!str_is_identifier(name)) {
        return error_set(err, ERROR_CONFIGURATION, "setting '" STR_FMT "' is no name of the engine's settings",
                         STR_ARG(name));
    }
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_format(&sql, "SET GLOBAL " STR_FMT " = ", STR_ARG(name));
    if (is_number(value)) {
        strbuf_append(&sql, value);
    } else {
        duck_append_quoted(&sql, value, '\'');
    }
    if (failed(duck_execute(connection, strbuf_str(&sql), NULL, err))) {
        return error_set(err, ERROR_CONFIGURATION, "setting '" STR_FMT "' cannot be '" STR_FMT "': " STR_FMT,
                         STR_ARG(name), STR_ARG(value), STR_ARG(err->message));
    }
    return OK;
}

static bool has_setting(const DuckOpenOptions *options, Str name) {
    for (size_t i = 0; i < options->setting_count; i++) {
        if (str_equal_fold(options->settings[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* Where sorts and joins spill to. The engine makes the last part of the path only, and only when it spills. */
static Status apply_temp_directory(DuckConnection *connection, const DuckOpenOptions *options, Str directory,
                                   Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    Str path = path_join(arena, options->root, directory);
    if (!options->read_only) {
        TRY(directory_create_all(path, err));
    }
    return apply_setting(connection, STR("temp_directory"), path, err);
}

/* A plain file name is looked for in the current directory first, then here. So this only helps a process that runs
 * elsewhere: the command line changes to the root, which also covers COPY … TO and ATTACH. */
static Status apply_search_path(DuckConnection *connection, const DuckOpenOptions *options, Error *err) {
    AUTO(arena) Arena *arena = arena_create();
    bool is_current = str_equal(path_absolute(arena, STR(".")), options->root);
    /* A list parted by commas; there is no way to write one inside a path. */
    bool can_be_listed = str_find_char(options->root, ',') == STR_NOT_FOUND;
    if (options->root.size == 0 || is_current || !can_be_listed) {
        return OK;
    }
    return apply_setting(connection, STR("file_search_path"), options->root, err);
}

static Status apply_settings(DuckConnection *connection, const DuckOpenOptions *options, Error *err) {
    const Str temp_directory = STR("temp_directory");

    TRY(apply_search_path(connection, options, err));
    bool limited = has_setting(options, STR("memory_limit")) || has_setting(options, STR("max_memory"));
    if (limited && !has_setting(options, temp_directory) && options->root.size > 0) {
        TRY(apply_temp_directory(connection, options, STR(".tmp"), err));
    }
    for (size_t i = 0; i < options->setting_count; i++) {
        const DuckSetting *setting = &options->settings[i];
        if (str_equal_fold(setting->name, temp_directory)) {
            TRY(apply_temp_directory(connection, options, setting->value, err));
        } else {
            TRY(apply_setting(connection, setting->name, setting->value, err));
        }
    }
    return OK;
}

/* --- Open and close ----------------------------------------------------------------------------------------------- */

/* In a build folder and in an installation they lie beside the library. */
static Str extension_directory(const DuckOpenOptions *options, Arena *arena) {
    return options->extension_directory.size > 0
               ? options->extension_directory
               : path_join(arena, path_directory(str_from(duck_library_path())), STR("extensions"));
}

static Status make_config(const DuckOpenOptions *options, bool in_memory, duckdb_config *config_out, Error *err) {
    AUTO(duck_config) duckdb_config config = NULL;
    AUTO(arena) Arena *arena = arena_create();
    const struct {
        const char *name;
        Str value;
    } entries[] = {
        {"autoinstall_known_extensions", STR("false")},
        {"autoload_known_extensions", STR("false")},
        {"access_mode", options->read_only && !in_memory ? STR("READ_ONLY") : STR("AUTOMATIC")},
        {"extension_directory", path_absolute(arena, extension_directory(options, arena))},
    };

    if (duckdb_create_config(&config) != DuckDBSuccess) {
        return error_set(err, ERROR_INTERNAL, "the engine gives no configuration");
    }
    for (size_t i = 0; i < COUNT_OF(entries); i++) {
        bool given = entries[i].value.size > 0;
        if (given && duckdb_set_config(config, entries[i].name, str_to_c(arena, entries[i].value)) != DuckDBSuccess) {
            return error_set(err, ERROR_INTERNAL, "the engine does not know the option '%s'", entries[i].name);
        }
    }
    *config_out = TAKE(config);
    return OK;
}

static Status open_file(const DuckOpenOptions *options, bool in_memory, duckdb_database *handle_out, Error *err) {
    AUTO(duck_config) duckdb_config config = NULL;
    AUTO(arena) Arena *arena = arena_create();
    char *reason = NULL;

    TRY(make_config(options, in_memory, &config, err));
    if (!in_memory && !options->read_only) {
        TRY(directory_create_all(path_directory(options->path), err));
    }
    duckdb_database handle = NULL;
    if (open_instance(str_to_c(arena, options->path), in_memory, config, &handle, &reason) != DuckDBSuccess) {
        (void)duck_error_set(err, STR_EMPTY, DUCKDB_ERROR_IO, reason);
        duckdb_free(reason);
        duckdb_close(&handle);
        return explain_open_error(options->path, err);
    }
    *handle_out = handle;
    return OK;
}

Status duck_database_open(const DuckOpenOptions *options, DuckDatabase **database_out, Error *err) {
    AUTO(duck_database) DuckDatabase *database = heap_alloc_zeroed(1, sizeof *database);
    bool in_memory = str_equal(options->path, STR(":memory:"));

    TRY(duck_library_load(err));
    if (options->read_only && !in_memory && !file_exists(options->path)) {
        return explain_missing(options->path, STR_EMPTY, err);
    }
    TRY(open_file(options, in_memory, &database->handle, err));

    AUTO(duck_connection) DuckConnection *connection = NULL;
    TRY(duck_connection_open(database, &connection, err));
    TRY(apply_settings(connection, options, err));

    *database_out = TAKE(database);
    return OK;
}

void duck_database_close(DuckDatabase *database) {
    if (database == NULL) {
        return;
    }
    if (database->handle != NULL) {
        duckdb_close(&database->handle);
    }
    free(database);
}

/* --- Extensions and attachments ----------------------------------------------------------------------------------- */

Status duck_database_load_extension(DuckDatabase *database, Str name, Error *err) {
    AUTO(duck_connection) DuckConnection *connection = NULL;
    AUTO(strbuf) StrBuf sql = {0};

    strbuf_text(&sql, "LOAD ");
    duck_append_quoted(&sql, name, '\'');
    TRY(duck_connection_open(database, &connection, err));
    if (failed(duck_execute(connection, strbuf_str(&sql), NULL, err))) {
        AUTO(arena) Arena *arena = arena_create();
        Str reason = str_copy(arena, err->message);
        (void)error_set(err, ERROR_CONFIGURATION, "DuckDB's extension '" STR_FMT "' cannot be loaded: " STR_FMT,
                        STR_ARG(name), STR_ARG(reason));
        error_code(err, STR("extension.missing"));
        error_hint(err,
                   "it must be the one for DuckDB %s; interlace brings it in the folder `extensions` beside "
                   "libduckdb.so and downloads none",
                   duck_library_version_text());
        return FAILED;
    }
    return OK;
}

Status duck_database_set(DuckDatabase *database, Str name, Str value, Error *err) {
    AUTO(duck_connection) DuckConnection *connection = NULL;
    TRY(duck_connection_open(database, &connection, err));
    return apply_setting(connection, name, value, err);
}

static void append_attach(StrBuf *sql, const DuckAttachment *attachment) {
    const char *separator = " (";

    strbuf_text(sql, "ATTACH ");
    duck_append_quoted(sql, attachment->target, '\'');
    strbuf_text(sql, " AS ");
    duck_append_quoted(sql, attachment->alias, '"');
    if (attachment->type.size > 0) {
        strbuf_format(sql, "%sTYPE " STR_FMT, separator, STR_ARG(attachment->type));
        separator = ", ";
    }
    if (attachment->read_only) {
        strbuf_format(sql, "%sREAD_ONLY", separator);
        separator = ", ";
    }
    for (size_t i = 0; i < attachment->option_count; i++) {
        strbuf_format(sql, "%s" STR_FMT " ", separator, STR_ARG(attachment->options[i].name));
        duck_append_quoted(sql, attachment->options[i].value, '\'');
        separator = ", ";
    }
    strbuf_text(sql, str_equal(str_from(separator), STR(", ")) ? ")" : "");
}

static Status explain_attach_error(const DuckAttachment *attachment, Error *err) {
    if (attachment->path.size > 0) {
        return explain_open_error(attachment->path, err);
    }
    AUTO(arena) Arena *arena = arena_create();
    Str reason = config_redact_dsn(arena, err->message);
    return error_set(err, ERROR_CONFIGURATION, STR_FMT, STR_ARG(reason));
}

Status duck_database_attach(DuckDatabase *database, const DuckAttachment *attachment, Error *err) {
    AUTO(duck_connection) DuckConnection *connection = NULL;
    AUTO(strbuf) StrBuf sql = {0};

    bool creates = attachment->path.size > 0 && !attachment->read_only;
    if (creates) {
        TRY(directory_create_all(path_directory(attachment->path), err));
    }
    append_attach(&sql, attachment);
    TRY(duck_connection_open(database, &connection, err));
    if (failed(duck_execute(connection, strbuf_str(&sql), NULL, err))) {
        (void)explain_attach_error(attachment, err);
        return error_wrap(err, "attaching '" STR_FMT "'", STR_ARG(attachment->alias));
    }
    return OK;
}
