"""extract-lex: the lines of Marian's extract_lex, recorded, and what it does with odd files."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import programs
import pytest
from conftest import ROOT
from programs import GOLDEN

LINKS = ROOT / "tests" / "links" / "golden" / "sample.symal.grow-diag-final-and"


def run(*arguments: object, code: int = 0) -> str:
    """stderr of the program, which must exit with `code`."""
    result = programs.run("extract-lex", *arguments, code=code)
    assert result.stdout == ""
    return result.stderr


@pytest.fixture
def extract(write, tmp_path):
    """extract(tgt, src, links) -> (lines of S2T, lines of T2S) of three texts"""

    def extract(tgt: str | bytes, src: str | bytes, links: str) -> list[list[bytes]]:
        files = [write(name, text) for name, text in (("tgt", tgt), ("src", src), ("links", links))]
        run(*files, tmp_path / "s2t", tmp_path / "t2s")
        return [(tmp_path / name).read_bytes().splitlines() for name in ("s2t", "t2s")]

    return extract


@pytest.mark.parametrize("block", [7, 1 << 13])
def test_lines_are_those_of_the_original(data, tmp_path, monkeypatch, block):
    """The golden files are extract_lex's, sorted by `LC_ALL=C sort -k2,2 -k1,1`."""
    monkeypatch.setattr("aligner.links.formats.BLOCK", block)
    run(data / "sample.fr", data / "sample.en", LINKS, tmp_path / "s2t", tmp_path / "t2s")
    for name in ("s2t", "t2s"):
        assert (tmp_path / name).read_bytes() == (GOLDEN / f"sample.extract-lex.{name}").read_bytes()


def test_files_are_written_in_place_and_never_compressed(data, tmp_path):
    """A caller that holds the file open reads the lines. Input may be compressed."""
    packed = tmp_path / "fr.gz"
    packed.write_bytes(gzip.compress((data / "sample.fr").read_bytes()))
    with tempfile.NamedTemporaryFile(suffix=".gz") as held:
        held.write(b"old" * 100_000)
        held.flush()
        run(packed, data / "sample.en", LINKS, held.name, "/dev/null")
        held.seek(0)
        assert held.read() == (GOLDEN / "sample.extract-lex.s2t").read_bytes()


def test_words_of_any_encoding_come_out_as_they_went_in(extract):
    src, tgt = "été".encode("latin-1"), "\u00a0夏".encode()
    assert extract(tgt + b"\n", src + b"\n", "0-0\n") == [
        [tgt + b" " + src + b" 1.0000000"],
        [src + b" " + tgt + b" 1.0000000"],
    ]


def test_the_word_null_and_scores(extract, caplog):
    """As the original: the word NULL is the NULL word, and scores are not looked at."""
    s2t, t2s = extract("x y\n", "NULL a\n", "1-1:0.5\n")
    assert s2t == [b"NULL NULL 0.5000000", b"x NULL 0.5000000", b"y a 1.0000000"]
    assert t2s == [b"NULL NULL 1.0000000", b"NULL x 1.0000000", b"a y 1.0000000"]
    assert caplog.messages == ["the word NULL occurs 1 times in the text; it counts as the NULL word"]


def test_links_outside_are_left_out(extract, caplog):
    assert extract("x\n", "a\n", "0-0 0-1 1-0\n") == [[b"x a 1.0000000"], [b"a x 1.0000000"]]
    assert caplog.messages == ["2 links point outside their sentence pairs and are left out (lines 1)"]


def test_nothing_in_nothing_out(extract):
    assert extract("", "", "") == [[], []]
    assert extract("\n", "\n", "\n") == [[], []]


@pytest.mark.parametrize(
    "tgt, src, links, message",
    [
        ("x\ny\n", "a\n", "0-0\n", "src has 1 lines, {}/tgt has more; text and links must match"),
        ("x\n", "a\n", "0-0\n\n", "src has 1 lines, {}/links has more"),
        ("x\ny\n", "a\nb\n", "0-0\n", "links has 1 lines, {}/src has more"),
        ("x\n", "a\n", "0?0\n", "links: the links look like gold; convert them to `i-j` first"),
        ("x\n", "a\n", "0\n", "links:1:2: `-` was expected"),
    ],
)
def test_files_that_do_not_match_are_refused(write, tmp_path, tgt, src, links, message):
    """Nothing is written then: what was in the outputs stays."""
    files = [write(name, text) for name, text in (("tgt", tgt), ("src", src), ("links", links))]
    outputs = write("s2t", "old"), write("t2s", "old")
    error = run(*files, *outputs, code=1)
    assert message.format(tmp_path) in error
    assert {Path(path).read_text() for path in outputs} == {"old"}


def test_usage():
    assert "Missing argument" in run("tgt", "src", "links", "s2t", code=2)
    assert run("nowhere", "nowhere", "nowhere", "s2t", "t2s", code=1).startswith("aligner: nowhere: No such")


def test_outputs_replace_nothing_that_is_read_and_not_each_other(write, tmp_path):
    files = [write(name, text) for name, text in (("tgt", "x\n"), ("src", "a\n"), ("links", "0-0\n"))]
    lex = tmp_path / "lex"
    assert "which is read" in run(*files, files[2], lex, code=2)
    assert f"T2S and S2T are both {lex}" in run(*files, lex, lex, code=2)
    assert "only one file can be -" in run("-", "-", files[2], lex, tmp_path / "other", code=2)
    assert [Path(path).read_text() for path in files] == ["x\n", "a\n", "0-0\n"]
