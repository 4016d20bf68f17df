"""spec 06 §5: completion of command lines."""

import subprocess

import pytest

BASH = """
source "$SCRIPT"
PATH="$BIN:$PATH"
COMP_LINE=$1
COMP_POINT=${#COMP_LINE}
read -ra COMP_WORDS <<<"$COMP_LINE"
[[ $COMP_LINE == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
_interlace
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def shop(project):
    project.write(
        {
            "models/orders.sql": "/* interlace: {tags: [daily]} */\nSELECT 1 AS id",
            "models/silver.items.sql": "SELECT 1 AS id FROM orders",
        }
    )
    project.ok("apply")
    project.ok("apply", "-e", "dev")
    return project


@pytest.fixture
def complete(shop, binary_path, tmp_path):
    """What bash puts in place of the last word of a line."""
    script = tmp_path / "completion.bash"
    script.write_text(shop.ok("completion", "bash").stdout, encoding="utf-8")

    def run(line, cwd=None):
        environment = shop.environment({"SCRIPT": script, "BIN": binary_path.parent})
        done = subprocess.run(
            ["bash", "--norc", "-c", BASH, "bash", line],
            cwd=cwd or shop.root,
            env=environment,
            text=True,
            capture_output=True,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.split()

    return run


def test_06_5_1_bash_completes_commands_names_and_templates(complete):
    assert complete("interlace pl") == ["plan"]
    assert "list" in complete("interlace env ")
    assert complete("interlace plan -s ") == ["orders", "silver.items", "state:modified", "tag:daily"]
    assert complete("interlace init --template ") == ["backfill", "quickstart"]


def test_06_5_1_nothing_is_said_outside_of_a_project(complete, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    assert complete("interlace plan -s ", cwd=outside) == ["state:modified"]
    assert complete("interlace plan -e ", cwd=outside) == []
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "candidates"),
    [
        ("interlace plan -e ", ["dev", "prod"]),
        ("interlace plan --env d", ["dev"]),
        ("interlace plan -s o", ["orders"]),
        ("interlace plan -s +o", ["+orders"]),
        ("interlace plan -s orders,s", ["orders,silver.items", "orders,state:modified"]),
        ("interlace models --tag ", ["daily"]),
        ("interlace lineage s", ["silver.items"]),
        ("interlace lineage orders ", []),
        ("interlace --no-cache render o", ["orders"]),
        ("interlace query -f ", ["csv", "json", "lines", "table"]),
        ("interlace plan --detail", ["--detailed-exit-code"]),
        ("interlace completion f", ["fish"]),
        ("interlace nosuch ", []),
        ("interlace env nosuch ", []),
        ("interlace plan --path /nowhere -s o", []),
    ],
)
def test_candidates_are_what_may_stand_there(complete, line, candidates):
    assert complete(line) == candidates


def test_candidates_behind_a_sign_at_which_bash_breaks_words(complete, shop):
    assert shop.ok("complete", "interlace plan --env=d").stdout == "--env=dev\n"
    assert shop.ok("complete", "interlace plan --select=tag:").stdout == "--select=tag:daily\n"
    assert shop.ok("complete", "interlace plan -ed").stdout == "-edev\n"


def test_nothing_is_read_but_the_index(shop):
    shop.write({"models/p.py": "raise SystemExit('must not run')\n", "interlace.yaml": "name: [broken\n"})
    assert shop.ok("complete", "interlace plan -s o").stdout == "orders\n"


@pytest.mark.parametrize(("shell", "check"), [("bash", ["bash", "-n"]), ("zsh", None), ("fish", None)])
def test_06_5_1_the_script_of_the_current_shell_is_shown_and_parses(project, shell, check, tmp_path):
    project.root.mkdir(exist_ok=True)
    result = project.ok("--show-completion", env={"SHELL": f"/usr/bin/{shell}"})
    assert result.stdout == project.ok("completion", shell).stdout
    assert "interlace" in result.stdout
    if check:
        script = tmp_path / "script"
        script.write_text(result.stdout, encoding="utf-8")
        subprocess.run([*check, str(script)], check=True)


def test_a_script_is_installed_where_the_shell_looks(project, tmp_path):
    home = tmp_path / "home"
    for shell, path in [
        ("bash", ".local/share/bash-completion/completions/interlace"),
        ("zsh", ".zfunc/_interlace"),
        ("fish", ".config/fish/completions/interlace.fish"),
    ]:
        result = project.ok("--install-completion", env={"SHELL": f"/bin/{shell}", "HOME": home})
        assert str(home / path) in result.stdout
        assert (home / path).read_text(encoding="utf-8") == project.ok("completion", shell).stdout


def test_an_unknown_shell_is_told_which_there_are(project):
    for args, env in [(("--show-completion",), {"SHELL": "/bin/tcsh"}), (("--install-completion",), {"SHELL": ""})]:
        assert "bash, zsh, fish" in project.fails(*args, code=2, env=env).stderr
    assert "bash, zsh, fish" in project.fails("completion", "tcsh", code=2).stderr
