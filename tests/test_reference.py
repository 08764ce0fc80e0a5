"""The generated reference: every command, every option with an anchor, every public name, every module."""

from __future__ import annotations

import posixpath
import re

import click
import pytest
from conftest import ROOT
from reference import command_page, list_of_modules, pages, prose, python_page

import aligner
from aligner.cli import COMMANDS, cli
from aligner.cli.compat import PROGRAMS

ALL = [*COMMANDS, *PROGRAMS]


def test_every_command_has_a_page_and_a_line():
    found = pages()
    commands = [f"reference/commands/{name}.md" for name in COMMANDS]
    programs = [f"reference/programs/{name}.md" for name in PROGRAMS]
    assert list(found)[1:-2] == commands + programs
    links = re.findall(r"\]\((.*?)\)", found["reference/commands/index.md"])
    assert [posixpath.normpath(f"reference/commands/{link}") for link in links] == commands + programs


@pytest.mark.parametrize("name", ALL)
def test_every_option_has_an_anchor(name):
    command = cli.get_command(click.Context(cli), name)
    options = [x for x in command.params if isinstance(x, click.Option)]
    page = command_page(name)
    anchors = re.findall(r"^\[`(.*)`\]\(#.*\)\{ #(.*) \}$", page, re.MULTILINE)
    assert len({anchor for _, anchor in anchors}) == len(anchors) == len(options) + 1  # and --help
    for option in options:
        assert any(option.opts[-1] in shown for shown, _ in anchors)
    assert set(re.findall(r"\]\(#(.*?)\)", page)) <= {anchor for _, anchor in anchors}


def test_defaults_and_bounds_are_shown():
    assert r"\[loo; default: 0.98\]  \[0&lt;=x&lt;=1\]" in command_page("align")


def test_prose_keeps_code_and_escapes_the_rest():
    assert prose("a_b `a_b` <c> --x, --y-z", {"--x": "x"}) == r"a\_b `a_b` &lt;c&gt; [`--x`](#x), --y-z"


def test_every_public_name_is_explained():
    page = python_page()
    assert re.findall(r"^## (\w+) ", page, re.MULTILINE) == aligner.__all__
    assert "### Model.align {" in page and "### Model.load {" in page


def test_every_module_is_listed():
    page = list_of_modules()
    for path in (ROOT / "aligner").rglob("*.py"):
        if path.name not in ("__init__.py", "__main__.py"):
            assert f"- `{path.relative_to(ROOT)}`: " in page
    assert "\n- `ext/models/lattice.pxd`: HMM alignment of sentence pairs (Vogel" in page
