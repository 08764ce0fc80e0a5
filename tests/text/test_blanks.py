"""Blanks of Unicode: what str.split() separates words at, in files, in Python and in models."""

from __future__ import annotations

import sys

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trained import run

from aligner import Corpus, DataError, Model, Recipe, read_corpus, store, train
from aligner.text import _blanks
from aligner.text.reading import stream_corpus

BLANKS = [chr(c) for c in range(sys.maxunicode + 1) if chr(c).isspace() and chr(c) not in " \t\n"]
NEAR = "\x0e\x1b\x7f\u0084\u00a1\u00ab\u180e\u200b\u2010\u2019\u2027\u2030\u2060\u3001\u3040\ufeff\U0001f600"
lines = st.lists(
    st.text(st.sampled_from([*BLANKS, *NEAR, *"  \t\tab|\u00e9"]), max_size=20).filter(
        lambda line: not line.startswith("\ufeff")  # a byte order mark is not text
    ),
    max_size=6,
)


def differ(line: str) -> bool:
    """Whether the two ways to split a line find different words."""
    return line.split() != oracle.tokens(line.removesuffix("\r"))


def filled(text: str) -> str:
    copy = bytearray(text.encode())
    _blanks.fill_blanks(copy)
    return copy.decode()


def test_blanks_are_those_of_python():
    """Every character of Unicode, one a line."""
    every = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000 and chr(c) != "\n"]
    text = "".join(f"a{x}b\n" for x in every)
    found = filled(text).split("\n")[:-1]
    assert [x for x, line in zip(every, found, strict=True) if line != f"a{x}b"] == [
        x for x in every if x in BLANKS
    ]
    assert _blanks.find_blanks(text.encode()) == (len(BLANKS), text.encode().index(b"\x0b"))


@given(lines=lines, before=st.integers(0, 1100))
def test_blanks_equal_slow_twin(lines, before):
    """Wherever a blank stands in the steps of the kernel."""
    text = "x" * before + "".join(line + "\n" for line in lines)
    expected = [line.split() for line in text.split("\n")]
    assert [oracle.tokens(line.removesuffix("\r")) for line in filled(text).split("\n")] == expected
    n, first = _blanks.find_blanks(text.encode())
    odd = [k for k, line in enumerate(text.split("\n")) if differ(line)]
    assert n == len(odd) and (first >= 0) == bool(odd)
    if odd:
        at = text.encode()[:first].decode()
        assert at.count("\n") == odd[0] and text[len(at)] in BLANKS


@pytest.mark.parametrize("blank", ["\u3000", "\u00a0", "\x1f", "\r"])
def test_blanks_at_every_place_of_a_step(blank):
    for before in range(505, 520):
        for after in (0, 1, 2, 600):
            text = f"{'x' * before}{blank}{'y' * after}\n"
            if blank == "\r" and after == 0:  # the end of a line
                assert _blanks.find_blanks(text.encode()) == (0, -1)
            else:
                assert _blanks.find_blanks(text.encode()) == (1, before)
    assert _blanks.find_blanks(b"") == (0, -1)
    assert _blanks.find_blanks("a\u00a0".encode()) == (1, 1)  # words without a newline


@given(lines=lines)
def test_files_are_split_as_python_splits(tmp_path_factory, lines):
    path = tmp_path_factory.getbasetemp() / "blanks"
    path.write_bytes("".join(line + "\n" for line in lines).encode())
    corpus = read_corpus(str(path), str(path), split="unicode")
    assert [corpus.src.sentence(n) for n in range(len(corpus))] == [line.split() for line in lines]
    again = Corpus.from_pairs([(line, line.split()) for line in lines], split="unicode")
    for side in (corpus.tgt, again.src, again.tgt):
        assert side.ids.tolist() == corpus.src.ids.tolist() and side.vocab.words == corpus.src.vocab.words


def test_a_warning_says_where_the_two_ways_differ(write, caplog, monkeypatch):
    monkeypatch.setattr("aligner.text.reading.BLOCK", 2)
    src, tgt = write("src", "a\r\nb c\nd\u3000e\nf\ng\u00a0\u00a0h\n"), write("tgt", "a\nb\nc\nd\x0c\ne\n")
    corpus = read_corpus(src, tgt)
    assert [len(corpus.src.sentence(n)) for n in range(5)] == [1, 2, 1, 1, 1]
    cure = "with split unicode it separates words here, too"
    which = "is part of a word here, but separates words for Python's str.split()"
    assert caplog.messages == [
        f"{src}, line 3: U+3000 {which} (2 such lines); {cure}",
        f"{tgt}, line 4: U+000C {which}; {cure}",
    ]
    caplog.clear()
    both = write("both", "a ||| b\n\na ||| b\u00a0c\n" * 2)
    assert sum(map(len, stream_corpus(both))) == len(read_corpus(both)) == 6
    assert caplog.messages == [f"{both}, line 3: U+00A0 {which} (2 such lines); {cure}"] * 2
    caplog.clear()
    assert sum(len(part.tgt.ids) for part in stream_corpus(both, split="unicode")) == 6
    read_corpus(src, tgt, split="unicode")
    read_corpus(write("plain", "a\tb \u00e9\r\n"), write("plain2", "a\n"))
    assert caplog.messages == []


def test_unicode_blanks_beside_bars(write):
    corpus = read_corpus(write("both", "a\u00a0|||\u3000b c\n"), split="unicode")
    assert (corpus.src.sentence(0), corpus.tgt.sentence(0)) == (["a"], ["b", "c"])
    with pytest.raises(DataError, match=r"neither \|\|\| nor a tab"):
        read_corpus(write("both", "a\u00a0|||\u3000b c\n"))


def test_python_refuses_what_is_not_split_so():
    for wrong in (["a\u00a0b"], ["\u3000"]):
        with pytest.raises(ValueError, match="sentence pair 0 of the text: a token has a blank in it"):
            Corpus.from_pairs([(wrong, "x")], split="unicode")
        assert len(Corpus.from_pairs([(wrong, "x")]).src.ids) == 1
    with pytest.raises(ValueError, match="unknown split 'utf-8'; there are ascii, unicode"):
        Corpus.from_pairs([], split="utf-8")
    with pytest.raises(ValueError, match="unknown split"):
        Recipe.of(split="utf-8")
    odd, even = Corpus.from_pairs([("a\u00a0b", "x")]), Corpus.from_pairs([("a b", "x")])
    recipe = Recipe.of("ibm1", iterations=1, split="unicode")
    with pytest.raises(DataError, match="blanks in its words, such as U[+]00A0; read it with split unicode"):
        train(odd, recipe)
    with pytest.raises(DataError, match="the model to start from was split ascii"):
        train(even, recipe, init=train(even, Recipe.of("ibm1", iterations=1)))


def test_a_model_remembers_its_split(tmp_path):
    text = [("a\u00a0b", "x y"), ("a", "x"), ("b", "y")] * 4
    model = train(text, Recipe.of("ibm1", views=["word"], split="unicode"))
    assert "|lc:no|split:unicode|" in model.signature
    model.save(tmp_path / "model")
    loaded = Model.load(tmp_path / "model")
    assert loaded.recipe.split == "unicode"
    assert loaded.align(text[:1]).pairs() == [[(0, 0), (1, 1)]]
    plain = train(text, Recipe.of("ibm1", views=["word"]))
    assert "split" not in plain.signature and plain.align(text[:1]).pairs() != [[(0, 0), (1, 1)]]


def test_a_model_from_before_there_was_a_choice_is_ascii(tmp_path):
    model = train([("a", "x")], Recipe.of("ibm1", views=["word"]))
    model.save(tmp_path / "new")
    header, arrays = store.read(tmp_path / "new", lambda _: True)
    del header["recipe"]["split"]
    store.write(tmp_path / "old", header, arrays)
    assert Model.load(tmp_path / "old").recipe == model.recipe


def test_commands(write, tmp_path, caplog):
    src = write("src", "a\u00a0b\na\nb\nc d\n" * 5)
    tgt = write("tgt", "x y\nx\ny\nz w\n" * 5)
    model, options = tmp_path / "model", ("--model", "ibm1", "--views", "word", "--threshold", 0.5, "-q")
    links = run("align", src, tgt, *options, "--split", "unicode", "--save", model)
    assert links.startswith("0-0 1-1\n0-0\n")
    assert run("decode", model, src, tgt) == links and caplog.messages == []
    assert run("decode", model, stdin="a\u3000b ||| x y\n") == "0-0 1-1\n"
    told = run("check", src, tgt, "--split", "unicode", "--model", model)
    assert told.splitlines()[1].split() == ["source", "tokens", "30"]
    assert caplog.messages == []
    assert run("check", src, tgt).splitlines()[1].split() == ["source", "tokens", "25"]
    assert [message.split(":")[0] for message in caplog.messages] == [f"{src}, line 1"]
    wrong = run("check", src, tgt, "--model", model, code=2)
    assert "was trained with --split unicode: do the same here." in wrong
    assert "was trained with --split unicode" in run("align", src, tgt, *options, "--init", model, code=2)
    out = write("links", links)
    run("convert", out, "--text", src, tgt, code=1)
    assert run("convert", out, "--text", src, tgt, "--split", "unicode") == links
    assert run("symmetrize", out, out, "--text", src, tgt, "--split", "unicode") == links
    table = run("lexicon", "--links", out, "--text", src, tgt, "--split", "unicode")
    assert table.startswith("a\tx\t1\t1\nb\ty\t1\t1\n")
    scored = run("evaluate", out, out, "--text", src, tgt, "--split", "unicode")
    assert "|split:unicode|" in scored and "AER" in scored
    assert "--split need --text" in run("evaluate", out, out, "--split", "unicode", code=2)
    for command in (["convert", out], ["symmetrize", out, out], ["lexicon", model]):
        assert "--split needs --text" in run(*command, "--split", "unicode", code=2)


def test_links_of_a_text_without_blanks_do_not_depend_on_the_split(data):
    names = [str(data / f"generated.{side}") for side in ("src", "tgt")]
    one, other = (read_corpus(*names, split=split) for split in ("ascii", "unicode"))
    for a, b in ((one.src, other.src), (one.tgt, other.tgt)):
        np.testing.assert_array_equal(a.ids, b.ids)
        assert a.vocab.text == b.vocab.text
