#include "cli/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static Str variable(const char *name) {
    return str_from(getenv(name));
}

static bool is_on(Str value) {
    return value.size > 0 && !str_equal(value, STR("0"));
}

static bool wants_color(ColorMode mode, bool can_show) {
    if (mode != COLOR_AUTO) {
        return mode == COLOR_ALWAYS;
    }
    if (variable("NO_COLOR").size > 0) {
        return false;
    }
    return can_show || is_on(variable("FORCE_COLOR")) || is_on(variable("CLICOLOR_FORCE"));
}

/* The variables themselves are read, not setlocale: a locale that is not installed is still what the terminal shows. */
static bool locale_is_unicode(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        Str value = variable(names[i]);
        if (value.size > 0) {
            Str charset = str_skip(value, str_find_char(value, '.') == STR_NOT_FOUND ? value.size
                                                                                     : str_find_char(value, '.') + 1);
            return str_starts_with_fold(charset, STR("UTF-8")) || str_starts_with_fold(charset, STR("UTF8"));
        }
    }
    return false;
}

Terminal terminal_of(int descriptor, ColorMode mode) {
    Terminal terminal = {
        .descriptor = descriptor,
        .is_terminal = isatty(descriptor) == 1,
        .is_dumb = str_equal(variable("TERM"), STR("dumb")),
        .is_unicode = locale_is_unicode(),
    };
    terminal.has_color = wants_color(mode, terminal.is_terminal && !terminal.is_dumb);
    return terminal;
}

TerminalSize terminal_size(const Terminal *terminal) {
    struct winsize size;
    if (!terminal->is_terminal || ioctl(terminal->descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return (TerminalSize){TERMINAL_UNLIMITED, TERMINAL_UNLIMITED};
    }
    return (TerminalSize){size.ws_col, size.ws_row == 0 ? TERMINAL_UNLIMITED : size.ws_row};
}

static const char *const style_codes[STYLE_COUNT] = {
    [STYLE_PLAIN] = NULL, [STYLE_TITLE] = "1",    [STYLE_DIM] = "2",   [STYLE_GOOD] = "32",
    [STYLE_BAD] = "31",   [STYLE_CHANGED] = "33", [STYLE_CALM] = "36",
};

void style_append(StrBuf *out, const Terminal *terminal, Style style, Str text) {
    const char *code = style_codes[style];
    if (code == NULL || !terminal->has_color || text.size == 0) {
        strbuf_append(out, text);
        return;
    }
    strbuf_format(out, "\x1b[%sm" STR_FMT "\x1b[0m", code, STR_ARG(text));
}

static const struct GlyphRow {
    Str unicode, ascii;
} glyphs[GLYPH_COUNT] = {
    [GLYPH_DONE] = {STR_INIT("✓"), STR_INIT("v")},       [GLYPH_FAILED] = {STR_INIT("✗"), STR_INIT("x")},
    [GLYPH_CANCELLED] = {STR_INIT("⊘"), STR_INIT("o")},  [GLYPH_DASH] = {STR_INIT("—"), STR_INIT("-")},
    [GLYPH_DOT] = {STR_INIT("·"), STR_INIT("-")},        [GLYPH_ARROW] = {STR_INIT("→"), STR_INIT("->")},
    [GLYPH_FROM] = {STR_INIT("←"), STR_INIT("<-")},      [GLYPH_RULE] = {STR_INIT("─"), STR_INIT("-")},
    [GLYPH_ELLIPSIS] = {STR_INIT("…"), STR_INIT("...")},
};

Str glyph(const Terminal *terminal, Glyph name) {
    return terminal->is_unicode ? glyphs[name].unicode : glyphs[name].ascii;
}

Str spinner_frame(const Terminal *terminal, size_t step) {
    static const Str unicode_frames[] = {
        STR_INIT("⠋"), STR_INIT("⠙"), STR_INIT("⠹"), STR_INIT("⠸"), STR_INIT("⠼"),
        STR_INIT("⠴"), STR_INIT("⠦"), STR_INIT("⠧"), STR_INIT("⠇"), STR_INIT("⠏"),
    };
    static const Str ascii_frames[] = {STR_INIT("|"), STR_INIT("/"), STR_INIT("-"), STR_INIT("\\")};
    return terminal->is_unicode ? unicode_frames[step % COUNT_OF(unicode_frames)]
                                : ascii_frames[step % COUNT_OF(ascii_frames)];
}
