#include "project/check_regex.h"

#include <string.h>

typedef struct RegexScan {
    Str text;
    size_t at;
    size_t depth;      /* open groups */
    bool has_operand;  /* something stands before `at` that can be repeated */
    bool is_repeated;  /* it is repeated already */
    const char *fault; /* NULL: none yet */
} RegexScan;

static char peek(const RegexScan *scan, size_t ahead) {
    return scan->at + ahead < scan->text.size ? scan->text.ptr[scan->at + ahead] : '\0';
}

static bool looking_at(const RegexScan *scan, Str expected) {
    return str_starts_with(str_skip(scan->text, scan->at), expected);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void operand(RegexScan *scan) {
    scan->has_operand = true;
    scan->is_repeated = false;
}

/* ---- Escapes */

/* \Q…\E stands for its text; without an end it reaches to the end. */
static void scan_quotation(RegexScan *scan) {
    size_t end = str_find(str_skip(scan->text, scan->at), STR("\\E"));
    scan->at = end == STR_NOT_FOUND ? scan->text.size : scan->at + end + 2;
    operand(scan);
}

static void scan_escape(RegexScan *scan) {
    char c = peek(scan, 1);
    if (scan->at + 1 >= scan->text.size) {
        scan->fault = "a backslash at its end";
    } else if (c == 'Q') {
        scan_quotation(scan);
        return;
    } else if (c >= '1' && c <= '9') {
        scan->fault = "a reference to a group, which the engine does not support";
    } else if (is_letter(c) && strchr("aftnrvxCdDsSwWpPbBAz", c) == NULL) {
        scan->fault = "an unknown escape";
    }
    scan->at += 2;
    operand(scan);
}

/* ---- Classes */

/* One end of a range: a character or an escape, as far as its order can be told; -1: cannot. */
static int scan_class_item(RegexScan *scan) {
    if (looking_at(scan, STR("[:"))) {
        size_t end = str_find(str_skip(scan->text, scan->at), STR(":]"));
        scan->at += end == STR_NOT_FOUND ? 1 : end + 2;
        return -1;
    }
    if (peek(scan, 0) == '\\') {
        scan_escape(scan);
        return -1;
    }
    unsigned char c = (unsigned char)scan->text.ptr[scan->at++];
    return c < 0x80 ? c : -1;
}

static void scan_class(RegexScan *scan) {
    scan->at++;
    scan->at += peek(scan, 0) == '^' ? 1 : 0;
    bool is_first = true;
    while (scan->at < scan->text.size && scan->fault == NULL) {
        if (peek(scan, 0) == ']' && !is_first) {
            scan->at++;
            operand(scan);
            return;
        }
        is_first = false;
        int low = scan_class_item(scan);
        if (peek(scan, 0) == '-' && peek(scan, 1) != ']' && peek(scan, 1) != '\0') {
            scan->at++;
            int high = scan_class_item(scan);
            scan->fault =
                low >= 0 && high >= 0 && high < low ? "a range whose ends are in the wrong order" : scan->fault;
        }
    }
    scan->fault = scan->fault == NULL ? "an unclosed [" : scan->fault;
}

/* ---- Groups */

/* Behind "(?": flags, then `:` or `)`; a name; or something of other engines. */
static void scan_group_head(RegexScan *scan) {
    bool is_look_around = looking_at(scan, STR("=")) || looking_at(scan, STR("!")) || looking_at(scan, STR("<=")) ||
                          looking_at(scan, STR("<!"));
    if (is_look_around) {
        scan->fault = "a look-around, which the engine does not support";
        return;
    }
    if (looking_at(scan, STR("P<")) || looking_at(scan, STR("<"))) {
        size_t end = str_find_char(str_skip(scan->text, scan->at), '>');
        scan->fault = end == STR_NOT_FOUND ? "an unclosed group name" : NULL;
        scan->at += end == STR_NOT_FOUND ? 0 : end + 1;
        return;
    }
    while (peek(scan, 0) != '\0' && strchr("imsU-", peek(scan, 0)) != NULL) {
        scan->at++;
    }
    if (peek(scan, 0) == ':') {
        scan->at++;
    } else if (peek(scan, 0) != ')') {
        scan->fault = "an unknown kind of group behind (?";
    }
}

static void scan_open(RegexScan *scan) {
    scan->depth++;
    scan->at++;
    scan->has_operand = false;
    if (peek(scan, 0) == '?') {
        scan->at++;
        scan_group_head(scan);
    }
}

static void scan_close(RegexScan *scan) {
    if (scan->depth == 0) {
        scan->fault = "a ) without (";
        return;
    }
    scan->depth--;
    scan->at++;
    operand(scan);
}

/* ---- Repetition */

#define REPEAT_MAX 1000

/* {n}, {n,} or {n,m} behind `at`; any other brace is itself. Gives the size of the whole, 0 when it is none. */
static size_t braces_size(const RegexScan *scan, int64_t *low_out, int64_t *high_out) {
    Str rest = str_skip(scan->text, scan->at + 1);
    size_t end = str_find_char(rest, '}');
    if (end == STR_NOT_FOUND || !is_digit(peek(scan, 1))) {
        return 0;
    }
    Str inside = str_slice(rest, 0, end);
    size_t comma = str_find_char(inside, ',');
    Str upper = comma == STR_NOT_FOUND ? inside : str_skip(inside, comma + 1);
    bool is_repeat = str_to_int64(str_slice(inside, 0, comma), low_out);
    *high_out = *low_out;
    is_repeat = is_repeat && (upper.size == 0 || str_to_int64(upper, high_out));
    return is_repeat ? end + 2 : 0;
}

static void repeat(RegexScan *scan, size_t size) {
    if (!scan->has_operand) {
        scan->fault = "a repetition of nothing";
    } else if (scan->is_repeated) {
        scan->fault = "a repetition of a repetition";
    }
    scan->at += size;
    scan->at += peek(scan, 0) == '?' ? 1 : 0;
    scan->is_repeated = true;
}

static void scan_brace(RegexScan *scan) {
    int64_t low = 0, high = 0;
    size_t size = braces_size(scan, &low, &high);
    if (size == 0) {
        scan->at++;
        operand(scan);
        return;
    }
    repeat(scan, size);
    if (scan->fault == NULL && (low > REPEAT_MAX || high > REPEAT_MAX || high < low)) {
        scan->fault = "a repetition whose bounds are wrong or above 1000";
    }
}

/* ---- One step */

static void scan_next(RegexScan *scan) {
    switch (peek(scan, 0)) {
    case '\\':
        scan_escape(scan);
        return;
    case '[':
        scan_class(scan);
        return;
    case '(':
        scan_open(scan);
        return;
    case ')':
        scan_close(scan);
        return;
    case '|':
        scan->at++;
        scan->has_operand = false;
        return;
    case '*':
    case '+':
    case '?':
        repeat(scan, 1);
        return;
    case '{':
        scan_brace(scan);
        return;
    default:
        scan->at++;
        operand(scan);
        return;
    }
}

const char *regex_find_fault(Str regex) {
    RegexScan scan = {.text = regex};
    while (scan.at < regex.size && scan.fault == NULL) {
        scan_next(&scan);
    }
    if (scan.fault == NULL && scan.depth > 0) {
        return "an unclosed (";
    }
    return scan.fault;
}
