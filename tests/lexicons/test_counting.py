"""Tables counted along links: against a slow twin, and against tables that Moses wrote."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from aligner import Corpus, DataError, LinkReader, Links, read_corpus
from aligner.lexicons.counting import count
from aligner.lexicons.formats import FORMATS
from aligner.lexicons.table import Table

GOLDEN = Path(__file__).parent / "golden"
LINKS = ROOT / "tests" / "links" / "golden" / "sample.symal.grow-diag-final-and"


@st.composite
def linked_text(draw):
    """Sentence pairs of few words, and links of them, perhaps repeated."""
    words = st.lists(st.sampled_from(["a", "b", "c", "NULL"]), max_size=4)
    pairs = draw(st.lists(st.tuples(words, words), max_size=6))
    links = []
    for src, tgt in pairs:
        places = st.tuples(st.integers(0, len(src) - 1), st.integers(0, len(tgt) - 1))
        links.append(draw(st.lists(places, max_size=6)) if src and tgt else [])
    return pairs, links


def counted_slowly(pairs, links) -> dict[tuple[str, str], tuple[float, float]]:
    """The definition: a link is one count, and a word without a link is one count with NULL."""
    counts = Counter()
    for (src, tgt), sentence in zip(pairs, links, strict=True):
        counts.update((src[i], tgt[j]) for i, j in sentence)
        counts.update((e, "NULL") for i, e in enumerate(src) if i not in [i for i, _ in sentence])
        counts.update(("NULL", f) for j, f in enumerate(tgt) if j not in [j for _, j in sentence])
    given = [Counter(), Counter()]
    for (e, f), n in counts.items():
        given[0][e] += n
        given[1][f] += n
    return {(e, f): (n / given[0][e], n / given[1][f]) for (e, f), n in counts.items()}


def spelled(table: Table) -> dict[tuple[str, str], tuple[float, float]]:
    """(e, f) -> p(f | e), p(e | f); each word pair once"""
    src, tgt = [*table.src.words, "NULL"], [*table.tgt.words, "NULL"]
    rows = [(src[e], tgt[f]) for e, f in zip(table.e.tolist(), table.f.tolist(), strict=True)]
    assert len(set(rows)) == len(rows) == len(table)
    return dict(zip(rows, map(tuple, table.p.tolist()), strict=True))


@pytest.mark.parametrize("block", [1, 2, 1000])
@given(case=linked_text())
def test_counts_are_those_of_the_slow_twin(case, block):
    """In blocks of any size. The word NULL of the text is the NULL word."""
    pairs, links = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aligner.lexicons.counting.BLOCK", block)
        table = count(Corpus.from_pairs(pairs), Links.from_pairs(links))
    assert spelled(table) == counted_slowly(pairs, links)


def test_tables_are_those_of_moses(data):
    """lex.f2e and lex.e2f of step 4 of train-model.perl, `-f en -e fr`, sorted."""
    text = read_corpus(str(data / "sample.en"), str(data / "sample.fr"))
    table = count(text, LinkReader(str(LINKS), text=text).read())
    for name, one in (("f2e", table), ("e2f", table.transposed())):
        FORMATS["moses"].write(one, out := io.BytesIO())
        assert out.getvalue() == (GOLDEN / f"sample.moses.{name}").read_bytes()


def test_the_word_null_is_told(caplog):
    text = Corpus.from_pairs([("NULL a NULL", "x")])
    assert spelled(count(text, Links.from_pairs([[(1, 0)]]))) == {
        ("NULL", "NULL"): (1, 1),
        ("a", "x"): (1, 1),
    }
    assert caplog.messages == ["the word NULL occurs 2 times in the text; it counts as the NULL word"]
    caplog.clear()
    table = count(text, Links.from_pairs([[(1, 0)]]), null="<eps>")
    assert not caplog.messages
    assert sorted(zip(table.e.tolist(), table.f.tolist(), strict=True)) == [(0, -1), (1, 0)]


def test_links_of_another_text_are_refused():
    with pytest.raises(DataError, match="links of 1 sentences, the text has 2; text and links must match"):
        count(Corpus.from_pairs([("a", "b")] * 2), Links.from_pairs([[(0, 0)]]))


def test_links_outside_are_left_out_and_told(caplog):
    text = Corpus.from_pairs([("a", "x"), ("b", "y"), ("", "")])
    links = Links.from_pairs([[(0, 0)], [(1, 0), (0, 1), (0, 0)], [(0, 0)]])
    assert spelled(count(text, links)) == {("a", "x"): (1, 1), ("b", "y"): (1, 1)}
    assert caplog.messages == ["3 links point outside their sentence pairs and are left out (lines 2, 3)"]


def test_nothing_is_counted_of_nothing():
    assert len(count(Corpus.from_pairs([]), Links.from_pairs([]))) == 0
    table = count(Corpus.from_pairs([("", "")]), Links.from_pairs([[]]))
    assert len(table) == 0 and table.p.dtype == np.float64
