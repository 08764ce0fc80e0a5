"""Links such that no word has too many, against enumeration, scipy's assignment and a linear program."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import coo_array
from trained import generated, recipe_of, run

from aligner import LinkReader, Links, Model, train
from aligner.decoding._matching import flow, match
from aligner.decoding.combine import DECODERS, Decision, at_most, combine
from aligner.errors import DataError

THRESHOLD = 0.25
FEW = st.sampled_from([0.5, 0.75, 1.0])  # many sets of links have the same total
small = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 4)), st.floats(0.26, 1) | FEW, min_size=1, max_size=9
)


def links_of(*sentences: dict) -> Links:
    """Links given as (src, tgt) -> score."""
    return Links.from_pairs([[(*link, p) for link, p in sorted(one.items())] for one in sentences])


def gain(links: Links) -> float:
    """The total of score - threshold."""
    return 0.0 if links.scores is None else float((np.round(links.scores, 6) - THRESHOLD).sum())


def most_of_a_word(links: Links) -> int:
    words = [links.sentences << 32 | side for side in (links.src, links.tgt)]
    return max(int(np.unique(side, return_counts=True)[1].max(initial=0)) for side in words)


def random_links(shape: tuple[int, int], density: float, seed: int, decimals: int) -> Links:
    """One sentence pair. With few decimals, many scores are equal."""
    random = np.random.default_rng(seed)
    scores = np.round(THRESHOLD + 0.1 + 0.6 * random.random(shape), decimals)
    src, tgt = np.nonzero(random.random(shape) < density)
    return links_of({(i, j): scores[i, j] for i, j in zip(src.tolist(), tgt.tolist(), strict=True)})


@given(small, st.integers(1, 3))
def test_total_is_that_of_the_best_of_all_sets(scores, D):
    links = links_of(scores)
    found = at_most(links, D, THRESHOLD)
    assert set(found.scored()[0]) <= set(links.scored()[0]) and most_of_a_word(found) <= D
    gains = {link: round(p, 6) - THRESHOLD for link, p in scores.items()}
    assert gain(found) == pytest.approx(oracle.most_score(gains, [0] * (D - 1), [0] * (D - 1)), abs=1e-9)
    turned = links_of({(j, i): p for (i, j), p in scores.items()})
    assert gain(at_most(turned, D, THRESHOLD)) == pytest.approx(gain(found), abs=1e-9)


@pytest.mark.parametrize("decimals", [1, 6])
@pytest.mark.parametrize(("shape", "density"), [((60, 60), 1.0), ((40, 70), 0.1), ((90, 50), 0.03)])
def test_one_to_one_is_the_assignment_of_scipy(shape, density, decimals):
    links = random_links(shape, density, 1, decimals)
    gains = np.zeros(shape)
    gains[links.src, links.tgt] = links.scores - THRESHOLD
    found = at_most(links, 1, THRESHOLD)
    assert most_of_a_word(found) == 1
    assert gain(found) == pytest.approx(gains[linear_sum_assignment(gains, maximize=True)].sum(), abs=1e-9)


@pytest.mark.parametrize("decimals", [1, 6])
@pytest.mark.parametrize(("shape", "density"), [((14, 17), 1.0), ((60, 40), 0.1)])
@pytest.mark.parametrize("D", [2, 3])
def test_fertility_is_a_linear_program(shape, density, decimals, D):
    """Corners of the program are integral: its optimum is that of sets of links."""
    links = random_links(shape, density, 2, decimals)
    n = len(links.src)
    rows, columns = np.concatenate([links.src, shape[0] + links.tgt]), np.tile(np.arange(n), 2)
    words = coo_array((np.ones(2 * n), (rows, columns)), shape=(sum(shape), n))
    best = linprog(THRESHOLD - links.scores, A_ub=words, b_ub=np.full(sum(shape), D), bounds=(0, 1))
    found = at_most(links, D, THRESHOLD)
    assert most_of_a_word(found) == D < most_of_a_word(links)
    assert gain(found) == pytest.approx(-best.fun, abs=1e-7)


def test_many_sentence_pairs_and_threads():
    """Sentence pairs do not touch one another. Positions may be large; a pair may have no links."""
    random = np.random.default_rng(3)
    parts = [random_links((9, 7), density, n, 1) for n, density in enumerate(random.random(400))]
    far = links_of({(0, 2**31 - 1): 0.6, (2**31 - 1, 2**31 - 1): 0.75, (2**31 - 1, 0): 0.6})
    parts[5:5] = [far, links_of({})]
    links = Links.joined(parts)
    for D in (1, 2):
        columns = links.offsets, links.src, links.tgt, links.scores
        chosen = [match(*columns, THRESHOLD, D, n_threads).tolist() for n_threads in (1, 3)]
        assert chosen[0] == chosen[1]
        assert at_most(links, D, THRESHOLD, 3).pairs() == [
            at_most(part, D, THRESHOLD).pairs()[0] for part in parts
        ]
    assert at_most(far, 1, THRESHOLD).pairs() == [[(0, 2**31 - 1), (2**31 - 1, 0)]]
    assert at_most(far, 1, 0.5).pairs() == [[(2**31 - 1, 2**31 - 1)]]


def test_long_sentences():
    """A word of 2,000 has ten candidates near it: all words are in one search, if it goes far."""
    random = np.random.default_rng(4)
    src = np.repeat(np.arange(2000), 10)
    tgt = np.clip(src + np.tile(np.arange(10), 2000), 0, 1999)
    scores = random.integers(30, 100, len(src)) / 100
    links = links_of(dict(zip(zip(src.tolist(), tgt.tolist(), strict=True), scores.tolist(), strict=True)))
    gains = np.zeros((2000, 2000))
    gains[links.src, links.tgt] = links.scores - THRESHOLD
    best = gains[linear_sum_assignment(gains, maximize=True)].sum()
    assert gain(at_most(links, 1, THRESHOLD)) == pytest.approx(best, abs=1e-7)


def test_links_of_equal_scores_are_those_that_come_first():
    links = links_of({(i, j): 0.5 for i in range(3) for j in range(3)})
    assert at_most(links, 1, THRESHOLD).pairs() == [[(0, 0), (1, 1), (2, 2)]]


def test_what_would_lead_outside_is_refused():
    links = links_of({(0, 0): 0.5, (0, 1): 0.5, (1, 0): 0.5})
    arrays = {name: getattr(links, name) for name in ("offsets", "src", "tgt", "scores")}
    usual = {**arrays, "threshold": THRESHOLD, "D": 1, "n_threads": 1}
    assert match(**usual).tolist() == [0, 1, 1]
    for name, wrong in (
        ("offsets", np.array([], np.int64)),
        ("offsets", np.array([0, 4])),
        ("offsets", np.array([-1, 3])),
        ("offsets", np.array([0, 2, 1, 3])),
        ("src", links.src[:-1]),
        ("src", links.src - 1),
        ("src", links.src[::-1].copy()),
        ("tgt", links.tgt[:-1]),
        ("tgt", links.tgt - 1),
        ("tgt", np.zeros(3, np.int32)),
        ("scores", links.scores[:-1]),
        ("scores", links.scores + 1),
        ("scores", links.scores / 2),
        ("scores", links.scores * np.nan),
        ("threshold", -0.5),
        ("threshold", np.nan),
        ("D", 0),
        ("n_threads", 0),
    ):
        with pytest.raises(ValueError):
            match(**{**usual, name: wrong})


def test_penalties_that_fall_and_gains_of_nothing_are_refused():
    """The alignments of `flow` are compared in tests/learning/test_structure.py."""
    links = links_of({(0, 0): 2.5, (0, 1): 0.5, (1, 0): 0.5})
    arrays = {name: getattr(links, name) for name in ("offsets", "src", "tgt")}
    none = np.empty(0)
    usual = {**arrays, "gains": links.scores, "src_penalties": none, "tgt_penalties": none, "n_threads": 1}
    assert flow(**usual).tolist() == [1, 0, 0]
    assert flow(**{**usual, "src_penalties": np.array([0.25])}).tolist() == [1, 1, 0]
    for name, wrong in (
        ("offsets", np.array([0, 4])),
        ("tgt", np.zeros(3, np.int32)),
        ("gains", links.scores[:-1]),
        ("gains", links.scores * 0),
        ("gains", links.scores * np.inf),
        ("src_penalties", np.array([0.5, 0.25])),
        ("tgt_penalties", np.array([-0.25])),
        ("tgt_penalties", np.array([np.nan])),
        ("tgt_penalties", np.array([np.inf])),
        ("n_threads", 0),
    ):
        with pytest.raises(ValueError):
            flow(**{**usual, name: wrong})


@pytest.fixture(scope="module")
def model() -> Model:
    settings = {"views": ["word", "prefix3"], "iterations": 1, "ibm1_iterations": 2}
    return train(generated().part(0, 300), recipe_of("hmm", **settings))


def test_decision():
    forward = links_of({(0, 0): 0.9, (0, 1): 0.8, (1, 0): 0.8})
    assert combine(forward, forward, Decision(0.1, "forward", fertility=1)).pairs() == [[(0, 1), (1, 0)]]
    assert combine(forward, links_of({}), Decision(0.1, fertility=1)).pairs() == [[(0, 1), (1, 0)]]
    with pytest.raises(ValueError, match="links of union have no scores"):
        Decision(0.1, method="union", fertility=1)
    Decision(0.1, "forward", method="union", fertility=1)  # the method is not used


def test_align_in_python(model):
    text = generated().part(0, 300)
    plain = model.align(text, threshold=0.1)
    most = [most_of_a_word(model.align(text, threshold=0.1, decode=decode)) for decode in DECODERS]
    assert most[0] == most_of_a_word(plain) > 3 and most[1:] == [1, 2]
    three = model.align(text, threshold=0.1, decode="fertility", max_fertility=3)
    assert three.scored() == at_most(plain, 3, 0.1).scored() and most_of_a_word(three) == 3
    for wrong, message in (
        ({"decode": "best"}, "there are threshold, one-to-one, fertility"),
        ({"max_fertility": 2}, "max_fertility is for decode fertility, not threshold"),
        ({"decode": "fertility", "max_fertility": 0}, "between 1 and 1000"),
        ({"decode": "one-to-one", "symmetrize": "union"}, "links of union have no scores"),
    ):
        with pytest.raises(ValueError, match=message):
            model.align(text, **wrong)
    known = Links.from_pairs([[(0, 0)], *[[]] * 299])
    with pytest.raises(DataError, match="given links are all kept"):
        model.align(text, decode="one-to-one", links=known)
    excluded = Links.from_pairs([[(0, 0, 0.0)], *[[]] * 299])
    assert most_of_a_word(model.align(text, threshold=0.1, decode="one-to-one", links=excluded)) == 1


def test_commands(data, tmp_path, write):
    src, tgt = (
        write(side, "".join((data / f"generated.{side}").read_text().splitlines(True)[:200]))
        for side in ("src", "tgt")
    )
    model, forward, reverse = tmp_path / "model", tmp_path / "forward", tmp_path / "reverse"
    scored = "--forward", forward, "--reverse", reverse, "--scores", "--save", model
    settings = "-q", "--fast", "--model", "hmm", "--iterations", 1, "--threshold", 0.1
    run("align", src, tgt, *settings, *scored)
    usual = "-m", "soft-union", "--threshold", 0.1
    for most, how in (
        (1, ["--decode", "one-to-one"]),
        (2, ["--decode", "fertility"]),
        (3, ["--decode", "fertility", "--max-fertility", 3]),
    ):
        printed = run("align", src, tgt, *settings, *how)
        links = LinkReader(write("links", printed)).read()
        assert most_of_a_word(links) == most and len(links) == 200
        assert run("decode", model, src, tgt, *how) == printed
        assert run("symmetrize", forward, reverse, *usual, *how) == printed
    one = "--decode", "one-to-one"
    directed = run("decode", model, src, tgt, "--direction", "reverse", *one)
    assert run("symmetrize", forward, reverse, "-m", "reverse", "--threshold", 0.1, *one) == directed


def test_commands_refuse_decoders_without_scores(data, tmp_path, write):
    files = data / "sample.forward", data / "sample.reverse"
    text = data / "sample.en", data / "sample.fr"
    one = "--decode", "one-to-one"
    assert "not those of grow-diag-final-and" in run("symmetrize", *files, *one, code=2)
    assert "forward needs links with scores" in run("symmetrize", *files, *one, "-m", "forward", code=1)
    assert "not those of union" in run("align", *text, *one, "--symmetrize", "union", code=2)
    assert "have no scores" in run("align", *text, *one, "--viterbi", code=2)
    assert "not for --given" in run("align", *text, *one, "--given", files[0], code=2)
    assert "--max-fertility is for" in run("align", *text, *one, "--max-fertility", 2, code=2)
    scored, empty = write("scored", "0-0:0.9 0-1:0.8 1-0:0.8\n"), write("empty", "\n")
    assert run("symmetrize", scored, empty, "-m", "forward", *one, "--scores") == "0-1:0.8 1-0:0.8\n"
    assert run("symmetrize", empty, scored, "-m", "forward", *one, "--scores") == "\n"
