"""Shell completion: what shells are told when a user presses the tabulator."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aligner.cli import COMMANDS
from aligner.cli.compat import PROGRAMS

ALIGNER = Path(sys.executable).with_name("aligner")
SHELLS = ("bash", "zsh", "fish")
PATH = f"{ALIGNER.parent}{os.pathsep}{os.environ['PATH']}"


def complete(shell: str, *words: str) -> str:
    """What `aligner` answers to a shell; the last of the words is not complete."""
    asked = {"COMP_WORDS": " ".join(("aligner", *words)), "COMP_CWORD": str(len(words))}
    if shell == "fish":
        asked["COMP_CWORD"] = words[-1]
    environment = {**os.environ, "_ALIGNER_COMPLETE": f"{shell}_complete", **asked}
    return subprocess.run([ALIGNER], env=environment, capture_output=True, text=True, check=True).stdout


def test_names_of_commands_are_found():
    assert complete("bash", "sym") == "plain,symmetrize\nplain,symal\n"
    assert complete("bash", "").splitlines() == [f"plain,{name}" for name in (*COMMANDS, *PROGRAMS)]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_is_told_names_and_files(shell):
    assert "symmetrize" in complete(shell, "sym")
    assert "--threshold" in complete(shell, "align", "--thres")
    assert "intersection" in complete(shell, "symmetrize", "--method", "inter")
    assert "file" in complete(shell, "align", "corpus.")
    assert "file" in complete(shell, "align", "--output", "corpus.")


def test_names_of_commands_need_no_command():
    """numpy alone would take longer than a user waits for."""
    code = (
        "import sys, click; from aligner.cli import cli;"
        "print(len(cli.shell_complete(click.Context(cli), '')), 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout == f"{len(COMMANDS) + len(PROGRAMS)} False\n"


def test_bash_completes():
    script = """
        eval "$(_ALIGNER_COMPLETE=bash_source aligner)"
        complete -p aligner
        COMP_WORDS=(aligner symm) COMP_CWORD=1
        _aligner_completion aligner
        echo "${COMPREPLY[*]}"
    """
    environment = {**os.environ, "PATH": PATH}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "complete -o nosort -F _aligner_completion aligner",
        "symmetrize",
    ]


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_what_shells_can_read(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    environment = {**os.environ, "_ALIGNER_COMPLETE": f"{shell}_source"}
    script = subprocess.run([ALIGNER], env=environment, capture_output=True, text=True, check=True).stdout
    subprocess.run([shell, "-n"], input=script, text=True, check=True)
