"""Runs of aligners side by side: scores, agreement, tables; runs that failed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from aligner import Links
from aligner.scoring.evaluate import evaluate
from aligner.scoring.runs import FORMATS, Run, Runs

A = [[(0, 0), (1, 2)], [(0, 1)], []]
B = [[(0, 0), (1, 1), (2, 2)], [], [(3, 0)]]
GOLD = [[(0, 0), (1, 1)], [(0, 1)], []]
PLAIN = Run("plain", Links.from_pairs(A), "", ("log-likelihood", -1234.5), 1.25, 61.4, "model:hmm")
OTHER = Run("other", Links.from_pairs(B))
FAILED = Run("a|b", None, "failed, exit code 1", None, 0.5, 50.0)


def test_scores_are_those_of_evaluate():
    gold = Links.from_pairs(GOLD)
    both = Runs([PLAIN, FAILED, OTHER], gold)
    expected = [evaluate([run.links], gold, n_samples=0).results[0].scores for run in (PLAIN, OTHER)]
    found = json.loads(both.as_json({}))["runs"]
    for row, scores in zip([found[0], found[2]], expected, strict=True):
        assert {key: row[key] for key in scores} == scores
    shown = [row.split("\t")[1:4] for row in both.shown("tsv").splitlines()[1:4]]
    wanted = [[f"{100 * x[key]:.2f}" for key in ("aer", "precision", "recall")] for x in expected]
    assert shown == [wanted[0], ["", "", ""], wanted[1]]


def test_agreement_is_the_f1_of_two_runs():
    """Against sets of links, one run taken as the truth of the other."""
    found = Runs([PLAIN, FAILED, OTHER], None).agreement
    mine, others = ({(n, *link) for n, links in enumerate(x) for link in links} for x in (A, B))
    precision, recall = len(mine & others) / len(others), len(mine & others) / len(mine)
    f1 = 2 * precision * recall / (precision + recall)
    nan = np.nan
    np.testing.assert_allclose(found, [[1, nan, f1], [nan, nan, nan], [f1, nan, 1]], rtol=1e-12)


def test_links_of_nothing_agree():
    none = [Run(name, Links.from_pairs([[], []])) for name in "ab"]
    assert (Runs(none, None).agreement == 1).all()


@pytest.mark.parametrize("format", FORMATS)
def test_tables_have_all_that_is_known(format):
    text = Runs([PLAIN, FAILED, OTHER], None).shown(format, "AER|n:3")
    for cell in ("failed, exit code 1", "log-likelihood", "-1234", "1.2", "61", "100.0", "28.6", "AER|n:3"):
        assert cell in text, cell
    assert "precision" not in text


def test_tables_as_text():
    assert Runs([PLAIN, FAILED, OTHER], None).shown("text") == (
        "                     links       objective  value  seconds  MB\n"
        "plain                    3  log-likelihood  -1234      1.2  61\n"
        "a|b    failed, exit code 1                             0.5  50\n"
        "other                    4\n"
        "\n"
        "agreement  plain  a|b  other\n"
        "plain      100.0        28.6\n"
        "a|b\n"
        "other       28.6       100.0\n"
    )


def test_names_on_a_terminal():
    """Columns stand below each other, also below wide characters. A name moves no cursor."""
    names = "日本語", "e\u0301", "\x1b[31mred"
    shown = Runs([Run(name, Links.from_pairs(A)) for name in names], None).shown("text")
    assert shown.split("\n\n")[1] == (
        "agreement  日本語      é  ?[31mred\n"
        "日本語      100.0  100.0     100.0\n"
        "é           100.0  100.0     100.0\n"
        "?[31mred    100.0  100.0     100.0\n"
    )


def test_tables_as_markdown():
    head, rule, *rows = Runs([PLAIN, FAILED, OTHER], None).shown("markdown").split("\n\n")[0].splitlines()
    assert rule == "|---|---:|---:|---:|---:|---:|".replace("|", " | ").strip()
    assert rows[1].startswith("| a\\|b | failed"), "a bar in a name ends no cell"
    assert {row.replace("\\|", "").count("|") for row in (head, *rows)} == {7}


def test_json_has_what_is_known_and_no_more():
    whole = json.loads(Runs([PLAIN, FAILED, OTHER], None).as_json({"text": "x"}))
    plain, failed, other = whole["runs"]
    assert plain["objective"] == {"name": "log-likelihood", "value": -1234.5}
    assert (plain["seconds"], plain["megabytes"], plain["signature"]) == (1.25, 61.4, "model:hmm")
    assert failed == {"name": "a|b", "failure": "failed, exit code 1", "seconds": 0.5, "megabytes": 50.0}
    assert other == {"name": "other", "links": 4}
    assert whole["text"] == "x" and whole["agreement"][1] == [None, None, None]


def test_nothing_but_failures():
    both = Runs([FAILED], Links.from_pairs(GOLD))
    assert both.evaluation is None and "failed, exit code 1" in both.shown("text")
