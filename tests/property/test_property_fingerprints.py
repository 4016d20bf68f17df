"""spec 03 §1, lines 1, 2 and 5, spec 01 §13, lines 1 and 2: a fingerprint moves with the tokens of a query and the keys that
count, and with nothing else."""

import itertools
import json
import random

import duckdb
import pytest
from chance import Chance, examples
from conftest import TREE
from hypothesis import given, note
from hypothesis import strategies as st
from random_project import Model, Shop, Writer
from sql_rewrite import canonical, changed, dressed, has_glued_arrow, tokens

serial = itertools.count()
PARSER = duckdb.connect(":memory:")


def corpus():
    """The queries of the corpus that a model may be made of and the lexer here understands."""
    paths = sorted((TREE / "tests" / "corpus" / "sql").glob("duckdb_*.sql"))
    texts = [path.read_text(encoding="utf-8") for path in paths if "_neg_" not in path.name]
    return [sql for sql in texts if tokens(sql) is not None and is_model(sql) and not has_glued_arrow(sql)]


def is_query(sql):
    try:
        statements = PARSER.extract_statements(sql)
    except duckdb.Error:
        return False
    if len(statements) != 1:
        return False
    answer = PARSER.execute("SELECT json_serialize_sql(?::VARCHAR)", [statements[0].query]).fetchone()[0]
    return json.loads(answer)["error"] is False


def is_model(sql):
    words = sql.lower()
    return is_query(sql) and not any(word in words for word in ("var(", "pivot", "{", "macro"))


CORPUS = corpus()


def prints(make_project, queries, header=""):
    """The fingerprint of each query as a model of its own project folder; None where it is refused."""
    project = make_project({}, name=f"prints{next(serial)}")
    project.write({f"models/m{i:03}.sql": header + sql for i, sql in enumerate(queries)})
    found = project.json("models")
    assert len(found) == len(queries)
    return [row["fingerprint"] for row in sorted(found, key=lambda row: row["name"])]


def random_query(chance):
    if chance.one_in(2):
        return chance.one(CORPUS)
    shop = Shop()
    columns = {}
    for index, name in enumerate(("orders_a", "stg.items_b", "_c")):
        shop.models.append(Model(name, "", "virtual"))
        columns[index] = [("id", "int"), ("b", "int"), ("p", "text")]
    return shop.filled(Writer(chance, shop, columns, 3).query(), for_oracle=True)


def test_the_corpus_is_used():
    assert len(CORPUS) > 50


@examples(25)
@given(data=st.data())
def test_03_1_1_fingerprints_follow_the_tokens_and_nothing_else(make_project, data):
    chance = Chance(data)
    base = random_query(chance)
    random_ = random.Random(chance.seed())
    texts = [base] + [dressed(base, random_) for _ in range(6)]
    for _ in range(12):
        sql = changed(base, random_)
        if sql is not None and is_model(sql) and tokens(sql) is not None and not has_glued_arrow(sql):
            texts.append(dressed(sql, random_) if random_.random() < 0.3 else sql)
    same = [canonical(sql) for sql in texts]
    found = prints(make_project, texts)
    for i, j in itertools.combinations(range(len(texts)), 2):
        if (same[i] == same[j]) != (found[i] == found[j]):
            note(f"--- {found[i]}\n{texts[i]}\n--- {found[j]}\n{texts[j]}")
            pytest.fail("one fingerprint for two queries" if found[i] == found[j] else "two fingerprints for one query")


# --- Keys

# Of a model: what counts, with two values that differ from the default, and what does not.
COUNTED = {
    "materialise": ["view", "ephemeral"],
    "key": ["id", "[id, b]", "[b, id]"],
}
IGNORED = {
    "tags": ["[x]", "[x, y]", "z"],
    "owner": ["me", "'you'"],
    "description": ["'words: many'", '"more"'],
    "lookback": None,
    "columns": ["[id]", "{id: INTEGER}"],
    "checks": ["[{not_null: id}]", "[{row_count: {min: 1}}]"],
}
DEFAULTS = {"materialise": "virtual", "strategy": "replace", "engine": "default", "dialect": "duckdb", "key": "[]"}


def header(random_, keys):
    """A block with its keys in any order and of any form."""
    items = list(keys.items())
    random_.shuffle(items)
    if not items:
        return random_.choice(["", "/* interlace: */\n", "/* words */\n", "-- line\n/* interlace: {} */"])
    if random_.random() < 0.5:
        return "/* interlace: {" + ", ".join(f"{key}: {value}" for key, value in items) + "} */ "
    lines = "".join(f"  {key}:   {value}{random_.choice(['', ' # why'])}\n" for key, value in items)
    return f"/*\ninterlace:\n{lines}*/\n"


@examples(12)
@given(data=st.data())
def test_01_13_1_and_2_fingerprints_follow_the_keys_that_count(make_project, data):
    chance = Chance(data)
    random_ = random.Random(chance.seed())
    texts, same = [], []
    for _ in range(24):
        counted = {key: random_.choice(values) for key, values in COUNTED.items() if random_.random() < 0.4}
        if counted.get("materialise") == "ephemeral":
            counted.pop("key", None)
        keys = dict(counted)
        for key, values in IGNORED.items():
            if (
                values
                and random_.random() < 0.3
                and not (counted.get("materialise") == "ephemeral" and key in ("columns", "checks"))
            ):
                keys[key] = random_.choice(values)
        for key, value in DEFAULTS.items():
            if random_.random() < 0.3 and not (key == "key" and counted.get("materialise") == "ephemeral"):
                keys.setdefault(key, value)
        texts.append(header(random_, keys) + "SELECT 1 AS id, 2 AS b")
        same.append({**counted})
    found = prints(make_project, texts)
    for i, j in itertools.combinations(range(len(texts)), 2):
        if (same[i] == same[j]) != (found[i] == found[j]):
            note(f"--- {found[i]}\n{texts[i]}\n--- {found[j]}\n{texts[j]}")
            pytest.fail("one fingerprint for two models" if found[i] == found[j] else "two fingerprints for one model")
