#include "config/scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Words count in lower case, with a capital, and in upper case; `nULL` is text. */
static bool is_word(Str text, const char *lower_word) {
    Str word = str_from(lower_word);
    if (!str_equal_fold(text, word)) {
        return false;
    }
    bool first_upper = text.ptr[0] >= 'A' && text.ptr[0] <= 'Z';
    size_t upper_count = 0;
    for (size_t i = 0; i < text.size; i++) {
        upper_count += text.ptr[i] >= 'A' && text.ptr[i] <= 'Z';
    }
    return upper_count == 0 || upper_count == text.size || (first_upper && upper_count == 1);
}

static bool is_null(Str text) {
    return text.size == 0 || str_equal(text, STR("~")) || is_word(text, "null");
}

bool scalar_to_bool(Str text, bool *flag_out) {
    static const struct {
        const char *word;
        bool flag;
    } words[] = {{"true", true}, {"false", false}, {"yes", true}, {"no", false}, {"on", true}, {"off", false}};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (is_word(text, words[i].word)) {
            *flag_out = words[i].flag;
            return true;
        }
    }
    return false;
}

static Str without_sign(Str text) {
    bool is_signed = text.size > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+');
    return str_skip(text, is_signed ? 1 : 0);
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* An integer without its sign, cut into base and digits (underscores still among them). */
typedef struct IntegerText {
    int base;
    Str digits;
} IntegerText;

static IntegerText integer_text(Str unsigned_text) {
    static const struct {
        const char *prefix;
        int base;
    } prefixes[] = {{"0x", 16}, {"0o", 8}, {"0b", 2}, {"0", 8}};
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        Str prefix = str_from(prefixes[i].prefix);
        if (unsigned_text.size > prefix.size && str_starts_with(unsigned_text, prefix)) {
            return (IntegerText){.base = prefixes[i].base, .digits = str_skip(unsigned_text, prefix.size)};
        }
    }
    return (IntegerText){.base = 10, .digits = unsigned_text};
}

static bool is_integer(Str text) {
    IntegerText number = integer_text(without_sign(text));
    size_t digit_count = 0;
    for (size_t i = 0; i < number.digits.size; i++) {
        char c = number.digits.ptr[i];
        if (c == '_' && (number.base != 10 || i > 0)) {
            continue;
        }
        if (c == '_' || digit_value(c) >= number.base) {
            return false;
        }
        digit_count++;
    }
    return digit_count > 0;
}

bool scalar_to_int(Str text, int64_t *number_out) {
    if (!is_integer(text)) {
        return false;
    }
    bool negative = text.ptr[0] == '-';
    IntegerText integer = integer_text(without_sign(text));
    int64_t number = 0;
    for (size_t i = 0; i < integer.digits.size; i++) {
        if (integer.digits.ptr[i] == '_') {
            continue;
        }
        int digit = digit_value(integer.digits.ptr[i]);
        if (__builtin_mul_overflow(number, integer.base, &number) ||
            __builtin_add_overflow(number, negative ? -digit : digit, &number)) {
            return false;
        }
    }
    *number_out = number;
    return true;
}

static bool is_infinity_or_nan(Str text) {
    Str word = without_sign(text);
    if (!str_starts_with(word, STR("."))) {
        return false;
    }
    return is_word(str_skip(word, 1), "inf") || (word.size == text.size && is_word(str_skip(word, 1), "nan")) ||
           (word.size == text.size && str_equal(word, STR(".NaN")));
}

/* Decimal text without sign and underscores, as str_to_double takes it. Integers with a leading 0 are not of this form.
 */
static bool decimal_to_double(Str text, double *number_out) {
    Str digits = without_sign(text);
    if (digits.size == 0 || digits.ptr[0] == '_') {
        return false;
    }
    AUTO(strbuf) StrBuf plain = {0};
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.ptr[i] != '_') {
            strbuf_char(&plain, digits.ptr[i]);
        }
    }
    double number;
    if (!str_to_double(strbuf_str(&plain), &number) || strbuf_str(&plain).ptr[0] == '-') {
        return false;
    }
    *number_out = text.ptr[0] == '-' ? -number : number;
    return true;
}

static bool is_float(Str text) {
    double number;
    bool has_point_or_exponent = str_find_char(text, '.') != STR_NOT_FOUND ||
                                 str_find_char(text, 'e') != STR_NOT_FOUND || str_find_char(text, 'E') != STR_NOT_FOUND;
    return is_infinity_or_nan(text) || (has_point_or_exponent && decimal_to_double(text, &number));
}

bool scalar_to_double(Str text, double *number_out) {
    int64_t number;
    if (scalar_to_int(text, &number)) {
        *number_out = (double)number;
        return true;
    }
    return (is_float(text) || is_integer(text)) && decimal_to_double(text, number_out);
}

ScalarShape scalar_shape(Str text) {
    bool flag;
    if (is_null(text)) {
        return SCALAR_NULL;
    }
    if (scalar_to_bool(text, &flag)) {
        return SCALAR_BOOLEAN;
    }
    if (is_integer(text)) {
        return SCALAR_INTEGER;
    }
    return is_float(text) ? SCALAR_FLOAT : SCALAR_TEXT;
}

void config_resolve_scalar(ConfigValue *value) {
    ScalarShape shape = value->quoted ? SCALAR_TEXT : scalar_shape(value->text);
    value->kind = shape == SCALAR_NULL ? CONFIG_NULL : CONFIG_SCALAR;
    value->is_boolean = shape == SCALAR_BOOLEAN;
    value->is_number = shape == SCALAR_INTEGER || shape == SCALAR_FLOAT;
}

void scalar_append_double(StrBuf *out, double number) {
    assert(isfinite(number));
    AUTO(strbuf) StrBuf text = {0};
    for (int precision = 15; precision <= 17; precision++) {
        strbuf_clear(&text);
        strbuf_format(&text, "%.*g", precision, number);
        if (strtod(strbuf_c(&text), NULL) == number) {
            break;
        }
    }
    strbuf_append(out, strbuf_str(&text));
    if (str_find_char(strbuf_str(&text), '.') == STR_NOT_FOUND &&
        str_find_char(strbuf_str(&text), 'e') == STR_NOT_FOUND) {
        strbuf_text(out, ".0");
    }
}
