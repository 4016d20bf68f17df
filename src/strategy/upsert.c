/* Rows into a table by key, in place: rows that do not match anything, and columns that the source does not give, stay
 * as they are. */
#include "strategy/writer.h"

static bool has_values(const Writer *writer) {
    for (size_t i = 0; i < writer->columns.count; i++) {
        if (!writer->columns.items[i].is_key) {
            return true;
        }
    }
    return false;
}

#define INSERT_NEW                                                                                                     \
    "INSERT INTO {target} ({all @}) SELECT {all source.@} FROM {rows} AS source WHERE NOT EXISTS (SELECT 1 FROM "      \
    "{target} AS target WHERE {keys& target.@ = source.@})"

bool upsert_whole(Writer *writer, const char *changed) {
    if (!writer->is_owned || !writer->input->capabilities->merge_actions || !has_values(writer)) {
        return false;
    }
    Str text = str_format(writer->arena,
                          "MERGE INTO {target} AS target USING {rows} AS source ON ({keys& target.@ = source.@}) "
                          "WHEN MATCHED AND (%s) THEN UPDATE SET {values @ = source.@} "
                          "WHEN NOT MATCHED THEN INSERT ({all @}) VALUES ({all source.@}) "
                          "WHEN NOT MATCHED BY SOURCE THEN DELETE RETURNING merge_action",
                          changed);
    writer_step(writer, STATEMENT_MERGE, str_to_c(writer->arena, text));
    return true;
}

/* MERGE gives one number for its two actions: it is counted as updates, and what the table grew by is taken from
 * them. */
static void merge(Writer *writer, const char *changed) {
    Str text = str_format(writer->arena,
                          "MERGE INTO {target} AS target USING {rows} AS source ON ({keys& target.@ = source.@}) "
                          "WHEN MATCHED%s%s%s THEN UPDATE SET {values @ = source.@} "
                          "WHEN NOT MATCHED THEN INSERT ({all @}) VALUES ({all source.@})",
                          changed != NULL ? " AND (" : "", changed != NULL ? changed : "", changed != NULL ? ")" : "");
    writer_step(writer, STATEMENT_COUNT, "SELECT -count(*), count(*), 0 FROM {target}");
    writer_step(writer, STATEMENT_UPDATE, str_to_c(writer->arena, text));
    writer_step(writer, STATEMENT_COUNT, "SELECT count(*), -count(*), 0 FROM {target}");
}

static void update_and_insert(Writer *writer, const char *changed) {
    Str text = str_format(writer->arena,
                          "UPDATE {target} AS target SET {values @ = source.@} FROM {rows} AS source "
                          "WHERE {keys& target.@ = source.@}%s%s%s",
                          changed != NULL ? " AND (" : "", changed != NULL ? changed : "", changed != NULL ? ")" : "");
    writer_step(writer, STATEMENT_UPDATE, str_to_c(writer->arena, text));
    writer_step(writer, STATEMENT_INSERT, INSERT_NEW);
}

void upsert(Writer *writer, const char *changed) {
    if (!has_values(writer)) {
        writer_step(writer, STATEMENT_INSERT, INSERT_NEW);
    } else if (writer->input->capabilities->merge) {
        merge(writer, changed);
    } else {
        update_and_insert(writer, changed);
    }
}
