"""Formats of tables: round trips, files of the originals, worked examples, and what is refused where."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import words

from aligner import Corpus, DataError, LinkReader, read_corpus
from aligner.lexicons.counting import count
from aligner.lexicons.formats import FORMATS, FastAlign, Format
from aligner.lexicons.table import NULL, Table
from aligner.text.sides import Vocab

GOLDEN = Path(__file__).parent / "golden"
LINKS = Path(__file__).parent.parent / "links" / "golden" / "sample.symal.grow-diag-final-and"
probabilities = st.floats(1e-5, 1) | st.sampled_from([1.0, 0.5, 0.1, 0.01])


# A file that begins with a byte order mark loses it. The marks of NULL are refused.
spellings = words.filter(lambda word: word not in ("NULL", "<eps>") and not word.startswith("\ufeff"))


@st.composite
def tables(draw):
    """Tables of any words. p(e | f) may be missing."""
    src, tgt = (draw(st.lists(spellings, max_size=5, unique=True)) for _ in range(2))
    ids = [(e, f) for e in range(-1, len(src)) for f in range(-1, len(tgt))]
    rows = np.array(draw(st.lists(st.sampled_from(ids), unique=True)), dtype=np.int64).reshape(-1, 2)
    p = np.array([[draw(probabilities) for _ in range(2)] for _ in rows]).reshape(-1, 2)
    if draw(st.booleans()):
        p[:, 1] = math.nan
    return Table(Vocab.of(src), Vocab.of(tgt), rows[:, 0], rows[:, 1], p)


def numbered(format: Format, table: Table) -> Format:
    """The format, and if it is GIZA++'s, with numbers for the words."""
    if not hasattr(format, "numbers"):
        return format
    src, tgt = ({word: 2 + 3 * k for k, word in enumerate(v.words)} for v in (table.src, table.tgt))
    return replace(format, numbers=(src, tgt))


def written(format: Format, table: Table) -> bytes:
    format.write(table, out := io.BytesIO())
    return out.getvalue()


def spelled(table: Table) -> list[tuple]:
    """(e, f, p(f | e), p(e | f)) of each word pair in order; None for NULL"""
    src, tgt = [*table.src.words, None], [*table.tgt.words, None]
    columns = zip(table.e.tolist(), table.f.tolist(), table.p.tolist(), strict=True)
    return [(src[e], tgt[f], *p) for e, f, p in columns]


@pytest.mark.parametrize("block", [2, 1 << 16])
@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=30)
@given(table=tables())
def test_what_is_written_is_read(tmp_path_factory, name, block, table):
    """Word pairs as they are, probabilities to some digits. Written again, the table is the same file."""
    format = numbered(FORMATS[name], table)
    path = tmp_path_factory.getbasetemp() / "table"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aligner.lexicons.format.BLOCK", block)
        path.write_bytes(text := written(format, table))
        again = format.read(str(path))
    kept, found = spelled(format.kept(table)), spelled(again)
    assert [row[:2] for row in found] == [row[:2] for row in kept]
    for one, other in zip(kept, found, strict=True):
        wanted = one[2:] if format.both else (one[2], math.nan)
        np.testing.assert_allclose(other[2:], wanted, rtol=1e-5, atol=6e-8)
    assert written(format, again) == text


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_table_is_an_empty_file(write, name):
    table = FORMATS[name].read(write("empty", ""))
    assert len(table) == 0 and written(FORMATS[name], table) == b""


def test_lines_of_each_format():
    """p(f | e) of a table of three word pairs, one of them of NULL."""
    p = np.array([[0.25, 1], [0.75, 0.5], [1, 0.5]])
    table = Table(Vocab.of(["a"]), Vocab.of(["x", "y"]), np.array([0, 0, NULL]), np.array([0, 1, 1]), p)
    assert written(FORMATS["moses"], table) == b"y NULL 1.0000000\nx a 0.2500000\ny a 0.7500000\n"
    assert (
        written(FORMATS["moses"], table.transposed()) == b"a x 1.0000000\nNULL y 0.5000000\na y 0.5000000\n"
    )
    assert written(FORMATS["marian"], table) == written(FORMATS["moses"], table)
    assert written(FORMATS["bicleaner"], table.transposed()) == b"a x 1.0000000\na y 0.5000000\n"
    assert written(FORMATS["fast_align"], table) == b"<eps>\ty\t0\na\ty\t-0.287682\n"
    assert written(FastAlign(beam=-5), table) == b"<eps>\ty\t0\na\tx\t-1.38629\na\ty\t-0.287682\n"
    giza = replace(FORMATS["giza"], numbers=({"a": 2}, {"x": 3, "y": 2}))
    assert written(giza, table) == b"0 2 1\n2 2 0.75\n2 3 0.25\n"
    assert written(FORMATS["tsv"], table) == b"a\tx\t0.25\t1\na\ty\t0.75\t0.5\n"
    p[:, 1] = math.nan
    assert written(FORMATS["tsv"], table) == b"a\tx\t0.25\t\na\ty\t0.75\t\n"
    assert written(FORMATS["moses"], table.transposed()) == b""


def test_marian_computes_in_single_precision():
    """6 / 11 is 0.54545454..., and a little more in single precision."""
    table = Table(Vocab.of(["a"]), Vocab.of(["x"]), np.array([0]), np.array([0]), np.array([[6 / 11, 1]]))
    assert written(FORMATS["marian"], table) == b"x a 0.5454546\n"
    assert written(FORMATS["moses"], table) == b"x a 0.5454545\n"


def test_bicleaner_has_what_its_pruner_leaves(data):
    """The golden files are of bicleaner's dict_pruner.py, from Moses' tables of the text in lower case."""
    text = read_corpus(str(data / "sample.en"), str(data / "sample.fr"), lowercase=True)
    table = count(text, LinkReader(str(LINKS), text=text).read())
    for name, one in (("f2e", table), ("e2f", table.transposed())):
        assert written(FORMATS["bicleaner"], one) == (GOLDEN / f"sample.bicleaner.{name}").read_bytes()
        assert sum(FORMATS["bicleaner"].losses(one).values()) > 0


def test_files_of_the_originals_are_read_and_written_again():
    """A table of fast_align, sorted, and one of mgiza: the same bytes."""
    path = GOLDEN / "sample20.fast_align"
    table = FORMATS["fast_align"].read(str(path))
    assert (table.e == NULL).any() and written(FORMATS["fast_align"], table) == path.read_bytes()
    numbers = []
    for side in ("src", "tgt"):
        rows = map(str.split, (GOLDEN / f"sample20.{side}.vcb").read_text().splitlines())
        numbers.append({word: int(number) for number, word, _ in rows})
    giza = replace(FORMATS["giza"], numbers=tuple(numbers))
    table = giza.read(str(GOLDEN / "sample20.t3.final"))
    assert (table.e == NULL).any() and "Order" in table.src.words
    assert written(giza, table) == (GOLDEN / "sample20.t3.final").read_bytes()


BAD = [
    ("moses", "a b 0.5\na b\n", ":2: the line is not `tgt src p`; is this the file's format"),
    ("moses", "a b c d\n", ":1: the line is not"),
    ("moses", "a  0.5\n", ":1: the line is not"),
    ("marian", "a b x\n", ":1: the line is not"),
    ("moses", "a b 1.1\n", ":1: the probability is not between 0 and 1"),
    ("bicleaner", "a b nan\n", ":1: the probability is not between 0 and 1"),
    ("fast_align", "a\tb\t1e9\n", ":1: the probability is not between 0 and 1"),
    ("fast_align", "a b -1\n", ":1: the line is not `src<TAB>tgt<TAB>log p`"),
    ("tsv", "a\tb\t\t\n", ":1: the line is not"),
    ("tsv", "a\tb\t0.5\n", ":1: the line is not"),
    ("giza", "0 7 0.5\n", ":1: the number 7 stands for no word; give the vocabulary files"),
    ("moses", b"a b 1\n\xff b 1\n", ":2:1: invalid UTF-8"),
]


@pytest.mark.parametrize("name, text, message", BAD, ids=[repr(text) for _, text, _ in BAD])
def test_what_is_no_table_is_refused(write, name, text, message):
    with pytest.raises(DataError, match=message):
        FORMATS[name].read(write("table", text))


@pytest.mark.parametrize("name, word", [("moses", "NULL"), ("marian", "NULL"), ("fast_align", "<eps>")])
def test_a_word_that_looks_like_null_is_refused(name, word):
    for pair in ((word, "x"), ("x", word)):
        text = Corpus.from_pairs([pair])
        table = Table(text.src.vocab, text.tgt.vocab, np.array([0]), np.array([0]), np.ones((1, 2)))
        with pytest.raises(DataError, match=f"the word {word} of the text cannot be told from the NULL word"):
            written(FORMATS[name], table)
        assert written(FORMATS["tsv"], table) == f"{pair[0]}\t{pair[1]}\t1\t1\n".encode()


def test_a_word_without_a_number_is_refused():
    table = Table(Vocab.of(["a"]), Vocab.of(["x"]), np.array([0]), np.array([0]), np.ones((1, 2)))
    giza = replace(FORMATS["giza"], numbers=({"a": 2}, {"a": 2}))
    with pytest.raises(DataError, match="the word x has no number in the vocabulary file"):
        written(giza, table)


def test_a_word_pair_that_stands_twice_is_told(write, caplog):
    table = FORMATS["moses"].read(write("table", "x a 0.25\ny a 0.5\nx a 0.75\n"))
    assert spelled(table)[0][:3] == ("a", "x", 0.75) and len(table) == 2
    assert "1 lines repeat word pairs of lines before" in caplog.text
