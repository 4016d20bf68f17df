"""The canonical form: what changes it and what does not."""

import pytest

BODY = """
import math
RATE = 1.10
UNUSED = 3
def scaled(v):
    '''Scales.'''
    return v * RATE
class Box:
    '''A box.'''
    def open(self): return scaled(2)
"""


def form(project, function, head=BODY):
    return project.canonical(head + function)


FUNCTION = (
    "@model()\ndef m(orders):\n    'Doc.'\n    total = [scaled(v) for v in orders]\n    return total, Box(), math.pi\n"
)


@pytest.mark.parametrize(
    "head, function",
    [
        (BODY, FUNCTION.replace("    'Doc.'\n", "")),
        (BODY, FUNCTION.replace("'Doc.'", "'''Another.'''")),
        (BODY, FUNCTION.replace("    total", "    # why\n\n    total")),
        (BODY, FUNCTION.replace("scaled(v) for v in orders", "\n        scaled(v)\n        for v in orders\n    ")),
        (BODY, FUNCTION.replace("@model()", "@model(owner='me', tags=['x'], description='d')")),
        (BODY, FUNCTION.replace("def m(", "def renamed(")),
        (BODY.replace("Scales.", "Scales it."), FUNCTION),
        (BODY.replace("1.10", "1.1"), FUNCTION),
        (BODY.replace("UNUSED = 3", "UNUSED = 4\nOTHER = 5"), FUNCTION),
        (BODY.replace("'''A box.'''", '"""Of wood."""'), FUNCTION),
        (BODY.replace("RATE = 1.10\n", "") + "RATE = 1.10\n", FUNCTION),
        ("'''Module.'''\n" + BODY, FUNCTION),
    ],
)
def test_what_does_not_change_what_is_computed_does_not_show(project, head, function):
    assert form(project, function, head) == form(project, FUNCTION)


@pytest.mark.parametrize(
    "head, function",
    [
        (BODY, FUNCTION.replace("scaled(v)", "scaled(v + 1)")),
        (BODY, FUNCTION.replace("orders", "customers")),
        (BODY, FUNCTION.replace("@model()", "import functools\n@model()\n@functools.lru_cache")),
        (BODY.replace("1.10", "1.20"), FUNCTION),
        (BODY.replace("1.10", "'1.10'"), FUNCTION),
        (BODY.replace("v * RATE", "v + RATE"), FUNCTION),
        (BODY.replace("scaled(2)", "scaled(3)"), FUNCTION),
        (BODY.replace("import math", "import cmath as math"), FUNCTION),
        (BODY + "RATE += 1\n", FUNCTION),
        (BODY + "if True:\n    RATE = 2\n", FUNCTION),
        (BODY + "def scaled(v): return v\n", FUNCTION),
    ],
)
def test_what_may_change_what_is_computed_shows(project, head, function):
    assert form(project, function, head) != form(project, FUNCTION)


LITERALS = [
    ("1", "0x1", True),
    ("1", "1.0", False),
    ("1", "True", False),
    ("'a'", '"a"', True),
    ("'a'", "u'a'", True),
    ("'ab'", "'a' 'b'", True),
    ("'a'", "b'a'", False),
    ("'a'", "'A'", False),
    ("r'\\n'", "'\\\\n'", True),
    ("1_000", "1000", True),
    ("0.1", "0.10", True),
    ("f'{1}'", "f'{2}'", False),
    ("f'a{1}' 'b'", "f'a{1}b'", True),
    ("f'{1:}'", "f'{1}'", True),
    ("f'{1!r}'", "f'{1}'", False),
    ("(1, 2)", "[1, 2]", False),
    ("...", "None", False),
    ("{**{}}", "{None: {}}", True),
]


@pytest.mark.parametrize("one, other, is_equal", LITERALS)
def test_literals_count_by_value_and_type(project, one, other, is_equal):
    forms = [project.canonical(f"@model()\ndef m(): return {text}\n") for text in (one, other)]
    if one.startswith("{**"):  # a doubled key has no key at all
        assert forms[0] != forms[1]
    else:
        assert (forms[0] == forms[1]) is is_equal


def test_two_models_of_one_file_are_independent(project):
    text = "from interlace import model\nS = 1\n@model()\ndef a(): return S\n@model()\ndef b(a): return a, 2\n"
    project.write("models/m.py", text)
    before = {name: project.identify(model=name).canonical for name in "ab"}
    project.write("models/m.py", text.replace("return S", "return S + 1"))
    after = {name: project.identify(model=name).canonical for name in "ab"}
    assert before["a"] != after["a"]
    assert before["b"] == after["b"], "the parameter 'a' is not the function 'a'"


def test_the_place_of_a_file_does_not_show(project):
    project.write("models/_h.py", "def f(): return 1\n")
    project.write("models/m.py", "from interlace import model\nfrom _h import f\n@model()\ndef m(): return f()\n")
    project.write("other/deep/_h.py", "def f(): return 1\n")
    project.write("other/deep/m.py", "from interlace import model\nfrom _h import f\n@model()\ndef m(): return f()\n")
    assert project.identify("models/m.py").canonical == project.identify("other/deep/m.py").canonical


def test_source_is_as_it_is_written(project):
    project.write("models/m.py", "from interlace import model\n\n@model(  )\ndef m():  # why\n    return 1\n\nX = 1\n")
    assert project.identify().source == "@model(  )\ndef m():  # why\n    return 1"


@pytest.mark.parametrize("marks", ["\ufeff", "# -*- coding: latin-1 -*-\n"])
def test_encodings_are_read_as_python_does(project, marks):
    text = marks + "from interlace import model\n@model()\ndef m(): return 'ü'\n"
    (project.root / "models").mkdir()
    encoding = "latin-1" if "latin" in marks else "utf-8"
    (project.root / "models/m.py").write_bytes(text.replace("\n", "\r\n").encode(encoding))
    assert project.identify().canonical == project.canonical("@model()\ndef m(): return 'ü'\n")


def test_a_very_long_expression_has_a_form(project):
    import sys

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        assert project.canonical("@model()\ndef m(): return " + " + ".join(["1"] * 800) + "\n")
    finally:
        sys.setrecursionlimit(limit)
