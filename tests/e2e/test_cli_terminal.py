"""spec 06 §2: what a terminal sees, and what everything else sees."""

import os
import signal

import pytest

LONG_NAME = "a_model_name_of_sixty_characters_" + "x" * 27
ENDLESS = "SELECT count(*) AS n FROM range(1000000000000) AS t(i) WHERE i % 7 = 3"


def slow(project):
    project.write({"models/endless.sql": ENDLESS})
    return project


def test_06_2_1_without_a_terminal_nothing_is_coloured_or_cut(project):
    assert len(LONG_NAME) == 60
    project.write({f"models/{LONG_NAME}.sql": "SELECT 1 AS id"})
    result = project.ok("apply")
    assert "\x1b" not in result.stdout + result.stderr
    assert LONG_NAME in result.stdout
    assert result.stderr == ""


def test_06_2_2_a_terminal_has_colours_and_a_spinner(project):
    with slow(project).terminal("apply") as terminal:
        terminal.wait_for("⠋ endless")
        terminal.wait_for("0/1 built · 1 running · 00:0")
        assert "\x1b[32madded\x1b[0m" in terminal.output
        terminal.signal(signal.SIGINT)
        assert terminal.finish() == 130


def test_06_2_2_no_color_is_obeyed_in_a_terminal(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    with project.terminal("apply", env={"NO_COLOR": "1"}) as terminal:
        assert terminal.finish() == 0
        assert "\x1b[3" not in terminal.output and "\x1b[1m" not in terminal.output
        assert "✓ a" in terminal.output


def test_06_2_2_colour_can_be_demanded_without_a_terminal(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    assert "\x1b[" in project.ok("plan", "--color", "always").stdout
    assert "\x1b[" in project.ok("plan", env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" not in project.ok("plan", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    assert "\x1b[" not in project.ok("plan", "--color=never", env={"FORCE_COLOR": "1"}).stdout


def test_06_2_3_a_file_gets_the_result_only(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    with project.terminal("apply", stdout="out.txt") as terminal:
        assert terminal.finish() == 0
        assert "✓ a" in terminal.text
    out = project.read("out.txt")
    assert "\x1b" not in out and "✓" not in out
    assert "Build results" in out and "Built 1 model(s); promoted 1 to 'prod'." in out


def test_06_2_4_data_cannot_drive_the_terminal(project):
    project.write({"models/a.sql": "SELECT 'x' || chr(27) || '[2J' AS v"})
    project.ok("apply")
    result = project.ok("query", "SELECT * FROM a")
    assert "x\\x1b[2J" in result.stdout
    assert "\x1b" not in result.stdout


def test_06_2_5_the_cursor_is_back_after_an_interrupted_build(project):
    with slow(project).terminal("apply") as terminal:
        terminal.wait_for("\x1b[?25l")
        terminal.wait_for("endless")
        terminal.signal(signal.SIGINT)
        assert terminal.finish() == 130
        assert terminal.output.rindex("\x1b[?25h") > terminal.output.rindex("\x1b[?25l")
        assert "interrupted: 0 built, 1 cancelled, 0 not started; nothing promoted" in terminal.output
        assert terminal.modes == terminal.modes_before


def test_06_2_5_a_terminated_build_exits_143(project):
    with slow(project).terminal("apply") as terminal:
        terminal.wait_for("1 running")
        terminal.signal(signal.SIGTERM)
        assert terminal.finish() == 143


def test_06_2_5_the_cursor_is_back_after_the_second_signal_too(project):
    if project.json("version")["build"] != "test hooks":
        pytest.skip("the build has no test hooks")
    project.write({"models/a.sql": "SELECT 1 AS id"})
    with project.terminal("apply", env={"INTERLACE_HOOK": "build.begun=wait:600000"}) as terminal:
        terminal.wait_for("1 running")
        terminal.signal(signal.SIGINT)
        terminal.signal(signal.SIGTERM)
        assert terminal.finish() in (130, 143)
        assert terminal.output.rindex("\x1b[?25h") > terminal.output.rindex("\x1b[?25l")


def test_06_1_a_fault_of_its_own_is_one_line_and_a_saved_trace(project):
    if os.environ.get("INTERLACE_SANITIZED") == "1":
        pytest.skip("sanitizers report faults themselves")
    with slow(project).terminal("apply", env={"TMPDIR": str(project.root)}) as terminal:
        terminal.wait_for("1 running")
        terminal.signal(signal.SIGSEGV)
        assert terminal.finish() == 70
        assert "error: interlace met a fault of its own" in terminal.output
        assert terminal.output.rindex("\x1b[?25h") > terminal.output.rindex("\x1b[?25l")
    traces = [name for name in project.files() if name.startswith("interlace-fault-")]
    assert len(traces) == 1
    assert project.read(traces[0]).startswith("interlace ")


def test_06_2_a_stopped_build_shows_the_cursor_and_goes_on(project):
    with slow(project).terminal("apply") as terminal:
        terminal.wait_for("1 running")
        terminal.signal(signal.SIGTSTP)
        terminal.wait_for("\x1b[?25h")
        _, status = os.waitpid(terminal.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        seen = len(terminal.output)
        terminal.signal(signal.SIGCONT)
        terminal.wait_for(lambda output: "1 running" in output[seen:])
        assert "\x1b[?25l" in terminal.output[seen:]
        terminal.signal(signal.SIGINT)
        assert terminal.finish() == 130


def test_06_2_6_brackets_in_messages_stay(project):
    project.write({"models/a.sql": "SELECT error('pip install interlaced[service]') AS x"})
    assert "interlaced[service]" in project.fails("apply").stderr


def test_06_2_rows_beyond_the_screen_are_counted(project):
    project.write({"interlace.yaml": "parallelism: 8\n"})
    project.write({f"models/endless_{i}.sql": f"{ENDLESS} -- {i}" for i in range(8)})
    with project.terminal("apply", rows=6) as terminal:
        terminal.wait_for("more running")
        terminal.wait_for("8 running")
        terminal.signal(signal.SIGINT)
        assert terminal.finish() == 130


def test_06_2_the_display_can_be_switched_off(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    for number, (args, env) in enumerate(
        [(["--no-progress"], {}), (["--quiet"], {}), ([], {"TERM": "dumb"}), ([], {"INTERLACE_NO_PROGRESS": "1"})]
    ):
        project.write({"models/a.sql": f"SELECT {number} AS id"})
        with project.terminal("apply", "--force", *args, env=env) as terminal:
            assert terminal.finish() == 0, terminal.output
            assert "\x1b[?25l" not in terminal.output
            assert "✓" not in terminal.output


def test_06_2_without_utf8_there_are_stand_ins(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    result = project.ok("plan", env={"LC_ALL": "C"})
    assert result.stdout.isascii()
    assert "Plan - prod" in result.stdout


def test_06_2_a_narrow_terminal_cuts_dim_columns_first(project):
    names = ["first_of_the_upstream_models", "second_of_the_upstream_models", "third_of_the_upstream_models"]
    project.write({f"models/{name}.sql": "SELECT 1 AS id" for name in names})
    project.write({"models/reader.sql": " UNION ALL ".join(f"SELECT id FROM {name}" for name in names)})
    with project.terminal("models", columns=70) as terminal:
        assert terminal.finish() == 0
        assert "…" in terminal.text
        assert all(name in terminal.text for name in names)
        assert max(len(line) for line in terminal.text.split("\r\n")) <= 70


def test_06_2_verbose_gives_a_line_an_event(project):
    project.write({"models/a.sql": "SELECT 1 AS id"})
    lines = project.ok("apply", "--verbose").stderr.splitlines()
    assert [line.split()[1] for line in lines] == ["plan", "start", "done", "promoted"]
