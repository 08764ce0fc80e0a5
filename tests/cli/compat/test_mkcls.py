"""mkcls: a class for each word, in the form of the original."""

from __future__ import annotations

from pathlib import Path

from programs import run


def test_each_word_has_a_class(write, tmp_path, caplog):
    text = write("text", b"b a b c\nb d\xe9 a\n")
    out = tmp_path / "classes"
    run("mkcls", "-c2", "-n2", f"-p{text}", f"-V{out}", "opt")
    assert out.read_bytes() == b"a\t2\nb\t2\nc\t3\nd\xe9\t3\n"
    assert "no clusters" in caplog.text and "change nothing here: -n2 opt\n" in caplog.text


def test_classes_are_bounded(data, tmp_path):
    out = tmp_path / "classes"
    run("mkcls", "-n10", f"-p{data / 'sample.en'}", f"-V{out}")
    rows = [line.split("\t") for line in out.read_text().splitlines()]
    words = sorted({word.encode() for word in (data / "sample.en").read_text().split()})
    assert [word.encode() for word, _ in rows] == words
    assert {int(number) for _, number in rows} <= set(range(2, 102))


def test_more_classes_than_words(write, tmp_path):
    run("mkcls", f"-c{10**20}", f"-p{write('text', 'a b a')}", f"-V{tmp_path / 'classes'}")
    assert (tmp_path / "classes").read_text() == "a\t2\nb\t4\n"


def test_the_text_is_not_replaced(write):
    text = write("text", "a b a\n")
    assert "which is read: give another name" in run("mkcls", f"-p{text}", f"-V{text}", code=2).output
    assert Path(text).read_text() == "a b a\n"


def test_usage(tmp_path):
    assert "follows -p and -V at once" in run("mkcls", "-p", "corpus.fr", code=2).output
    assert "number of classes" in run("mkcls", "-cmany", code=2).output
    assert "missing" in run("mkcls", f"-p{tmp_path / 'missing'}", code=1).output
