/* Errors arrive as JSON, because every connection sets `errors_as_json`; texts of opening a database and of a session
 * in which the user turned it off arrive plain: "Binder Error: …\n\nLINE 1: …". Both are read here, and nowhere else.
 */
#include "duck/duck_error.h"

#include "config/config_value.h"
#include "duck/duck_api.h"

#include <string.h>

typedef struct EngineText {
    Str message;
    int type;        /* DUCK_ERROR_TYPE_IN_TEXT: not said */
    size_t position; /* as the engine counts: characters for its parser, else bytes; STR_NOT_FOUND: none */
} EngineText;

static bool str_contains(Str text, Str part) {
    return str_find(text, part) != STR_NOT_FOUND;
}

bool duck_error_is_out_of_memory(const Error *err) {
    return err->engine_type == DUCKDB_ERROR_OUT_OF_MEMORY;
}

bool duck_error_is_interrupt(const Error *err) {
    return err->kind == ERROR_INTERRUPTED;
}

bool duck_error_is_binder(const Error *err) {
    return err->engine_type == DUCKDB_ERROR_BINDER;
}

bool duck_error_is_catalog(const Error *err) {
    return err->engine_type == DUCKDB_ERROR_CATALOG;
}

static bool says_one_of(const Error *err, const Str *signs, size_t count) {
    Str whole = error_detail_find(err, STR("engine_text"));
    for (size_t i = 0; i < count; i++) {
        if (str_contains(err->message, signs[i]) || str_contains(whole, signs[i])) {
            return true;
        }
    }
    return false;
}

bool duck_error_is_conflict(const Error *err) {
    const Str signs[] = {STR("onflict"), STR("maximum retry count"), STR("database is locked"),
                         STR("another transaction has")};
    /* The same error number, and no use in trying again. */
    const Str constraint = STR("PRIMARY KEY or UNIQUE");
    /* Errors of an attached PostgreSQL have no number of their own. */
    const Str postgres_signs[] = {STR("could not serialize access"), STR("deadlock detected")};

    if (err->kind == ERROR_EXECUTION && says_one_of(err, postgres_signs, COUNT_OF(postgres_signs))) {
        return true;
    }
    return err->engine_type == DUCKDB_ERROR_TRANSACTION && !str_contains(err->message, constraint) &&
           says_one_of(err, signs, COUNT_OF(signs));
}

static Str first_line(Str text) {
    size_t end = str_find_char(text, '\n');
    return str_trim(end == STR_NOT_FOUND ? text : str_slice(text, 0, end));
}

/* "Binder Error: x" gives "x"; the class is in engine_type. */
static Str without_class(Str text) {
    const Str mark = STR(" Error: ");
    size_t at = str_find(text, mark);
    bool is_class = at != STR_NOT_FOUND && at < 32 && str_find_char(str_slice(text, 0, at), ':') == STR_NOT_FOUND;
    return is_class ? str_skip(text, at + mark.size) : text;
}

static int type_of_class(Str class_name) {
    static const struct {
        const char *name;
        int type;
    } classes[] = {
        {"Parser", DUCKDB_ERROR_PARSER},
        {"Binder", DUCKDB_ERROR_BINDER},
        {"Catalog", DUCKDB_ERROR_CATALOG},
        {"Conversion", DUCKDB_ERROR_CONVERSION},
        {"Constraint", DUCKDB_ERROR_CONSTRAINT},
        {"IO", DUCKDB_ERROR_IO},
        {"TransactionContext", DUCKDB_ERROR_TRANSACTION},
        {"INTERRUPT", DUCKDB_ERROR_INTERRUPT},
        {"Out of Memory", DUCKDB_ERROR_OUT_OF_MEMORY},
        {"Not implemented", DUCKDB_ERROR_NOT_IMPLEMENTED},
        {"Permission", DUCKDB_ERROR_PERMISSION},
        {"Missing Extension", DUCKDB_ERROR_MISSING_EXTENSION},
        {"Invalid Input", DUCKDB_ERROR_INVALID_INPUT},
    };
    for (size_t i = 0; i < COUNT_OF(classes); i++) {
        if (str_equal(class_name, str_from(classes[i].name))) {
            return classes[i].type;
        }
    }
    return DUCK_ERROR_TYPE_IN_TEXT;
}

static EngineText read_plain(Str text) {
    return (EngineText){.message = without_class(text), .position = STR_NOT_FOUND};
}

/* `text` may have words before the object: "Parser Error: {…}", "Failed to commit: {…}". */
static EngineText read_json(Str text, size_t object_start, Arena *arena) {
    AUTO(error) Error ignored = {0};
    error_init(&ignored);

    ConfigValue *object = NULL;
    if (failed(json_read(str_skip(text, object_start), STR("engine"), arena, &object, &ignored))) {
        return read_plain(text);
    }
    const ConfigValue *message = config_find(object, STR("exception_message"));
    const ConfigValue *class_name = config_find(object, STR("exception_type"));
    const ConfigValue *position = config_find(object, STR("position"));
    if (message == NULL) {
        return read_plain(text);
    }

    Str before = without_class(str_slice(text, 0, object_start));
    int64_t offset = -1;
    bool placed = position != NULL && str_to_int64(position->text, &offset) && offset >= 0;
    return (EngineText){
        .message = str_format(arena, STR_FMT STR_FMT, STR_ARG(before), STR_ARG(message->text)),
        .type = type_of_class(class_name->text),
        .position = placed ? (size_t)offset : STR_NOT_FOUND,
    };
}

static EngineText read_text(Str text, Arena *arena) {
    size_t object_start = str_find(text, STR("{\"exception_type\""));
    return object_start == STR_NOT_FOUND ? read_plain(text) : read_json(text, object_start, arena);
}

static size_t byte_of_character(Str text, size_t character) {
    size_t at = 0;
    for (size_t seen = 0; at < text.size; at++) {
        bool starts_character = ((unsigned char)text.ptr[at] & 0xC0) != 0x80;
        if (starts_character && seen++ == character) {
            break;
        }
    }
    return at;
}

static size_t offset_in_sql(Str sql, size_t position, int engine_type) {
    if (position == STR_NOT_FOUND || sql.size == 0) {
        return STR_NOT_FOUND;
    }
    size_t offset = engine_type == DUCKDB_ERROR_PARSER ? byte_of_character(sql, position) : position;
    return offset <= sql.size ? offset : STR_NOT_FOUND;
}

/* A fault in a CSV file comes as several lines, of which the first says only "CSV Error on Line: 3". Those up to the
 * first blank one belong together; the file's name stands in a list behind them. */
static Str csv_message(Str text, Arena *arena) {
    static const char file_mark[] = "\n  file = ";
    size_t paragraph_end = str_find(text, STR("\n\n"));
    size_t file = str_find(text, str_from(file_mark));

    Str paragraph = paragraph_end == STR_NOT_FOUND ? text : str_slice(text, 0, paragraph_end);
    Str message = str_replace_char(arena, paragraph, '\n', ' ');
    if (file == STR_NOT_FOUND) {
        return message;
    }
    Str name = first_line(str_skip(text, file + strlen(file_mark)));
    return str_format(arena, "file '" STR_FMT "': " STR_FMT, STR_ARG(name), STR_ARG(message));
}

static Str message_of(Str text, int engine_type, Arena *arena) {
    if (engine_type == DUCKDB_ERROR_INTERRUPT) {
        return STR("interrupted");
    }
    return str_starts_with(text, STR("CSV Error")) ? csv_message(text, arena) : first_line(text);
}

/* The engine's advice stands on a line of its own behind the message. */
static void add_advice(Error *err, Str message) {
    const Str starts[] = {STR("Did you mean"), STR("Candidate"), STR("Either add"), STR("Try ")};

    Str rest = message;
    while (rest.size > 0) {
        Str line = first_line(rest);
        for (size_t i = 0; i < COUNT_OF(starts); i++) {
            /* "Candidate functions:" is followed by a list that is too long for a hint. */
            if (str_starts_with(line, starts[i]) && !str_ends_with(line, STR(":"))) {
                error_hint(err, STR_FMT, STR_ARG(line));
                return;
            }
        }
        size_t end = str_find_char(rest, '\n');
        rest = end == STR_NOT_FOUND ? STR_EMPTY : str_skip(rest, end + 1);
    }
}

Status duck_error_set(Error *err, Str sql, int engine_type, const char *text) {
    AUTO(arena) Arena *arena = arena_create();
    /* Both the text and the statement may belong to the error that is being replaced. */
    sql = str_copy(arena, sql);
    Str whole = str_copy(arena, str_from(text == NULL ? "the engine gave no reason" : text));

    EngineText engine = read_text(whole, arena);
    if (engine_type == DUCK_ERROR_TYPE_IN_TEXT) {
        engine_type = engine.type;
    }
    Str message = message_of(engine.message, engine_type, arena);
    ErrorKind kind = engine_type == DUCKDB_ERROR_INTERRUPT ? ERROR_INTERRUPTED : ERROR_EXECUTION;
    (void)error_set(err, kind, STR_FMT, STR_ARG(message));
    err->engine_type = engine_type;
    err->sql = str_copy(err->arena, sql);
    err->sql_offset = offset_in_sql(sql, engine.position, engine_type);
    if (str_find_char(str_trim(engine.message), '\n') != STR_NOT_FOUND) {
        error_detail(err, STR("engine_text"), str_trim(engine.message));
        add_advice(err, engine.message);
    }
    return FAILED;
}
