"""Text in the files of GIZA++: what is written can be read, and what is damaged is refused by its line."""

from __future__ import annotations

import io
import logging

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from strategies import sentences

from aligner import Corpus, DataError, Model, read_corpus
from aligner.cli import cli
from aligner.text import giza
from aligner.text.corpus import text_hash

VCB = "2 the 5\n3 cat 1\n7 sat 2\n"
SNT = "1\n2 3\n2 7 3\n1\n\n7\n"  # the second source sentence is empty


@pytest.fixture
def files(write):
    """files(snt, vcb) -> the corpus that they stand for; the same words on both sides."""

    def files(snt: str | bytes = SNT, vcb: str | bytes = VCB, **options) -> Corpus:
        words = giza.read_vcb(write("x.vcb", vcb))
        return giza.read_snt(write("x.snt", snt), words, words, **options)

    return files


def spelled(corpus: Corpus) -> list[tuple[str, str]]:
    return [(" ".join(corpus.src.sentence(n)), " ".join(corpus.tgt.sentence(n))) for n in range(len(corpus))]


def test_ids_become_words(files):
    expected = [("the cat", "the sat cat"), ("", "sat")]
    assert spelled(files()) == expected
    assert spelled(files(SNT.replace("\n", "\r\n"), VCB.replace(" ", "\t"))) == expected
    assert spelled(files(SNT.removesuffix("\n"))) == expected
    assert spelled(files("1\n2 3\n2 1\n")) == [("the cat", "the UNK")]
    assert spelled(files("1\n2 3\n2 1\n", "1 unknown 0\n" + VCB)) == [("the cat", "the unknown")]
    assert spelled(files("1\n2\n3\n", "2 The 1\n3 the 1\n", lowercase=True)) == [("the", "the")]
    assert spelled(files("", "")) == []


def test_two_ids_of_a_word_become_one(files):
    corpus = files("1\n2 3\n02 2\n", "2 a 1\n3 a 1\n")
    assert spelled(corpus) == [("a a", "a a")]
    assert len(corpus.src.vocab) == len(corpus.tgt.vocab) == 1


@given(st.lists(st.tuples(sentences, sentences), max_size=6))
def test_what_is_written_can_be_read(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("giza")
    corpus = Corpus.from_pairs(pairs)
    vcbs = []
    for name, side in (("src", corpus.src), ("tgt", corpus.tgt)):
        with open(folder / name, "wb") as out:
            giza.write_vcb(out, giza.numbered(side))
        vcbs.append(giza.read_vcb(str(folder / name)))
        assert (vcbs[-1].counts[1:] == side.counts).all()
    for end in (b"\n", b" \n"):
        with open(folder / "snt", "wb") as out:
            ids = [vcb.ids_of(side.vocab) for vcb, side in zip(vcbs, (corpus.src, corpus.tgt), strict=True)]
            giza.write_snt(out, corpus, *ids, end=end)
        assert text_hash(giza.read_snt(str(folder / "snt"), *vcbs)) == text_hash(corpus)


def test_many_blocks_are_one_file(monkeypatch):
    corpus = Corpus.from_pairs([("a b", "c"), ("", "c d"), ("b", ""), ("e", "f")])
    texts = []
    for size in (giza.BLOCK, 1, 3):
        monkeypatch.setattr(giza, "BLOCK", size)
        out = io.BytesIO()
        giza.write_snt(out, corpus, np.arange(2, 5), np.arange(2, 5), count=b"0.5")
        texts.append(out.getvalue())
    assert texts == 3 * [b"0.5\n2 3\n2\n0.5\n\n2 3\n0.5\n3\n\n0.5\n4\n4\n"]


@pytest.mark.parametrize(
    ("snt", "vcb", "place", "what"),
    [
        ("1\n2 3\n", VCB, "x.snt:2", "ends within a sentence pair"),
        ("1\n2\n3\n1\n3\n9 2\n", VCB, "x.snt:6", "x.vcb has no word of id 9"),
        ("1\n2\n3\n1\n0\n2\n", VCB, "x.snt:5", "no word of id 0"),
        ("1\n2\n3\n1\n2 cat\n2\n", VCB, "x.snt:5", "no word of id cat"),
        ("1\n2\n3\n1\n2\n-2\n", VCB, "x.snt:6", "no word of id -2"),
        ("1\n2\n3\n1 1\n2\n3\n", VCB, "x.snt:4", "no count of a sentence pair"),
        ("1\n2\n3\n\n2\n3\n", VCB, "x.snt:4", "no count of a sentence pair"),
        ("1\n2\n3\none\n2\n3\n", VCB, "x.snt:4", "'one' is no count"),
        (SNT, VCB + "8 dog\n", "x.vcb:4", "`id word count`"),
        (SNT, VCB + "\n", "x.vcb:4", "`id word count`"),
        (SNT, VCB + "x dog 1\n", "x.vcb:4", "an id is a whole number"),
        (SNT, VCB + "0 NULL 1\n", "x.vcb:4", "an id is a whole number, 1 or more"),
        (SNT, VCB + "8 dog -1\n", "x.vcb:4", "a count is a whole number"),
        (SNT, "9 dog 1\n" + VCB + "3 dog 1\n8 x 1\n9 y 1\n", "x.vcb:5", "id 3 has a line already"),
        (SNT, VCB.encode() + b"8 \xe9t\xe9 1\n", "x.vcb:4", "invalid UTF-8"),
    ],
)
def test_damage_is_refused_by_its_line(files, snt, vcb, place, what):
    with pytest.raises(DataError) as error:
        files(snt, vcb)
    assert what in str(error.value)
    assert f"{error.value.file}:{error.value.line}".endswith(place)


def test_counts_other_than_1_are_told(files, caplog):
    with caplog.at_level(logging.WARNING):
        assert len(files("1\n2\n3\n0.5\n2\n3\n1.0\n3\n3\n-1\n2\n2\n")) == 4
    assert "2 sentence pairs have a count other than 1 (2, 4)" in caplog.text
    caplog.clear()
    assert len(files()) == 2
    assert caplog.text == ""


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(cli, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output


def test_commands_read_it_as_they_read_the_text(data, tmp_path):
    """The links are those of the text itself, of align and of decode."""
    paths = data / "sample.en", data / "sample.fr"
    corpus = read_corpus(*map(str, paths))
    vcbs = [tmp_path / "en.vcb", tmp_path / "fr.vcb"]
    numbered = [giza.numbered(side) for side in (corpus.src, corpus.tgt)]
    for path, vcb in zip(vcbs, numbered, strict=True):
        with open(path, "wb") as out:
            giza.write_vcb(out, vcb, b"\t")
    with open(tmp_path / "x.snt", "wb") as out:
        giza.write_snt(out, corpus, *(vcb.ids for vcb in numbered))
    snt = ["--layout", "snt", tmp_path / "x.snt", "--vcb", *vcbs]
    model = tmp_path / "model"
    links = run("align", *paths, "--model", "ibm1", "--quiet", "--save", model)
    assert run("align", *snt, "--model", "ibm1", "--quiet") == links
    assert run("decode", model, *snt) == links
    assert run("check", *snt) == run("check", *paths)


def test_the_layout_needs_the_words(data, tmp_path):
    assert "go together" in run("check", "--layout", "snt", data / "sample.en", code=2)
    assert "go together" in run("check", data / "sample.en", "--vcb", "x", "y", code=2)
    assert "one file" in run("check", "x", "y", "--layout", "snt", "--vcb", "x", "y", code=2)
    for command in ("check", "align"):
        assert "--split is for text" in run(
            command, "--layout", "snt", "x", "--vcb", "x", "y", "--split", "unicode", code=2
        )


def test_ids_are_of_the_words_of_any_model(write, tmp_path):
    """A .vcb file has split the words already: its text goes with a model of either split."""
    vcb, odd = write("vcb", "2 a 2\n3 b 2\n"), write("odd.vcb", "2 a\u00a0b 2\n3 b 2\n")
    snt, both = write("snt", "1\n2 3\n2 3\n1\n2\n2\n"), write("both", "a b ||| a b\na ||| a\n")
    options = "--model", "ibm1", "--views", "word", "-q"
    model, again = tmp_path / "model", tmp_path / "again"
    links = run("align", both, *options, "--split", "unicode", "--save", model)
    ids = "--layout", "snt", snt, "--vcb", vcb, vcb
    assert run("decode", model, *ids) == links
    run("check", *ids, "--model", model)
    for start in ("--init", "--prior"):
        run("align", *ids, *options, start, model, "--save", again, "--overwrite")
        assert Model.load(again).recipe.split == "unicode"
    wrong = run("align", "--layout", "snt", snt, "--vcb", odd, vcb, *options, "--init", model, code=1)
    assert "blanks in its words" in wrong
