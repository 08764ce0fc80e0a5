"""What pictures of scores show, as lines of numbers: curves, calibration, training size, rare words.

A chart has panels with lines, which become a picture (pictures.py), and rows, which become TSV. Shares are in
percent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from aligner.scoring.curves import Calibration, Curve
from aligner.scoring.evaluate import Result

POINTS = 500  # of a curve, at most, in a chart
LEAST = 20  # percent between the corner of a panel of curves and the best points in it
RATES = {"precision": "precision", "recall": "recall", "aer": "AER", "f1": "F1"}

Cell = str | int | float | None


@dataclass(frozen=True)
class Line:
    """A line, or a point, of a panel."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """Lines over the same axes.

    least     None, or the least number of both axes, which then end at 100
    sizes     whether x are sizes of texts, on a logarithmic scale
    decades   whether y is on a logarithmic scale
    diagonal  whether the line x = y is shown
    """

    x: str
    y: str
    lines: Sequence[Line]
    title: str = ""
    least: float | None = None
    sizes: bool = False
    decades: bool = False
    diagonal: bool = False


@dataclass(frozen=True)
class Chart:
    """Panels, and the same numbers as rows of a table."""

    panels: Sequence[Panel]
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def as_tsv(self) -> str:
        """A line a row, below the names of the columns. What there is not is empty."""
        lines = ["\t".join(self.columns)]
        lines += ["\t".join(map(_shown, row)) for row in self.rows]
        return "".join(f"{line}\n" for line in lines)


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def curves(named: Sequence[tuple[str, Curve | Result]]) -> Chart:
    """Precision by recall. Of links without scores, which have a Result, it is one point.

    A curve has at least one point. The corner of the axes is below the point of the best F1 of each curve.
    """
    lines, best = [], []
    rows: list[list[Cell]] = []
    for name, found in named:
        if isinstance(found, Curve):
            at = found.thinned(POINTS)
            rates = {key: 100 * x[at] for key, x in found.rates().items()}
            thresholds = [f"{x:.6f}" for x in found.thresholds[at]]
            n_links = found.n_links[at].tolist()
            k = int(np.argmax(rates["f1"]))
        else:
            rates = {key: np.array([100 * found.scores[key]]) for key in RATES}
            thresholds, n_links, k = [""], [int(found.statistics[:, 0].sum())], 0
        lines.append(Line(name, rates["recall"].tolist(), rates["precision"].tolist()))
        columns = [rates[key].tolist() for key in RATES]
        rows += [[name, *row] for row in zip(thresholds, n_links, *columns, strict=True)]
        best += [rates["recall"][k], rates["precision"][k]]
    corner = 10.0 * max(0, math.floor((min(best) - LEAST) / 10))
    panel = Panel("recall (%)", "precision (%)", lines, least=corner)
    return Chart([panel], ["name", "threshold", "links", *RATES.values()], rows)


def calibration(named: Sequence[tuple[str, Calibration]]) -> Chart:
    """The share of links that are right by their score. Bins without links are left out."""
    lines = []
    rows: list[list[Cell]] = []
    for name, found in named:
        at = np.flatnonzero(found.n_links)
        score, right = (100 * found.score[at]).tolist(), (100 * found.share[at]).tolist()
        lines.append(Line(name, score, right))
        for b, *cells in zip(at.tolist(), found.n_links[at].tolist(), score, right, strict=True):
            rows.append([name, f"{found.edges[b]:g}", f"{found.edges[b + 1]:g}", *cells])
    panel = Panel("mean score of the links (%)", "links that are right (%)", lines, least=0.0, diagonal=True)
    return Chart([panel], ["name", "above", "up to", "links", "score", "right"], rows)


@dataclass(frozen=True)
class Sized:
    """The scores of links whose model was trained on a text of some size. threshold: None if there is none"""

    name: str
    size: float
    threshold: float | None
    result: Result

    def row(self) -> list[Cell]:
        threshold = None if self.threshold is None else f"{self.threshold:.6f}"
        return [self.name, f"{self.size:.12g}", threshold, int(self.result.statistics[:, 0].sum())]


def learning(found: Sequence[Sized], measure: str) -> Chart:
    """A measure, one of RATES, by the size of the training text."""
    lines = _by_size(found, lambda one: one.result.scores[measure])
    panel = Panel("training sentence pairs", f"{RATES[measure]} (%)", lines, sizes=True)
    rows = [[*one.row(), *(100 * one.result.scores[key] for key in RATES)] for one in _in_order(found)]
    return Chart([panel], ["name", "size", "threshold", "links", *RATES.values()], rows)


def rare(found: Sequence[Sized]) -> Chart:
    """Precision and recall of links with a rare word, and of all others, by the size of the training text."""
    parts = [(part, key) for part in ("common", "rare") for key in ("precision", "recall")]
    x, panels = "training sentence pairs", []
    for part, key in parts:
        lines = _by_size(found, partial(_score_of, part, key))
        panels.append(Panel(x, f"{key} (%)", lines, f"{part} words", sizes=True))
    rows = [[*one.row(), *(100 * _score_of(*y, one) for y in parts)] for one in _in_order(found)]
    return Chart(panels, ["name", "size", "threshold", "links", *map(" ".join, parts)], rows)


def _score_of(part: str, key: str, one: Sized) -> float:
    """A score of the links of rare words, or of common ones."""
    return float(getattr(one.result, part)[key])


def _in_order(found: Sequence[Sized]) -> list[Sized]:
    """By name, in the order in which names are given, and by size."""
    names = list(dict.fromkeys(one.name for one in found))
    return sorted(found, key=lambda one: (names.index(one.name), one.size))


def _by_size(found: Sequence[Sized], value: Callable[[Sized], float]) -> list[Line]:
    """A line a name."""
    lines: dict[str, list[Sized]] = {}
    for one in _in_order(found):
        lines.setdefault(one.name, []).append(one)
    return [Line(name, [x.size for x in of], [100 * value(x) for x in of]) for name, of in lines.items()]
