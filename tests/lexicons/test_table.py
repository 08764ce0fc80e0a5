"""Tables of word pairs: chosen, sorted, transposed, joined."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aligner.lexicons.table import NULL, Table, joined
from aligner.text.sides import Vocab


def table(rows: dict[tuple[str, str], tuple[float, float]]) -> Table:
    """(e, f) -> p(f | e), p(e | f); "" is NULL"""
    src, tgt = (list(dict.fromkeys(word for pair in rows if (word := pair[k]))) for k in range(2))
    e, f = (
        np.array([words.index(pair[k]) if pair[k] else NULL for pair in rows], dtype=np.int64)
        for k, words in ((0, src), (1, tgt))
    )
    return Table(Vocab.of(src), Vocab.of(tgt), e, f, np.array(list(rows.values())).reshape(-1, 2))


def rows_of(one: Table) -> dict[tuple[str, str], tuple[float, float]]:
    src, tgt = [*one.src.words, ""], [*one.tgt.words, ""]
    pairs = [(src[e], tgt[f]) for e, f in zip(one.e.tolist(), one.f.tolist(), strict=True)]
    return dict(zip(pairs, map(tuple, one.p.tolist()), strict=True))


words = st.sampled_from(["", "a", "b", "c"])
columns = st.dictionaries(st.tuples(words, words), st.floats(0, 1), max_size=6)


@given(forward=columns, reverse=columns)
def test_two_directions_are_joined(forward, reverse):
    """By words: the ids of the two tables differ."""
    one = table({pair: (p, math.nan) for pair, p in forward.items()})
    other = table({pair: (math.nan, p) for pair, p in reverse.items()})
    found = rows_of(joined(one, other))
    assert found.keys() == forward.keys() | reverse.keys()
    for pair, p in found.items():
        wanted = forward.get(pair, math.nan), reverse.get(pair, math.nan)
        np.testing.assert_array_equal(p, wanted)


def test_best_first_and_top():
    one = table({("b", "x"): (0.1, 1), ("a", "x"): (0.2, 0), ("b", "y"): (0.9, 1), ("b", "z"): (0.5, 0)})
    assert list(rows_of(one.best_first())) == [("b", "y"), ("b", "z"), ("b", "x"), ("a", "x")]
    assert list(rows_of(one.best_first(2))) == [("b", "y"), ("b", "z"), ("a", "x")]
    reverse = table({("a", "x"): (math.nan, 0.2), ("a", "y"): (math.nan, 0.8)})
    assert list(rows_of(reverse.best_first(1))) == [("a", "y")]


def test_alphabetical_order_is_that_of_bytes():
    """NULL stands where its spelling does."""
    one = table(
        {pair: (1, 1) for pair in (("é", "x"), ("", "x"), ("a", "y"), ("a", "x"), ("a", ""), ("Z", "x"))}
    )
    order = [("", "x"), ("Z", "x"), ("a", ""), ("a", "x"), ("a", "y"), ("é", "x")]
    assert list(rows_of(one.alphabetical("NULL"))) == order
    assert list(rows_of(one.alphabetical("aa"))) == [order[1], order[2], *order[3:5], order[0], order[5]]


def test_probable_forward_and_transposed():
    one = table(
        {
            ("a", "x"): (0.5, 0.001),
            ("a", "y"): (0.001, math.nan),
            ("a", ""): (math.nan, 0),
            ("b", "x"): (0, 0.2),
        }
    )
    assert list(rows_of(one.probable(0.1))) == [("a", "x"), ("b", "x")]
    assert list(rows_of(one.probable(0))) == [("a", "x"), ("a", "y"), ("b", "x")]
    assert list(rows_of(one.forward())) == [("a", "x"), ("a", "y"), ("b", "x")]
    assert np.isnan(one.forward().p[:, 1]).all() and not np.isnan(one.p[0, 1])
    assert list(rows_of(one.transposed())) == [("x", "a"), ("y", "a"), ("", "a"), ("x", "b")]
    assert rows_of(one.transposed().transposed()).keys() == rows_of(one).keys()
    assert list(rows_of(one.without_null())) == [("a", "x"), ("a", "y"), ("b", "x")]
    assert repr(one) == "Table(4 word pairs, 2 and 2 words)"
