"""The documentation is executed: every command of a console block, with the output it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_rooms import ROOMS

from aligner.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


def commands(block: str) -> list[tuple[str, str]]:
    """(command, output) in order; a line that begins with `$ ` is a command."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    assert parts[0] == "", "a block begins with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("page", pages_with("console"), ids=lambda page: page.name)
def test_commands_print_what_is_shown(page, tmp_path):
    """In a folder of its own, with the repository's data and scripts in place."""
    for name in ("data", "scripts"):
        (tmp_path / name).symlink_to(ROOT / name)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for block in blocks(page, "console"):
        for command, output in commands(block):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path,
                env={**os.environ, "PATH": path},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=600,
            )
            assert done.stdout == output, f"$ {command}"


def test_quickstart_ends_in_a_score():
    done = subprocess.run([ROOT / "scripts" / "quickstart"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^AER +\d", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("page", pages_with("python"), ids=lambda page: page.name)
def test_python_prints_what_is_shown(page, monkeypatch, capsys, tmp_path):
    """What is printed stands behind the print, as a comment."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    for block in blocks(page, "python"):
        exec(block, {})
        shown = re.findall(r"^print.*?\n?# (.*)$", block, re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == shown != []


def test_readme_names_every_command():
    text = (ROOT / "README.md").read_text()
    assert all(f"aligner {command}" in text for command in COMMANDS)


def test_rooms_are_listed_in_their_order():
    rooms = (ROOT / "docs" / "code.md").read_text().split("\n\n")[2]
    assert re.findall(r"`(\w+)`", "".join(re.findall(r"^\|.*?\|", rooms, re.MULTILINE))) == ROOMS


def test_first_screen_has_the_two_commands():
    first_screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:45])
    assert "scripts/quickstart" in first_screen and "scripts/test" in first_screen
