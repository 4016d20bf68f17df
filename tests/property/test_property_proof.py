"""spec 03 §3, line 4: random edits of a random graph, applied one after the other over what is live; each view holds what
the engine makes of the same texts in an empty database, and less is built than everything below an edit."""

import random

import duckdb
from chance import SANITIZED, WANTED

EDITS = WANTED or (60 if SANITIZED else 500)
EDITS_PER_APPLY = 8
MODELS = 9
EXTRAS = ["e1", "e2", "e3"]
ORACLE = duckdb.connect(config={"threads": 1})
WAREHOUSE = ".interlace/warehouse.duckdb"


class Node:
    """One model. Each kind has the columns id, g, v; extras come and go."""

    def __init__(self, chance, index):
        self.name = f"m{index}"
        self.ups = chance.sample(range(index), min(index, 2)) if index else []
        self.materialise = "virtual"
        self.extras = {}
        self.number = chance.randrange(2, 9)
        self.where = False
        self.kind = ""
        self.choose_kind(chance)

    def choose_kind(self, chance):
        one = ["plain"] * 5 + ["bare", "bare", "group", "group", "star", "star_more", "distinct", "cte", "row"]
        two = ["join", "join", "join", "using", "using", "loose", "natural", "union", "exists", "join_star"]
        self.kind = chance.choice(["base"] if not self.ups else one + (two if len(self.ups) > 1 else []))

    def sql(self):
        up = [f"m{i}" for i in self.ups] + ["", ""]
        n = self.number
        more = "".join(f", {expr} AS {name}" for name, expr in self.extras.items())
        where = f" WHERE u.v % {n} <> 1" if self.where else ""
        return {
            "base": f"SELECT u.i AS id, u.i % 3 AS g, u.i * {n} AS v{more} FROM (SELECT i, i AS v, 1 AS g FROM range(8) t(i)) u{where}",
            "plain": f"SELECT u.id, u.g, u.v + {n} AS v{more} FROM {up[0]} u{where}",
            "bare": f"SELECT id, g, abs(v) AS v{more.replace('u.', '')} FROM {up[0]} u{where}",
            "star": f"SELECT * FROM {up[0]} u{where}",
            "star_more": f"SELECT u.*{more} FROM {up[0]} u{where}",
            "group": f"SELECT u.g AS id, max(u.id) AS g, sum(u.v)::BIGINT AS v{more} FROM {up[0]} u{where} GROUP BY u.g",
            "distinct": f"SELECT DISTINCT u.id, u.g, u.v{more} FROM {up[0]} u{where}",
            "cte": f"WITH c AS (SELECT * FROM {up[0]} u{where}) SELECT u.id, u.g, u.v - {n} AS v{more} FROM c u",
            "row": f"SELECT u.id, u.g, length(to_json(u)::VARCHAR) AS v{more} FROM {up[0]} u{where}",
            "join": f"SELECT u.id, o.g, u.v{more} FROM {up[0]} u JOIN {up[1]} o ON u.id = o.id{where}",
            "using": f"SELECT u.id, o.g, u.v{more} FROM {up[0]} u JOIN {up[1]} o USING (id){where}",
            "loose": f"SELECT u.id, u.g, coalesce(k, 0) AS v{more} FROM {up[0]} u JOIN (SELECT x.id, x.v AS k FROM {up[1]} x) o ON u.id = o.id{where}",
            "natural": f"SELECT id, g, v FROM {up[0]} u NATURAL JOIN {up[1]} o{where}",
            "union": f"SELECT id, g, v FROM {up[0]} u{where} UNION ALL SELECT id, g, v FROM {up[1]}",
            "exists": f"SELECT u.id, u.g, u.v{more} FROM {up[0]} u WHERE EXISTS (SELECT 1 FROM {up[1]} o WHERE o.id = u.id AND o.v > {n})",
            "join_star": f"SELECT u.*, o.v AS w FROM {up[0]} u JOIN {up[1]} o ON u.id = o.id{where}",
        }[self.kind]

    def text(self):
        block = "" if self.materialise == "virtual" else f"/* interlace: {{materialise: {self.materialise}}} */\n"
        return block + self.sql() + "\n"

    def edit(self, chance):
        n = chance.randrange(2, 9)
        what = chance.randrange(12)
        if what < 5:
            self.extras[chance.choice(EXTRAS)] = chance.choice(
                [f"u.v + {n}", f"u.g * {n}", f"{n}", f"u.{chance.choice(EXTRAS)}", f"rank() OVER (ORDER BY u.v + {n})"]
                + ["count(*)", f"max(u.v) + {n}", f"unnest([1, {n}])", "u.v", "(SELECT max(u.v))"]
            )
        elif what < 7 and self.extras:
            del self.extras[chance.choice(sorted(self.extras))]
        elif what == 7 and self.extras:
            items = list(self.extras.items())
            chance.shuffle(items)
            self.extras = dict(items)
        elif what == 8:
            self.where = not self.where
        elif what == 9:
            self.materialise = chance.choice(["virtual", "virtual", "view", "ephemeral"])
        elif what == 10:
            self.choose_kind(chance)
        else:
            self.number = n


def all_rows(nodes):
    """What the engine makes of the texts: model → (columns, rows); None when one is no query it takes."""
    ORACLE.execute("BEGIN")
    try:
        found = {}
        for node in nodes:
            ORACLE.execute(f"CREATE TABLE {node.name} AS {node.sql()}")
            cursor = ORACLE.execute(f"SELECT * FROM {node.name} ORDER BY ALL")
            names, rows = [column[0] for column in cursor.description], cursor.fetchall()
            if len(rows) > 200 or len({name.lower() for name in names}) < len(names):
                return None
            found[node.name] = (names, rows)
        return found
    except duckdb.Error:
        return None
    finally:
        ORACLE.execute("ROLLBACK")


def shown_rows(project):
    with project.warehouse(WAREHOUSE) as connection:
        names = connection.execute("SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal")
        found = {}
        for (name,) in names.fetchall():
            cursor = connection.execute(f"SELECT * FROM main.{name} ORDER BY ALL")
            found[name] = ([column[0] for column in cursor.description], cursor.fetchall())
        return found


def graph(chance):
    nodes = []
    for index in range(MODELS):
        nodes.append(Node(chance, index))
        while all_rows(nodes) is None:
            nodes[index] = Node(chance, index)
    return nodes


def edit_one(chance, nodes):
    """An edit that leaves a project that builds."""
    for _ in range(100):
        node = chance.choice(nodes)
        before = (node.materialise, dict(node.extras), node.number, node.where, node.kind)
        text = node.text()
        node.edit(chance)
        rows = all_rows(nodes) if node.text() != text else None
        if rows is not None:
            return rows
        node.materialise, node.extras, node.number, node.where, node.kind = before
    raise AssertionError("no edit of this graph gives another one that builds")


def test_03_3_4_edits_one_after_the_other_give_what_a_fresh_build_gives(make_project):
    chance = random.Random(WANTED or 1)
    nodes = graph(chance)
    project = make_project({}, name="proof")
    built = kept = applied = 0
    rows = all_rows(nodes)
    for edit in range(0, EDITS + 1, EDITS_PER_APPLY):
        project.write({f"models/{node.name}.sql": node.text() for node in nodes})
        result = project.json("apply", "--force")
        expected = {node.name: rows[node.name] for node in nodes if node.materialise != "ephemeral"}
        assert shown_rows(project) == expected, f"after edit {edit}: " + "; ".join(node.text() for node in nodes)
        if edit > 0:
            built += len(result["built"])
            kept += len(result["reused"])
        applied += 1
        if applied % 40 == 0:  # another graph
            nodes = graph(chance)
            project = make_project({}, name=f"proof{applied}")
            rows = all_rows(nodes)
            continue
        for _ in range(EDITS_PER_APPLY):
            rows = edit_one(chance, nodes)
    print(f"{EDITS} edits: {built} built, {kept} kept")
    assert kept > 0 and built > 0
