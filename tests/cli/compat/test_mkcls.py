"""mkcls: a class for each word, in the form of the original."""

from __future__ import annotations

from pathlib import Path

from programs import run


def test_each_word_has_a_class(write, tmp_path, caplog):
    text = write("text", b"the cat\nthe dog\na cat\na dog\n\na m\xe9\n")
    out = tmp_path / "classes"
    run("mkcls", "-c2", "-n2", f"-p{text}", f"-V{out}", "opt")
    assert out.read_bytes() == b"a\t2\ncat\t3\ndog\t3\nm\xe9\t3\nthe\t2\n"
    assert (tmp_path / "classes.cats").read_bytes() == (
        b";KategProblem:cats: 2   words: 6\n0:$,\n1:\n2:a,the,\n3:cat,dog,m\xe9,\n"
        b";I have 3 categories used.\n"
    )
    assert caplog.text == ""
    run("mkcls", f"-p{text}", f"-V{out}", "-x", "opt")
    assert "change nothing here: -x\n" in caplog.text


def test_classes_are_bounded(data, tmp_path):
    out = tmp_path / "classes"
    run("mkcls", "-n10", f"-p{data / 'sample.en'}", f"-V{out}")
    rows = [line.split("\t") for line in out.read_text().splitlines()]
    words = sorted({word.encode() for word in (data / "sample.en").read_text().split()})
    assert [word.encode() for word, _ in rows] == words
    assert {int(number) for _, number in rows} == set(range(2, 102))


def test_more_classes_than_words(write, tmp_path):
    run("mkcls", "-c4096", f"-p{write('text', 'a b a')}", f"-V{tmp_path / 'classes'}")
    assert (tmp_path / "classes").read_text() == "a\t2\nb\t3\n"


def test_the_text_is_not_replaced(write, tmp_path):
    text = write("text", "a b a\n")
    assert "which is read: give another name" in run("mkcls", f"-p{text}", f"-V{text}", code=2).output
    assert Path(text).read_text() == "a b a\n"
    text = write("text.cats", "a b a\n")
    run("mkcls", f"-p{text}", f"-V{tmp_path / 'text'}", code=2)
    assert Path(text).read_text() == "a b a\n"


def test_usage(tmp_path):
    assert "follows -p and -V at once" in run("mkcls", "-p", "corpus.fr", code=2).output
    for wrong in ("-cmany", "-c0", "-c4097", "-c", "-n0", "-n-1"):
        assert f"{wrong[:2]} needs a number between 1 and" in run("mkcls", wrong, code=2).output
    assert "missing" in run("mkcls", f"-p{tmp_path / 'missing'}", code=1).output
