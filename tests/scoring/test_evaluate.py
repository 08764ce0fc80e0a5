"""Scores: against sets in plain Python, worked by hand, at the edges, and against the WPT formulas."""

from __future__ import annotations

import json
import math

import numpy as np
import oracle
import pytest
from gold import gold_links
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import link_sets

from aligner import LinkReader, Links, read_corpus
from aligner.scoring import report
from aligner.scoring.evaluate import Coder, evaluate, measures, resample

ROWS = st.lists(st.tuples(link_sets, link_sets, link_sets), min_size=1, max_size=6)


def score(hyp: list[set], gold: list[tuple[set, set]], **options):
    options.setdefault("n_samples", 0)
    return evaluate([Links.from_pairs(map(sorted, hyp))], gold_links(gold), **options).results[0]


@settings(max_examples=60)
@given(rows=ROWS)
def test_statistics_equal_slow_twin(rows):
    result = score([a for a, _, _ in rows], [(s, p) for _, s, p in rows])
    assert result.statistics.tolist() == [oracle.statistics(*row) for row in rows]


@settings(max_examples=60)
@given(rows=ROWS, alpha=st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_scores_come_from_the_sum(rows, alpha):
    result = score([a for a, _, _ in rows], [(s, p) for _, s, p in rows], alpha=alpha)
    a, s, p, a_s, a_p, one, _ = (
        sum(column) for column in zip(*(oracle.statistics(*r) for r in rows), strict=True)
    )
    precision, recall = (a_p / a if a else 1.0), (a_s / s if s else 1.0)
    assert result.scores["precision"] == precision
    assert result.scores["recall"] == recall
    assert result.scores["aer"] == pytest.approx(1 - (a_s + a_p) / (a + s) if a + s else 0.0, abs=1e-15)
    assert result.scores["one_to_one"] == (one / a if a else 1.0)
    if precision and recall:
        assert result.scores["f_alpha"] == pytest.approx(1 / (alpha / precision + (1 - alpha) / recall))
        assert result.scores["f1"] == pytest.approx(2 * precision * recall / (precision + recall))


def test_worked_by_hand():
    """A = {00 11 22 23}, S = {00 11 33}, P = S + {22}: |A n S| = 2, |A n P| = 3."""
    result = score([{(0, 0), (1, 1), (2, 2), (2, 3)}], [({(0, 0), (1, 1), (3, 3)}, {(2, 2)})])
    assert result.scores["precision"] == 3 / 4
    assert result.scores["recall"] == 2 / 3
    assert result.scores["aer"] == 1 - (2 + 3) / (4 + 3)
    assert result.scores["one_to_one"] == 2 / 4
    assert result.scores["gold_one_to_one"] == 1.0


@pytest.mark.parametrize(
    "hyp, sure, possible, precision, recall, aer, f1",
    [
        (set(), {(0, 0)}, set(), 1.0, 0.0, 1.0, 0.0),  # empty hypothesis: WPT's scorer says AER 0
        (set(), set(), set(), 1.0, 1.0, 0.0, 1.0),  # nothing claimed, nothing to find
        ({(0, 0)}, set(), set(), 0.0, 1.0, 1.0, 0.0),  # everything claimed is wrong
        ({(0, 0)}, set(), {(0, 0)}, 1.0, 1.0, 0.0, 1.0),  # possible links only
        (set(), set(), {(0, 0)}, 1.0, 1.0, 0.0, 1.0),
        ({(0, 0)}, {(0, 0)}, set(), 1.0, 1.0, 0.0, 1.0),
        ({(0, 0)}, {(1, 1)}, set(), 0.0, 0.0, 1.0, 0.0),
    ],
)
def test_edges_are_defined(hyp, sure, possible, precision, recall, aer, f1):
    scores = score([hyp], [(sure, possible)]).scores
    assert [scores[x] for x in ("precision", "recall", "aer", "f1")] == [precision, recall, aer, f1]


def test_sure_is_possible_whether_or_not_it_is_listed(caplog):
    disjoint = score([{(0, 0)}], [({(0, 0), (1, 1)}, {(2, 2)})])
    listed = score([{(0, 0)}], [({(0, 0), (1, 1)}, {(0, 0), (1, 1), (2, 2)})])
    assert not caplog.records
    half = score([{(0, 0)}], [({(0, 0), (1, 1)}, {(1, 1), (2, 2)})])
    assert [r.statistics.tolist() for r in (disjoint, listed, half)] == [[[1, 2, 3, 1, 1, 1, 3]]] * 3
    assert len(caplog.records) == 1 and "1 of 2 sure links are not listed as possible" in caplog.text


def test_repeated_links_count_once():
    hyp = Links.from_pairs([[(0, 0), (0, 0), (1, 1)]])
    assert evaluate([hyp], gold_links([({(0, 0)}, set())]), n_samples=0).results[0].statistics[0, 0] == 2


def test_bootstrap_against_plain_python():
    table = np.arange(35).reshape(5, 7)
    table = np.vstack([table, table[:2]])  # two sentences of a kind
    sums = resample(table, 20, seed=3)
    random = np.random.default_rng(3)
    for row in sums:
        times = random.multinomial(7, [2 / 7, 2 / 7, 1 / 7, 1 / 7, 1 / 7])
        expected = [
            sum(int(n) * int(kind[k]) for n, kind in zip(times, table, strict=False)) for k in range(7)
        ]
        assert row.tolist() == expected
    np.testing.assert_array_equal(sums, resample(table, 20, seed=3))
    assert (sums != resample(table, 20, seed=4)).any()


def test_interval_holds_the_score_and_narrows():
    random = np.random.default_rng(0)
    hyp = [{(0, 0)} if random.random() < 0.7 else {(0, 1)} for _ in range(400)]
    gold = [({(0, 0)}, set())] * 400
    wide = score(hyp[:40], gold[:40], n_samples=500).intervals["aer"]
    narrow = score(hyp, gold, n_samples=500)
    low, high = narrow.intervals["aer"]
    assert low < narrow.scores["aer"] < high
    assert high - low < wide[1] - wide[0]
    # A share of 0.7 of 400: a standard error of sqrt(0.7 * 0.3 / 400), 1.96 of them to either side
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(0.7 * 0.3 / 400), rel=0.2)


def test_paired_bootstrap_tells_better_from_equal():
    random = np.random.default_rng(0)
    gold = [({(0, 0)}, set())] * 300
    a = Links.from_pairs([[(0, 0)] if random.random() < 0.8 else [(0, 1)] for _ in gold])
    b = Links.from_pairs([[(0, 0)] if random.random() < 0.5 else [(0, 1)] for _ in gold])
    answer = gold_links(gold)
    assert evaluate([a, b], answer).p_value == pytest.approx(1 / 1001)
    same = evaluate([a, a], answer)
    assert same.p_value == 1.0 and same.symmetry == 1.0


def test_symmetry_of_two_directions():
    a, b = Links.from_pairs([[(0, 0), (1, 1)]]), Links.from_pairs([[(0, 0), (1, 2), (2, 2)]])
    assert evaluate([a, b], gold_links([(set(), set())]), n_samples=0).symmetry == 1 / 4


def test_rare_and_common_words(write):
    """a and x occur six times, the rest once: only links between those two are of common words."""
    src, tgt = write("src", "a r\n" + "a\n" * 5), write("tgt", "x y\n" + "x\n" * 5)
    text = read_corpus(src, tgt)
    hyp = [{(0, 0), (1, 1), (0, 1)}] + [{(0, 0)}] * 4 + [set()]
    gold = [({(0, 0), (1, 1)}, set())] + [({(0, 0)}, set())] * 5
    result = score(hyp, gold, text=text)
    assert result.rare["precision"] == 1 / 2 and result.rare["recall"] == 1.0  # 1-1 right, 0-1 wrong
    assert result.common["precision"] == 1.0 and result.common["recall"] == 5 / 6
    five = read_corpus(write("fives", "a r\n" * 5 + "a\n"), write("fivet", "x y\n" * 6))
    assert score(hyp, gold, text=text, counted=five).rare["precision"] == 1.0  # r occurs five times: 1-1
    assert score(hyp, gold, text=text, counted=five).rare["recall"] == 1.0
    big = read_corpus(write("bigs", "a r\n" * 6), write("bigt", "x y\n" * 6))
    assert score(hyp, gold, text=text, counted=big).rare["precision"] == 1.0  # nothing is rare there
    other = read_corpus(write("os", "q\n"), write("ot", "q\n"))
    assert score(hyp, gold, text=text, counted=other).common["recall"] == 1.0  # unknown words are rare


def test_absurd_positions_are_refused():
    far = Links.from_pairs([[(2**31 - 1, 2**31 - 1)]] * 3)
    with pytest.raises(Exception, match="too many to compare"):
        Coder([far])


def test_signature_names_the_gold_standard_not_its_file():
    gold = gold_links([({(0, 0)}, {(1, 1)}), (set(), set())])
    shuffled = Links(gold.offsets, gold.src[::-1].copy(), gold.tgt[::-1].copy(), gold.sure[::-1].copy())
    other = gold_links([({(0, 0), (1, 1)}, set()), (set(), set())])
    names = [evaluate([gold], g, n_samples=0).gold_hash for g in (gold, shuffled, other)]
    assert names[0] == names[1] != names[2]
    signature = report.signature(evaluate([gold], gold, n_samples=0), {"seed": 1})
    assert signature == f"AER|gold:{names[0]}|n:2|seed:1|version:{report.__version__}"


def test_reports_agree():
    gold = gold_links([({(0, 0)}, {(1, 1)}), ({(0, 1)}, set())])
    result = evaluate([Links.from_pairs([[(0, 0)], [(1, 1)]])], gold, n_samples=10)
    whole = json.loads(report.as_json(result, ["hyp"], "sig", True, 0.4))
    hyp = whole["hypotheses"][0]
    assert whole["signature"] == "sig" and hyp["aer"] == result.results[0].scores["aer"]
    assert [row["aer"] for row in hyp["sentences"]] == [0.0, 1.0]
    *lines, last = report.as_tsv(result, ["hyp"], "sig", 0.4, 2).splitlines()
    tsv = [line.split("\t") for line in lines]
    assert [row[1] for row in tsv] == ["sentence", "1", "2", "all"] and last == "# sig"
    assert tsv[3][2] == f"{100 * hyp['aer']:.2f}" == report.as_text(result, ["hyp"], "", 0.4, 2).split()[1]


def test_measures_of_many_rows_at_once():
    rows = np.array([[4, 3, 4, 2, 3, 2, 4], [0, 3, 3, 0, 0, 0, 3]])
    both = measures(rows, 0.5)
    for k, row in enumerate(rows):
        assert {name: x[k] for name, x in both.items()} == {
            n: float(x) for n, x in measures(row, 0.5).items()
        }


def test_wpt_formulas_on_the_hansards(shared):
    """The numbers of the WPT formulas, computed by hand from the NAACL file."""
    folder = shared / "wpt2003-en-fr"
    lines = (folder / "test.wa.nonullalign").read_text().splitlines()
    lengths = [len(line.split()) - 3 for line in (folder / "test.e").read_text().splitlines()]
    diagonal = [[(i, i) for i in range(n)] for n in lengths]
    hyp = {(n + 1, i + 1, j + 1) for n, links in enumerate(diagonal) for i, j in links}
    precision, recall, aer = oracle.wpt_scores(hyp, lines)
    for gold in (folder / "test.wa.nonullalign", shared / "hansards-en-fr" / "test.gold"):
        links = LinkReader(str(gold)).read()
        scores = evaluate([Links.from_pairs(diagonal)], links, n_samples=0).results[0].scores
        assert scores["precision"] == precision and scores["recall"] == recall
        assert scores["aer"] == pytest.approx(aer, rel=1e-14)
        assert int(links.sure.sum()) == 4038 and len(links.src) == 17438
