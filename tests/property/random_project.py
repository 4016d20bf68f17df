"""Random projects of SQL models, edits of them, and what their views must return.

A Shop is a list of models in an order in which each reads only earlier ones. A query is a text with places for names:
`{3:plain}` is model 3, written in one of several ways, `{var:k}` a variable. So one query renders for the project (names
after renames, var('k'), dressed up with comments) and for the oracle, which is the engine itself running the models in
that order as tables and views of an empty database.
"""

import copy
import random
import re

import duckdb
from sql_rewrite import dressed

PLACE = re.compile(r"\{(\w+):(\w+)\}")
NAMES = ["orders", "Customers", "order", "m_1", "stg.orders", "stg.items", "mart.deep.daily", "_x", "t", "x", "range_1"]
MACROS = {
    "bump": ("x", "(x * {n} + 1) % 97"),
    "pick": ("a, b", "CASE WHEN a % {n} > b THEN a ELSE b END"),
    "spread": ("x", "list_sum(list_transform([x, {n}], y -> y + x))::BIGINT % 89"),
}
KINDS = {"BIGINT": "int", "INTEGER": "int", "HUGEINT": "int", "VARCHAR": "text"}


class Model:
    def __init__(self, name, query, materialise):
        self.name = name
        self.query = query
        self.materialise = materialise
        self.path = None  # a file that does not follow from the name
        self.dress = None  # seed of comments and letter case
        self.is_removed = False

    @property
    def tail(self):
        return self.name.rsplit(".", 1)[-1]

    @property
    def schema(self):
        return self.name.rsplit(".", 1)[0] if "." in self.name else "main"


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Shop:
    def __init__(self):
        self.models = []
        self.numbers = {"k": 3, "top": 9}
        self.texts = {"word": "a"}
        self.macros = {"bump": 2, "pick": 3, "spread": 5}

    def copy(self):
        return copy.deepcopy(self)

    # --- Rendering

    def relation(self, index, style):
        model = self.models[index]
        schema, tail = model.schema, model.tail
        bare = tail if tail.isidentifier() and tail.lower() != "order" else quoted(tail)
        if style == "tail":
            return bare
        if style == "quoted":
            tail = quoted(tail)
        elif style == "upper" and bare == tail:
            tail = tail.upper()
        else:
            tail = bare
        if schema == "main":
            return f"main.{tail}" if style == "main" else tail
        return f"{schema if '.' not in schema else quoted(schema)}.{tail}"

    def filled(self, query, for_oracle=False):
        def name(match):
            what, style = match.groups()
            if what == "var":
                if not for_oracle:
                    return f"var('{style}')"
                return str(self.numbers[style]) if style in self.numbers else "'" + self.texts[style] + "'"
            return self.relation(int(what), style)

        return PLACE.sub(name, query)

    def files(self):
        variables = [f"  {name}: {{type: int, value: {value}}}" for name, value in self.numbers.items()]
        variables += [f"  {name}: {{type: string, value: '{value}'}}" for name, value in self.texts.items()]
        found = {
            "interlace.yaml": "vars:\n" + "\n".join(variables) + "\n",
            "macros/all.sql": "\n".join(self.macro(name) + ";" for name in self.macros) + "\n",
        }
        for model in self.models:
            if model.is_removed:
                continue
            keys = [] if model.materialise == "virtual" else [f"materialise: {model.materialise}"]
            path = "models/" + model.name.replace(".", "/") + ".sql"
            if model.path is not None:
                keys.append(f"name: {model.name}")
                path = f"models/{model.path}.sql"
            sql = self.filled(model.query)
            if model.dress is not None:
                sql = dressed(sql, random.Random(model.dress))
            header = "/* interlace: {" + ", ".join(keys) + "} */\n" if keys else ""
            found[path] = header + sql + "\n"
        return found

    def macro(self, name):
        parameters, body = MACROS[name]
        return f"CREATE MACRO {name}({parameters}) AS {body.format(n=self.macros[name])}"

    # --- The graph

    def present(self):
        return [i for i, model in enumerate(self.models) if not model.is_removed]

    def reads(self, index):
        found = {int(what) for what, _ in PLACE.findall(self.models[index].query) if what != "var"}
        return {i for i in found if i != index}

    def readers(self, index):
        return {i for i in self.present() if index in self.reads(i)}

    def ancestors(self, index):
        found, left = set(), [index]
        while left:
            for i in self.reads(left.pop()):
                if i not in found:
                    found.add(i)
                    left.append(i)
        return found

    def is_whole(self):
        """Whether all that is read is there."""
        return all(not self.models[i].is_removed for index in self.present() for i in self.reads(index))


class Oracle:
    """The models of a shop in an engine of their own. `columns[i]` are (name, kind); `failed` are those that do not run."""

    def __init__(self, shop, upto=None):
        self.connection = duckdb.connect(":memory:", config={"threads": 1})
        self.columns = {}
        self.failed = {}
        for name in shop.macros:
            self.connection.execute(shop.macro(name))
        for index in shop.present():
            if upto is not None and index >= upto:
                break
            self.add(shop, index)

    def add(self, shop, index):
        model = shop.models[index]
        name = f"{quoted(model.schema)}.{quoted(model.tail)}"
        kind = "TABLE" if model.materialise == "virtual" else "VIEW"
        try:
            self.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(model.schema)}")
            self.connection.execute(f"CREATE {kind} {name} AS {shop.filled(model.query, for_oracle=True)}")
            described = self.connection.execute(f"DESCRIBE {name}").fetchall()
            self.connection.execute(f"SELECT * FROM {name}").fetchall()
            self.columns[index] = [(row[0], KINDS.get(row[1], "other")) for row in described]
        except duckdb.Error as error:
            self.failed[index] = str(error)
            self.connection.execute(f"DROP {kind} IF EXISTS {name}")

    def rows(self, shop, index):
        model = shop.models[index]
        return read_relation(self.connection, model.schema, model.tail)

    def all_rows(self, shop):
        return {
            shop.models[i].name.lower(): self.rows(shop, i)
            for i in shop.present()
            if shop.models[i].materialise != "ephemeral" and i in self.columns
        }

    def close(self):
        self.connection.close()


def plain(value):
    """Names of fields are identifiers, whose letter case does not count."""
    if isinstance(value, dict):
        return {key.lower(): plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def read_relation(connection, schema, name):
    """Column names, types and the rows in any order."""
    cursor = connection.execute(f"SELECT * FROM {quoted(schema)}.{quoted(name)}")
    columns = [(column[0].lower(), str(column[1]).lower()) for column in cursor.description]
    return columns, sorted(repr([plain(v) for v in row]) for row in cursor.fetchall())


def read_views(project):
    """{environment: {model: (columns, rows)}} of all views that interlace made, read from outside."""
    found = {}
    if not project.exists(".interlace/warehouse.duckdb"):
        return found
    with project.warehouse() as connection:
        views = connection.execute(
            "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal AND schema_name NOT LIKE 'interlace#_#_%' ESCAPE '#'"
        ).fetchall()
        for schema, view in views:
            environment, dunder, logical = schema.partition("__")
            if not dunder:
                environment, logical = "prod", schema
            name = view if logical == "main" else f"{logical}.{view}"
            found.setdefault(environment, {})[name.lower()] = read_relation(connection, schema, view)
    return found


# --- Random queries


class Source:
    """A relation in FROM, with how its columns are written there."""

    def __init__(self, text, columns, alias, prefix=None):
        self.text = text  # with its alias
        self.columns = columns
        self.alias = alias  # None: not aliased
        self.prefix = prefix if prefix is not None else (alias or "")


class Writer:
    def __init__(self, chance, shop, columns, index):
        self.chance = chance
        self.shop = shop
        self.columns = columns  # of the models that may be read
        self.index = index

    # --- Sources

    def readable(self):
        return [i for i in self.columns if i < self.index and not self.shop.models[i].is_removed]

    def name_of(self, index):
        model = self.shop.models[index]
        styles = ["plain", "plain", "upper", "quoted"] + (["main"] if model.schema == "main" else [])
        return f"{{{index}:{self.chance.one(styles)}}}"

    def source(self, alias=None):
        """A model, aliased or not; without one now and then a prefix by its own name."""
        index = self.chance.one(self.readable())
        columns = self.columns[index]
        if alias is None and self.chance.one_in(3):
            return Source(self.name_of(index), columns, None, self.chance.one(["", f"{{{index}:tail}}"]))
        alias = alias or self.chance.one(["s", "u", "v"])
        return Source(f"{self.name_of(index)}{self.chance.one([' AS ', ' '])}{alias}", columns, alias)

    # --- Expressions

    def column(self, sources, kind):
        found = [
            f"{s.prefix}.{quoted(name) if name.lower() in RESERVED else name}" if s.prefix else quoted_if_needed(name)
            for s in sources
            for name, k in s.columns
            if k == kind
        ]
        return self.chance.one(found) if found else None

    def number(self, sources, depth=2):
        pick = self.chance.number(0, 9 if depth else 2)
        if pick == 0:
            return str(self.chance.number(0, 9))
        if pick <= 2:
            return self.column(sources, "int") or str(self.chance.number(0, 9))
        if pick == 3:
            return "{var:k}"
        if pick == 4:
            return f"bump({self.number(sources, depth - 1)})"
        if pick == 5:
            return f"pick({self.number(sources, depth - 1)}, {self.number(sources, depth - 1)})"
        if pick == 6:
            return (
                f"({self.number(sources, depth - 1)} {self.chance.one('+-*')} {self.number(sources, depth - 1)}) % 1000"
            )
        if pick == 7:
            return f"coalesce({self.number(sources, depth - 1)}, {self.chance.number(0, 3)})"
        if pick == 8:
            return f"CASE WHEN {self.predicate(sources, depth - 1)} THEN {self.number(sources, depth - 1)} END"
        return self.chance.one(["spread({})", "length({}::VARCHAR)", "abs({})"]).format(self.number(sources, depth - 1))

    def text(self, sources, depth=1):
        pick = self.chance.number(0, 4)
        if pick == 0 or depth == 0:
            return self.chance.one(["'a'", "'B'", "'it''s'", "'/* no */'", "'--'", "{var:word}"])
        if pick <= 2:
            return self.column(sources, "text") or "'z'"
        if pick == 3:
            return f"left({self.text(sources, depth - 1)} || {self.text(sources, depth - 1)}, 6)"
        return f"upper({self.text(sources, depth - 1)})"

    def predicate(self, sources, depth=1):
        pick = self.chance.number(0, 6 if depth else 2)
        number = self.number(sources, 0)
        if pick == 0:
            return f"{number} {self.chance.one(['<', '>=', '<>'])} {self.number(sources, 0)}"
        if pick == 1:
            return f"{number} IS {self.chance.one(['', 'NOT '])}NULL"
        if pick == 2:
            return f"{self.text(sources, 0)} <> {self.text(sources, 0)}"
        if pick == 3:
            return f"({self.predicate(sources, 0)} {self.chance.one(['AND', 'OR'])} NOT {self.predicate(sources, 0)})"
        if not self.readable():
            return "true"
        inner = self.source("w")
        column = self.column([inner], "int") or "1"
        if pick == 4:
            return f"{number} IN (SELECT {column} FROM {inner.text})"
        if pick == 5:
            return f"EXISTS (SELECT 1 FROM {inner.text} WHERE {column} = {number})"
        return f"{number} < (SELECT max({column}) FROM {inner.text})"

    def items(self, sources, count=None):
        items = []
        for i in range(count or self.chance.number(1, 4)):
            if self.chance.one_in(3):
                items.append(f"{self.text(sources)} AS {'pqr'[i % 3]}{i}")
            else:
                items.append(f"{self.number(sources)} AS {'abc'[i % 3]}{i}")
        return items

    # --- Queries

    def query(self):
        if not self.readable():
            return self.leaf()
        shapes = [self.project, self.project, self.join, self.union, self.cte, self.group, self.shapes_of_from]
        return self.chance.one([self.leaf, *shapes])()

    def leaf(self):
        if self.chance.one_in(2):
            count = self.chance.number(1, 6)
            items = [f"i % {self.chance.number(2, 5)} AS {name}" for name in "abc"[: self.chance.number(1, 3)]]
            return f"SELECT i AS id, {', '.join(items)}, 'n' || (i % 3) AS p FROM range({count}) t(i)"
        rows = [
            f"({self.chance.number(0, 9)}, {self.chance.one(['1', '2', 'NULL'])}, {self.chance.one(['NULL', chr(39) + 'a' + chr(39), '{var:word}'])})"
            for _ in range(self.chance.number(1, 5))
        ]
        return f"SELECT id::BIGINT AS id, b::BIGINT AS b, p::VARCHAR AS p FROM (VALUES {', '.join(rows)}) t(id, b, p)"

    def star(self, source):
        if self.chance.one_in(3) and source.columns:
            return f"* EXCLUDE ({quoted_if_needed(self.chance.one(source.columns)[0])})"
        return "*" if not source.prefix or self.chance.one_in(2) else f"{source.prefix}.*"

    def project(self):
        source = self.source()
        items = self.items([source])
        if self.chance.one_in(3):
            items = [self.star(source), f"{self.number([source])} AS extra"]
        elif self.chance.one_in(6):
            items.append("row_number() OVER (ORDER BY ALL_COLUMNS) AS rn".replace("ALL_COLUMNS", self.order(source)))
        sql = f"SELECT {self.chance.one(['', '', 'DISTINCT '])}{', '.join(items)} FROM {source.text}"
        if self.chance.one_in(2):
            sql += f" WHERE {self.predicate([source])}"
        return sql + self.chance.one(["", "", f" ORDER BY ALL LIMIT {self.chance.number(1, 9)}"])

    def order(self, source):
        names = [quoted_if_needed(name) for name, kind in source.columns if kind != "other"]
        return ", ".join(f"{source.prefix}.{name}" if source.prefix else name for name in names) or "1"

    def join(self):
        left, right = self.source("l"), self.source("r")
        a, b = self.column([left], "int") or "1", self.column([right], "int") or "1"
        kind = self.chance.one(["JOIN", "LEFT JOIN", "FULL JOIN", "SEMI JOIN", "ASOF LEFT JOIN"])
        if kind == "SEMI JOIN":
            return f"SELECT {', '.join(self.items([left]))} FROM {left.text} SEMI JOIN {right.text} ON {a} = {b}"
        if kind == "ASOF LEFT JOIN":
            return f"SELECT {a} AS a0 FROM {left.text} ASOF LEFT JOIN (SELECT DISTINCT {b} AS b FROM {right.text}) r2 ON {a} >= r2.b"
        if self.chance.one_in(4):
            items = self.items([left, right])
            return f"SELECT DISTINCT {', '.join(items)} FROM {left.text}, {right.text} WHERE {a} = {b} ORDER BY ALL LIMIT 30"
        return f"SELECT {', '.join(self.items([left, right]))} FROM {left.text} {kind} {right.text} ON {a} = {b} ORDER BY ALL LIMIT 30"

    def union(self):
        count = self.chance.number(1, 3)
        parts = []
        for _ in range(2):
            source = self.source()
            parts.append(
                f"SELECT {', '.join(f'{self.number([source])} AS a{i}' for i in range(count))} FROM {source.text}"
            )
        word = self.chance.one(["UNION ALL", "UNION", "EXCEPT", "INTERSECT", "UNION ALL BY NAME"])
        return (
            f"SELECT * FROM ({parts[0]} {word} {parts[1]}) ORDER BY ALL LIMIT 40"
            if self.chance.one_in(3)
            else (f"({parts[0]}) {word} {parts[1]}")
        )

    def shadow(self):
        """A name for a CTE; often that of a model."""
        names = [self.shop.models[i].tail for i in self.shop.present() if self.shop.models[i].schema == "main"]
        return quoted_if_needed(self.chance.one([*names, "c1", "c1"]))

    def cte(self):
        name = self.shadow()
        first = self.source()
        items = self.items([first])
        columns = [
            (item.rsplit(" AS ", 1)[1], "text" if item.rsplit(" AS ", 1)[1][0] in "pqr" else "int") for item in items
        ]
        body = f"SELECT {', '.join(items)} FROM {first.text}"
        cte = Source(name, columns, None, self.chance.one(["", name]))
        if self.chance.one_in(3):
            # Inside a nested WITH the name is the CTE; outside it the model of that name is meant again.
            other = self.source("o")
            inner = f"(WITH {name} AS ({body}) SELECT {', '.join(self.items([cte], 2))} FROM {name}) AS q"
            number = self.column([other], "int") or "1"
            return f"SELECT q.*, {number} AS z FROM {inner}, {other.text} ORDER BY ALL LIMIT 30"
        shapes = [
            lambda: f"SELECT {', '.join(self.items([cte]))} FROM {name}",
            lambda: f"SELECT * FROM {name} WHERE {self.column([cte], 'int') or 1} > 0",
            lambda: f"SELECT a.* FROM {name} a JOIN {name} b ON true ORDER BY ALL LIMIT 20",
        ]
        return f"WITH {name} AS {self.chance.one(['', 'MATERIALIZED '])}({body}) {self.chance.one(shapes)()}"

    def group(self):
        source = self.source()
        key = self.column([source], self.chance.one(["int", "text"])) or "1"
        number = self.number([source], 1)
        by = self.chance.one([key if key != "1" else "ALL", "ALL", "1"])
        having = self.chance.one(["", "", " HAVING count(*) > 1"])
        sums = f"count(*) AS n, sum({number})::BIGINT AS s, max({self.text([source], 0)}) AS p"
        return f"SELECT {key} AS g, {sums} FROM {source.text} GROUP BY {by}{having}"

    def shapes_of_from(self):
        source = self.source()
        number = self.column([source], "int") or "1"
        shapes = [
            f"FROM {source.text}",
            f"FROM {source.text} SELECT {number} AS a",
            f"SELECT q.a AS a FROM (SELECT {number} AS a FROM {source.text}) q, LATERAL (SELECT q.a + 1 AS b) w",
            f"SELECT {{'f': {number}, 'g': 1}} AS st FROM {source.text}",
            f"SELECT [x + {number} FOR x IN [1, 2]] AS li FROM {source.text}",
            f"SELECT unnest([{number}, 1]) AS a FROM {source.text}",
        ]
        if source.alias:
            shapes.append(f"SELECT {source.alias} AS whole FROM {source.text}")
        return self.chance.one(shapes)


RESERVED = {"order"}


def quoted_if_needed(name):
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in RESERVED else quoted(name)


# --- Random shops and edits


def working_query(chance, shop, columns, index, model):
    """A query that runs; a simple one when several tries do not."""
    for _ in range(4):
        model.query = Writer(chance, shop, columns, index).query()
        if index < len(shop.models):
            oracle = Oracle(shop, upto=index + 1)
            fine = index in oracle.columns
            found = oracle.columns.get(index)
            oracle.close()
            if fine:
                return found
    model.query = "SELECT 1 AS id"
    return [("id", "int")]


def new_name(chance, shop):
    taken = {model.name.lower() for model in shop.models}
    free = [name for name in NAMES if name.lower() not in taken]
    return chance.one(free) if free else f"extra_{len(shop.models)}"


def add_model(chance, shop):
    """At the end, so that what it reads comes before it."""
    oracle = Oracle(shop)
    index = len(shop.models)
    model = Model(new_name(chance, shop), "", chance.one(["virtual", "virtual", "view", "ephemeral"]))
    shop.models.append(model)
    working_query(chance, shop, oracle.columns, index, model)
    oracle.close()


def random_shop(chance, count):
    shop = Shop()
    for _ in range(count):
        add_model(chance, shop)
    return shop


def edit_query(chance, shop):
    index = chance.one(shop.present())
    oracle = Oracle(shop)
    working_query(chance, shop, oracle.columns, index, shop.models[index])
    oracle.close()


def edit_literal(chance, shop):
    index = chance.one(shop.present())
    model = shop.models[index]
    numbers = [m for m in re.finditer(r"(?<![\w{:.])\d(?![\w:}])", model.query)]
    if numbers:
        at = chance.one(numbers).start()
        model.query = model.query[:at] + str((int(model.query[at]) + 1) % 10) + model.query[at + 1 :]


def edit_columns(chance, shop):
    """One column more, or one less, by way of a query around the old one."""
    model = shop.models[chance.one(shop.present())]
    if chance.one_in(2) or not model.query.startswith("SELECT * REPLACE"):
        model.query = f"SELECT *, {chance.number(0, 9)} AS added_{chance.number(0, 3)} FROM ({model.query}) added"
    else:
        model.query = f"SELECT * EXCLUDE (id) FROM ({model.query}) without"


def edit_name(chance, shop):
    model = shop.models[chance.one(shop.present())]
    model.name = model.name.swapcase() if chance.one_in(5) else new_name(chance, shop)
    model.path = None


def edit_materialise(chance, shop):
    model = shop.models[chance.one(shop.present())]
    model.materialise = chance.one([kind for kind in ("virtual", "view", "ephemeral") if kind != model.materialise])


def edit_presence(chance, shop):
    """Takes a model that nobody reads away, or brings one back."""
    removed = [i for i, model in enumerate(shop.models) if model.is_removed]
    if removed and chance.one_in(2):
        index = chance.one(removed)
        if all(not shop.models[i].is_removed for i in shop.reads(index)):
            shop.models[index].is_removed = False
        return
    leaves = [i for i in shop.present() if not shop.readers(i)]
    if len(shop.present()) > 1 and leaves:
        shop.models[chance.one(leaves)].is_removed = True


def edit_path(chance, shop):
    model = shop.models[chance.one(shop.present())]
    model.path = chance.one([None, "moved/" + model.tail, "z" + model.tail])


def edit_var(chance, shop):
    if chance.one_in(2):
        shop.numbers["k"] = chance.number(0, 9)
    else:
        shop.texts["word"] = chance.one(["a", "b", "A", "it''s"])


def edit_macro(chance, shop):
    shop.macros[chance.one(list(shop.macros))] = chance.number(1, 9)


EDITS = [
    edit_literal,
    edit_query,
    edit_columns,
    edit_presence,
    edit_materialise,
    edit_name,
    edit_var,
    edit_macro,
    edit_path,
    add_model,
]


def dress(chance, shop):
    """Other comments, blanks and letter case: nothing that counts."""
    for i in shop.present():
        if chance.one_in(2):
            shop.models[i].dress = chance.seed()
