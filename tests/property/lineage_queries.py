"""Queries for the lineage oracle, made from a seed: joins of all kinds, set operations, CTEs (chained, shadowing, recursive),
windows, aggregates, correlated and lateral subqueries, structs, lists, UNNEST, stars with EXCLUDE, REPLACE and RENAME,
QUALIFY, DISTINCT ON, PIVOT and UNPIVOT. Every query gives three columns of whole numbers, o1, o2 and o3, unless it says
so; so each can stand wherever a table does."""

import random

TABLES = {
    "t": {
        "id": "bigint",
        "k": "bigint",
        "v": "bigint",
        "w": "bigint",
        "s": "struct(p bigint, q bigint)",
        "l": "bigint[]",
    },
    "u": {"id": "bigint", "k": "bigint", "x": "bigint", "y": "bigint"},
    "n": {"k": "bigint", "m": "bigint"},
}
NUMBERS = {
    "t": ["id", "k", "v", "w", "s.p", "s.q", "l[1]", "len(l)"],
    "u": ["id", "k", "x", "y"],
    "n": ["k", "m"],
}
OUTPUTS = ["o1", "o2", "o3"]


def qualified(column, table):
    return f"len({table}.l)" if column == "len(l)" else f"{table}.{column}"


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0

    def pick(self, *items):
        return self.random.choice(items)

    def chance(self, share):
        return self.random.random() < share

    def name(self):
        self.names += 1
        return f"a{self.names}"

    def one_of(self, makers, *args):
        return self.random.choice(makers)(*args)

    # --- Expressions over columns

    def value(self, columns, depth=2):
        a = self.pick(*columns)
        if depth == 0 or not self.chance(0.8):
            return a
        b = self.value(columns, depth - 1)
        return self.pick(
            f"{a} + {b}",
            f"coalesce({a}, {b})",
            f"CASE WHEN {self.condition(columns, 0)} THEN {b} ELSE 1 END",
            f"CASE {a} WHEN 1 THEN {b} WHEN 2 THEN 5 END",
            f"greatest({a}, {b})",
            f"({a})::VARCHAR::BIGINT",
            f"list_sum(list_transform([1, {b}], lambda z : z + {a}))",
            f"list_sum([z * 2 FOR z IN [{a}, {b}] IF z > 1])",
            f"{{'f': {a}, 'g': {b}}}.f",
            "(3 + 4)",
        )

    def condition(self, columns, depth=1):
        a, b = self.value(columns, depth), self.pick(*columns)
        return self.pick(
            f"{a} > {b}",
            f"{a} <> 2",
            f"{a} BETWEEN 1 AND {b}",
            f"{a} IN (1, 2, {b})",
            f"{a} IS NOT DISTINCT FROM {b}",
            f"NOT ({a} = {b})",
        )

    def subquery_value(self, columns):
        """A correlated subquery; its own columns may have the names of those outside."""
        key, a = self.pick(*columns), self.name()
        return self.pick(
            f"(SELECT max({a}.x) FROM u {a} WHERE {a}.k = {key})",
            f"(SELECT {a}.m + {key} FROM n {a} ORDER BY {a}.m, {a}.k LIMIT 1)",
            f"(SELECT count(*) FROM u {a} WHERE {a}.y > {key})",
            f"(SELECT sum(o2) FROM ({self.select(0)}) {a} WHERE o1 = {key})",
            f"len(ARRAY(SELECT {a}.m FROM n {a} WHERE {a}.k = {key}))",
            f"CASE WHEN EXISTS (FROM n {a} WHERE {a}.m = {key}) THEN 1 ELSE 0 END",
            f"CASE WHEN {key} IN (SELECT {a}.y FROM u {a}) THEN 1 ELSE 0 END",
            f"CASE WHEN {key} > ALL (SELECT {a}.m FROM n {a}) THEN 1 ELSE 0 END",
        )

    def window(self, columns, named):
        a, b, c = (self.pick(*columns) for _ in range(3))
        over = self.pick(f"PARTITION BY {b}", f"ORDER BY {b}, {c}", f"PARTITION BY {b} ORDER BY {c}", "")
        return self.pick(
            f"sum({a}) OVER ({over})",
            f"count(*) FILTER (WHERE {self.condition(columns, 0)}) OVER ({over})",
            f"max({a}) OVER (ORDER BY {b} RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
            f"dense_rank() OVER (PARTITION BY {b} ORDER BY {c})",
            f"sum({a}) OVER {named}",
        )

    def aggregate(self, columns):
        a, b = self.value(columns, 1), self.pick(*columns)
        return self.pick(
            f"sum({a}) FILTER (WHERE {self.condition(columns, 0)})",
            f"max({a})",
            "count(*)",
            f"count(DISTINCT {a})",
            f"list_sum(list({a} ORDER BY {b}, {a})[:2])",
            f"arg_max({a}, ({b}, {a}))",
            f"sum({a}) + min({b})",
        )

    # --- FROM: its text and the expressions that it offers, which no other source makes ambiguous

    def table(self, _depth):
        name, a = self.pick(*TABLES), self.name()
        return f"{name} AS {a}", [qualified(column, a) for column in NUMBERS[name]]

    def bare_table(self, _depth):
        name = self.pick(*TABLES)
        return name, [self.pick(column, qualified(column, name)) for column in NUMBERS[name]]

    def renamed_table(self, _depth):
        a = self.name()
        return f"u AS {a}(p, q)", [f"{a}.p", "q", "x", f"{a}.y"]

    def join(self, depth):
        how = self.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN")
        left, columns = self.source(depth - 1)
        right, more = self.table(0)
        columns = [column for column in columns if "." in column.removeprefix("s.")] or ["1"]  # not ambiguous now
        on = "" if how == "CROSS JOIN" else f" ON {self.pick(*columns)} = {self.pick(*more)}"
        return f"{left} {how} {right}{on}", columns + more

    def using(self, _depth):
        how = self.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "ASOF JOIN")
        return f"t {how} u USING (k, id)", ["id", "k", "v", "w", "x", "t.id", "u.k", "y"]

    def natural(self, _depth):
        how = self.pick("NATURAL JOIN", "NATURAL LEFT JOIN", "NATURAL FULL JOIN")
        return f"u {how} n", ["id", "k", "x", "u.y", "m", "n.k"]

    def semi(self, _depth):
        how = self.pick("SEMI JOIN", "ANTI JOIN")
        return f"t {how} n USING (k)", ["t.id", "k", "v", "w"]

    def lateral(self, _depth):
        a, key = self.name(), self.pick("t.k", "v", "t.id")
        inner = self.pick(
            f"SELECT max(x) AS z FROM u WHERE u.k = {key}",
            f"SELECT m AS z FROM n WHERE n.m > {key}",
            f"SELECT {key} + 1 AS z",
            f"SELECT q.z FROM (SELECT u.y + {key} AS z FROM u) AS q",
        )
        return f"t, LATERAL ({inner}) AS {a}", ["t.id", "v", "w", f"{a}.z"]

    def unnested(self, _depth):
        a = self.name()
        return f"t, unnest(t.l) AS {a}(e)", ["id", "t.k", "w", "e", f"{a}.e"]

    def values(self, _depth):
        a = self.name()
        return f"(VALUES (1, 2), (3, 4)) AS {a}(c, d), n", ["c", f"{a}.d", "n.k", "m"]

    def series(self, _depth):
        a = self.name()
        return f"range(3) AS {a}(r), u", [f"{a}.r", "u.k", "x", "y"]

    def positional(self, _depth):
        return "u POSITIONAL JOIN n", ["id", "x", "y", "m"]

    def asof(self, _depth):
        return "u ASOF LEFT JOIN t ON u.k = t.k AND u.id >= t.id", ["u.id", "x", "y", "v", "t.w"]

    def nested(self, depth):
        a = self.name()
        if depth > 0 and self.chance(0.5):
            return f"({self.query(depth - 1)}) AS {a}(p, q, r)", [f"{a}.p", "q", f"{a}.r"]
        return f"({self.query(depth - 1)}) AS {a}", [f"{a}.o1", f"{a}.o2", f"{a}.o3"]

    def pivoted(self, _depth):
        a = self.name()
        return f"(PIVOT u ON k IN (1, 2, 3) USING sum(x) GROUP BY id) AS {a}", [f"{a}.id", f'{a}."1"', f'{a}."3"']

    def pivoted_rest(self, _depth):
        a = self.name()
        return f"(PIVOT u ON k IN (1, 2) USING max(x)) AS {a}", [f"{a}.id", f"{a}.y", f'{a}."2"']

    def unpivoted(self, _depth):
        a = self.name()
        return f"(UNPIVOT u ON x, y INTO NAME which VALUE val) AS {a}", [f"{a}.id", f"{a}.k", "len(which)", "val"]

    def source(self, depth):
        simple = [self.table, self.table, self.bare_table, self.using, self.natural, self.lateral, self.unnested]
        rare = [self.renamed_table, self.semi, self.values, self.series, self.positional, self.asof]
        rare += [self.pivoted, self.pivoted_rest, self.unpivoted]
        makers = simple + [self.random.choice(rare)]
        return self.one_of(makers + [self.join, self.nested] * 2 if depth > 0 else makers, depth)

    # --- SELECT

    def select(self, depth):
        source, columns = self.source(depth)
        self.has_where = self.chance(0.3)
        where = f" WHERE {self.condition(columns)}" if self.has_where else ""
        kinds = [self.plain] * 2 + [
            self.grouped,
            self.windowed,
            self.correlated,
            self.limited,
            self.distinct,
            self.unnest,
        ]
        return self.one_of(kinds, f"FROM {source}{where}", columns)

    def items(self, columns):
        return [self.value(columns) for _ in OUTPUTS]

    def listed(self, items):
        return ", ".join(f"{item} AS {name}" for item, name in zip(items, OUTPUTS, strict=True))

    def plain(self, source, columns):
        a, b, c = self.items(columns)
        if " WHERE " not in source and self.chance(0.3):
            return f"{source} SELECT {self.listed([a, b, c])}"
        return f"SELECT {self.listed([a, b, f'o1 + {c}'])} {source}"

    def grouped(self, source, columns):
        key, a, b = self.value(columns, 1), self.aggregate(columns), self.aggregate(columns)
        having = self.pick("", f" HAVING sum({self.pick(*columns)}) > 3")
        listed = self.listed([key, a, b])
        return self.pick(
            f"SELECT {listed} {source} GROUP BY {key}{having}",
            f"SELECT {listed} {source} GROUP BY 1{having}",
            f"SELECT {listed} {source} GROUP BY ALL",
            f"SELECT {listed} {source} GROUP BY ROLLUP ({key}){having}",
            f"SELECT {self.listed([a, b, 'count(*)'])} {source}",
        )

    def windowed(self, source, columns):
        a, b = self.items(columns)[:2]
        named = self.name()
        c, d = self.window(columns, named), self.window(columns, named)
        windows = f" WINDOW {named} AS (PARTITION BY {self.pick(*columns)})"
        qualify = self.pick("", "", f" QUALIFY {d} > 1", " QUALIFY o2 > 2")
        return f"SELECT {self.listed([a, c, b])} {source}{windows}{qualify}"

    def correlated(self, source, columns):
        a, b = self.items(columns)[:2]
        joint = "AND" if self.has_where else "WHERE"
        where = f" {joint} EXISTS (FROM n z WHERE z.k = {self.pick(*columns)})" if self.chance(0.4) else ""
        return f"SELECT {self.listed([a, self.subquery_value(columns), b])} {source}{where}"

    def limited(self, source, columns):
        return f"SELECT {self.listed(self.items(columns))} {source} ORDER BY {self.pick('ALL', '1, 2, 3')} LIMIT 4"

    def distinct(self, source, columns):
        listed = self.listed(self.items(columns))
        on = f"DISTINCT ON ({self.pick(*columns)})"
        return self.pick(f"SELECT DISTINCT {listed} {source}", f"SELECT {on} {listed} {source} ORDER BY ALL")

    def unnest(self, source, columns):
        a, b, c = self.items(columns)
        return f"SELECT {self.listed([a, f'unnest([{b}, {c}])', c])} {source}"

    # --- Whole queries

    def starred(self, depth):
        inner, a = self.query(depth - 1), self.name()
        return self.pick(
            f"SELECT * REPLACE (o1 + o2 AS o1) FROM ({inner}) AS {a}",
            f"SELECT {a}.* EXCLUDE (o2), o1 * 2 AS o4 FROM ({inner}) AS {a}",
            f"SELECT * RENAME (o1 AS o2, o2 AS o1) FROM ({inner}) AS {a}",
            f"SELECT COLUMNS('o.*') FROM ({inner}) AS {a}",
            f"SELECT {a}.*, n.m FROM ({inner}) AS {a}, n",
            f"FROM ({inner}) AS {a}",
            f"SELECT max(COLUMNS(*)) FROM ({inner}) AS {a}",
        )

    def with_cte(self, depth):
        inner, c = self.query(depth - 1), self.name()
        names = self.pick("", "(o1, o2, o3)")
        kind = self.pick("", "MATERIALIZED ", "NOT MATERIALIZED ")
        outer = self.pick(
            f"SELECT o1, o2 + o3 AS o2, 1 AS o3 FROM {c}",
            f"SELECT a.o1, b.o2, a.o3 FROM {c} AS a JOIN {c} AS b ON a.o1 = b.o3",
            f"SELECT * FROM {c}",
            f"SELECT o1, (SELECT max({c}.o2) FROM {c} WHERE {c}.o1 = d.o3) AS o2, o3 FROM {c} AS d",
        )
        chained = f", next AS (SELECT o3 AS o1, o1 AS o2, o2 AS o3 FROM {c}) SELECT o1, o2, o3 FROM next"
        return f"WITH {c}{names} AS {kind}({inner}) {self.pick(outer, outer, chained)}"

    def shadowing(self, _depth):
        """A CTE of the name of the table that it reads."""
        name, columns = self.pick(("u", NUMBERS["u"]), ("n", NUMBERS["n"]))
        items = ", ".join(f"{self.value(columns, 1)} AS {column}" for column in columns)
        return f"WITH {name} AS (SELECT {items} FROM {name}) SELECT {self.listed(self.items(columns))} FROM {name}"

    def recursive(self, depth):
        inner, c = self.select(depth - 1), self.name()
        step = self.pick(
            f"SELECT o2, o1, depth + 1 FROM {c}",
            f"SELECT n.m, o1, depth + 1 FROM {c} JOIN n ON n.k = o2",
            f"SELECT o1, o1 + o2, depth + 1 FROM {c}",
        )
        how = self.pick("UNION ALL", "UNION")
        body = f"SELECT o1, o2, 0 AS depth FROM ({inner}) {how} {step} WHERE depth < 2"
        return f"WITH RECURSIVE {c}(o1, o2, depth) AS ({body}) SELECT o1, o2, depth AS o3 FROM {c}"

    def combined(self, depth):
        how = self.pick("UNION ALL", "UNION", "EXCEPT", "EXCEPT ALL", "INTERSECT", "UNION ALL BY NAME")
        a, b = self.select(depth - 1), self.select(depth - 1)
        if self.chance(0.3):
            b = f"SELECT o2 AS p, o3 AS q, o1 AS r FROM ({b})" if "BY NAME" not in how else f"SELECT o3, o1 FROM ({b})"
        last = self.pick("", "", " ORDER BY ALL LIMIT 5")
        return f"({a}) {how} ({b}){last}"

    def query(self, depth):
        deep = [self.combined, self.with_cte, self.recursive, self.shadowing, self.starred_whole]
        return self.one_of([self.select] * 4 + (deep if depth > 0 else []), depth)

    def starred_whole(self, depth):
        """As `starred`, but with the outputs that can stand in another query."""
        return f"SELECT * REPLACE (o1 + 1 AS o1) FROM ({self.query(depth - 1)})"

    def top(self, depth=2):
        return self.one_of([self.query] * 5 + [self.starred], depth)
