"""The data of a page: scores as whole numbers, cells, gold, links of files; a page as one file."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from gold import scored_links
from hypothesis import given, settings
from hypothesis import strategies as st
from trained import links_of, recipe_of

from aligner import Corpus, Links, Recipe, read_corpus, train
from aligner.decoding.combine import above
from aligner.errors import DataError
from aligner.scoring import page as pages
from aligner.scoring.viewer import UNIT, Belief, belief, page_data, shown_threshold, whole


@given(st.lists(st.floats(0, 1, width=32), min_size=1), st.integers(0, UNIT))
def test_whole_numbers_are_above_a_threshold_where_scores_are(scores, threshold):
    near = [threshold / UNIT + step * 1e-7 for step in range(-12, 13)]
    values = np.array([*scores, *near]).clip(0, 1)
    assert np.flatnonzero(whole(values) > threshold).tolist() == kept(values, threshold / UNIT)


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1, width=32), min_size=1), st.integers(0, 10**8).map(lambda n: n / 10**8))
def test_whole_numbers_are_above_the_model_s_threshold_where_scores_are(scores, threshold):
    near = [threshold + step * 3e-6 for step in range(-40, 40)]
    near += [threshold + step * 2e-7 for step in range(-5, 6)]
    values = np.array([*scores, *near]).clip(0, 1)
    numbers = whole(values, threshold)
    assert np.flatnonzero(numbers > shown_threshold(threshold)).tolist() == kept(values, threshold)
    plain = whole(values)
    assert (numbers == plain)[plain <= shown_threshold(threshold)].all()
    assert (numbers == plain)[plain > shown_threshold(threshold) + 1].all()


def kept(values: np.ndarray, threshold: float) -> list[int]:
    """Which scores decoding keeps."""
    links = Links.from_pairs([[(0, j, float(x)) for j, x in enumerate(values)]])
    return above(links, threshold).tgt.tolist()


def grid(flat: list[int], width: int) -> dict[tuple[int, int], tuple[int, ...]]:
    """(i, j) -> numbers, of cells written one after another"""
    rows = [flat[k : k + width] for k in range(0, len(flat), width)]
    cells = {(row[0], row[1]): tuple(row[2:]) for row in rows}
    assert len(cells) == len(rows), "a cell is there twice"
    return cells


ONE = st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 3)), st.floats(0.0011, 1), max_size=6)


@settings(max_examples=50)
@given(st.lists(st.tuples(ONE, ONE, ONE, ONE), min_size=1, max_size=3))
def test_cells_are_those_of_any_column(sentences):
    """Against a dictionary for each sentence pair and column."""
    names = ("forward", "reverse", "forward0", "reverse0")
    columns = {name: scored_links([pair[k] for pair in sentences]) for k, name in enumerate(names)}
    corpus = Corpus.from_pairs([("a b c", "x y z w")] * len(sentences))
    data = page_data(corpus, ("s", "t"), Belief({}, columns, np.zeros((len(corpus), 2)), 0.0))
    assert data["columns"] == ["forward", "reverse", "union", "forward0", "reverse0", "union0"]
    for pair, shown in zip(sentences, data["sentences"], strict=True):
        expected = {}
        for cell in set().union(*pair):
            f, r, f0, r0 = (one.get(cell, 0.0) for one in pair)
            six = (f, r, (f + r) / 2, f0, r0, (f0 + r0) / 2)
            expected[cell] = tuple(-int(-round(x * 1e6) // 100) for x in six)
        assert grid(shown["cells"], 8) == expected


@pytest.mark.parametrize(
    "name, projection, printed, before",
    [
        ("shmm", "symmetric", "union", "none"),
        ("hmm", "symmetric", "union0", "none"),
        ("ibm1", "none", "union", None),
    ],
)
def test_what_a_model_believes(name, projection, printed, before, data):
    corpus = read_corpus(str(data / "sample.en"), str(data / "sample.fr"))
    model = train(corpus, recipe_of(name, ibm1_iterations=1, iterations=1, views=["word"]))
    found = belief(model, "m", corpus)
    assert (found.facts["projection"], found.facts["prints"]) == (projection, printed)
    shown = page_data(corpus, ("sample.en", "sample.fr"), found)
    columns = shown["columns"]
    assert columns[:3] == ["forward", "reverse", "union"]
    at = 2 + columns.index(printed)
    for n, links in enumerate(model.align(corpus)):
        cells = shown["sentences"][n]["cells"]
        rows = [cells[k : k + 2 + len(columns)] for k in range(0, len(cells), 2 + len(columns))]
        assert [(row[0], row[1]) for row in rows if row[at] > found.facts["threshold"]] == links
        assert all(max(row[2:]) >= 10 for row in rows)
    assert ("forward0" in columns) == (before is not None)
    for suffix, project in (("", "trained" if projection == "none" else projection), ("0", before)):
        if project is not None:
            expected = links_of(model, corpus, project=project)
            for direction, links in zip(("forward", "reverse"), expected, strict=True):
                assert np.array_equal(found.columns[direction + suffix].scores, links.scores)


def test_a_model_of_one_direction(data):
    corpus = read_corpus(str(data / "sample.en"), str(data / "sample.fr")).part(0, 5)
    model = train(corpus, Recipe.of("ibm1", iterations=1, views=["word"], direction="reverse"))
    shown = page_data(corpus, ("s", "t"), belief(model, "m", corpus))
    assert shown["columns"] == ["reverse"] and shown["model"]["projection"] == "none"
    assert all(pair["costs"][0] is None and pair["costs"][1] > 0 for pair in shown["sentences"])
    json.dumps(shown, allow_nan=False)


def test_links_of_files_and_gold():
    corpus = Corpus.from_pairs([("a b", "x y"), ("c", "z")])
    scored = Links.from_pairs([[(1, 1, 0.25), (0, 0, 0.30001), (1, 1, 0.5)], [(0, 0, 1.0)]])
    plain = Links.from_pairs([[(1, 0), (1, 0)], []])
    gold = Links(*(np.array(x) for x in ([0, 3, 3], [0, 0, 1], [1, 1, 0], [0, 1, 0])))
    shown = page_data(corpus, ("s", "t"), None, ("g", gold), [("one", scored), ("two", plain)], first=7)
    assert [pair["files"] for pair in shown["sentences"]] == [
        [[0, 0, 3001, 1, 1, 5000], [1, 0, 10000]],
        [[0, 0, 10000], []],
    ]
    assert [pair["gold"] for pair in shown["sentences"]] == [[0, 1, 1, 1, 0, 0], []]
    assert [file["scored"] for file in shown["files"]] == [True, False]
    assert (shown["model"], shown["columns"], shown["gold"], shown["first"]) == (None, [], "g", 7)
    assert shown["sentences"][0]["src"] == ["a", "b"] and shown["sentences"][1]["cells"] == []


@pytest.mark.parametrize("score", [-0.1, 1.5, float("inf")])
def test_scores_that_no_threshold_reaches(score):
    corpus = Corpus.from_pairs([("a", "x"), ("b c", "y")])
    links = Links.from_pairs([[(0, 0, 1.0)], [(1, 0, score)]])
    with pytest.raises(DataError, match=f"^f: the score {score:g} of link 1-0 of sentence 2 is not between"):
        page_data(corpus, ("s", "t"), None, None, [("f", links)])


def test_one_file_of_parts(monkeypatch):
    parts = {
        "p.html": '<link rel="stylesheet" href="p.css">\n'
        '<script type="application/json" id="data"></script>\n'
        '<script src="a.js"></script><script src="b.js"></script>',
        "p.css": "b { color: red }\n",
        "a.js": "first(r'\\1');\n",
        "b.js": "second();\n",
    }
    monkeypatch.setattr(pages, "_part", parts.__getitem__)
    data = {"words": ["</script>", "<!--", "\u2028", "&amp;", "\\"]}
    html = pages.page("p.html", data).decode()
    assert "src=" not in html and "href=" not in html
    assert html.index("color: red") < html.index("words") < html.index("first(r'\\1')") < html.index("second")
    (element,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert json.loads(element) == data and "<" not in element
