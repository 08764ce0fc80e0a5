"""What looks wrong with a text, on lines made by hand and on real ones that are spoilt."""

from __future__ import annotations

import numpy as np
from conftest import ROOT

from aligner import Corpus
from aligner.text import doubts


def lines(name: str) -> list[str]:
    return (ROOT / "data" / name).read_text().splitlines()


def test_lengths_and_equal_sides(monkeypatch):
    pairs = [
        ("a b", "a b"),
        ("a b", "b a"),
        ("", ""),
        ("a", ""),
        ("", "b"),
        ("a", "b " * 9),
        ("a", "b " * 10),
        ("a a " * 10, "b b"),
        ("a b", "a"),
        ("x", "x"),
    ]
    for part in (1, 3, 1 << 16):
        monkeypatch.setattr(doubts, "PART", part)
        corpus = Corpus.from_pairs(pairs)
        assert doubts.lines(doubts.identical(corpus)) == [1, 10]
        assert doubts.lines(doubts.one_empty(corpus)) == [4, 5]
        assert doubts.lines(doubts.uneven(corpus)) == [7, 8]
    empty = Corpus.from_pairs([])
    for found in (doubts.identical, doubts.one_empty, doubts.uneven, doubts.swapped):
        assert len(found(empty)) == 0


def test_swapped_lines_are_found_and_no_others():
    src, tgt = lines("generated.src"), lines("generated.tgt")
    swapped = np.zeros(len(src), np.bool_)
    assert not doubts.swapped(Corpus.from_pairs(zip(src, tgt, strict=True))).any()
    swapped[5::50] = True
    pairs = [(b, a) if n else (a, b) for a, b, n in zip(src, tgt, swapped, strict=True)]
    found = doubts.swapped(Corpus.from_pairs(pairs))
    assert not (found & ~swapped).any()
    assert found.sum() >= 0.9 * swapped.sum()


def test_glued_marks():
    sentences = ["we go , then .", "we go, then.", "Mr. Smith", "... !? .", "", "3. x", "a.b"]
    corpus = Corpus.from_pairs([(sentence, "x") for sentence in sentences])
    assert doubts.lines(doubts.glued(corpus.src)) == [2, 3, 6]
    assert not doubts.glued(corpus.tgt).any()


def test_most_is_more_than_half():
    side = Corpus.from_pairs([("a b", ""), ("a a b", ""), ("", ""), ("b", "")]).src
    a = np.array([word == "a" for word in side.vocab.words])
    assert doubts.most(side, a).tolist() == [False, True, False, False]
