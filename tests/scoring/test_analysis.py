"""What analyze finds, against plain Python, against evaluate, and by hand."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter

import pytest
from gold import gold_links, scored_links
from hypothesis import given, settings
from hypothesis import strategies as st

from aligner import Corpus, Links
from aligner.scoring import comparison
from aligner.scoring.analysis import Analysis, analyze
from aligner.scoring.evaluate import COLUMNS, evaluate

SIDES = ("src", "tgt")


@st.composite
def problems(draw):
    """Sentences (src words, tgt words, link -> score, sure, possible), and pairs to count words in."""

    def words(letters: str) -> list[str]:
        return draw(st.lists(st.sampled_from(letters), max_size=6))

    sentences = []
    for _ in range(draw(st.integers(1, 4))):
        src, tgt = words("abcd"), words("wxyz")
        cells = list(itertools.product(range(len(src)), range(len(tgt))))
        some = st.sets(st.sampled_from(cells), max_size=9) if cells else st.just(set())
        score = st.sampled_from([0.0, 0.05, 0.1, 0.100001, 0.3, 0.5, 0.99, 1.0])
        hyp = {link: draw(score) for link in sorted(draw(some))}
        sentences.append((src, tgt, hyp, draw(some), draw(some)))
    pairs = [(words("abc") * draw(st.sampled_from([1, 4])), words("wxy")) for _ in range(3)]
    return sentences, pairs


def read(problem) -> tuple[Links, Links, Corpus, Corpus]:
    """(hypothesis, gold, text, counted text)"""
    sentences, counted = problem
    hyp, gold = scored_links([x[2] for x in sentences]), gold_links([(x[3], x[4] - x[3]) for x in sentences])
    return hyp, gold, Corpus.from_pairs([x[:2] for x in sentences]), Corpus.from_pairs(counted)


# The slow twin: sets of (sentence, i, j), and loops over all links and words.


def part(names, sets, name_of):
    """Part's fields for each name. name_of: (set of links, link) -> the name of its part"""
    hyp, sure, gold = sets
    rows = []
    for name in names:
        links = {link for link in hyp if name_of(hyp, link) == name}
        known = {link for link in sure if name_of(sure, link) == name}
        rows.append((name, len(links), len(links & gold), len(known), len(known & hyp)))
    return rows


def between(x, ends, names):
    return next((name for end, name in zip(ends, names, strict=False) if x <= end), names[-1])


def kind(links, link):
    src, tgt = (sum(other[0] == link[0] and other[k] == link[k] for other in links) for k in (1, 2))
    return comparison.KINDS[(src > 1) + 2 * (tgt > 1)]


def crosses(links, link):
    n, i, j = link
    some = any(m == n and (a - i) * (b - j) < 0 for m, a, b in links)
    return "crossing" if some else "not crossing"


def jumps(links, lengths):
    found = Counter()
    for n, (length, _) in enumerate(lengths):
        last = None
        for i in range(length):
            if js := sorted(j for m, k, j in links if (m, k) == (n, i)):
                if last is not None:
                    jump = js[0] - last
                    name = "<-5" if jump < -5 else ">+5" if jump > 5 else f"{jump:+d}" if jump else "0"
                    found[name] += 1
                last = js[-1]
    return found


def fertility(links, lengths, k):
    found = Counter()
    for n, both in enumerate(lengths):
        for word in range(both[k]):
            many = sum(link[0] == n and link[1 + k] == word for link in links)
            found[str(many) if many < 4 else "4+"] += 1
    return found


def word_pairs(sentences, errors, good, top):
    def pair(link):
        n, i, j = link
        return sentences[n][0][i], sentences[n][1][j]

    times, right = Counter(map(pair, sorted(errors))), Counter(map(pair, good))
    first = {}
    for link in sorted(errors):
        first.setdefault(pair(link), link)
    order = sorted(times, key=lambda x: (-times[x], right[x], first[x]))[:top]
    return [(*x, times[x], right[x], first[x][0] + 1) for x in order]


@settings(max_examples=50)
@given(problem=problems(), threshold=st.sampled_from([None, 0.1, 0.5]))
def test_all_numbers_equal_those_of_the_slow_twin(problem, threshold):
    sentences, counted = problem
    links, gold_links, text, train = read(problem)
    found = analyze(links, gold_links, text, train, threshold=threshold, top=3)
    scores = {(n, *link): score for n, x in enumerate(sentences) for link, score in x[2].items()}
    hyp = {link for link, score in scores.items() if threshold is None or score > threshold}
    sure = {(n, *link) for n, x in enumerate(sentences) for link in x[3]}
    gold = sure | {(n, *link) for n, x in enumerate(sentences) for link in x[4]}
    sets = hyp, sure, gold
    lengths = [(len(x[0]), len(x[1])) for x in sentences]
    counts = [Counter(word for pair in counted for word in pair[k]) for k in range(2)]

    def occurrences(_, link):
        n, i, j = link
        rarer = min(counts[0][sentences[n][0][i]], counts[1][sentences[n][1][j]])
        return between(rarer, comparison.OCCURRENCES, ("0", "1", "2-5", "6-20", "21-100", "101+"))

    def distance(_, link):
        n, i, j = link
        apart = abs((i + 0.5) / lengths[n][0] - (j + 0.5) / lengths[n][1])
        return between(apart, comparison.DISTANCES, ("0-0.05", "0.05-0.1", "0.1-0.2", "0.2-0.4", ">0.4"))

    for parts, name_of in (
        ((found.total,), lambda *_: "all"),
        (found.occurrences, occurrences),
        (found.kinds, kind),
        (found.distances, distance),
        (found.crossing, crosses),
    ):
        assert [dataclasses.astuple(x) for x in parts] == part([x.name for x in parts], sets, name_of)
    for histogram, count in (
        (found.src_fertility, lambda x: fertility(x, lengths, 0)),
        (found.tgt_fertility, lambda x: fertility(x, lengths, 1)),
        (found.jumps, lambda x: jumps(x, lengths)),
        (found.kinds_histogram, lambda x: Counter(kind(x, link) for link in x)),
    ):
        for column, some in zip(("hypothesis", "sure", "gold"), sets, strict=True):
            expected = count(some)
            assert list(getattr(histogram, column)) == [expected[name] for name in histogram.names]
            assert set(expected) <= set(histogram.names)

    pairs = [dataclasses.astuple(x) for x in found.wrong_pairs]
    assert pairs == word_pairs(sentences, hyp - gold, hyp & gold, 3)
    pairs = [dataclasses.astuple(x) for x in found.missed_pairs]
    assert pairs == word_pairs(sentences, sure - hyp, sure & hyp, 3)

    greedy, left = [], Counter()
    for n, k in itertools.product(range(len(sentences)), range(2)):
        for at, word in enumerate(sentences[n][k]):
            mine, golden, certain = (
                sorted(x[2 - k] for x in some if x[0] == n and x[1 + k] == at) for some in (hyp, gold, sure)
            )
            if counts[k][word] <= 5 and len(mine) >= 3 and len(mine) > len(golden):
                others = tuple(sentences[n][1 - k][x] for x in mine)
                row = SIDES[k], word, counts[k][word], len(mine), len(golden), others, n + 1
                greedy.append((len(golden) - len(mine), -len(mine), k, n, at, row))
            if certain and not mine:
                left[SIDES[k], word] += 1
    assert found.n_collectors == len(greedy)
    assert [dataclasses.astuple(x) for x in found.collectors] == [x[-1] for x in sorted(greedy)[:3]]
    assert found.n_unlinked == left.total()
    assert [x.times for x in found.unlinked] == sorted(left.values(), reverse=True)[:3]
    for x in found.unlinked:
        assert left[x.side, x.word] == x.times <= x.sure
        assert x.word in sentences[x.line - 1][SIDES.index(x.side)]

    assert found.scores is not None and found.n_absent == len(sure - scores.keys())
    for x in found.scores:
        here = {
            link
            for link, score in scores.items()
            if (x.above is None or score > x.above) and (x.at_most is None or score <= x.at_most)
        }
        assert (x.links, x.right, x.found) == (len(here), len(here & gold), len(here & sure))
        assert x.mean == pytest.approx(sum(scores[link] for link in here) / max(1, len(here)))

    errors = [
        (
            -len({x for x in hyp - gold if x[0] == n}) - len({x for x in sure - hyp if x[0] == n}),
            n,
        )
        for n in range(len(sentences))
    ]
    assert [len(x.wrong) + len(x.missed) for x in found.worst] == [-e for e, _ in sorted(errors) if e][:3]
    for x in found.worst:
        n = x.line - 1
        assert {(n, *link) for link in x.wrong} == {link for link in hyp - gold if link[0] == n}
        assert {(n, *link) for link in x.missed} == {link for link in sure - hyp if link[0] == n}
        assert (list(x.src), list(x.tgt)) == sentences[n][:2]


@settings(max_examples=30)
@given(problem=problems())
def test_parts_add_up_to_what_evaluate_says(problem):
    links, gold, text, train = read(problem)
    found = analyze(links, gold, text, train)
    result = evaluate([links], gold, n_samples=0, text=text, counted=train).results[0]
    totals = dict(zip(COLUMNS, result.statistics.sum(axis=0).tolist(), strict=True))
    expected = [totals[x] for x in ("links", "links_possible", "sure", "links_sure")]
    for parts in ((found.total,), found.occurrences, found.kinds, found.distances, found.crossing):
        sums = [sum(getattr(x, name) for x in parts) for name in ("links", "right", "sure", "found")]
        assert sums == expected
        assert sum(x.errors for x in parts) == found.total.errors
    for name in ("precision", "recall", "aer"):
        assert getattr(found.total, name) == result.scores[name]
    assert found.n_gold == totals["possible"]
    assert found.kinds_histogram.hypothesis[0] == totals["one_to_one"]
    assert found.kinds_histogram.gold[0] == totals["gold_one_to_one"]
    assert result.rare is not None
    rare = found.occurrences[:3]
    if n := sum(x.links for x in rare):
        assert result.rare["precision"] == sum(x.right for x in rare) / n


def small(hyp: list, gold: list, src: str, tgt: str, **options) -> Analysis:
    return analyze(
        Links.from_pairs([hyp]), Links.from_pairs([gold]), Corpus.from_pairs([(src, tgt)]), **options
    )


def test_worked_by_hand():
    """`met` collects three words, two of them wrongly; `house` is missed; `.` is right."""
    hyp = [(1, 0), (1, 1), (1, 2), (2, 3)]
    found = small(hyp, [(0, 0), (1, 1), (2, 3)], "house met .", "seance est ouverte .", top=5)
    assert dataclasses.astuple(found.total) == ("all", 4, 2, 3, 2)
    assert found.total.aer == pytest.approx(3 / 7, abs=1e-15)
    (collector,) = found.collectors
    assert (collector.side, collector.word, collector.links, collector.gold) == ("src", "met", 3, 1)
    assert collector.linked == ("seance", "est", "ouverte")
    assert [(x.src, x.tgt) for x in found.missed_pairs] == [("house", "seance")]
    assert [(x.src, x.tgt) for x in found.wrong_pairs] == [("met", "seance"), ("met", "ouverte")]
    assert [(x.side, x.word) for x in found.unlinked] == [("src", "house")]
    assert found.kinds_histogram.hypothesis == (1, 3, 0, 0)
    assert found.jumps.hypothesis[found.jumps.names.index("+1")] == 1
    assert found.worst[0].wrong == ((1, 0), (1, 2)) and found.worst[0].missed == ((0, 0),)


def test_a_word_of_five_occurrences_is_rare_and_one_of_six_is_not():
    for n in (5, 6):
        counted = Corpus.from_pairs([("a " * n, "")])
        found = small([(0, 0), (0, 1), (0, 2)], [], "a", "x y z", counted=counted)
        assert [x.occurrences for x in found.collectors] == ([5] if n == 5 else [])


@pytest.mark.parametrize(
    "hyp, gold, src, tgt, aer",
    [
        ([], [], "a", "x", 0.0),
        ([], [(0, 0)], "a", "x", 1.0),
        ([(0, 0)], [], "a", "x", 1.0),
        ([], [], "", "x", 0.0),
        ([], [], "", "", 0.0),
    ],
)
def test_nothing_is_defined(hyp, gold, src, tgt, aer):
    found = small(hyp, gold, src, tgt)
    assert found.total.aer == aer and found.scores is None
    assert len(found.wrong_pairs) == len(hyp) and len(found.missed_pairs) == len(gold)


def test_links_must_fit_the_text():
    with pytest.raises(ValueError, match="not in the text"):
        small([(0, 1)], [], "a", "x")
    with pytest.raises(ValueError, match="number of sentences"):
        analyze(Links.from_pairs([[], []]), Links.from_pairs([[]]), Corpus.from_pairs([("a", "x")]))
    with pytest.raises(ValueError, match="without scores"):
        small([(0, 0)], [], "a", "x", threshold=0.5)


def test_a_repeated_link_counts_once_with_its_highest_score():
    hyp = Links.from_pairs([[(0, 0, 0.2), (0, 0, 0.95), (0, 0, 0.3)]])
    found = analyze(hyp, Links.from_pairs([[(0, 0)]]), Corpus.from_pairs([("a", "x")]), threshold=0.5)
    assert found.total.links == 1 and found.scores is not None
    assert [x.links for x in found.scores] == [0] * 9 + [1, 0]


def test_a_link_below_the_threshold_may_be_beyond_all_others():
    hyp = Links.from_pairs([[(0, 0, 0.9), (0, 1, 0.1)], [(0, 0, 0.9)]])
    text = Corpus.from_pairs([("a", "x y"), ("a", "x")])
    found = analyze(hyp, Links.from_pairs([[(0, 0)], [(0, 0)]]), text, threshold=0.5)
    assert found.total.wrong == 0 and found.scores is not None
    assert [(x.links, x.right) for x in found.scores if x.links] == [(1, 0), (2, 2)]
