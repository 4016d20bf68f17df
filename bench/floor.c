/* The floors of bench/run that need the engine: as little as possible around the same work.
 *   floor parse DIR                     has the engine parse each file of DIR, in memory
 *   floor run DATABASE SCRIPT           sends the statements of a file
 *   floor stream DATABASE QUERY         takes a query's rows out, chunk by chunk, and drops them
 *   floor append DATABASE QUERY TABLE   takes them out and appends them to a new table, in one transaction */
#define _GNU_SOURCE
#include <duckdb.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn static void fail(const char *what, const char *why) {
    fprintf(stderr, "floor: %s: %s\n", what, why != NULL ? why : "failed");
    exit(1);
}

static duckdb_database open_database(const char *path) {
    duckdb_database database;
    char *error = NULL;
    if (duckdb_open_ext(path, &database, NULL, &error) != DuckDBSuccess) {
        fail(path != NULL ? path : "in memory", error);
    }
    return database;
}

static duckdb_connection connect_to(duckdb_database database) {
    duckdb_connection connection;
    if (duckdb_connect(database, &connection) != DuckDBSuccess) {
        fail("connect", NULL);
    }
    return connection;
}

static void execute(duckdb_connection connection, const char *sql) {
    duckdb_result result;
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess) {
        fail(sql, duckdb_result_error(&result));
    }
    duckdb_destroy_result(&result);
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t room = 0;
    if (file == NULL || getdelim(&text, &room, '\0', file) < 0) {
        fail(path, "could not be read");
    }
    fclose(file);
    return text;
}

/* --- parse --- */

static void parse_file(duckdb_prepared_statement statement, const char *path) {
    char *text = read_file(path);
    duckdb_result result;
    if (duckdb_bind_varchar(statement, 1, text) != DuckDBSuccess ||
        duckdb_execute_prepared(statement, &result) != DuckDBSuccess) {
        fail(path, "could not be parsed");
    }
    duckdb_destroy_result(&result);
    free(text);
}

static void parse(char *folder) {
    duckdb_connection connection = connect_to(open_database(NULL));
    duckdb_prepared_statement statement;
    if (duckdb_prepare(connection, "SELECT json_serialize_sql($1::VARCHAR)", &statement) != DuckDBSuccess) {
        fail("json_serialize_sql", duckdb_prepare_error(statement));
    }
    FTS *walk = fts_open((char *[]){folder, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (walk == NULL) {
        fail(folder, "could not be walked");
    }
    for (FTSENT *entry; (entry = fts_read(walk)) != NULL;) {
        if (entry->fts_info == FTS_F) {
            parse_file(statement, entry->fts_path);
        }
    }
    fts_close(walk);
}

/* --- stream, append --- */

static duckdb_result begin_stream(duckdb_connection connection, const char *sql) {
    duckdb_prepared_statement statement;
    duckdb_pending_result pending;
    duckdb_result result;
    if (duckdb_prepare(connection, sql, &statement) != DuckDBSuccess) {
        fail(sql, duckdb_prepare_error(statement));
    }
    if (duckdb_pending_prepared_streaming(statement, &pending) != DuckDBSuccess ||
        duckdb_execute_pending(pending, &result) != DuckDBSuccess) {
        fail(sql, duckdb_pending_error(pending));
    }
    return result;
}

static void stream(duckdb_database database, const char *sql) {
    duckdb_result result = begin_stream(connect_to(database), sql);
    idx_t rows = 0;
    for (duckdb_data_chunk chunk; (chunk = duckdb_fetch_chunk(result)) != NULL;) {
        rows += duckdb_data_chunk_get_size(chunk);
        duckdb_destroy_data_chunk(&chunk);
    }
    printf("%llu rows\n", (unsigned long long)rows);
}

static void create_table_like(duckdb_connection connection, const char *sql, const char *table) {
    char *create = NULL;
    if (asprintf(&create, "CREATE OR REPLACE TABLE %s AS SELECT * FROM (%s) LIMIT 0", table, sql) < 0) {
        fail("asprintf", NULL);
    }
    execute(connection, create);
    free(create);
}

static void append(duckdb_database database, const char *sql, const char *table) {
    duckdb_connection writer = connect_to(database);
    create_table_like(writer, sql, table);
    execute(writer, "BEGIN");
    duckdb_appender appender;
    if (duckdb_appender_create_ext(writer, NULL, NULL, table, &appender) != DuckDBSuccess) {
        fail(table, "no appender");
    }
    duckdb_result result = begin_stream(connect_to(database), sql);
    for (duckdb_data_chunk chunk; (chunk = duckdb_fetch_chunk(result)) != NULL;) {
        if (duckdb_append_data_chunk(appender, chunk) != DuckDBSuccess) {
            fail(table, "a chunk was refused");
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    if (duckdb_appender_destroy(&appender) != DuckDBSuccess) {
        fail(table, "the rows could not be flushed");
    }
    duckdb_destroy_result(&result);
    execute(writer, "COMMIT");
    duckdb_disconnect(&writer);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (argc == 3 && strcmp(mode, "parse") == 0) {
        parse(argv[2]);
        return 0;
    }
    duckdb_database database = NULL;
    if (argc == 4 && strcmp(mode, "run") == 0) {
        database = open_database(argv[2]);
        execute(connect_to(database), read_file(argv[3]));
    } else if (argc == 4 && strcmp(mode, "stream") == 0) {
        database = open_database(argv[2]);
        stream(database, argv[3]);
    } else if (argc == 5 && strcmp(mode, "append") == 0) {
        database = open_database(argv[2]);
        append(database, argv[3], argv[4]);
    } else {
        fprintf(stderr, "usage: floor parse DIR | run DATABASE SCRIPT | stream DATABASE QUERY | append DATABASE QUERY TABLE\n");
        return 2;
    }
    duckdb_close(&database);
    return 0;
}
