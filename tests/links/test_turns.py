"""Lines forward and reverse that take turns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import sentences_of_links

from aligner import DataError, Links, format_links, read_corpus
from aligner.links.turns import TurnReader, by_twos, halves


@given(lines=sentences_of_links.map(lambda lines: lines[: len(lines) // 2 * 2]))
def test_halves(lines):
    assert [half.pairs() for half in halves(Links.from_pairs(lines))] == [lines[::2], lines[1::2]]


@given(sizes=st.lists(st.integers(1, 4), max_size=6))
def test_lines_come_by_twos(sizes):
    lines = [f"{k}\n".encode() for k in range(sum(sizes))]
    cuts = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    blocks = [(b"".join(lines[a:b]), b - a) for a, b in zip(cuts, cuts[1:], strict=False)]
    found = list(by_twos(blocks))
    assert b"".join(text for text, _ in found) == b"".join(lines)
    assert [text.count(b"\n") for text, _ in found] == [n for _, n in found]
    assert all(n % 2 == 0 for _, n in found[:-1])


@pytest.mark.parametrize("chunk", [1, 5, 1 << 20])
def test_both_directions(write, monkeypatch, chunk):
    monkeypatch.setattr("aligner.files.CHUNK", chunk)
    path = write("links", "0-0:0.5\n0-1:0.25\n\n\n1-1:1\n")
    with pytest.raises(DataError, match="links: an odd number of lines"):
        list(TurnReader(path, "scored").directions())
    path = write("links", "0-0\n0-1 1-1\n\n2-2\n")
    found = list(TurnReader(path).directions())
    assert [pairs for _, a, b in found for x in zip(a, b, strict=True) for pairs in x] == [
        [(0, 0)],
        [(0, 1), (1, 1)],
        [],
        [(2, 2)],
    ]
    text = read_corpus(write("src", "a b\na b\n"), write("tgt", "a b\na b\n"))
    with pytest.raises(DataError, match="link 2-2 of sentence 2 is outside"):
        list(TurnReader(path, text=text).directions())


def test_some_formats_cannot(write):
    path = write("links", "1 1 1\n")
    with pytest.raises(DataError, match="cannot take turns in format wpt"):
        list(TurnReader(path).directions())
    assert format_links(Links.from_pairs([[]]), "pharaoh") == b"\n"
