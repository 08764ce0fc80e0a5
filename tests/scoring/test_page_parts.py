"""The files of the page: all are used, words of a text stay text, nothing is asked of the network."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

PARTS = ROOT / "aligner" / "scoring" / "page"
SCRIPTS, STYLES = (sorted(path.name for path in PARTS.glob(f"*.{x}")) for x in ("js", "css"))
HTML = (PARTS / "page.html").read_text(encoding="utf-8")


def test_the_page_has_every_script_once():
    assert sorted(re.findall(r'<script src="(.*?)"></script>', HTML)) == SCRIPTS


def test_ids_are_there_once_and_scripts_ask_for_no_other():
    ids = re.findall(r'\bid="([\w-]+)"', HTML)
    assert len(ids) == len(set(ids))
    scripts = "".join((PARTS / name).read_text(encoding="utf-8") for name in SCRIPTS)
    asked = set(re.findall(r'\b(?:byId|on)\("([\w-]+)"', scripts))
    assert asked > {"threshold", "list"} and asked <= set(ids)


@pytest.mark.parametrize("name", SCRIPTS)
def test_words_of_a_text_never_become_html(name):
    """A token such as <script> would else be run."""
    script = (PARTS / name).read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|eval\(", script)


@pytest.mark.parametrize("name", ["page.html", *STYLES, *SCRIPTS])
def test_nothing_comes_from_elsewhere(name):
    text = (PARTS / name).read_text(encoding="utf-8")
    addresses = re.findall(r"\w+://[^\"' )]*|@import|url\(", text)
    name_of_svg = ["http://www.w3.org/2000/svg"]  # no address that is opened
    assert addresses == (name_of_svg if name == "dom.js" else [])
    assert "fetch(" not in text and "XMLHttpRequest" not in text


def test_colours_and_fonts_are_named_once_and_used():
    """--touch is larger on a phone; scripts set --cell and --longest."""
    text = "".join((PARTS / name).read_text(encoding="utf-8") for name in STYLES)
    names = [name for name in re.findall(r"--([\w-]+): ", text) if name != "touch"]
    used = set(re.findall(r"var\(--([\w-]+)\)", text))
    assert len(names) == len(set(names)) and used - {"touch", "cell", "longest"} == set(names)
