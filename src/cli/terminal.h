/* Terminal: how one of the process's streams may be written to: colour, symbols, size. Plain data; any thread. */
#ifndef INTERLACE_CLI_TERMINAL_H
#define INTERLACE_CLI_TERMINAL_H

#include "base/str.h"

typedef enum ColorMode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } ColorMode;

typedef struct Terminal {
    int descriptor;
    bool is_terminal;
    bool is_dumb; /* TERM=dumb: no cursor movement */
    bool has_color;
    bool is_unicode; /* the locale is UTF-8; else symbols have ASCII stand-ins */
} Terminal;

/* Looks at the stream and the environment: NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM, LC_ALL, LC_CTYPE, LANG. */
Terminal terminal_of(int descriptor, ColorMode mode);

#define TERMINAL_UNLIMITED SIZE_MAX
typedef struct TerminalSize {
    size_t columns, rows;
} TerminalSize;
/* TERMINAL_UNLIMITED when the stream is no terminal, so that nothing is cut there. Asks anew each time. */
TerminalSize terminal_size(const Terminal *terminal);

/* What colours mean; never the only carrier of a meaning. */
typedef enum Style {
    STYLE_PLAIN,
    STYLE_TITLE,   /* bold */
    STYLE_DIM,     /* secondary */
    STYLE_GOOD,    /* added, passed: green */
    STYLE_BAD,     /* removed, failed: red */
    STYLE_CHANGED, /* modified, warnings: yellow */
    STYLE_CALM,    /* running, reuse, forward_only: cyan */
    STYLE_COUNT
} Style;
void style_append(StrBuf *out, const Terminal *terminal, Style style, Str text);

typedef enum Glyph {
    GLYPH_DONE,
    GLYPH_FAILED,
    GLYPH_CANCELLED,
    GLYPH_DASH, /* also: an empty cell */
    GLYPH_DOT,  /* between parts of a line */
    GLYPH_ARROW,
    GLYPH_FROM,
    GLYPH_RULE,
    GLYPH_ELLIPSIS,
    GLYPH_COUNT
} Glyph;
Str glyph(const Terminal *terminal, Glyph name);
Str spinner_frame(const Terminal *terminal, size_t step);

#endif
