"""Which code counts as part of a model: what it reaches by name, through all files of the project."""

import pytest

USE = "@model()\ndef m(): return {}\n"


def moves(project, text, helper, edited, **more):
    """Whether an edit of the helper `_h` moves the model in `text`."""
    before = project.canonical(text, _h=helper, **more)
    after = project.canonical(text, _h=edited, **more)
    return before != after


HELPER = "RATE = 1\nOTHER = 2\ndef f(): return RATE\ndef g(): return OTHER\n"
EDITED_RATE = HELPER.replace("RATE = 1", "RATE = 5")
EDITED_OTHER = HELPER.replace("OTHER = 2", "OTHER = 5")


@pytest.mark.parametrize(
    "imports, use",
    [
        ("from _h import f\n", "f()"),
        ("from _h import f as k\n", "k()"),
        ("import _h\n", "_h.f()"),
        ("import _h as h\n", "h.f()"),
        ("from _h import RATE\n", "RATE"),
        ("import _h\nk = _h.f\n", "k()"),
        ("from _h import f\nTABLE = {'a': f}\n", "TABLE['a']()"),
        ("from _h import f\nclass A:\n    def run(self): return f()\n", "A().run()"),
        ("from _h import f\ndef inner():\n    return lambda: [f() for _ in 'x']\n", "inner()"),
        ("try:\n    from _h import f\nexcept ImportError:\n    f = None\n", "f()"),
    ],
)
def test_03_1_3_a_reached_helper_moves_its_users_only(project, imports, use):
    text = imports + USE.format(use)
    assert moves(project, text, HELPER, EDITED_RATE)
    assert not moves(project, text, HELPER, EDITED_OTHER)


@pytest.mark.parametrize(
    "text",
    [
        "@model()\ndef m():\n    from _h import f\n    return f()\n",
        "@model()\ndef m():\n    import _h\n    return _h.f()\n",
        "@model()\ndef m():\n    import _h as k\n    def inner(): return k.f()\n    return inner()\n",
    ],
)
def test_imports_inside_a_function_are_followed(project, text):
    assert moves(project, text, HELPER, EDITED_RATE)
    assert not moves(project, text, HELPER, EDITED_OTHER)


@pytest.mark.parametrize(
    "imports, use",
    [
        ("from _h import *\n", "f()"),
        ("import _h\n", "getattr(_h, 'f')()"),
        ("import _h\n", "vars(_h)"),
        ("import _h, importlib\n", "importlib.import_module('_h').f()"),
        ("from importlib import import_module\nimport _h\n", "import_module('_h').f()"),
        ("from _h import f\n", "eval('f()')"),
        ("from _h import f\n", "exec('f()')"),
        ("from _h import f\n", "globals()['f']()"),
    ],
)
def test_what_cannot_be_followed_takes_whole_files(project, imports, use):
    text = imports + USE.format(use)
    assert moves(project, text, HELPER, EDITED_RATE)
    assert moves(project, text, HELPER, EDITED_OTHER)


def test_case_034_a_comment_and_an_unreached_constant_change_nothing(project):
    helper = "RATE = 1.10\n"
    text = "from _h import RATE\nLIMIT = 3\n" + USE.format("RATE * LIMIT")
    assert moves(project, text, helper, "RATE = 1.20\n")
    assert not moves(project, text, helper, "# a comment\nRATE = 1.10\n")
    assert not moves(project, text, helper, helper + "UNUSED = 1\n")
    assert not moves(project, text, helper, "'''Doc.'''\nRATE = 1.1\n")


def test_helpers_of_helpers_count(project):
    text = "from _h import f\n" + USE.format("f()")
    helper = "from _deep import g\ndef f(): return g()\n"
    before = project.canonical(text, _h=helper, _deep="def g(): return 1\ndef k(): return 1\n")
    assert before != project.canonical(text, _h=helper, _deep="def g(): return 2\ndef k(): return 1\n")
    assert before == project.canonical(text, _h=helper, _deep="def g(): return 1\ndef k(): return 2\n")


def test_a_name_that_a_helper_only_passes_on_is_followed(project):
    text = "from _h import g\n" + USE.format("g()")
    before = project.canonical(text, _h="from _deep import g\n", _deep="def g(): return 1\n")
    assert before != project.canonical(text, _h="from _deep import g\n", _deep="def g(): return 2\n")


@pytest.mark.parametrize(
    "imports, use",
    [
        ("from lib.tools import f\n", "f()"),
        ("import lib.tools\n", "lib.tools.f()"),
        ("import lib.tools as t\n", "t.f()"),
        ("from lib import tools\n", "tools.f()"),
    ],
)
@pytest.mark.parametrize("has_init", [True, False])
def test_packages_of_the_project_are_followed(project, imports, use, has_init):
    if has_init:
        project.write("models/lib/__init__.py", "")
    text = imports + USE.format(use)
    project.write("models/lib/tools.py", "from .base import V\ndef f(): return V\n")
    forms = []
    for value in (1, 2):
        project.write("models/lib/base.py", f"V = {value}\nW = {value}\n")
        forms.append(project.canonical(text))
    project.write("models/lib/base.py", "V = 2\nW = 3\n")
    assert forms[0] != forms[1]
    assert forms[1] == project.canonical(text)


def test_packages_of_the_root_are_followed(project):
    text = "from shared.rates import f\n" + USE.format("f()")
    project.write("shared/rates.py", "def f(): return 1\n")
    import sys

    sys.path.append(str(project.root))
    try:
        before = project.canonical(text)
        project.write("shared/rates.py", "def f(): return 2\n")
        sys.modules.pop("shared.rates", None)
        assert before != project.canonical(text)
    finally:
        sys.path.remove(str(project.root))


@pytest.mark.parametrize(
    "change",
    [
        "CONFIG['a'] = 2\n",
        "CONFIG.update(a=2)\n",
        "CONFIG |= {'a': 2}\n",
        "del CONFIG['a']\n",
        "for k in 'ab': CONFIG[k] = 2\n",
    ],
)
def test_a_constant_that_is_changed_in_place_shows(project, change):
    text = "CONFIG = {{'a': 1}}\n{}" + USE.replace("{}", "CONFIG")
    assert project.canonical(text.format("")) != project.canonical(text.format(change))


@pytest.mark.parametrize(
    "body",
    [
        "    f = 1\n    return f\n",
        "    return [f for f in (1, 2)]\n",
        "    for f in (1,): pass\n    return f\n",
        "    with open('x') as f: return f\n",
        "    import json as f\n    return f\n",
        "    def f(): return 1\n    return f()\n",
        "    try: pass\n    except ValueError as f: return f\n",
        "    if (f := 1): return f\n",
        "    match 1:\n        case f: return f\n",
        "    match [1]:\n        case [*f]: return f\n",
        "    match {}:\n        case {**f}: return f\n",
        "    return (lambda f: f)(1)\n",
        "    return [1 for x in 'a' if (f := x)], f\n",
        "    class f: pass\n    return f\n",
    ],
)
def test_a_local_name_is_not_the_global_one(project, body):
    text = "def f(): return {}\n@model()\ndef m():\n" + body
    assert project.canonical(text.replace("{}", "1", 1)) == project.canonical(text.replace("{}", "2", 1))


@pytest.mark.parametrize(
    "body",
    [
        "    global f\n    f = 1\n    return f\n",
        "    return [f for x in f()]\n",
        "    return [x for x in f()]\n",
        "    class A:\n        f = 1\n        def g(self): return f\n    return A\n",
        "    def inner(a=f): return a\n    return inner()\n",
        "    f.x += 1\n",
        "    return f'{f}'\n",
        "    x: f = 1\n    return x\n",
        "    @f\n    def inner(): pass\n    return inner\n",
        "    def inner(a: f) -> None: pass\n    return inner\n",
    ],
)
def test_a_global_name_is_followed_wherever_it_is_used(project, body):
    text = "def f(): return {}\n@model()\ndef m():\n" + body
    assert project.canonical(text.replace("{}", "1", 1)) != project.canonical(text.replace("{}", "2", 1))


def test_functions_that_call_each_other_end(project):
    text = "def a(): return b()\ndef b(): return a()\n" + USE.format("a()")
    assert project.canonical(text)


def test_models_used_as_functions_count_without_their_keys(project):
    text = "@model(owner='{}')\ndef base(): return {}\n" + USE.replace("{}", "base()")
    one = project.canonical(text.format("me", 1))
    assert one == project.canonical(text.format("you", 1))
    assert one != project.canonical(text.format("me", 2))


def test_what_has_no_source_is_refused(project):
    from interlace.exceptions import DefinitionError

    project.write("models/m.py", "from interlace import model\nmodel('m')(len)\n")
    with pytest.raises(DefinitionError, match="has no source"):
        project.identify()
    project.write("models/m.py", "from interlace import model\nexec('def f(): pass')\nmodel('m')(f)\n")
    with pytest.raises(DefinitionError, match="not in a file of the project"):
        project.identify()
