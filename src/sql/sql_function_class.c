#include "sql/sql_function_class.h"

#include "sql/sql_fence_functions.h"

/* clang-format off */
static const char *const volatile_functions[] = {
    "age", "ago", "current_catalog", "current_database", "current_date", "current_localtime", "current_localtimestamp",
    "current_role", "current_schema", "current_schemas", "current_user", "error", "gen_random_uuid", "get_current_time",
    "get_current_timestamp", "now", "random", "session_user", "today", "transaction_timestamp", "user", "uuid", "uuidv4",
    "uuidv7",
};

static const char *const row_functions[] = {"generate_subscripts", "regexp_split_to_table", "unnest", "unpivot_list"};

static const char *const choices[] = {
    "any_value", "approx_count_distinct", "approx_quantile", "approx_top_k", "arbitrary", "arg_max", "arg_max_null",
    "arg_max_nulls_last", "arg_min", "arg_min_null", "arg_min_nulls_last", "argmax", "argmin", "array_agg", "fill",
    "first", "first_value", "group_concat", "json_group_array", "json_group_object", "json_group_structure", "lag",
    "last", "last_value", "lead", "list", "listagg", "max_by", "min_by", "mode", "nth_value", "ntile",
    "reservoir_quantile", "row_number", "string_agg",
};

static const char *const aggregates[] = {
    "avg", "bit_and", "bit_or", "bit_xor", "bitstring_agg", "bool_and", "bool_or", "corr", "count", "count_if",
    "count_star", "countif", "covar_pop", "covar_samp", "entropy", "favg", "fsum", "geomean", "geometric_mean",
    "histogram", "histogram_exact", "kahan_sum", "kurtosis", "kurtosis_pop", "mad", "max", "mean", "median", "min",
    "product", "quantile", "quantile_cont", "quantile_disc", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept",
    "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy", "sem", "skewness", "stddev", "stddev_pop",
    "stddev_samp", "sum", "sum_no_overflow", "sumkahan", "var_pop", "var_samp", "variance", "wavg", "weighted_avg",
};

static const char *const bare_words[] = {
    "current_catalog", "current_date", "current_role", "current_schema", "current_time", "current_timestamp",
    "current_user", "localtime", "localtimestamp", "session_user", "user",
};
/* clang-format on */

static bool is_in(Str name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (str_equal_fold(name, str_from(names[i]))) {
            return true;
        }
    }
    return false;
}

#define IS_IN(name, names) is_in((name), (names), COUNT_OF(names))

SqlFunctionClass sql_function_class(Str name, Arena *scratch) {
    if (IS_IN(name, volatile_functions)) {
        return SQL_FUNCTION_VOLATILE;
    }
    if (IS_IN(name, row_functions)) {
        return SQL_FUNCTION_ROWS;
    }
    if (IS_IN(name, choices)) {
        return SQL_FUNCTION_CHOICE;
    }
    if (IS_IN(name, aggregates)) {
        return SQL_FUNCTION_AGGREGATE;
    }
    bool is_known = sql_fence_allows_function(name, scratch) || sql_fence_allows_sign(name);
    return is_known ? SQL_FUNCTION_SCALAR : SQL_FUNCTION_UNKNOWN;
}

bool sql_function_is_bare(Str name) {
    return IS_IN(name, bare_words);
}
