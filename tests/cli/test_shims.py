"""aligner shims: executables under the names of other programs, which run this installation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from programs import run

from aligner.cli import process
from aligner.cli.compat import PROGRAMS

NAMES = {name for program in PROGRAMS.values() for name in program.names}
HERE = {**os.environ, "PYTHONPATH": str(ROOT)}
LINKS = ["-i", str(ROOT / "data" / "sample.forward"), "-c", "invert"]


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def printed(*words: object) -> str:
    words = tuple(map(str, words))
    return subprocess.run(words, env=HERE, capture_output=True, text=True, check=True).stdout


def test_every_program_has_its_executables(tmp_path):
    run("shims", tmp_path / "a folder")
    assert files(tmp_path / "a folder") == NAMES
    assert all(os.access(tmp_path / "a folder" / name, os.X_OK) for name in NAMES)


@pytest.mark.parametrize("installed", [True, False])
def test_an_executable_runs_this_installation(tmp_path, monkeypatch, installed):
    """By the script `aligner`, or by the package where there is no script. Words go through as they are."""
    if not installed:
        monkeypatch.setattr(process.os, "access", lambda *_: False)
    run("shims", tmp_path / "a folder")
    monkeypatch.undo()
    assert printed(tmp_path / "a folder/build/atools", *LINKS) == run("atools", *LINKS).stdout
    part = tmp_path / "a part"
    head = "# Sentence pair (1) source length 1 target length 1 alignment score : 1"
    part.write_text(head + "\nx \nNULL ({ }) a ({ 1 }) \n")
    merge = tmp_path / "a folder/merge_alignment.py"
    for words in ([merge], [sys.executable, merge]):
        assert printed(*words, part) == part.read_text()


def test_exit_codes_go_through(tmp_path):
    run("shims", tmp_path)
    for words in ([tmp_path / "atools"], [tmp_path / "force_align.py"]):
        done = subprocess.run(words, env=HERE, capture_output=True, text=True)
        assert done.returncode == (1 if words[0].name == "atools" else 2)
        assert "Missing" in done.stderr


def test_files_that_exist_stay_without_overwrite(tmp_path):
    (tmp_path / "symal").write_text("theirs")
    assert "symal" in run("shims", tmp_path, code=1).stderr
    assert files(tmp_path) == {"symal"} and (tmp_path / "symal").read_text() == "theirs"
    run("shims", tmp_path, "--overwrite")
    assert files(tmp_path) == NAMES and "theirs" not in (tmp_path / "symal").read_text()
    assert os.access(tmp_path / "symal", os.X_OK)


@pytest.mark.parametrize("place", ["with blanks", 'it\'s "quoted"'])
def test_an_installation_may_be_anywhere(tmp_path, monkeypatch, place):
    (tmp_path / place).mkdir()
    program = tmp_path / place / "aligner"
    program.write_text('#!/bin/sh\nprintf "%s," "$@"\n')
    program.chmod(0o755)
    with monkeypatch.context() as other:
        other.setattr(sys, "executable", str(program.with_name("python")))
        run("shims", tmp_path / "shims")
    shim = tmp_path / "shims" / "force_align.py"
    for words in ([shim], [sys.executable, shim]):
        assert printed(*words, "a b", "", "'") == "force-align,a b,,',"


def test_a_folder_has_a_name(tmp_path, monkeypatch):
    """An unset variable of a script does not scatter executables over the working folder."""
    monkeypatch.chdir(tmp_path)
    assert "the name of DIR is empty" in run("shims", "", code=2).stderr
    assert not files(tmp_path)
