"""What the random tests found, each as the smallest project that shows it."""


def test_a_project_of_ephemeral_models_alone_is_applied(project):
    project.write({"models/a.sql": "/* interlace: {materialise: ephemeral} */ SELECT 1 AS id"})
    assert project.json("apply")["promoted"] == 1
    assert project.json("plan")["empty"]
