/* Inside the statements columns are called by their number, as in run/comparison.c: s3 is the sum of the fourth one, p3
 * how many values of it are not NULL, d3 whether it differs between the two rows of a key. */
#include "backfill/audit_sql.h"

#define SIDE_TABLE(side) ((side) == AUDIT_OLD ? "temp.interlace__audit_old" : "temp.interlace__audit_new")
#define PAIR_TABLE "temp.interlace__audit_pair"

/* ---- Sides. */

static void append_group(StrBuf *sql, const AuditBuckets *buckets, Str column) {
    if (buckets->time_column.size == 0) {
        strbuf_text(sql, "NULL::TIMESTAMP");
    } else {
        wall_group(sql, column, buckets->grain, buckets->origin, buckets->zone);
    }
    strbuf_text(sql, " AS w");
}

static void append_figure(StrBuf *sql, const AuditSql *audit, size_t index, bool of_pairs, const char *function,
                          char figure) {
    strbuf_format(sql, ", %s(", function);
    if (of_pairs) {
        strbuf_format(sql, "l%zu", index);
    } else {
        sql_identifier(sql, audit->columns->items[index].name);
    }
    strbuf_format(sql, ") AS %c%zu", figure, index);
}

/* p3, s3, … of a side's columns or, of the old side, of the pairs'. */
static void append_figures(StrBuf *sql, const AuditSql *audit, bool of_pairs) {
    for (size_t i = 0; i < audit->columns->count; i++) {
        append_figure(sql, audit, i, of_pairs, "count", 'p');
        if (audit->columns->items[i].is_number) {
            append_figure(sql, audit, i, of_pairs, "sum", 's');
        }
    }
}

/* Of the groups, which follow behind FROM: a window each. */
static void append_windows(StrBuf *sql, const AuditSql *audit, AuditSide side) {
    const AuditBuckets *buckets = &audit->buckets;
    strbuf_format(sql, "CREATE OR REPLACE TEMP TABLE %s AS SELECT ", SIDE_TABLE(side));
    if (buckets->time_column.size > 0) {
        wall_bucket(sql, STR("w"), buckets->grain, 1, buckets->origin, buckets->zone);
    } else {
        strbuf_text(sql, "w");
    }
    strbuf_text(sql, " AS w, sum(n) AS n");
    for (size_t i = 0; i < audit->columns->count; i++) {
        strbuf_format(sql, ", sum(p%zu) AS p%zu", i, i);
        if (audit->columns->items[i].is_number) {
            strbuf_format(sql, ", sum(s%zu) AS s%zu", i, i);
        }
    }
    strbuf_text(sql, "\nFROM ");
}

Str audit_sql_side(const AuditSql *audit, AuditSide side, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    append_windows(&sql, audit, side);
    strbuf_text(&sql, "(SELECT ");
    append_group(&sql, &audit->buckets, audit->buckets.time_column);
    strbuf_text(&sql, ", count(*) AS n");
    append_figures(&sql, audit, false);
    strbuf_text(&sql, "\nFROM ");
    sql_relation(&sql, side == AUDIT_OLD ? audit->comparison->left.relation : audit->comparison->right.relation);
    if (side == AUDIT_OLD && audit->replaced.size > 0) {
        strbuf_format(&sql, "\nWHERE (" STR_FMT ")", STR_ARG(audit->replaced));
    }
    strbuf_text(&sql, "\nGROUP BY 1)\nGROUP BY 1");
    return strbuf_copy(&sql, arena);
}

Str audit_sql_old_of_pairs(const AuditSql *audit, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    append_windows(&sql, audit, AUDIT_OLD);
    strbuf_text(&sql, PAIR_TABLE " WHERE n > 0\nGROUP BY 1");
    return strbuf_copy(&sql, arena);
}

Str audit_sql_totals(const AuditSql *audit, AuditSide side, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    strbuf_text(&sql, "SELECT CAST(coalesce(sum(n), 0) AS BIGINT)");
    for (size_t i = 0; i < audit->columns->count; i++) {
        strbuf_format(&sql, ", CAST(coalesce(sum(n - p%zu), 0) AS BIGINT)", i);
        if (audit->columns->items[i].is_number) {
            strbuf_format(&sql, ", sum(s%zu)", i);
        }
    }
    strbuf_format(&sql, " FROM %s", SIDE_TABLE(side));
    return strbuf_copy(&sql, arena);
}

/* ---- Windows. */

static void append_total(StrBuf *sql, Str name, AuditSide side) {
    strbuf_format(sql, "(SELECT coalesce(abs(sum(CAST(" STR_FMT " AS DOUBLE))), 0) FROM %s)", STR_ARG(name),
                  SIDE_TABLE(side));
}

/* The difference as a part of both totals, so that rows and measures can be added up. */
static void append_move(StrBuf *sql, Str name) {
    strbuf_format(sql,
                  "coalesce(abs(coalesce(CAST(b." STR_FMT " AS DOUBLE), 0) - coalesce(CAST(a." STR_FMT
                  " AS DOUBLE), 0)) / nullif(",
                  STR_ARG(name), STR_ARG(name));
    append_total(sql, name, AUDIT_OLD);
    strbuf_text(sql, " + ");
    append_total(sql, name, AUDIT_NEW);
    strbuf_text(sql, ", 0), 0)");
}

Str audit_sql_windows(const AuditSql *audit, bool are_moved_most, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    AUTO(strbuf) StrBuf move = {0};
    append_move(&move, STR("n"));
    strbuf_text(&sql, "SELECT epoch_us(coalesce(a.w, b.w)) AS w, coalesce(a.n, 0), coalesce(b.n, 0)");
    for (size_t i = 0; i < audit->columns->count; i++) {
        if (audit->columns->items[i].is_measure) {
            strbuf_format(&sql, ", a.s%zu, b.s%zu", i, i);
            strbuf_text(&move, " + ");
            append_move(&move, str_format(arena, "s%zu", i));
        }
    }
    strbuf_format(&sql, "\nFROM %s AS a FULL JOIN %s AS b ON a.w IS NOT DISTINCT FROM b.w\n", SIDE_TABLE(AUDIT_OLD),
                  SIDE_TABLE(AUDIT_NEW));
    if (are_moved_most) {
        strbuf_format(&sql, "WHERE " STR_FMT " > 0 ORDER BY " STR_FMT " DESC, w LIMIT %d", STR_ARG(strbuf_str(&move)),
                      STR_ARG(strbuf_str(&move)), AUDIT_MOVED_MAX);
    } else {
        strbuf_format(&sql, "ORDER BY w LIMIT %d", AUDIT_WINDOWS_MAX);
    }
    return strbuf_copy(&sql, arena);
}

/* ---- Keys. */

static double magnitude(Str sum) {
    double number;
    return sum.size > 0 && str_to_double(sum, &number) && number == number ? (number < 0 ? -number : number) : 0;
}

/* Of a pair: as append_move, with the totals as far as they are known (of an audit by key the old ones come of the
 * pairs). Without a measure, how many values differ. */
static void append_pair_move(StrBuf *sql, const AuditSql *audit) {
    size_t first = audit->comparison->key_count, count = 0;
    for (size_t i = first; i < audit->columns->count; i++) {
        const AuditColumn *column = &audit->columns->items[i];
        double scale = magnitude(column->sum_old) + magnitude(column->sum_new);
        if (column->is_measure && scale > 0 && scale <= 1e300) {
            strbuf_format(sql,
                          "%sabs(coalesce(CAST(r.c%zu AS DOUBLE), 0) - coalesce(CAST(l.c%zu AS DOUBLE), 0)) / %.17g",
                          count++ == 0 ? "" : " + ", i, i, scale);
        }
    }
    for (size_t i = first; i < audit->columns->count && count == 0; i++) {
        strbuf_text(sql, i == first ? "" : " + ");
        strbuf_text(sql, "CAST(");
        comparison_append_differs(sql, audit->comparison, i);
        strbuf_text(sql, " AS INTEGER)");
    }
    if (count == 0 && first == audit->columns->count) {
        strbuf_char(sql, '0');
    }
}

/* Each pair, once: whether a side has it, its values, which of them differ, and how far it moved. */
static void append_pairs(StrBuf *sql, const AuditSql *audit, int64_t most) {
    size_t first = audit->comparison->key_count;
    const char *right_here = audit->is_by_key ? "true" : "r.here"; /* each of its pairs has a right side */
    strbuf_format(sql, "SELECT l.here AS l_here, %s AS r_here", right_here);
    for (size_t i = 0; i < audit->columns->count; i++) {
        strbuf_format(sql, ", l.c%zu AS l%zu, r.c%zu AS r%zu", i, i, i, i);
    }
    for (size_t i = first; i < audit->columns->count; i++) {
        strbuf_format(sql, ", l.here AND %s AND (", right_here);
        comparison_append_differs(sql, audit->comparison, i);
        strbuf_format(sql, ") AS d%zu", i);
    }
    strbuf_text(sql, ", ");
    append_pair_move(sql, audit);
    strbuf_text(sql, " AS move");
    comparison_append_pairs(sql, audit->comparison, audit->is_by_key ? "RIGHT JOIN" : "FULL JOIN");
    strbuf_format(sql, "\nLIMIT %lld", (long long)most + 1);
}

static void append_differs(StrBuf *sql, const AuditSql *audit) {
    size_t first = audit->comparison->key_count;
    strbuf_text(sql, first == audit->columns->count ? "false" : "");
    for (size_t i = first; i < audit->columns->count; i++) {
        strbuf_format(sql, "%sd%zu", i == first ? "" : " OR ", i);
    }
}

static void append_moved_sample(StrBuf *sql, const AuditSql *audit) {
    size_t keys = audit->comparison->key_count;
    strbuf_text(sql, ", arg_min({'kind': CASE WHEN l_here IS NULL THEN 'added' WHEN r_here IS NULL THEN 'removed' "
                     "ELSE 'changed' END, 'move': move");
    for (size_t i = 0; i < audit->columns->count; i++) {
        if (i < keys) {
            strbuf_format(sql, ", 'a%zu': CASE WHEN l_here THEN l%zu ELSE r%zu END", i, i, i);
        } else {
            strbuf_format(sql, ", 'a%zu': l%zu, 'b%zu': r%zu", i, i, i, i);
        }
    }
    strbuf_text(sql, "}, row(-move");
    for (size_t i = 0; i < keys; i++) {
        strbuf_format(sql, ", CASE WHEN l_here THEN l%zu ELSE r%zu END", i, i);
    }
    strbuf_format(sql, "), %d) FILTER (WHERE l_here IS NULL OR r_here IS NULL OR ", AUDIT_MOVED_MAX);
    append_differs(sql, audit);
    strbuf_text(sql, ") AS moved");
}

static void append_distinct_keys(StrBuf *sql, size_t keys, const char *side, const char *other) {
    strbuf_text(sql, ", count(DISTINCT row(");
    for (size_t i = 0; i < keys; i++) {
        strbuf_format(sql, "%s%s%zu", i == 0 ? "" : ", ", side, i);
    }
    strbuf_format(sql, ")) FILTER (WHERE %s_here IS NULL) AS %s_keys", other, side);
}

Str audit_sql_pair(const AuditSql *audit, int64_t most, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    size_t keys = audit->comparison->key_count;
    strbuf_text(&sql, "CREATE OR REPLACE TEMP TABLE " PAIR_TABLE " AS SELECT ");
    if (audit->is_by_key) {
        append_group(&sql, &audit->buckets, str_format(arena, "l%zu", audit->time_index));
        strbuf_text(&sql, ", count(l_here) AS n");
        append_figures(&sql, audit, true);
        strbuf_text(&sql, ", ");
    }
    strbuf_text(&sql, "count(*) AS pairs, count(*) FILTER (WHERE r_here IS NULL) AS l_only, "
                      "count(*) FILTER (WHERE l_here IS NULL) AS r_only, count(*) FILTER (WHERE ");
    append_differs(&sql, audit);
    strbuf_text(&sql, ") AS changed");
    if (audit->is_by_key) {
        strbuf_text(&sql, ", 0 AS l_keys");
    } else {
        append_distinct_keys(&sql, keys, "l", "r");
    }
    append_distinct_keys(&sql, keys, "r", "l");
    for (size_t i = keys; i < audit->columns->count; i++) {
        strbuf_format(&sql, ", count(*) FILTER (WHERE d%zu) AS d%zu", i, i);
    }
    append_moved_sample(&sql, audit);
    strbuf_text(&sql, "\nFROM (");
    append_pairs(&sql, audit, most);
    strbuf_text(&sql, audit->is_by_key ? ")\nGROUP BY 1" : ")");
    return strbuf_copy(&sql, arena);
}

Str audit_sql_pair_result(const AuditSql *audit, Arena *arena) {
    static const char *const counts[] = {"pairs", "l_only", "r_only", "changed", "l_keys", "r_keys"};
    AUTO(strbuf) StrBuf sql = {0};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        strbuf_format(&sql, "%sCAST(coalesce(sum(%s), 0) AS BIGINT)", i == 0 ? "SELECT " : ", ", counts[i]);
    }
    for (size_t i = audit->comparison->key_count; i < audit->columns->count; i++) {
        strbuf_format(&sql, ", CAST(coalesce(sum(d%zu), 0) AS BIGINT)", i);
    }
    strbuf_text(&sql, " FROM " PAIR_TABLE);
    return strbuf_copy(&sql, arena);
}

Str audit_sql_moved_keys(const AuditSql *audit, Arena *arena) {
    AUTO(strbuf) StrBuf sql = {0};
    size_t keys = audit->comparison->key_count;
    strbuf_text(&sql, "SELECT x.kind");
    for (size_t i = 0; i < audit->columns->count; i++) {
        strbuf_format(&sql, i < keys ? ", x.a%zu" : ", x.a%zu, x.b%zu", i, i);
    }
    strbuf_text(&sql, " FROM (SELECT unnest(moved) AS x FROM " PAIR_TABLE ")\nORDER BY x.move DESC");
    for (size_t i = 0; i < keys; i++) {
        strbuf_format(&sql, ", x.a%zu", i);
    }
    strbuf_format(&sql, " LIMIT %d", AUDIT_MOVED_MAX);
    return strbuf_copy(&sql, arena);
}
