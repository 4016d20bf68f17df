"""docs/backfill-walkthrough.md is what happens: its commands are run in order, and their outputs compared.
INTERLACE_GOLDEN=write puts the present outputs into the page."""

import os
import re
import shlex
import subprocess

from conftest import TREE, Project, binary

PAGE = TREE / "docs/backfill-walkthrough.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
ENV = {"INTERLACE_NOW": "2026-10-30T09:00:00Z", "INTERLACE_WHO": "ada@shop"}


def normalised(text):
    """Without what differs from run to run: times, sizes, ids, and the widths that follow from them."""
    text = re.sub(r"\b\d+\.\d+ ?s\b|\b\d+m\b", "TIME", text)
    text = re.sub(r"\b\d+(\.\d+)? [MG]B\b", "SIZE", text)
    text = re.sub(r"Plan [0-9a-f]{16}", "Plan ID", text)
    text = re.sub(r"─+", "─", text)
    return "\n".join(re.sub(r" +", " ", line).rstrip() for line in text.splitlines())


class Shell:
    def __init__(self, folder):
        self.folder = folder

    def run(self, command):
        if command.startswith("cd "):
            self.folder = self.folder / command.removeprefix("cd ")
            return ""
        if command.startswith("interlace "):
            result = Project(self.folder, ENV).ok(*shlex.split(command)[1:])
            return result.stdout
        subprocess.run(shlex.split(command), cwd=self.folder, check=True)
        return ""


def test_04_10_1_the_walkthrough_shows_what_happens(tmp_path):
    assert binary()
    shell = Shell(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    shown = BLOCK.findall(page)
    blocks = []
    for block in shown:
        commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
        blocks.append("".join(f"$ {command}\n{shell.run(command)}" for command in commands))
    if os.environ.get("INTERLACE_GOLDEN") == "write":
        new = iter(blocks)
        PAGE.write_text(BLOCK.sub(lambda _: f"```console\n{next(new)}```", page), encoding="utf-8")
        return
    assert [normalised(block) for block in blocks] == [normalised(block) for block in shown]
