"""Manual pages: one a command, with every option, and nothing that roff complains about."""

from __future__ import annotations

import re
import shutil
import subprocess

import click
import pytest
from manual import escaped, main, marked, pages
from reference import block_of, paragraphs

from aligner.cli import COMMANDS, cli
from aligner.cli.compat import PROGRAMS

PAGES = pages()
ALL = {"aligner.1": cli} | {
    f"aligner-{name}.1": cli.get_command(click.Context(cli), name) for name in (*COMMANDS, *PROGRAMS)
}


def test_every_command_has_a_page():
    assert list(PAGES) == list(ALL)


@pytest.mark.parametrize("name", ALL)
def test_a_page_reads_well(name, tmp_path):
    if shutil.which("man") is None:
        pytest.skip("no man")
    (tmp_path / name).write_text(PAGES[name], encoding="utf-8")
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "100"}
    command = ["man", "--warnings=w", "--encoding=UTF-8", "--local-file", str(tmp_path / name)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    shown = re.sub(r".\x08", "", done.stdout)
    for option in ALL[name].params:
        if isinstance(option, click.Option) and not option.hidden:
            assert all(flag in shown for flag in option.opts)
    for paragraph in paragraphs(ALL[name].help):
        if paragraph.startswith("\b\n"):  # examples can be copied from the page
            assert all(line.strip() in shown for line in block_of(paragraph)[1].splitlines())


def test_pages_are_written_into_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["manual.py", str(tmp_path / "man" / "man1")])
    main()
    written = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "man/man1").iterdir()}
    assert written == PAGES


def test_a_file_is_no_folder(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setattr("sys.argv", ["manual.py", str(tmp_path / "file")])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err.endswith("file: File exists\n")


def test_a_page_that_cannot_be_written_is_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "aligner.1").mkdir()
    monkeypatch.setattr("sys.argv", ["manual.py", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err.endswith("aligner.1: Is a directory\n")


def test_what_roff_would_read_as_its_own_is_escaped():
    assert escaped(".x 'y' \\n a-b\n'z") == "\\&.x 'y' \\en a\\-b\n\\&'z"
    assert marked("`a-b` or --x, well-known") == r"\fBa\-b\fR or \fB\-\-x\fR, well\-known"
