"""Lineage against the engine: when one column of a source is emptied or changed, only outputs whose lineage names it may
change; any may when row influence names it. Queries are generated from a fixed seed, and read as models of one project."""

import os
import random

import duckdb

EXAMPLES = int(os.environ.get("INTERLACE_PROPERTY_EXAMPLES", "40" if os.environ.get("INTERLACE_SANITIZED") else "300"))
COLUMNS = {"t": ["id", "k", "v", "w"], "u": ["id", "k", "x", "y"]}
ROWS = 8


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, items):
        return self.random.choice(items)

    def value(self, columns, depth=2):
        a = self.pick(columns)
        if depth == 0:
            return a
        b = self.value(columns, depth - 1)
        return self.pick(
            [a, f"{a} + {b}", f"coalesce({a}, {b})", f"CASE WHEN {a} > 2 THEN {b} END", "7", f"greatest({a}, {b})"]
        )

    def condition(self, columns):
        return f"{self.value(columns, 1)} {self.pick(['>', '<>', '<='])} {self.pick(columns)}"

    def source(self, depth):
        """A FROM clause and the columns it gives, all of them qualified."""
        kind = self.pick(["t", "u", "join", "using", "sub", "lateral"] if depth else ["t", "u"])
        if kind in COLUMNS:
            return f"{kind} AS s", [f"s.{name}" for name in COLUMNS[kind]]
        if kind == "join":
            how = self.pick(["JOIN", "LEFT JOIN", "FULL JOIN"])
            on = f"a.{self.pick(COLUMNS['t'])} = b.{self.pick(COLUMNS['u'])}"
            return f"t a {how} u b ON {on}", [f"a.{n}" for n in COLUMNS["t"]] + [f"b.{n}" for n in COLUMNS["u"]]
        if kind == "using":
            how = self.pick(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
            return f"t {how} u USING (id, k)", ["id", "k", "v", "w", "x", "y"]
        if kind == "lateral":
            inner = f"SELECT max(x) AS m FROM u WHERE u.k = a.{self.pick(COLUMNS['t'])}"
            return f"t a, LATERAL ({inner}) l", [*(f"a.{n}" for n in COLUMNS["t"]), "l.m"]
        return f"({self.query(depth - 1)}) AS q(p, q, r)", ["q.p", "q.q", "q.r"]

    def select(self, depth):
        source, columns = self.source(depth)
        where = f" WHERE {self.condition(columns)}" if self.random.random() < 0.4 else ""
        kind = self.pick(["plain", "plain", "group", "window", "distinct", "scalar", "limit", "qualify"])
        a, b, c = (self.value(columns) for _ in range(3))
        key = self.pick(columns)
        if kind == "group":
            having = self.pick(["", f" HAVING sum({key}) > 3"])
            keep = f"sum({b}) FILTER (WHERE {self.condition(columns)})"
            return f"SELECT {key} AS o1, {keep} AS o2, count(*) AS o3 FROM {source}{where} GROUP BY {key}{having}"
        if kind == "window":
            c = f"sum({c}) OVER (PARTITION BY {key})"
        if kind == "scalar":
            c = f"(SELECT max(z.x) FROM u z WHERE z.k = {key})"
        body = f"{a} AS o1, {b} AS o2, {c} AS o3 FROM {source}{where}"
        if kind == "qualify":
            return f"SELECT {body} QUALIFY count(*) OVER (PARTITION BY {key}) > 1"
        if kind == "limit":
            return f"SELECT {body} ORDER BY o1, o2, o3 LIMIT 5"
        return f"SELECT {'DISTINCT ' if kind == 'distinct' else ''}{body}"

    def query(self, depth):
        kind = self.pick(["select", "select", "set", "cte", "star"] if depth else ["select"])
        if kind == "set":
            how = self.pick(["UNION ALL", "UNION", "EXCEPT", "INTERSECT", "UNION ALL BY NAME"])
            return f"({self.select(depth - 1)}) {how} ({self.select(depth - 1)})"
        if kind == "cte":
            return f"WITH c AS ({self.query(depth - 1)}) SELECT o1, o2 + o3 AS o2, 1 AS o3 FROM c"
        if kind == "star":
            inner = self.query(depth - 1)
            return f"SELECT * REPLACE (o1 + 1 AS o1) FROM ({inner})"
        return self.select(depth)


def contents(columns, seed, changed=None):
    rng = random.Random(seed)
    rows = []
    for number in range(ROWS):
        row = {name: rng.choice([None, 0, 1, 2, 3, 4]) for name in columns} | {"id": number}
        rows.append(row)
    for row in rows if changed else []:
        row[changed] = rng.choice([None, None, 5, 6, 7])
    return rows


def fill(connection, seed, table=None, column=None):
    for name, columns in COLUMNS.items():
        rows = contents(columns, seed + len(name) + ord(name), column if name == table else None)
        values = ", ".join("(" + ", ".join("NULL" if v is None else str(v) for v in row.values()) + ")" for row in rows)
        types = ", ".join(f"{c} BIGINT" for c in columns)
        connection.execute(f"CREATE OR REPLACE TABLE {name} ({types}); INSERT INTO {name} VALUES {values}")


def outputs(connection, query):
    """Each column by itself, as a bag: which rows its values stand in is another matter."""
    rows = connection.execute(query).fetchall()
    return [sorted(column, key=repr) for column in zip(*rows, strict=True)] or [[], [], []]


def test_05_7_7_what_lineage_calls_untouched_does_not_change(project):
    queries = [Generator(seed).query(2) for seed in range(EXAMPLES)]
    files = {f"models/m{i}.sql": text for i, text in enumerate(queries)}
    tables = {
        f"models/{name}.sql": "SELECT " + ", ".join(f"1 AS {c}" for c in columns) for name, columns in COLUMNS.items()
    }
    project.write(files | tables)
    lineage = project.json("lineage", "-c")["columns"]
    connection = duckdb.connect()
    changed = 0
    for number, query in enumerate(queries):
        found = lineage[f"m{number}"]
        assert not found["opaque"], query
        fill(connection, number)
        before = outputs(connection, query)
        for table, columns in COLUMNS.items():
            for column in columns:
                name = f"{table}.{column}"
                if name in found["row_influence"]:
                    continue
                fill(connection, number, table, column)
                after = outputs(connection, query)
                for (output, sources), old, new in zip(found["columns"].items(), before, after, strict=True):
                    changed += old != new
                    assert old == new or name in sources, f"{name} changes {output} of {query}"
    assert changed > EXAMPLES / 4
