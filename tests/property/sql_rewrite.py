"""Tokens of SQL by the book, apart from the product's lexer, and rewritings of a text that keep or change them."""

import re

TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>--[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*\*/)
  | (?P<string>[eExX]?'(?:[^']|'')*'|\$(?P<tag>[A-Za-z_]*)\$.*?\$(?P=tag)\$)
  | (?P<quoted>"(?:[^"]|"")*")
  | (?P<parameter>\$\w+|\?)
  | (?P<number>0[xX][0-9a-fA-F]+|\d+(?:_\d+)*(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
  | (?P<word>[^\W\d]\w*)
  | (?P<operator>::|:=|(?:(?!--|/\*)[-+*/<>=~!@\#%^&|`])+)
  | (?P<sign>[()\[\]{},;.:])
    """,
    re.VERBOSE | re.DOTALL,
)


class Token:
    def __init__(self, kind, text, gap):
        self.kind = kind
        self.text = text
        self.gap = gap  # blanks and comments in front of it

    def __repr__(self):
        return f"{self.kind}:{self.text}"


def tokens(sql):
    """The tokens of a text, and what stands behind the last one. None for what is not understood here."""
    found, gap, offset = [], "", 0
    while offset < len(sql):
        match = TOKEN.match(sql, offset)
        if match is None:
            return None
        offset = match.end()
        if match.lastgroup in ("space", "comment"):
            gap += match.group()
            continue
        kind = "string" if match.lastgroup == "tag" else match.lastgroup
        if kind == "string" and "\\" in match.group() and match.group()[0] in "eE":
            return None
        found.append(Token(kind, match.group(), gap))
        gap = ""
    return found, gap


def has_glued_arrow(sql):
    """The engine reads `a -> b` otherwise when a comment is glued to the arrow."""
    return re.search(r"->>?(--|/\*)", sql) is not None


# --- Rewritings that keep the tokens

BLANKS = (" ", "  ", "\n", "\t", "\r\n", "\n\n    ", " \f ")
COMMENTS = (
    "/* c */",
    "/**/",
    "/* it's; \"one */",
    "/* $$ -- */",
    "/*+ hint */",
    "/* SELECT 1; */",
    "-- it's\n",
    "--\n",
    '-- /* "\n',
    "/* ünï – */",
    "-- interlace: no\r\n",
)


def random_case(random, word):
    style = random.randrange(4)
    if style == 0:
        return word.lower() if word.isascii() else word
    if style == 1:
        return word.upper() if word.isascii() else word
    if style == 2:
        return "".join(c.upper() if c.isascii() and random.random() < 0.5 else c for c in word)
    return word


def random_gap(random, needs_one):
    """Blanks and comments; begins with a blank where the next character could join the token before it."""
    parts = [random.choice(BLANKS)] if needs_one else []
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        parts.append(random.choice(COMMENTS) if random.random() < 0.6 else random.choice(BLANKS))
    return "".join(parts)


def joins(left, right):
    """Whether two tokens would become others when nothing stands between them, or a comment would."""
    if left is None:
        return False
    wordy = ("word", "number", "parameter", "string", "quoted")
    return (
        left.kind == "operator"
        or right.kind == "operator"
        or (left.kind in wordy and right.kind in wordy)
        or (left.kind == "number" and right.text == ".")
        or (left.text == "." and right.kind == "number")
        or (left.text in ".:" and right.text in ".:")
    )


def dressed(sql, random):
    """The same tokens with other blanks, comments and letter case."""
    found, _ = tokens(sql)
    if random.random() < 0.3:
        while found and found[-1].text == ";":
            found.pop()
    parts, before = [], None
    for token in found:
        if before is not None and before.kind == token.kind == "string":
            parts.append(token.gap)
        elif not token.gap and before is not None and random.random() < 0.6:
            pass
        else:
            parts.append(random_gap(random, joins(before, token)))
        parts.append(random_case(random, token.text) if token.kind == "word" else token.text)
        before = token
    parts.append(random.choice(("", "\n", ";", " ; ", "\n-- end", "/* end */", ";\n-- end\n")))
    return "".join(parts)


# --- Rewritings that change one token

OTHER = {
    "+": "-",
    "-": "+",
    "*": "/",
    "<": "<=",
    ">": ">=",
    "<=": "<",
    ">=": ">",
    "=": "<>",
    "<>": "=",
    "||": "^@",
    "and": "or",
    "or": "and",
    "asc": "desc",
    "desc": "asc",
    "left": "right",
    "right": "left",
    "inner": "left",
    "union": "except",
    "except": "intersect",
    "min": "max",
    "max": "min",
    "sum": "avg",
    "count": "sum",
    "true": "false",
    "false": "true",
    "rows": "range",
    "integer": "bigint",
    "bigint": "integer",
    "varchar": "blob",
}


def changed_texts(token):
    """Other tokens that may stand where this one does."""
    text = token.text
    if token.kind == "number":
        return [text + "7", "3" + text] if text.isdigit() else ["7"]
    if token.kind == "quoted":
        return [text[:-1] + 'x"', text.swapcase()] if text.isascii() else [text[:-1] + 'x"']
    if token.kind == "string" and text[0] == "'":
        return [text[:-1] + "x'", text[:-1] + " '", text[:-1] + "''' ", text.swapcase(), text[:-1] + "--'"]
    if token.kind == "word":
        return [OTHER.get(text.lower(), text + "_x"), '"' + text + '"']
    if token.kind == "operator":
        return [OTHER[text]] if text in OTHER else []
    return []


def changed(sql, random):
    """The text with one token changed, left out or doubled; None when the pick changes nothing."""
    found, tail = tokens(sql)
    at = random.randrange(len(found))
    token = found[at]
    texts = [text for text in changed_texts(token) if text != token.text]
    action = random.random()
    if action < 0.15:
        new = ""
    elif action < 0.3:
        new = f"{token.text} {token.text}"
    elif texts:
        new = random.choice(texts)
    else:
        return None
    parts = [t.gap + (new if i == at else t.text) for i, t in enumerate(found)]
    return "".join(parts) + tail


def canonical(sql):
    """What of a text counts: its tokens, words without their letter case, `;` at the ends apart."""
    found, _ = tokens(sql)
    texts = [t.text.lower() if t.kind == "word" else t.text for t in found]
    while texts and texts[0] == ";":
        texts.pop(0)
    while texts and texts[-1] == ";":
        texts.pop()
    return texts
