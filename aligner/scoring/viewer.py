"""What a page of sentence pairs shows: words, scores of cells, gold links, and links of files.

A score is a whole number of 1e-4: the ceiling of the score as files have it, with six decimals. A score is
above a threshold of four decimals if and only if its number is above 10000 times the threshold.

A model's threshold may have more decimals. The page has the next lower number of 1e-4, and so have scores
between the two: the links above the number are those that decoding prints.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import __version__
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.links.links import Links
from aligner.models.kinds import LATTICES
from aligner.scoring.evaluate import Coder
from aligner.text.cells import Seen
from aligner.text.corpus import Corpus

Longs = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

UNIT = 10_000  # a score of 1
DIRECTIONS = ("forward", "reverse")


@dataclass(frozen=True, eq=False)
class Belief:
    """What a model says of a text.

    facts      name, signature, threshold and direction of the model; what the columns after projection are
               projected onto; the column whose links decoding prints
    columns    name of a column -> links with scores, sorted; "forward0" is "forward" before projection
    costs      [S, 2] as of `directions`; nan: there is none
    threshold  that decoding has
    """

    facts: dict[str, Any]
    columns: dict[str, Links]
    costs: Doubles
    threshold: float


def belief(
    model: Model, name: str, corpus: Corpus, seen: Sequence[Seen] | None = None, n_threads: int = 1
) -> Belief:
    """What a model says of a text that is split and lower-cased as the model's was.

    Posteriors of an HMM that was trained without projection are projected onto symmetric links here. Decoding
    prints its links before projection.
    name  what the page calls the model
    seen  what each view sees of the text, where that is known
    """
    recipe, costs = model.recipe, np.empty((len(corpus), 2))
    wanted = DIRECTIONS if recipe.direction == "both" else (recipe.direction,)
    onto = recipe.last.objective if recipe.last.constrained else "symmetric"
    projected = recipe.last.family in LATTICES and recipe.direction == "both"
    printed = "union" if recipe.direction == "both" else recipe.direction
    if projected and not recipe.last.constrained:
        printed = "union0"
    threshold = model.threshold_of(recipe.direction, "soft-union")
    columns = {}
    for suffix, project in (("", onto), ("0", "none")) if projected else (("", "none"),):
        settings = {"seen": seen, "project": project, "costs": costs, "n_threads": n_threads}
        blocks = list(model.directions(corpus, **settings))
        for k, direction in enumerate(DIRECTIONS):
            if direction in wanted:
                columns[direction + suffix] = Links.joined(block[k] for block in blocks)
    facts = {
        "name": _readable(name),
        "signature": model.signature,
        "threshold": shown_threshold(threshold),
        "direction": recipe.direction,
        "projection": onto if projected else "none",
        "prints": printed,
    }
    return Belief(facts, columns, costs, threshold)


def page_data(
    corpus: Corpus,
    names: tuple[str, str],
    believed: Belief | None = None,
    gold: tuple[str, Links] | None = None,
    files: Sequence[tuple[str, Links]] = (),
    first: int = 1,
    tables: Sequence[list[list[str]]] = (),
) -> dict[str, Any]:
    """The data of a page, ready for JSON. All links are inside the text.

    names   of the files of source and target
    gold    name and links of the gold standard
    files   name and links of each file; a link without a score has the score 1
    first   the number of the first sentence pair
    tables  of the runs that made the files (scoring/runs.py): rows of cells
    """
    coder = Coder(
        [
            *(believed.columns.values() if believed else ()),
            *([gold[1]] if gold else ()),
            *(links for _, links in files),
            Links.from_pairs([[]] * len(corpus)),
        ]
    )
    columns: list[str] = []
    cells: list[list[int]] = [[]] * len(corpus)
    answers: list[list[int]] = [[]] * len(corpus)
    costs: list[list[float | None]] = [[]] * len(corpus)
    if believed is not None:
        columns, cells = _cells(coder, believed)
        costs = [[None if np.isnan(x) else round(x, 4) for x in pair] for pair in believed.costs.tolist()]
    if gold is not None:
        truth = coder.gold(gold[1])
        sure = np.isin(truth.possible, truth.sure).astype(np.int64)
        answers = _by_sentence(coder, truth.possible, [sure])
    found = [_links(coder, links, name, first) for name, links in files]
    return {
        "version": __version__,
        "title": " – ".join(dict.fromkeys(os.path.basename(_readable(name)) for name in names)),
        "src": _readable(names[0]),
        "tgt": _readable(names[1]),
        "first": first,
        "model": believed.facts if believed else None,
        "columns": columns,
        "files": [{"name": _readable(name), "scored": links.scores is not None} for name, links in files],
        "gold": _readable(gold[0]) if gold else None,
        "tables": [[[_readable(cell) for cell in row] for row in table] for table in tables],
        "sentences": [
            {
                "src": corpus.src.sentence(n),
                "tgt": corpus.tgt.sentence(n),
                "cells": cells[n],
                "gold": answers[n],
                "files": [one[n] for one in found],
                "costs": costs[n],
            }
            for n in range(len(corpus))
        ],
    }


def shown_threshold(threshold: float) -> int:
    """A threshold as a whole number of 1e-4, not above it."""
    return math.floor(round(UNIT * threshold, 6))


def whole(scores: Doubles, threshold: float = 0.0) -> Longs:
    """Scores as whole numbers of 1e-4: ceilings of scores of six decimals.

    A score has at most the number of the threshold if it is not above the threshold.
    """
    millionths = np.rint(scores * 1e6).astype(np.int64)
    numbers = -(-millionths // 100)
    below = np.minimum(scores, np.round(scores, 6)) <= threshold  # as decoding.combine.above compares
    return np.where(below, np.minimum(numbers, shown_threshold(threshold)), numbers)


def _cells(coder: Coder, believed: Belief) -> tuple[list[str], list[list[int]]]:
    """The names of the columns, and of each sentence pair its cells: i, j and a score a column."""
    codes = {name: coder.encode(links) for name, links in believed.columns.items()}
    places = np.unique(np.concatenate(list(codes.values())))
    scores = {}
    for name, links in believed.columns.items():
        assert links.scores is not None
        scores[name] = np.zeros(len(places))
        scores[name][np.searchsorted(places, codes[name])] = links.scores
    table: dict[str, Doubles] = {}
    for suffix in ("", "0"):
        mine = [name + suffix for name in DIRECTIONS if name + suffix in scores]
        table |= {name: scores[name] for name in mine}
        if len(mine) == 2:
            table[f"union{suffix}"] = 0.5 * (scores[mine[0]] + scores[mine[1]])
    return list(table), _by_sentence(coder, places, [whole(x, believed.threshold) for x in table.values()])


def _links(coder: Coder, links: Links, name: str, first: int) -> list[list[int]]:
    """Of each sentence pair the links of a file: i, j and score. Of two copies of a link, the better one."""
    scores = np.ones(len(links.src)) if links.scores is None else links.scores
    outside = ~((scores >= 0) & (scores <= 1))
    if outside.any():
        k = int(outside.argmax())
        raise DataError(
            f"the score {scores[k]:g} of link {links.src[k]}-{links.tgt[k]} of sentence"
            f" {links.sentences[k] + first} is not between 0 and 1",
            file=name,
            hint="thresholds of a page are between 0 and 1: scale the scores, or leave them out",
        )
    codes, scores = coder.best(links, scores)
    return _by_sentence(coder, codes, [whole(scores)])


def _by_sentence(coder: Coder, codes: Longs, columns: Sequence[Longs]) -> list[list[int]]:
    """Of each sentence, i, j and the columns of each of its codes, one after another. codes: sorted"""
    sentence, src, tgt = coder.decode(codes)
    rows = np.column_stack([src, tgt, *columns])
    cuts = np.searchsorted(sentence, np.arange(coder.S + 1)).tolist()
    return [rows[a:b].ravel().tolist() for a, b in zip(cuts, cuts[1:], strict=False)]


def _readable(name: str) -> str:
    """The name of a file. Bytes that are no UTF-8 become question marks."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
