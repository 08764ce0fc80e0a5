"""The heuristics against their slow twins, worked examples, and what must hold between them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import directional, link_sets, scores

from aligner import DataError, LinkReader, Links, format_links
from aligner.links.symmetrize import METHODS, VARIANTS, symmetrize, symmetrize_files

GROWING = {
    "grow": (False, False, False),
    "grow-final": (False, True, False),
    "grow-final-and": (False, True, True),
    "grow-diag": (True, False, False),
    "grow-diag-final": (True, True, False),
    "grow-diag-final-and": (True, True, True),
}
GOLDEN = Path(__file__).parent / "golden"
any_pairs = st.lists(directional() | st.tuples(link_sets, link_sets), max_size=5)


def run(pairs: list, method: str, variant: str) -> list[list[tuple[int, int]]]:
    """The result for sets of links, which are given in no particular order, and some of them twice."""
    forward, reverse = (
        Links.from_pairs([[*pair[k], *list(pair[k])[::2]] for pair in pairs]) for k in range(2)
    )
    return symmetrize(forward, reverse, method, variant=variant).pairs()


@pytest.mark.parametrize("method", GROWING)
@pytest.mark.parametrize("variant", VARIANTS)
@given(pairs=any_pairs)
def test_growing_equals_slow_twin(method, variant, pairs):
    twin = getattr(oracle, variant)
    assert run(pairs, method, variant) == [twin(f, r, *GROWING[method]) for f, r in pairs]


@pytest.mark.parametrize("golden", sorted(GOLDEN.glob("sample.*")), ids=lambda path: path.name)
def test_same_bytes_as_the_tool(golden, data):
    """tests/links/golden has what symal and atools print for the sample."""
    _, variant, method = golden.name.split(".")
    readers = (LinkReader(str(data / f"sample.{x}"), base=0) for x in ("forward", "reverse"))
    blocks = symmetrize_files(*readers, method, variant=variant)
    assert b"".join(format_links(links, "pharaoh") for links in blocks) == golden.read_bytes()


@given(pairs=any_pairs)
def test_sets_and_their_order(pairs):
    by_tgt = {"key": lambda link: link[::-1]}
    for variant in VARIANTS:
        assert run(pairs, "intersection", variant) == [sorted(f & r) for f, r in pairs]
        assert run(pairs, "reverse", variant) == [sorted(r) for _, r in pairs]
    assert run(pairs, "forward", "symal") == [sorted(f, **by_tgt) for f, _ in pairs]
    assert run(pairs, "union", "symal") == [sorted(r) + sorted(f - r, **by_tgt) for f, r in pairs]
    for variant in ("atools", "lilt"):
        assert run(pairs, "forward", variant) == [sorted(f) for f, _ in pairs]
        assert run(pairs, "union", variant) == [sorted(f | r) for f, r in pairs]


@given(pairs=any_pairs)
def test_methods_contain_one_another(pairs):
    chain = ["intersection", *GROWING, "union"]
    for variant in VARIANTS:
        results = {m: [set(links) for links in run(pairs, m, variant)] for m in chain}
        for smaller, larger in (
            ("intersection", "grow"),
            ("intersection", "grow-diag"),
            ("grow-diag", "grow-diag-final-and"),
            ("grow-diag", "grow-diag-final"),
            ("grow-diag-final-and", "union"),
            ("grow-diag-final", "union"),
        ):
            assert all(x <= y for x, y in zip(results[smaller], results[larger], strict=True))


@given(pairs=any_pairs)
def test_intersection_and_union_commute_with_transposition(pairs):
    def flip(links: set) -> set:
        return {(j, i) for i, j in links}

    turned = [(flip(r), flip(f)) for f, r in pairs]
    for method in ("intersection", "union"):
        direct = [flip(set(links)) for links in run(pairs, method, "symal")]
        assert [set(links) for links in run(turned, method, "symal")] == direct


def test_scan_order_worked_by_hand():
    """Forward 0-0 1-1 2-2 and reverse 0-0 1-2 2-2 (src-tgt) meet in 0-0 and 2-2.

    With the diagonal symal, walking by target, comes to 0-0 first and takes its neighbour 1-1, both of whose
    words are free; then both words of 1-2 are covered. Without it 0-0 finds nothing, 2-2 takes 1-2, whose
    source is free; that stands behind the walker, and takes 1-1, whose target is free, in the next round.
    """
    pair = ({(0, 0), (1, 1), (2, 2)}, {(0, 0), (1, 2), (2, 2)})
    assert run([pair], "grow-diag", "symal") == [[(0, 0), (1, 1), (2, 2)]]
    assert run([pair], "grow", "symal") == [[(0, 0), (1, 1), (1, 2), (2, 2)]]


def test_variants_differ():
    """A pair of three words a side for which the tools, by their sources, give different links."""
    pairs = [p for p in _small_pairs() if run([p], "grow-diag", "symal") != run([p], "grow-diag", "atools")]
    sets = [{frozenset(run([p], "grow-diag", variant)[0]) for variant in VARIANTS} for p in pairs]
    assert any(len(results) == 3 for results in sets)


def _small_pairs() -> list:
    """Directional pairs of three words a side."""
    options = [None, 0, 1, 2]
    pairs = []
    for a in itertools.product(options, repeat=3):
        for b in itertools.product(options, repeat=3):
            forward = {(i, j) for j, i in enumerate(a) if i is not None}
            reverse = {(i, j) for i, j in enumerate(b) if j is not None}
            pairs.append((forward, reverse))
    return pairs


@given(
    pairs=st.lists(
        st.tuples(st.dictionaries(st.tuples(*[st.integers(0, 4)] * 2), scores, max_size=8),
                  st.dictionaries(st.tuples(*[st.integers(0, 4)] * 2), scores, max_size=8)),
        max_size=4,
    ),
    threshold=st.sampled_from([0.0, 0.25, 0.5, 0.9]),
    product=st.booleans(),
)  # fmt: skip
def test_blend_equals_slow_twin(pairs, threshold, product):
    sides = []
    for k in range(2):
        links = Links.from_pairs([list(pair[k]) for pair in pairs])
        values = np.array([x for pair in pairs for x in pair[k].values()], dtype=np.float64)
        sides.append(Links(links.offsets, links.src, links.tgt, scores=values))
    result = symmetrize(*sides, "product" if product else "soft-union", threshold=threshold)
    expected = [oracle.blend(f, r, product, threshold) for f, r in pairs]
    assert result.pairs() == [list(scores) for scores in expected]
    np.testing.assert_array_equal(result.scores, [x for scores in expected for x in scores.values()])


def test_far_positions_need_no_grid():
    """Cost follows the links, not the positions: no sentence is too long."""
    far = 2**31 - 2
    pair = ({(far, 5), (5, far)}, {(far, 5), (far - 1, 6)})
    assert run([pair], "grow-diag", "symal") == [[(far, 5), (far - 1, 6)]]


def test_empty_corpus_and_empty_sentences():
    for method in METHODS:
        assert symmetrize(Links.from_pairs([]), Links.from_pairs([]), method).pairs() == []
        assert symmetrize(Links.from_pairs([[], []]), Links.from_pairs([[], []]), method).pairs() == [[], []]


def test_inputs_are_not_changed():
    forward, reverse = Links.from_pairs([[(2, 1), (0, 0)]]), Links.from_pairs([[(1, 1), (0, 0)]])
    for method in GROWING:
        symmetrize(forward, reverse, method)
    assert forward.pairs() == [[(2, 1), (0, 0)]] and reverse.pairs() == [[(1, 1), (0, 0)]]


def test_files_of_unequal_length_are_counted(write, monkeypatch):
    monkeypatch.setattr("aligner.links.formats.BLOCK", 2)
    a, b = write("a", "0-0\n" * 5), write("b", "0-0\n" * 3)
    with pytest.raises(DataError, match=r"a has 5 lines, .*b has 3"):
        list(symmetrize_files(LinkReader(a, base=0), LinkReader(b, base=0), "union"))


def test_blocks_do_not_show(write, monkeypatch, data):
    whole = symmetrize(*(LinkReader(str(data / f"sample.{x}")).read() for x in ("forward", "reverse")))
    monkeypatch.setattr("aligner.links.formats.BLOCK", 7)
    readers = (LinkReader(str(data / f"sample.{x}")) for x in ("forward", "reverse"))
    parts = [links for block in symmetrize_files(*readers, "grow-diag-final-and") for links in block.pairs()]
    assert parts == whole.pairs()


def test_swapped_files_are_noticed(write, caplog):
    forward, reverse = write("f", "0-0 0-1 1-2\n"), write("r", "0-0 1-0 2-2\n")
    list(symmetrize_files(LinkReader(forward, base=0), LinkReader(reverse, base=0), "union"))
    assert not caplog.records
    list(symmetrize_files(LinkReader(reverse, base=0), LinkReader(forward, base=0), "union"))
    assert "look swapped" in caplog.text
    caplog.clear()
    alone = write("alone", "0-0 1-1\n")  # each word once on both sides: any direction may have such links
    for a, b in ((alone, alone), (reverse, alone), (alone, forward)):
        list(symmetrize_files(LinkReader(a, base=0), LinkReader(b, base=0), "union"))
    assert not caplog.records


def test_transposed_files_are_noticed(write, caplog):
    links = " ".join(f"{i}-{2 * i}" for i in range(30)) + "\n"
    turned = " ".join(f"{2 * i}-{i}" for i in range(30)) + "\n"
    list(symmetrize_files(LinkReader(write("f", links)), LinkReader(write("r", turned)), "union"))
    assert "r looks transposed" in caplog.text


@pytest.mark.parametrize("n_turned, is_said", [(16, False), (17, True)])
def test_a_few_links_that_are_there_transposed_are_no_sign(write, caplog, n_turned, is_said):
    """Three links are in both files as they are: more than twice three and ten others must be transposed."""
    straight = [(50 + i, 80 + i) for i in range(3)]
    turned = [(i, 2 * i + 20) for i in range(n_turned)]
    forward = " ".join(f"{i}-{j}" for i, j in [*straight, *turned]) + "\n"
    reverse = " ".join(f"{i}-{j}" for i, j in [*straight, *((j, i) for i, j in turned)]) + "\n"
    list(symmetrize_files(LinkReader(write("f", forward)), LinkReader(write("r", reverse)), "union"))
    assert ("r looks transposed" in caplog.text) == is_said


def test_bad_arrays_are_refused():
    """What would make the kernels run out of their arrays."""
    good = Links.from_pairs([[(0, 0)], [(1, 1)]])
    for bad in (
        replace(good, src=good.src - 1),
        Links(good.offsets[::-1].copy(), good.src, good.tgt),
        Links(good.offsets, good.src[:1], good.tgt),
        Links(good.offsets + 1, good.src, good.tgt),
    ):
        for method in GROWING:
            with pytest.raises(ValueError):
                symmetrize(bad, good, method)


def test_of_two_scores_the_last_counts():
    links = Links.from_pairs([[(0, 0), (0, 0)]])
    twice = Links(links.offsets, links.src, links.tgt, scores=np.array([0.1, 0.9]))
    assert symmetrize(twice, twice, "soft-union").scores.tolist() == [0.9]


@pytest.mark.parametrize("line", ["0-0:1.5", "0-0:-0.1"])
def test_scores_must_be_probabilities(write, line):
    bad, good = write("bad", f"\n0-0:0.5\n{line}\n"), write("good", "\n0-0:0.5\n\n")
    with pytest.raises(DataError, match="bad:3: score .* is not between 0 and 1"):
        list(symmetrize_files(LinkReader(bad, base=0), LinkReader(good, base=0), "soft-union"))


def test_the_line_of_a_wrong_score_is_counted_from_the_first_block_on(write, monkeypatch):
    monkeypatch.setattr("aligner.links.formats.BLOCK", 4)
    good = ["0-0:0.5\n"] * 11
    bad = [*good[:9], "0-0:0.5 0-1:2\n", good[0]]
    readers = (LinkReader(write(x, "".join(y)), base=0) for x, y in (("good", good), ("bad", bad)))
    with pytest.raises(DataError, match="bad:10: score 2 of link 0-1 is not between 0 and 1"):
        list(symmetrize_files(*readers, "soft-union"))
