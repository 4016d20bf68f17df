"""spec 03 §3, line 4, and §6, line 7: whatever was edited, applied, killed and applied again, each environment's views hold
what a fresh build of the project holds, and what the engine itself makes of the models."""

import itertools
import shutil

import pytest
from chance import Chance, examples
from hypothesis import given, note
from hypothesis import strategies as st
from random_project import EDITS, Oracle, dress, random_shop, read_views

HOOKS = [
    "apply.before_promotion",
    "build.begun",
    "build.written",
    "build.checked",
    "build.committed",
    "build.recorded",
    "duck.commit",
    "duck.execute",
    "promotion.intended",
    "promotion.moved",
    "promotion.view",
    "state.commit",
    "state.intent_begin",
    "state.intent_begun",
    "state.intent_commit",
    "state.intent_committed",
    "state.lock_acquired",
    "state.snapshot",
]
serial = itertools.count()


class World:
    """A project folder with its environments, and what each must show. A shop is only kept when it was applied."""

    def __init__(self, make_project, chance):
        self.make_project = make_project
        self.chance = chance
        self.folder = make_project({}, name=f"world{next(serial)}")
        self.shop = random_shop(chance, chance.number(1, 6))
        self.expected = {}  # environment → {model: (columns, rows)}
        self.fingerprints = {}  # environment → {model: fingerprint} of its pointers
        self.written = {}
        self.built = set()  # (model, fingerprint) with a relation that passed
        self.checked_fresh = None

    def write(self, shop):
        files = shop.files()
        gone = {name: None for name in self.written if name not in files}
        self.folder.write({**gone, **{name: text for name, text in files.items() if self.written.get(name) != text}})
        self.written = files

    def show(self, title):
        files = "".join(f"\n--- {name}\n{text}" for name, text in self.written.items() if not name.endswith(".yaml"))
        note(f"{title}{files}")

    # --- What must hold

    def check_views(self):
        assert read_views(self.folder) == {name: rows for name, rows in self.expected.items() if rows}

    def models(self):
        return {row["name"]: row for row in self.folder.json("models")}

    def check_fresh(self, rows, prints):
        if self.checked_fresh == self.written:
            return
        fresh = self.make_project(self.written, name=f"fresh{next(serial)}")
        fresh.ok("apply")
        assert read_views(fresh) == ({"prod": rows} if rows else {})
        assert {row["name"]: row["fingerprint"] for row in fresh.json("models")} == prints
        shutil.rmtree(fresh.root)
        self.checked_fresh = self.written

    # --- Steps

    def edited(self):
        """The next shop: some edits of the last one."""
        shop = self.shop.copy()
        for _ in range(self.chance.number(1, 3)):
            self.chance.one(EDITS)(self.chance, shop)
        return shop

    def apply(self, shop, environment):
        self.write(shop)
        oracle = Oracle(shop)
        failed = [i for i in oracle.failed if shop.models[i].materialise != "ephemeral" or shop.readers(i)]
        rows = oracle.all_rows(shop)
        oracle.close()
        self.show(f"apply -e {environment}, {'must fail' if failed else 'must work'}")
        if self.chance.one_in(2):
            self.interrupted_apply(environment, rows, bool(failed))
        if failed:
            self.folder.fails("apply", "--force", "-e", environment)
            self.check_views()
            return False
        self.finished_apply(environment, rows)
        self.shop = shop
        return True

    def finished_apply(self, environment, rows):
        prints = {name: row["fingerprint"] for name, row in self.models().items()}
        result = self.folder.json("apply", "--force", "-e", environment)
        self.expected[environment] = rows
        self.check_views()
        assert not [name for name in result["built"] if (name, prints[name]) in self.built], "built twice"
        self.built |= {(name, print_) for name, print_ in prints.items()}
        self.fingerprints[environment] = prints
        again = self.folder.json("plan", "-e", environment)
        assert again["empty"] and again["changes"] == [], again
        self.check_fresh(rows, prints)

    def interrupted_apply(self, environment, rows, must_fail):
        """Killed, or failing, at some point: each environment shows the old or the new, and nothing else moves."""
        hook = f"{self.chance.one(HOOKS)}={self.chance.one(['kill', 'kill', 'fail'])}@{self.chance.number(1, 8)}"
        note(f"INTERLACE_HOOK={hook}")
        result = self.folder.run("apply", "--force", "-e", environment, env={"INTERLACE_HOOK": hook})
        assert result.code in (0, 1, -9), result
        assert result.code != 0 or not must_fail, result
        new = {**self.expected, environment: rows}
        allowed = [self.expected] if must_fail else [self.expected, new]
        if result.code == 0:
            allowed = [new]
        allowed = [{name: views for name, views in state.items() if views} for state in allowed]
        assert read_views(self.folder) in allowed
        self.built = set()  # what was built and not yet recorded is built again

    def partial_apply(self, shop, environment):
        """Only what was selected, and its changed ancestors, moves."""
        self.write(shop)
        oracle = Oracle(shop)
        failed, rows = oracle.failed, oracle.all_rows(shop)
        oracle.close()
        if failed:
            return
        prints = {name: row["fingerprint"] for name, row in self.models().items()}
        pointers = self.fingerprints.get(environment, {})
        selected = self.chance.some(shop.present(), 1, 2)
        grown, left = set(selected), list(selected)
        while left:
            for i in shop.reads(left.pop()):
                name = shop.models[i].name
                if i not in grown and pointers.get(name) != prints[name]:
                    grown.add(i)
                    left.append(i)
        names = [shop.models[i].name for i in selected]
        self.show(f"apply -e {environment} -s {','.join(names)}")
        self.folder.ok("apply", "--force", "-e", environment, "-s", ",".join(names))
        moved = {shop.models[i].name for i in grown}
        views = dict(self.expected.get(environment, {}))
        for name in moved:
            views.pop(name.lower(), None)
            if name.lower() in rows:
                views[name.lower()] = rows[name.lower()]
        self.expected[environment] = views
        self.fingerprints[environment] = {**pointers, **{name: prints[name] for name in moved}}
        self.check_views()

    def dressed_plan(self):
        """Comments, blanks and letter case plan nothing."""
        shop = self.shop.copy()
        dress(self.chance, shop)
        self.write(shop)
        self.show("plan after comments, blanks and letter case")
        for environment, prints in self.fingerprints.items():
            if prints == {name: row["fingerprint"] for name, row in self.models().items()}:
                assert self.folder.json("plan", "-e", environment)["changes"] == []
                result = self.folder.ok("plan", "-e", environment)
                assert f"No changes for {environment}." in result.stdout, result


def play(make_project, chance, steps):
    world = World(make_project, chance)
    try:
        world.apply(world.shop, "prod")
        applied = [world.shop]
        for _ in range(steps):
            environment = chance.one(["prod", "prod", "dev", "qa"])
            step = chance.number(0, 5)
            if step == 0:
                world.dressed_plan()
            elif step == 1:
                world.apply(chance.one(applied).copy(), environment)
            elif step == 2:
                world.partial_apply(world.edited(), environment)
            elif world.apply(world.edited(), environment):
                applied.append(world.shop)
    finally:
        shutil.rmtree(world.folder.root)


@examples(6)
@given(data=st.data())
def test_03_3_4_apply_matches_a_fresh_build(make_project, data):
    play(make_project, Chance(data), steps=6)


@pytest.fixture(autouse=True)
def no_colour(monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
