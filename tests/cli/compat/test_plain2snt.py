"""plain2snt: the bytes of the original."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import GOLDEN, run, write_sample

FILES = ("en.vcb", "fr.vcb", "en_fr.snt", "fr_en.snt")


def test_the_bytes_are_those_of_the_original(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_sample(data, tmp_path)
    assert run("plain2snt", "en", "fr").stdout == "en -> en\nfr -> fr\n"
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (GOLDEN / "plain2snt" / name).read_bytes(), name


def test_outputs_can_have_other_names(data, tmp_path):
    write_sample(data, tmp_path)
    names = [tmp_path / name for name in ("a", "b", "c", "d")]
    options = zip(("-vcb1", "-vcb2", "-snt1", "-snt2"), names, strict=True)
    run("plain2snt", *(word for pair in options for word in pair), tmp_path / "en", tmp_path / "fr")
    for path, name in zip(names, FILES, strict=True):
        assert path.read_bytes() == (GOLDEN / "plain2snt" / name).read_bytes(), name
    assert not (tmp_path / "en.vcb").exists()


def test_files_and_weights(write, tmp_path, monkeypatch, caplog):
    """Words of other encodings stay as they are, blanks are those of C, endings of names are taken off."""
    monkeypatch.chdir(tmp_path)
    write("s.tok", b"a b\va\n\xe9\n\n")
    write("t.tok", b"A\nB\nC\n")
    write("s2", b"b c\r\n")
    write("t2", b"C\fD\n")
    result = run("plain2snt", "s.tok", "t.tok", "s2", "t2", "-weight", "0.5")
    assert result.stdout == "s -> s\nt -> t\n"
    assert "s.tok: 1 sentence pairs with an empty side are left out: lines 3" in caplog.text
    assert (tmp_path / "s.vcb").read_bytes() == b"2 a 2\n3 b 2\n4 \xe9 1\n5 c 1\n"
    assert (tmp_path / "t.vcb").read_bytes() == b"2 A 1\n3 B 1\n4 C 2\n5 D 1\n"
    assert (tmp_path / "s_t.snt").read_bytes() == b"0.5\n2 3 2 \n2 \n0.5\n4 \n3 \n1\n3 5 \n4 5 \n"
    assert (tmp_path / "t_s.snt").read_bytes() == b"0.5\n2 \n2 3 2 \n0.5\n3 \n4 \n1\n4 5 \n3 5 \n"


@pytest.mark.parametrize(("src", "tgt"), [("a\nb\nc\n", "A\nB\n"), ("a\nb\n", "A\nB\nC\n")])
def test_lines_that_are_too_many_are_told(write, tmp_path, caplog, src, tgt):
    src, tgt = write("s", src), write("t", tgt)
    run("plain2snt", src, tgt)
    assert "the lines that are too many are left out" in caplog.text
    assert (tmp_path / "s_t.snt").read_text() == "1\n2 \n2 \n1\n3 \n3 \n"
    assert (tmp_path / "s.vcb").read_text() == "2 a 1\n3 b 1\n"
    assert (tmp_path / "t.vcb").read_text() == "2 A 1\n3 B 1\n"


def test_usage(write, tmp_path):
    one = write("s", "a\n")
    assert "two files" in run("plain2snt", one, code=2).output
    assert "needs a value" in run("plain2snt", one, one, "-vcb1", code=2).output
    for weight in ("much", "nan", "inf"):
        assert "not a number" in run("plain2snt", one, one, "-weight", weight, code=2).output
    assert "-vcb1 is" in run("plain2snt", one, one, "-vcb1", one, code=2).output
    assert Path(one).read_text() == "a\n"
    assert "missing" in run("plain2snt", one, tmp_path / "missing", code=1).output
