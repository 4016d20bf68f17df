"""What the random tests found, each as the smallest project that shows it."""


def test_a_project_of_ephemeral_models_alone_is_applied(project):
    project.write({"models/a.sql": "/* interlace: {materialise: ephemeral} */ SELECT 1 AS id"})
    assert project.json("apply")["promoted"] == 1
    assert project.json("plan")["empty"]


def test_bytes_are_shown_as_hex_and_never_as_letters(project):
    project.write({"models/a.sql": "SELECT 'abc'::BLOB AS b, ''::BLOB AS e, '\\xFF\\x00'::BLOB AS f"})
    project.ok("apply")
    assert project.query("SELECT * FROM a") == [["\\x616263", "\\x", "\\xff00"]]
