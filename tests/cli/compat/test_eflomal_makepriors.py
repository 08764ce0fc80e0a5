"""The program eflomal-makepriors, compared with what the original wrote."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import programs
from conftest import ROOT

GOLDEN = programs.GOLDEN / "eflomal/sample.priors"
TEXT = ["-s", str(ROOT / "data/sample.en"), "-t", str(ROOT / "data/sample.fr")]
LINKS = ["-f", str(ROOT / "data/sample.forward"), "-r", str(ROOT / "data/sample.reverse")]


run = partial(programs.run, "eflomal-makepriors")


def test_priors_are_those_of_the_original(tmp_path):
    assert run(*TEXT, *LINKS).stdout == GOLDEN.read_text()
    path = tmp_path / "priors.gz"  # the original compresses nothing
    path.write_text("old" * 100_000)
    run(*TEXT, *LINKS, "--priors", path)
    assert path.read_text() == GOLDEN.read_text()


def test_a_joint_file_gives_the_same(write):
    sides = [(ROOT / "data" / f"sample.{side}").read_text().splitlines() for side in ("en", "fr")]
    joint = write("joint", "".join(f"{src} ||| {tgt}\n" for src, tgt in zip(*sides, strict=True)))
    assert run("--input", joint, *LINKS).stdout == GOLDEN.read_text()


def test_reverse_priors_are_for_swapped_sides():
    lines = [line.split("\t") for line in run(*TEXT, *LINKS, "--reverse-priors").stdout.splitlines()]
    original = [line.split("\t") for line in GOLDEN.read_text().splitlines()]
    assert [x[1:] for x in lines if x[0] == "FERF"] == [x[1:] for x in original if x[0] == "FERR"]
    assert [x[1:] for x in lines if x[0] == "HMMR"] == [x[1:] for x in original if x[0] == "HMMF"]
    french = set((ROOT / "data/sample.fr").read_text().split())
    assert {x[1] for x in lines if x[0] == "LEX"} <= french


def test_refusals(write):
    short = write("links", "0-0\n")
    assert "has links of 1 sentence, the text has 60" in run(*TEXT, "-f", short, *LINKS[2:], code=1).stderr
    wide = write("wide", "0-0\n" * 59 + "0-0 99-0\n")
    assert "wide:60: link 99-0 of sentence 60 is outside" in run(*TEXT, *LINKS[:2], "-r", wide, code=1).stderr
    one = write("one", "a\n")
    assert f"{one} has 1 sentences, {TEXT[3]} has 60" in run("-s", one, *TEXT[2:], *LINKS, code=1).stderr
    assert "need to specify either -s and -t, or -i" in run(*LINKS, code=1).stderr
    assert "Missing option '-r'" in run(*TEXT, *LINKS[:2], code=2).stderr


def test_priors_do_not_replace_what_is_read(write):
    links = write("links", (ROOT / "data/sample.forward").read_text())
    before = Path(links).read_text()
    assert "which is read" in run(*TEXT, "-f", links, *LINKS[2:], "-p", links, code=2).stderr
    assert Path(links).read_text() == before
    assert "only one file can be -" in run(*TEXT, "-f", "-", "-r", "-", code=2).stderr
