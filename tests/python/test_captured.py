"""Captured values: closures, defaults, variables, environment."""

import json

import pytest
from interlace import _variables
from interlace.exceptions import DefinitionError

FACTORY = (
    "def make(value):\n    def fn(): return value\n    model('m')(fn)\nimport datetime, decimal, enum, collections\n"
)


def closure(project, text):
    return json.loads(project.captured(FACTORY + f"make({text})\n"))["closure"]["value"]


VALUES = [
    ("None", None),
    ("True", True),
    ("'x'", "x"),
    ("5", ["int", "0x5"]),
    ("-5", ["int", "-0x5"]),
    ("0.1", ["float", "0x1.999999999999ap-4"]),
    ("b'\\xff'", ["bytes", "ff"]),
    ("decimal.Decimal('1.10')", ["decimal", "1.10"]),
    ("datetime.date(2026, 1, 2)", ["date", "2026-01-02"]),
    ("datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)", ["datetime", "2026-01-02T00:00:00+00:00"]),
    ("[1, (2,)]", ["list", [["int", "0x1"], ["tuple", [["int", "0x2"]]]]]),
    ("{'b', 'a'}", ["set", ["a", "b"]]),
    ("{'b': 1}", ["dict", [["b", ["int", "0x1"]]]]),
    ("collections.OrderedDict(a=1)", ["type", "collections.OrderedDict", ["dict", [["a", ["int", "0x1"]]]]]),
    ("object()", ["type", "builtins.object"]),
]


@pytest.mark.parametrize("text, expected", VALUES)
def test_plain_data_counts_by_value(project, text, expected):
    assert closure(project, text) == expected


def test_values_of_unlike_types_differ(project):
    texts = ["1", "1.0", "True", "'1'", "b'1'", "(1,)", "[1]", "{1}", "frozenset({1})", "decimal.Decimal(1)"]
    assert len({json.dumps(closure(project, text)) for text in texts}) == len(texts)


def test_a_value_that_holds_itself_ends(project):
    text = FACTORY + "loop = []\nloop.append(loop)\nmake(loop)\n"
    assert json.loads(project.captured(text))["closure"]["value"] == ["list", [["cycle"]]]


def test_a_value_that_is_too_deep_is_refused(project):
    with pytest.raises(DefinitionError, match="nested deeper"):
        project.captured(FACTORY + "deep = []\nfor i in range(100): deep = [deep]\nmake(deep)\n")


def test_captured_functions_count_by_source(project):
    text = FACTORY + "def add(a, b=2):\n    'Doc.'\n    return a + b\nmake(add)\n"
    one = project.captured(text)
    assert one == project.captured(text.replace("'Doc.'", "'Other.'"))
    assert one != project.captured(text.replace("a + b", "a - b"))


def test_captured_classes_and_modules_of_the_project_count_by_source(project):
    for name, text in (("class", "from _h import A\nmake(A)\n"), ("module", "import _h\nmake(_h)\n")):
        project.write("models/_h.py", "class A:\n    def f(self): return 1\n")
        one = project.captured(FACTORY + text)
        project.write("models/_h.py", "class A:\n    def f(self): return 2\n")
        assert one != project.captured(FACTORY + text), name


def test_03_1_4_models_of_one_factory_differ_by_what_they_captured(project):
    loop = "def make(t):\n    def fn(): return t\n    model(f'x_{t}')(fn)\nfor t in ['a', 'b']: make(t)\n"
    project.write("models/m.py", "from interlace import model\n" + loop)
    a, b = (project.identify(model=f"x_{name}") for name in "ab")
    assert a.canonical == b.canonical
    assert a.captured != b.captured
    project.write("models/m.py", "from interlace import model\n" + loop.replace("'b'", "'c'"))
    assert project.identify(model="x_a").captured == a.captured


def test_01_9_2_late_binding_shows_and_bound_defaults_do_not_suffer_from_it(project):
    late = "def outer():\n    for t in 'ab':\n        def fn(): return t\n        model(f'm_{t}')(fn)\nouter()\n"
    project.write("models/m.py", "from interlace import model\n" + late)
    assert project.identify(model="m_a").captured == project.identify(model="m_b").captured
    project.write("models/m.py", "from interlace import model\n" + late.replace("fn()", "fn(t=t)"))
    assert project.identify(model="m_a").captured != project.identify(model="m_b").captured


def test_only_defaults_that_are_no_literals_are_captured(project):
    text = "LIMIT = 3\n@model()\ndef m(a, b=LIMIT, c=5, d=(1, -2), *, e=LIMIT, f=None): ...\n"
    assert json.loads(project.captured(text)) == {"defaults": {"b": ["int", "0x3"], "e": ["int", "0x3"]}}


def test_wrapped_functions_and_partials_are_looked_through(project):
    head = "import functools\ndef twice(fn):\n    @functools.wraps(fn)\n    def run(*a): return fn(*a), {}\n    return run\n"
    text = head + "@model()\n@twice\ndef m(): return 1\n"
    project.write("models/m.py", "from interlace import model\n" + text.format(1))
    one = project.identify()
    assert "return 1" in one.source
    project.write("models/m.py", "from interlace import model\n" + text.format(2))
    assert one.canonical != project.identify().canonical

    partial = "import functools\ndef f(a): return a\nmodel('m')(functools.partial(f, {}))\n"
    assert project.captured(partial.format(1)) != project.captured(partial.format(2))


def test_variables_that_are_read_by_name_are_captured(project):
    _variables.set_values({"region": {"type": "string", "value": "EU"}, "rate": {"type": "float", "value": "1.5"}})
    head = "import interlace\nfrom interlace import var as v\n"
    assert json.loads(project.captured(head + "@model()\ndef m(): return v('region')\n")) == {"vars": {"region": "EU"}}
    by_module = head + "@model()\ndef m(): return interlace.var(name='region')\n"
    assert json.loads(project.captured(by_module)) == {"vars": {"region": "EU"}}
    in_helper = head + "def f(): return v('region')\n@model()\ndef m(): return f()\n"
    assert json.loads(project.captured(in_helper)) == {"vars": {"region": "EU"}}
    computed = head + "@model()\ndef m(): return v('re' + 'gion')\n"
    assert set(json.loads(project.captured(computed))["vars"]) == {"region", "rate"}
    assert project.captured(head + "v('region')\n@model()\ndef m(): return 1\n") == ""


def test_an_unknown_variable_is_refused_at_load(project):
    with pytest.raises(DefinitionError, match="no such variable; declared under vars: none"):
        project.captured("from interlace import var\n@model()\ndef m(): return var('nope')\n")


def test_declared_environment_counts_by_digest(project, monkeypatch):
    text = "@model(env=['TEST_SECRET'])\ndef m(): ...\n"
    seen = set()
    for value in ("hunter2", "hunter3"):
        monkeypatch.setenv("TEST_SECRET", value)
        captured = project.captured(text)
        assert value not in captured
        seen.add(captured)
    monkeypatch.delenv("TEST_SECRET")
    seen.add(project.captured(text))
    assert len(seen) == 3


def test_01_9_1_one_body_with_other_values_is_another_model(project):
    """Closures, partial applications and defaults: whatever a factory binds tells its models apart."""
    forms = {
        "closure": "def make(t):\n    def fn(): return t\n    return fn\n",
        "partial": "import functools\ndef base(*, t): return t\ndef make(t): return functools.partial(base, t=t)\n",
        "default": "def make(t):\n    def fn(t=t): return t\n    return fn\n",
    }
    head = "from interlace.dsl.decorators import REGISTRY, ModelDef\n"
    loop = "for t in {}:\n    REGISTRY.register_model(ModelDef(name=f'm_{{t}}', fn=make(t)))\n"
    for form in forms.values():
        project.write("models/m.py", head + form + loop.format(["acme", "globex"]))
        first = [project.identify(model=f"m_{t}").captured for t in ("acme", "globex")]
        assert len(set(first)) == 2
        project.write("models/m.py", head + form + loop.format(["globex"]))
        assert project.identify(model="m_globex").captured == first[1]
