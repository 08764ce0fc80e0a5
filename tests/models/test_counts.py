"""Counts: sums that do not depend on the order of addition, and the size of text that they hold."""

from __future__ import annotations

import numpy as np
import pytest
from trained import generated, recipe_of, run

from aligner import DataError, train
from aligner.models.counts import ONE, Counts
from aligner.models.families import FAMILIES
from aligner.models.kinds import MODELS, PLACES
from aligner.text.cells import Seen

ARRAYS = ("pairs", "null_fwd", "null_rev", "positions")


@pytest.mark.parametrize("name, leaving", [*((name, False) for name in MODELS), ("loo", True)])
def test_shards_in_any_order_add_up_to_the_whole(name, leaving):
    some = generated().part(0, 80)
    model = train(some, recipe_of(name, iterations=1, ibm1_iterations=2, views=["word"]))
    m, stage = model.views[0].parameters, model.recipe.last
    seen, family = Seen.of_own_words(some, "word", 1), FAMILIES[stage.family]
    own = model.shares.of(some, 0.9) if leaving else None

    def counted(start: int, stop: int) -> Counts:
        counts = Counts.zero(m, shared=stage.shared)
        mine = None if own is None else own.part(start, stop)
        family.expect([m], [seen.shard(start, stop, 1)], stage, "both", mine, [counts], 1)
        return counts

    whole = counted(0, 80)
    placed = stage.family in PLACES
    assert whole.positions.any() == (placed and not leaving)  # loo counts jumps at first
    assert whole.pairs.any() and placed == (whole.positions.size > 0)
    if name in ("ibm1", "hmm"):  # every token counts 1, but for rounding
        expected = len(some.tgt.ids), len(some.src.ids)
        found = whole.pairs.sum(axis=0) + [whole.null_fwd.sum(), whole.null_rev.sum()]
        np.testing.assert_allclose(found / ONE, expected, rtol=1e-5)
    if name == "loo":  # but for tokens that more than one link is expected of, and what is cut off
        found = whole.pairs.sum() + np.array([whole.null_fwd.sum(), whole.null_rev.sum()])
        assert (found >= np.array([len(some.tgt.ids), len(some.src.ids)]) * ONE * (1 - 1e-6)).all()
        np.testing.assert_allclose(found / ONE, [len(some.tgt.ids), len(some.src.ids)], rtol=0.05)
    parts = [counted(start, start + 10) for start in range(0, 80, 10)]
    random = np.random.default_rng(0)
    for _ in range(3):
        total = Counts.zero(m, shared=stage.shared)
        for k in random.permutation(8):
            total.add(parts[k])
        for array in ARRAYS:
            np.testing.assert_array_equal(getattr(total, array), getattr(whole, array), err_msg=array)


def test_memory_is_used_again():
    some = generated().part(0, 20)
    m = train(some, recipe_of("hmm", iterations=1, views=["word"])).views[0].parameters
    used = Counts.zero(m)
    for name in ARRAYS:
        getattr(used, name)[...] = 7
    again = Counts.zero(m, used)
    assert np.shares_memory(again.pairs, used.pairs) and again.pairs.shape == used.pairs.shape
    assert not any(getattr(again, name).any() for name in ARRAYS)


def test_memory_of_two_directions_serves_one_and_two_again():
    m = train(generated().part(0, 20), recipe_of("hmm", iterations=1, views=["word"])).views[0].parameters
    two = Counts.zero(m)
    two.pairs[...] = 7
    one = Counts.zero(m, two, shared=True)
    assert np.shares_memory(one.pairs, two.pairs) and one.pairs.shape == (len(two.pairs), 1)
    assert not one.pairs.any() and one.pairs.flags.c_contiguous
    one.pairs[...] = 7
    again = Counts.zero(m, one)
    assert np.shares_memory(again.pairs, two.pairs) and again.pairs.shape == two.pairs.shape
    assert not again.pairs.any()
    small = Counts.zero(m, shared=True)
    assert not np.shares_memory(Counts.zero(m, small).pairs, small.pairs)  # it is not enough


def test_a_text_too_large_for_its_counts_is_refused(monkeypatch, write, tmp_path):
    pairs = [("a b c", "x"), ("d e", "y z")]
    monkeypatch.setattr("aligner.models.counts.MOST_TOKENS", 5)
    taught = train(pairs)
    monkeypatch.setattr("aligner.models.counts.MOST_TOKENS", 4)
    with pytest.raises(DataError, match="the source side has 5 tokens, more than 4; train on a part"):
        train(pairs)
    half = "the source side has 5 tokens, more than 2"
    monkeypatch.setattr("aligner.models.counts.MOST_TOKENS", 5)
    with pytest.raises(DataError, match=half):
        train(pairs, recipe_of("surrogate"))
    with pytest.raises(DataError, match=half):
        train(pairs, prior=taught)
    with pytest.raises(DataError, match="the source side has 5 tokens, more than 1"):
        train(pairs, recipe_of("surrogate"), prior=taught)
    monkeypatch.setattr("aligner.models.counts.MOST_TOKENS", 4)
    with pytest.raises(DataError, match="the target side has 5 tokens, more than 4"):
        train([pair[::-1] for pair in pairs])
    src, tgt = write("src", "a b c\nd e\n"), write("tgt", "x\ny z\n")
    assert "the source side has 5 tokens" in run("train", src, tgt, "-q", "-o", tmp_path / "m", code=1)
