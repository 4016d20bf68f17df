"""docs/reference is what the program's own tables say."""

from conftest import TREE


def test_the_reference_pages_are_those_of_the_program(project):
    project.ok("docs-reference", "reference")
    for page in ("cli.md", "interlace.1", "configuration.md", "models.md"):
        expected = (TREE / "docs" / "reference" / page).read_text(encoding="utf-8")
        assert project.read(f"reference/{page}") == expected, (
            f"docs/reference/{page}: interlace docs-reference writes it"
        )
