"""spec 06 §1: form of the command line, exit codes, errors."""

import os
import subprocess

import pytest


def test_06_1_1_no_command_prints_help_and_exits_2(project):
    result = project.run()
    assert result.code == 2
    for command in ("init", "plan", "apply", "models", "lineage", "query", "env list", "checks run"):
        assert f"  {command} " in result.stdout


def test_06_1_1_a_bare_group_prints_its_help_and_exits_2(project):
    result = project.run("env")
    assert result.code == 2
    assert "env list" in result.stdout
    assert "checks" not in result.stdout


@pytest.mark.parametrize("args", [["--help"], ["plan", "--help"], ["--help", "plan"], ["env", "--help"], ["-h"]])
def test_06_1_1_help_exits_0(project, args):
    result = project.ok(*args)
    assert result.stdout.startswith("Usage: interlace")
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nosuch"], "unknown command 'nosuch'"),
        (["plan", "--nosuch"], "--nosuch"),
        (["apply", "--parallelism", "-1"], "--parallelism"),
        (["plan", "--json", "--markdown"], "exclude each other"),
        (["plan", "-e", "not__allowed"], "not__allowed"),
        (["checks", "list", "--since", "2026-13-01"], "2026-13-01"),
        (["lineage", "-f", "xml"], "xml"),
        (["query"], "SQL"),
    ],
)
def test_06_1_1_a_bad_command_line_exits_2(project, args, said):
    result = project.fails(*args, code=2)
    usage, hint, message = result.stderr.splitlines()
    assert usage.startswith("Usage: interlace")
    assert hint.startswith("Try 'interlace") and hint.endswith("--help' for help.")
    assert message.startswith("error: ") and said in message
    assert result.stdout == ""
    assert project.files() == []


def test_06_1_a_misspelt_command_or_option_suggests_the_nearest(project):
    assert "did you mean 'apply'?" in project.fails("aply", code=2).stderr
    assert "did you mean --select?" in project.fails("plan", "--selct", "a", code=2).stderr


def test_06_1_commands_of_later_versions_are_not_there(project):
    listed = project.run().stdout
    for command in ("scheduler", "serve"):
        assert f"\n  {command} " not in listed
        assert project.run(command).code == 2


def test_06_1_version_reads_no_project(project):
    project.write({"interlace.yaml": "no: [valid", "models/a.sql": "SELEC 1"})
    assert project.ok("--version").stdout.startswith("interlace ")
    assert project.ok("-v").stdout == project.ok("--version").stdout
    document = project.json("version")
    assert document["engine"]["version"].startswith("v1.")
    assert document["state_format"] >= 1


def test_06_1_2_a_missing_folder_is_refused_and_not_made(project):
    missing = project.root / "does" / "not" / "exist"
    result = project.fails("plan", "-p", missing)
    assert result.error_lines == [f"error: no interlace project at {missing}"]
    assert not missing.exists()


def test_06_1_2_a_folder_without_models_has_no_changes(project):
    result = project.ok("plan")
    assert "No changes for prod." in result.stdout
    assert "note: " in result.stdout
    for command in (["models"], ["env", "list"], ["checks", "list"], ["lineage"]):
        project.ok(*command)
    assert project.files() == []


def test_06_1_3_a_broken_sql_file_is_one_line_on_stderr(project):
    project.write({"models/a.sql": "SELECT 1 AS id", "models/broken.sql": "SELECT id\nFROM WHERE x"})
    for command in ("plan", "apply", "models"):
        result = project.fails(command)
        assert len(result.stderr.splitlines()) == 1, result
        assert result.stderr.startswith("error: ")
        assert "models/broken.sql:2" in result.stderr
        assert result.stdout == ""


def test_06_1_several_faults_are_a_line_each(project):
    project.write({"models/a.sql": "SELEC 1", "models/b.sql": "SELECT 1; SELECT 2", "models/c.sql": "SELECT 1 AS id"})
    result = project.fails("plan")
    assert len(result.error_lines) == 2
    assert "models/a.sql" in result.error_lines[0]
    assert "b" in result.error_lines[1]


def test_06_1_4_a_cast_that_fails_on_a_value_shows_the_statement(project):
    project.write({"models/x.sql": "SELECT CAST(v AS INTEGER) AS n FROM (VALUES ('1'), ('two')) AS t(v)"})
    result = project.fails("apply")
    lines = result.stderr.splitlines()
    assert lines[0].startswith("error: model 'x' failed: ")
    assert "two" in lines[0]
    assert "CAST(v AS INTEGER)" in "\n".join(lines[1:])


def test_06_1_4_a_column_typo_names_its_place_and_builds_nothing(project):
    project.write({"models/a.sql": "SELECT 1 AS amount", "models/b.sql": "SELECT\n    amonut\nFROM a"})
    result = project.fails("apply")
    assert len(result.error_lines) == 1
    assert "models/b.sql:2:5" in result.error_lines[0]
    assert "amount" in result.stderr
    assert project.json("env", "list") == []


def test_06_1_5_the_option_wins_over_the_environment_variable(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    assert "Plan · dev" in project.ok("plan", env={"INTERLACE_ENV": "dev"}).stdout
    assert "Plan · prod" in project.ok("plan", "-e", "prod", env={"INTERLACE_ENV": "dev"}).stdout


def test_06_1_every_option_has_a_twin(project, tmp_path):
    project.write({"models/a.sql": "SELECT 1 AS id", "models/b.sql": "SELECT 2 AS id"})
    twins = {"INTERLACE_PATH": project.root, "INTERLACE_JSON": "1", "INTERLACE_SELECT": "b"}
    result = project.ok("models", env=twins, cwd=tmp_path)
    assert [model["name"] for model in result.json] == ["b"]
    assert (
        project.fails("models", env={"INTERLACE_JSON": "perhaps"}, code=2)
        .error_lines[0]
        .startswith("error: INTERLACE_JSON ")
    )


def test_06_1_6_a_password_is_never_shown(project):
    secret = "s3cr3tpw"
    project.write(
        {
            "interlace.yaml": f"""
engines:
  pg: {{type: postgres, database: "postgresql://bob:{secret}@localhost:1/db"}}
attach: {{src: "postgresql://bob:{secret}@localhost:1/db"}}
""",
            "models/a.sql": "SELECT * FROM src.public.t",
            "models/b.sql": "/* interlace: {engine: pg} */ SELECT 1 AS id",
        }
    )
    for args in (
        ["plan"],
        ["apply"],
        ["apply", "--json"],
        ["models", "--json"],
        ["query", "SELECT 1"],
        ["env", "list"],
    ):
        result = project.run(*args, "--debug")
        assert secret not in result.stdout + result.stderr, result


def test_06_1_7_a_reader_that_goes_away_is_no_error(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = project.spawn("models", stdout=write_end)
    os.close(write_end)
    _, stderr = process.communicate(timeout=60)
    assert stderr == ""
    assert process.returncode == 141


def test_06_1_a_full_disk_behind_stdout_is_an_error(project):
    with open("/dev/full", "wb") as full:
        process = project.spawn("--help", stdout=full)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert stderr.startswith("error: cannot write the result to stdout")


def test_06_1_a_quiet_apply_prints_the_final_result_only(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    result = project.ok("apply", "--quiet")
    assert result.stdout.startswith("Built 1 model(s); promoted 1 to 'prod'.")
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == ""


def test_06_1_debug_adds_the_trace_of_a_python_model(project):
    project.write(
        {
            "models/p.py": "from interlace import model\n\n\n@model()\ndef p():\n    raise ValueError('no good')\n",
        }
    )
    short = project.fails("apply")
    assert "no good" in short.error_lines[0]
    assert "Traceback" not in short.stderr
    assert "models/p.py" in project.fails("apply", "--debug").stderr


def test_06_1_log_lines_can_be_json(project):
    import json

    project.write({"models/a.sql": "SELECT 1 AS id"})
    result = project.ok("apply", "--verbose", "--log-format", "json")
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    assert {"ts", "level", "message"} <= set(lines[0])
    assert any(line["message"].startswith("start a") for line in lines)


def test_06_4_8_options_in_every_place_and_form_behave_the_same(project):
    project.write({"models/a.sql": "SELECT 1 AS id", "models/b.sql": "SELECT 2 AS id"})
    forms = [
        ["models", "-s", "a"],
        ["models", "-sa"],
        ["models", "--select", "a"],
        ["models", "--select=a"],
        ["-s", "a", "models"],
        ["--select=a", "models", "--"],
    ]
    assert len({project.ok(*form).stdout for form in forms}) == 1


def test_06_1_stdin_is_never_asked(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    process = project.spawn("apply", stdin=subprocess.DEVNULL)
    process.communicate(timeout=60)
    assert process.returncode == 0
