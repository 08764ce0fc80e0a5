"""eflomal's sentence scores, compared with what eflomal wrote of the same links, and with a slow twin."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import programs
import pytest
from conftest import ROOT

from aligner import Corpus, Links
from aligner.compat.eflomal.scores import sentence_scores
from aligner.links.formats import LinkReader
from aligner.links.priors import Priors, parse_priors, read_priors

GOLDEN = programs.GOLDEN / "eflomal"


@pytest.fixture(scope="module")
def sample() -> Corpus:
    sides = ((ROOT / "data" / f"sample.{side}").read_text().lower().splitlines() for side in ("en", "fr"))
    return Corpus.from_pairs(zip(*sides, strict=True))


@pytest.mark.parametrize("run, model", [("model1", 1), ("model2", 2), ("prior", 2)])
def test_scores_are_those_of_eflomal(sample, run, model):
    """Of one sampler, whose counts are those of the links that it writes. It computes in single precision."""
    forward, reverse = (
        LinkReader(str(GOLDEN / f"{run}.{name}"), "pharaoh", 0, text=sample).read()
        for name in ("forward", "reverse")
    )
    priors = read_priors(str(GOLDEN / "sample.priors")).seen(str.lower, str.lower) if run == "prior" else None
    found = sentence_scores(sample, forward, model, 1, priors)
    np.testing.assert_allclose(found, np.loadtxt(GOLDEN / f"{run}.forward-scores"), rtol=0, atol=2e-4)
    swapped = None if priors is None else priors.transposed()
    found = sentence_scores(Corpus(sample.tgt, sample.src), reverse.transposed(), model, 1, swapped)
    np.testing.assert_allclose(found, np.loadtxt(GOLDEN / f"{run}.reverse-scores"), rtol=0, atol=2e-4)


def digamma(x: float) -> float:
    h = 1e-5 * x
    return (math.lgamma(x + h) - math.lgamma(x - h)) / (2 * h)


def slow_scores(pairs, links, model: int, priors: Priors | None) -> list[float]:
    """Word by word, every count made anew without the word's own link."""
    lex, total, jumps, fertilities = Counter(), Counter(), Counter(), Counter()
    if priors is not None:
        src, tgt = priors.src.words, priors.tgt.words
        known = {word for pair in pairs for word in pair[0]}, {word for pair in pairs for word in pair[1]}
        for e, f, n in zip(*(x.tolist() for x in priors.pairs), strict=True):
            if src[e] in known[0] and tgt[f] in known[1]:
                lex[src[e], tgt[f]] += n
                total[src[e]] += n
        for e, k, n in zip(*(x.tolist() for x in priors.fertilities[0]), strict=True):
            fertilities[src[e], min(k, 7)] += n
        jumps.update(priors.jumps[0])
    aligned = [{j: i for i, j in one} for one in links]
    for (src, tgt), a in zip(pairs, aligned, strict=True):
        for j, i in a.items():
            lex[src[i], tgt[j]] += 1
            total[src[i]] += 1
        if src and tgt:
            for i, e in enumerate(src):
                fertilities[e, min(7, list(a.values()).count(i))] += 1
        places = [-1, *(a[j] for j in sorted(a)), len(src)]
        if a:
            jumps.update(b - c for b, c in zip(places[1:], places, strict=False))
    V = len({word for pair in pairs for word in pair[1]}) + 1
    scores = []
    for (src, tgt), a in zip(pairs, aligned, strict=True):
        if not (src and tgt):
            scores.append(0.0)
            continue
        whole = 0.0
        for j, f in enumerate(tgt):
            before = next((a[k] for k in range(j - 1, -1, -1) if k in a), -1)
            after = next((a[k] for k in range(j + 1, len(tgt)) if k in a), len(src))
            left, own = Counter(jumps), a.get(j)
            left.subtract([after - before] if own is None else [own - before, after - own])
            best = -math.inf
            for i, e in enumerate(src):
                same = own is not None and src[own] == e
                log = math.log(lex[e, f] - same + 0.001) - math.log(total[e] - same + 0.001 * V)
                if model >= 2:
                    for jump in (i - before, after - i):
                        log += math.log(max(left[jump], 0) + 0.5) - math.log(sum(left.values()) + 50)
                if model >= 3:
                    n = min(list(a.values()).count(i) - (own == i) + 1, 7)
                    log += digamma(fertilities[e, n] + 0.5) - digamma(fertilities[e, n - 1] + 0.5)
                    log += (
                        0
                        if n < 7
                        else math.log(1e-10)
                        - (digamma(fertilities[e, n] + 0.5) - digamma(fertilities[e, n - 1] + 0.5))
                    )
                best = max(best, log)
            whole -= best
        scores.append(whole / len(tgt))
    return scores


PRIORS = """LEX a y 2.5
LEX a x 1
LEX unknown x 7
LEX a unknown 3
LEX <NULL> x 4
FERF a 1 2
FERF a 9 1.5
FERF unknown 1 3
HMMF 1 4
HMMF -2 1
"""


@pytest.mark.parametrize("model", [1, 2, 3])
@pytest.mark.parametrize("with_priors", [False, True])
def test_scores_are_those_of_a_slow_twin(model, with_priors):
    numbers = np.random.default_rng(model)
    pairs, links = [], []
    for _ in range(12):
        src, tgt = (list(numbers.choice(list(words), numbers.integers(0, 9))) for words in ("abc", "xyzw"))
        pairs.append((src, tgt))
        linked = [j for j in range(len(tgt)) if src and numbers.random() < 0.7]
        links.append([(int(numbers.integers(len(src))), j) for j in linked])
    pairs += [(["b"], ["z"] * 9), (["a", "b"], []), ([], ["x"])]
    links += [[(0, j) for j in range(9)], [], []]  # first, more links than fertilities are told apart
    priors = parse_priors(PRIORS.replace(" ", "\t").splitlines(), "x") if with_priors else None
    found = sentence_scores(Corpus.from_pairs(pairs), Links.from_pairs(links), model, 1, priors)
    np.testing.assert_allclose(found, slow_scores(pairs, links, model, priors), rtol=1e-7, atol=1e-9)
    assert sum(found == 0) == sum(not (src and tgt) for src, tgt in pairs) > 0


def test_text_without_words_has_scores():
    text = Corpus.from_pairs([("", ""), ("a", "")])
    assert sentence_scores(text, Links.from_pairs([[], []]), 3, 1).tolist() == [0, 0]
    assert sentence_scores(Corpus.from_pairs([]), Links.from_pairs([]), 3, 1).tolist() == []
