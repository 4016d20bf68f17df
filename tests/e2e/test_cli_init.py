"""spec 01 §15: interlace init."""

import pytest


def test_01_15_1_the_quickstart_template_plans_its_models(project):
    result = project.ok("init")
    assert result.stdout.splitlines()[0] == "Initialised interlace project in . (template: quickstart)"
    for name in ("interlace.yaml", ".gitignore", "README.md", "models/raw_events.sql", "models/enriched_events.py"):
        assert f"  + {name}\n" in result.stdout
        assert project.exists(name)
    assert result.stdout.splitlines()[-1] == "Next: interlace apply"
    plan = project.json("plan")
    assert [change["name"] for change in plan["changes"]] == ["raw_events", "enriched_events", "event_summary"]


def test_01_15_2_the_quickstart_counts_four_conversions(quickstart):
    assert quickstart.query("SELECT sum(conversions) FROM event_summary") == [[4]]
    assert quickstart.query("SELECT count(*), sum(revenue) FROM event_summary") == [[3, "273.39"]]


def test_01_15_3_init_twice_changes_nothing(project):
    project.ok("init")
    project.write({"models/raw_events.sql": "SELECT 1 AS mine"})
    before = project.files()
    result = project.fails("init")
    assert result.error_lines == ["error: project already initialised (interlace.yaml)"]
    assert project.files() == before
    assert project.read("models/raw_events.sql") == "SELECT 1 AS mine"


def test_01_15_3_an_unknown_template_lists_those_there_are(project):
    assert "quickstart" in project.fails("init", "-t", "nope").stderr
    assert project.files() == []


def test_01_15_a_file_in_the_way_stops_it_before_the_first_write(project):
    project.write({"README.md": "mine"})
    assert "README.md" in project.fails("init").stderr
    assert project.files() == ["README.md"]


def test_01_15_the_name_is_the_folders_or_the_one_given(project):
    project.ok("init", "shop")
    project.ok("init", "other", "--name", 'my: shop "1"')
    assert "name: shop\n" in project.read("shop/interlace.yaml")
    assert "# shop\n" in project.read("shop/README.md")
    project.ok("plan", "-p", "other")
    assert '# my: shop "1"' in project.read("other/README.md")


@pytest.mark.parametrize("name", ["a\nb", "${HOME}"])
def test_01_15_a_name_that_would_break_the_files_is_refused(project, name):
    project.fails("init", "--name", name, code=2)
    assert project.files() == []


def test_01_15_templates_are_listed(project):
    assert project.ok("init", "--list").stdout.splitlines()[2].startswith("quickstart")
    assert project.json("init", "--list")[0]["name"] == "quickstart"
    document = project.json("init", "made")
    assert document["template"] == "quickstart"
    assert "interlace.yaml" in document["files"]
