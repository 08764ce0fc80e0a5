"""aligner view: which files it takes, which sentence pairs it shows, what it refuses; matrices as text."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from trained import FORWARD, GOLD, SRC, TGT, run

from aligner import LinkReader, Model


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("view") / "model"
    run("train", SRC, TGT, "--model", "shmm", "--views", "word", "--iterations", 1, "-q", "-o", path)
    return path


def data_of(*arguments: object) -> dict:
    """The data of the page that a command writes."""
    html = run("view", *arguments, "-o", "-")
    return json.loads(re.findall(r'id="data">(.*?)</script>', html, re.DOTALL)[0])


def test_a_page_of_a_model(model):
    data = data_of(model, SRC, TGT, "--gold", GOLD, "--links", FORWARD)
    assert data["model"]["signature"] == Model.load(model).signature
    assert data["model"]["projection"] == "symmetric" and len(data["columns"]) == 6
    assert (data["src"], data["tgt"], data["title"]) == (str(SRC), str(TGT), "sample.en – sample.fr")
    assert [pair["src"] for pair in data["sentences"]] == [x.split() for x in SRC.read_text().splitlines()]
    threshold, k = data["model"]["threshold"], 2 + data["columns"].index("union")
    links = []
    for pair in data["sentences"]:
        rows = [pair["cells"][n : n + 8] for n in range(0, len(pair["cells"]), 8)]
        links.append(" ".join(f"{row[0]}-{row[1]}" for row in rows if row[k] > threshold))
    assert links == run("decode", model, SRC, TGT).splitlines()
    for name, shown in (("gold", lambda pair: pair["gold"]), ("forward", lambda pair: pair["files"][0])):
        found = LinkReader(str(ROOT / "data" / f"sample.{name}")).read().pairs()
        assert [{*zip(x[::3], x[1::3], strict=True)} for x in map(shown, data["sentences"])] == [
            *map(set, found)
        ]


def test_words_are_shown_as_they_are_and_aligned_as_trained(tmp_path, model):
    lower = tmp_path / "lower"
    run("train", SRC, TGT, "--model", "ibm1", "--views", "word", "--lowercase", "-q", "-o", lower)
    data = data_of(lower, SRC, TGT, "--first", 5)
    assert data["sentences"][1]["src"] == SRC.read_text().splitlines()[1].split()
    both = tmp_path / "both"
    both.write_text("".join(f"{a} ||| {b}\n" for a, b in [("The house", "la maison"), ("a", "un")]))
    assert data_of(lower, both)["sentences"][0]["tgt"] == ["la", "maison"]
    assert "The ~ la" in run("view", lower, "--text", stdin="The ||| la\n")


def test_a_page_without_a_model(tmp_path):
    data = data_of(SRC, TGT, "--links", FORWARD, "--links", GOLD)
    assert data["model"] is None and [file["name"] for file in data["files"]] == [str(FORWARD), str(GOLD)]
    (one := tmp_path / "one").write_text("a\tb\n")
    (links := tmp_path / "links").write_text("0-0:0.5\n")
    data = data_of(one, "--links", links)
    assert data["sentences"][0]["files"] == [[0, 0, 5000]] and data["files"][0]["scored"]
    assert data["src"] == data["tgt"] == str(one)


def test_some_sentence_pairs(tmp_path, model):
    lines = GOLD.read_text().splitlines(keepends=True)
    (end := tmp_path / "end").write_text("".join(lines[-7:]))
    (wpt := tmp_path / "wpt").write_text("1 1 1 S\n7 1 1 P\n")
    whole = data_of(model, SRC, TGT, "--gold", GOLD)["sentences"]
    for given, start, stop in (
        (["--first", 7], 0, 7),
        (["--last", 7], 53, 60),
        (["--lines", "5-9"], 4, 9),
        (["--line", 12], 11, 12),
    ):
        data = data_of(model, SRC, TGT, "--gold", GOLD, *given)
        assert data["sentences"] == whole[start:stop] and data["first"] == start + 1
    data = data_of(SRC, TGT, "--gold", end, "--links", wpt, "--last", 7)
    assert [pair["gold"] for pair in data["sentences"]] == [pair["gold"] for pair in whole[-7:]]
    assert [pair["files"][0] for pair in data["sentences"]] == [[0, 0, 10000], *[[]] * 5, [0, 0, 10000]]
    assert data_of(SRC, TGT, "--links", wpt, "--lines", "7-8")["sentences"][0]["files"] == [[0, 0, 10000]]


def test_what_is_refused(tmp_path, model, monkeypatch):
    page = tmp_path / "page.html"

    def refused(*arguments: object, code: int) -> str:
        message = run("view", *arguments, "-o", page, code=code)
        assert not page.exists()
        return message

    (short := tmp_path / "short").write_text("0-0\n")
    (late := tmp_path / "late").write_text("0-0\n" * 59 + "0-99\n")
    (one := tmp_path / "one").write_text("a ||| b\n")
    (one_links := tmp_path / "one.links").write_text("1-1\n")
    given = SRC, TGT, "--links", FORWARD
    assert "nothing to be seen" in refused(SRC, TGT, code=2)
    assert "exclude each other" in refused(*given, "--first", 1, "--line", 2, code=2)
    assert "--links-base are for --links" in refused(model, SRC, TGT, "--links-base", 1, code=2)
    assert "--links-base are for --links" in refused(model, SRC, TGT, "--links-format", "talp", code=2)
    assert "--gold-base are for --gold" in refused(*given, "--gold-base", 0, code=2)
    assert "--gold-base are for --gold" in refused(*given, "--gold-format", "gold", code=2)
    (empty := tmp_path / "empty").write_text("")
    assert f"{empty}: the text has no lines" in refused(empty, empty, "--gold", empty, code=1)
    assert "neither a line" in refused(*given, "--lines", "9-5", code=2)
    assert "--ascii is for --text" in refused(*given, "--ascii", code=2)
    assert "one alignment" in refused(model, *given, "--text", code=2)
    assert "split as the model's was" in refused(model, SRC, TGT, "--split", "unicode", code=2)
    assert "give MODEL SRC TGT" in refused(model, SRC, TGT, GOLD, code=2)
    assert f"{SRC}: the text has 60 lines, fewer than 61" in refused(*given, "--last", 61, code=1)
    assert f"{short} has links of 1 sentence, the text has 60;" in refused(SRC, TGT, "--gold", short, code=1)
    message = refused(SRC, TGT, "--gold", short, "--last", 2, code=1)
    assert "the text has 60, and 2 of them are chosen" in message
    assert f"{late}:60: link 0-99 of sentence 60" in refused(SRC, TGT, "--links", late, code=1)
    assert f"{late}:60: link" in refused(SRC, TGT, "--links", late, "--last", 2, code=1)
    (two := tmp_path / "two").write_text("0-0\n0-99\n")
    assert f"{two}:2: link" in refused(SRC, TGT, "--links", two, "--last", 2, code=1)
    assert "--links-base 1" in refused(one, "--links", one_links, code=1)
    assert "this is not a model" in refused(SRC, TGT, GOLD, code=1)
    monkeypatch.setattr("aligner.cli.chosen.MOST", 50)
    message = refused(*given, code=1)
    assert (
        "60 sentence pairs are too many for one page" in message and "--first, --last or --lines" in message
    )
    assert "-o is needed" in run("view", *given, code=2)
    shown = run("view", *given, "--text")
    assert shown.count("links") >= 60, "text has no limit"
    assert shown.startswith("1\n"), "links without scores and gold have no marks that need words"
    page.write_text("old")
    assert "exists" in run("view", *given, "--first", 2, "-o", page, code=1) and page.read_text() == "old"


def test_a_terminal_that_has_ascii_only():
    command = [sys.executable, "-m", "aligner", "view", SRC, TGT, "--links", FORWARD, "--text", "--line", "2"]
    for encoding, circle in (("ascii", b"@"), ("latin-1", b"@"), ("utf-8", "●".encode())):
        environment = {**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "40"}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        assert circle in done.stdout
        assert max(map(len, done.stdout.decode(encoding).split("\n"))) <= 40
    assert "@" in run("view", SRC, TGT, "--links", FORWARD, "--text", "--ascii", "--line", 2)
