"""Jumps by class: what is learned from counts, and what other vocabularies have of it."""

from __future__ import annotations

import numpy as np
import pytest

from aligner.models.class_jumps import SHARED, ClassJumps
from aligner.models.jumps import LEAST, Jumps

WIDTH = 5  # of a window of 2


def classed() -> ClassJumps:
    jumps = Jumps.even(2, 0.2)
    return ClassJumps.of(jumps, np.array([1, 2, 0], np.int32), np.array([2, 1], np.int32))


def test_all_classes_begin_alike():
    jumps = classed()
    assert jumps.by_class.shape == (2, 2, WIDTH) and jumps.n_classes == 2
    assert jumps.n_counts == WIDTH + 2 + 2 + 2 * WIDTH
    assert (jumps.by_class == jumps.jump[:, None]).all()
    jumps.by_class[0, 0, 0] = 0.5
    assert jumps.jump[0, 0] != 0.5


@pytest.mark.parametrize("power", [1.0, 0.75])
def test_a_class_learns_from_its_own_jumps_and_a_little_from_all(power):
    jumps, random = classed(), np.random.default_rng(0)
    counts = random.random((2, jumps.n_counts)) * 3 * SHARED
    jumps.update(counts, power)
    for d in range(2):
        none, first, last = np.split(counts[d, : WIDTH + 4], [WIDTH, WIDTH + 2])
        own = counts[d, WIDTH + 4 :].reshape(2, WIDTH)
        total = none + own[0] + own[1]
        for table, c in (
            (jumps.jump[d], total),
            (jumps.first[d], first),
            (jumps.last[d], last),
            (jumps.by_class[d, 0], own[0] + SHARED * total / total.sum()),
            (jumps.by_class[d, 1], own[1] + SHARED * total / total.sum()),
        ):
            expected = (c / c.sum()) ** power
            np.testing.assert_allclose(table, expected / expected.sum(), rtol=1e-12)


def test_a_class_without_jumps_jumps_as_all_words_do():
    jumps, counts = classed(), np.zeros((2, classed().n_counts))
    counts[:, 3] = 7.0
    jumps.update(counts)
    np.testing.assert_allclose(
        jumps.by_class, np.broadcast_to(jumps.jump[:, None], (2, 2, WIDTH)), rtol=1e-12
    )
    assert jumps.jump[0].tolist() == [LEAST, LEAST, LEAST, 1, LEAST]
    before = jumps.copied()
    jumps.update(np.zeros_like(counts))  # nothing is learned from nothing
    for name in jumps.ARRAYS:
        np.testing.assert_array_equal(getattr(jumps, name), getattr(before, name))


def test_classes_follow_their_words():
    other = classed().of_words(np.array([2, -1, 1], np.int32), np.array([-1, 0], np.int32))
    assert other.src_class.tolist() == [0, 0, 2] and other.tgt_class.tolist() == [0, 2]
    assert other.src_class.dtype == np.int32


def test_jumps_of_all_words_are_the_same_arrays():
    jumps = classed()
    plain = jumps.of_all_words
    assert type(plain) is Jumps and plain.n_classes == 0
    assert plain.jump is jumps.jump and plain.first is jumps.first and plain.p0 == jumps.p0
