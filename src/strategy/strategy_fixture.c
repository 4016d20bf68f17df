#include "strategy/strategy_fixture.h"

#include <inttypes.h>

/* Of those that strategies ask for. */
static const EngineCapabilities all_capabilities = {.create_or_replace = true,
                                                    .merge = true,
                                                    .merge_actions = true,
                                                    .mutation_subquery = true,
                                                    .except_in_delete = true};
static const EngineCapabilities minimal_capabilities = {.mutation_subquery = true};

typedef struct Counts {
    int64_t inserted, updated, deleted;
} Counts;

static Str notes;

Str delivery_notes(void) {
    return notes;
}

static void split_key(Arena *arena, const char *text, StrVec *key_out) {
    Str rest = str_from(text);
    while (rest.size > 0) {
        size_t comma = str_find_char(rest, ',');
        size_t end = comma == STR_NOT_FOUND ? rest.size : comma;
        str_vec_push(arena, key_out, str_slice(rest, 0, end));
        rest = str_skip(rest, end + 1);
    }
}

static const DuckColumnVec *describe(Fixture *f, const char *query) {
    DuckColumnVec *columns = ARENA_NEW(f->arena, DuckColumnVec);
    assert_ok(duck_describe(f->connection, str_from(query), f->arena, columns, &f->err), &f->err);
    return columns;
}

static bool target_exists(Fixture *f) {
    return query_number(f, "SELECT count(*) FROM duckdb_tables() WHERE table_name = 't' AND NOT temporary") > 0;
}

static void describe_input(Fixture *f, const Delivery *delivery, StrategyInput *input) {
    StrVec *key = ARENA_NEW(f->arena, StrVec);
    split_key(f->arena, delivery->key != NULL ? delivery->key : "", key);
    *input = (StrategyInput){
        .model = STR("m"),
        .engine = STR("default"),
        .materialise = delivery->is_external ? MATERIALISE_TABLE : MATERIALISE_VIRTUAL,
        .target = {.schema = STR("main"), .name = STR("t")},
        .source = sql_text_own(f->arena, str_from(delivery->source)),
        .columns = describe(f, delivery->source),
        .target_columns = target_exists(f) ? describe(f, "SELECT * FROM main.t") : NULL,
        .key = key,
        .time_column = str_from(delivery->time),
        .window_start = str_from(delivery->start),
        .window_end = str_from(delivery->end),
        .now = str_from(delivery->now),
        .scratch = {.name = STR("t__work")},
        .schema_policy = str_from(delivery->policy),
        .capabilities = delivery->is_minimal ? &minimal_capabilities : &all_capabilities,
    };
    if (delivery->is_staged) {
        SqlRelation *staged = ARENA_NEW(f->arena, SqlRelation);
        *staged = (SqlRelation){.name = STR("staged")};
        Str fill = str_format(f->arena, "CREATE OR REPLACE TEMP TABLE staged AS %s", delivery->source);
        run_sql(f, str_to_c(f->arena, fill));
        input->staged = staged;
        input->source = (SqlText){0};
    }
}

static void add_merged(const DuckMerged *merged, Counts *counts) {
    counts->inserted += merged->inserted;
    counts->updated += merged->updated;
    counts->deleted += merged->deleted;
}

static void add_counts(StatementRole role, int64_t changed, const DuckRows *rows, Counts *counts) {
    switch (role) {
    case STATEMENT_CREATE:
    case STATEMENT_INSERT:
        counts->inserted += changed;
        break;
    case STATEMENT_UPDATE:
        counts->updated += changed;
        break;
    case STATEMENT_DELETE:
        counts->deleted += changed;
        break;
    case STATEMENT_COUNT: {
        int64_t numbers[3] = {0};
        assert_int_equal(rows->row_count, 1);
        for (size_t i = 0; i < COUNT_OF(numbers); i++) {
            assert_true(str_to_int64(duck_cell(rows, 0, i)->text, &numbers[i]));
        }
        counts->inserted += numbers[0];
        counts->updated += numbers[1];
        counts->deleted += numbers[2];
        break;
    }
    case STATEMENT_STAGE:
    case STATEMENT_REFUSE:
    case STATEMENT_EVOLVE:
    case STATEMENT_MERGE:
    case STATEMENT_RUN:
    case STATEMENT_NOTE:
    case STATEMENT_DROP:
    case STATEMENT_ROLE_COUNT:
        break;
    }
}

static Status run_statement(Fixture *f, const StrategyInput *input, const StrategyStatement *statement,
                            Counts *counts) {
    DuckRows rows = {0};
    int64_t changed = 0;
    StatementRole role = statement->role;
    if (role == STATEMENT_MERGE) {
        DuckMerged merged;
        TRY(duck_merge(f->connection, statement->sql.text, &merged, &f->err));
        add_merged(&merged, counts);
        return OK;
    }
    if (role != STATEMENT_REFUSE && role != STATEMENT_COUNT && role != STATEMENT_NOTE) {
        TRY(duck_execute(f->connection, statement->sql.text, &changed, &f->err));
    } else {
        TRY(duck_query(f->connection, statement->sql.text, f->arena, &rows, &f->err));
    }
    if (statement->role == STATEMENT_REFUSE && rows.row_count > 0) {
        return strategy_refusal(input, statement->refusal, &rows, &f->err);
    }
    add_counts(statement->role, changed, &rows, counts);
    return OK;
}

static Status run_delivery(Fixture *f, const Delivery *delivery, Counts *counts) {
    StrategyInput input;
    StrategyStatementVec statements = {0};
    StrVec lines = {0};
    describe_input(f, delivery, &input);
    TRY(strategy_write(delivery->kind, &input, f->arena, &statements, &lines, &f->err));
    notes = str_join(f->arena, lines.items, lines.count, STR("\n"));
    assert_ok(duck_begin(f->connection, &f->err), &f->err);
    for (size_t i = 0; i < statements.count; i++) {
        if (failed(run_statement(f, &input, &statements.items[i], counts))) {
            duck_rollback(f->connection);
            return FAILED;
        }
    }
    assert_ok(duck_commit(f->connection, &f->err), &f->err);
    assert_int_equal(query_number(f, "SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 't\\_\\_work%' "
                                     "ESCAPE '\\'"),
                     0);
    return OK;
}

static Str counts_text(Fixture *f, Counts counts) {
    static const char signs[] = "+~-";
    const int64_t numbers[] = {counts.inserted, counts.updated, counts.deleted};
    AUTO(strbuf) StrBuf text = {0};
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (numbers[i] != 0) {
            strbuf_format(&text, "%s%c%" PRId64, text.size > 0 ? " " : "", signs[i], numbers[i]);
        }
    }
    strbuf_text(&text, text.size == 0 ? "—" : "");
    return strbuf_copy(&text, f->arena);
}

Str deliver(Fixture *f, Delivery delivery) {
    Counts counts = {0};
    assert_ok(run_delivery(f, &delivery, &counts), &f->err);
    return counts_text(f, counts);
}

static Str content_of_target(Fixture *f) {
    if (!target_exists(f)) {
        return STR("absent");
    }
    Str columns = query_text(f, "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 't' "
                                "ORDER BY column_index");
    Str rows = query_text(f, "SELECT rowid, t::VARCHAR FROM main.t ORDER BY rowid");
    return str_format(f->arena, STR_FMT "/" STR_FMT, STR_ARG(columns), STR_ARG(rows));
}

void deliver_refused(Fixture *f, Delivery delivery) {
    Counts counts = {0};
    const char *before = str_to_c(f->arena, content_of_target(f));
    error_clear(&f->err);
    assert_failed(run_delivery(f, &delivery, &counts));
    assert_str(content_of_target(f), before);
}
