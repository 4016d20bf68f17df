"""spec 03 §4, line 1: a selection is the set that the grammar says, on any graph."""

import fnmatch
import itertools

from chance import Chance, examples
from hypothesis import given, note
from hypothesis import strategies as st

serial = itertools.count()
FOLDERS = ["", "silver/", "silver/deep/", "silver_2/", "gold/", "Gold_b/"]
TAGS = ["x", "y", "daily", "a-b", "X"]


class Unknown(Exception):
    """A token that matches nothing although it must."""


class Graph:
    def __init__(self, chance):
        self.names, self.files, self.tags, self.reads = [], [], [], []
        for i in range(chance.number(1, 9)):
            folder = chance.one(FOLDERS)
            base = f"{chance.one(['m', 'orders', 'tag'])}{i}"
            self.files.append(f"models/{folder}{base}.sql")
            own_name = chance.one_in(4)
            self.names.append(f"named.n{i}" if own_name else (folder + base).replace("/", "."))
            self.tags.append(chance.some(TAGS, 0, 2))
            self.reads.append(chance.some(range(i), 0, 3))

    def files_of_project(self, edits=()):
        found = {}
        for i, file in enumerate(self.files):
            keys = [f"tags: [{', '.join(self.tags[i])}]"]
            if self.names[i].startswith("named."):
                keys.append(f"name: {self.names[i]}")
            columns = "".join(f", (SELECT count(*) FROM {self.reference(r)})" for r in self.reads[i])
            found[file] = (
                f"/* interlace: {{{', '.join(keys)}}} */ SELECT {i + (100 if i in edits else 0)} AS id{columns}"
            )
        return found

    def reference(self, index):
        schema, _, base = self.names[index].rpartition(".")
        return f'"{schema}"."{base}"' if schema else base

    # --- The oracle

    def closure(self, start, edges):
        found, left = set(start), list(start)
        while left:
            for i in edges(left.pop()):
                if i not in found:
                    found.add(i)
                    left.append(i)
        return found

    def up(self, start):
        return self.closure(start, lambda i: self.reads[i])

    def down(self, start):
        return self.closure(start, lambda i: [k for k in range(len(self.reads)) if i in self.reads[k]])

    def core(self, text, modified):
        everything = range(len(self.names))
        if text == "state:modified":
            return set(modified)
        if text.startswith("tag:"):
            found = {i for i in everything if text[4:] in self.tags[i]}
        elif text.startswith("path:"):
            path = text[5:].removeprefix("./")
            found = {i for i in everything if self.files[i] == path or self.files[i].startswith(path.rstrip("/") + "/")}
        elif "*" in text or "?" in text:
            found = {i for i in everything if fnmatch.fnmatchcase(self.names[i], text)}
        else:
            found = {i for i in everything if self.names[i] == text}
        if not found:
            raise Unknown(text)
        return found

    def token(self, text, modified):
        up, down = text.startswith("+"), text.endswith("+")
        found = self.core(text.removeprefix("+").removesuffix("+"), modified)
        return found | (self.up(found) if up else set()) | (self.down(found) if down else set())

    def selected(self, select, exclude, modified):
        def union(options):
            texts = [text for option in options for text in option.replace(",", " ").split()]
            return [self.token(text, modified) for text in texts]

        chosen = union(select)
        found = set().union(*chosen) if chosen else set(range(len(self.names)))
        return found - set().union(*union(exclude))


def random_token(chance, graph):
    name = chance.one(graph.names)
    base = name.rpartition(".")[2]
    pick = chance.number(0, 9)
    core = [
        name,
        name,
        "tag:" + chance.one(TAGS),
        "*" + base[-1],
        name[0] + "*",
        name[:-1] + "?",
        "path:" + chance.one(graph.files),
        "path:models/" + chance.one(FOLDERS)[: chance.one([None, -1])],
        "state:modified",
        chance.one(
            [
                "silver.*",
                "*.deep.*",
                "*",
                "nosuch",
                "silver",
                name.upper(),
                "path:./models/gold",
                "path:odels",
                "tag:none",
            ]
        ),
    ][pick]
    return chance.one(["", "", "+"]) + core + chance.one(["", "", "+"])


def random_options(chance, graph, low):
    return [
        chance.one([",", " ", ", "]).join(random_token(chance, graph) for _ in range(chance.number(1, 2)))
        for _ in range(chance.number(low, 2))
    ]


@examples(12)
@given(data=st.data())
def test_03_4_1_selectors_match_a_set_oracle(make_project, data):
    chance = Chance(data)
    graph = Graph(chance)
    project = make_project(graph.files_of_project(), name=f"graph{next(serial)}")
    modified = set(range(len(graph.names)))
    if chance.one_in(3):
        project.ok("apply")
        edits = chance.some(modified, 0, 2)
        modified = graph.down(edits)
        project.write(graph.files_of_project(edits))
    for _ in range(12):
        select, exclude = random_options(chance, graph, 0), random_options(chance, graph, 0)
        arguments = [part for text in select for part in ("-s", text)] + [p for text in exclude for p in ("-x", text)]
        note(f"{graph.names} {graph.files} {graph.tags} {graph.reads} modified {sorted(modified)}\n{arguments}")
        try:
            expected = sorted(graph.names[i] for i in graph.selected(select, exclude, modified))
        except Unknown as unknown:
            result = project.fails("models", "--json", *arguments)
            assert str(unknown).removeprefix("path:").removeprefix("tag:") in result.stderr, result
            assert result.json["error"]["kind"] == "SelectionError", result
            continue
        assert sorted(row["name"] for row in project.json("models", *arguments)) == expected
