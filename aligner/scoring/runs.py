"""Runs of aligners over one text, side by side: scores of their links, how far they agree, what they cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligner.links.links import Links
from aligner.scoring.evaluate import Coder, Evaluation, among, evaluate, share
from aligner.scoring.terminal import places, printable

SCORES = {"aer": "AER", "precision": "precision", "recall": "recall"}
FORMATS = ("text", "markdown", "tsv")

Rows = list[list[str]]  # of a table: the first row is its head, the first cell of a row is a name


@dataclass(frozen=True, eq=False)
class Run:
    """A run of an aligner, or a file of links that some aligner wrote.

    links      of the sentence pairs that are compared; None: the run failed
    failure    how the run failed
    objective  (name, value) of what training raised, as the last iteration found it
    seconds    from text to links
    megabytes  the most memory that the run had
    signature  how the links were made
    """

    name: str
    links: Links | None = None
    failure: str = ""
    objective: tuple[str, float] | None = None
    seconds: float | None = None
    megabytes: float | None = None
    signature: str = ""


class Runs:
    """Runs of aligners, compared with each other and with a gold standard.

    evaluation  of the runs that did not fail, in their order; None: there is no gold standard
    agreement   [n_runs, n_runs] F1 of the links of two runs, 2 |A n B| / (|A| + |B|); nan: one of them failed
    """

    def __init__(self, runs: Sequence[Run], gold: Links | None) -> None:
        self.runs = list(runs)
        found = {k: run.links for k, run in enumerate(runs) if run.links is not None}
        self.evaluation: Evaluation | None = None
        self._scores: dict[int, dict[str, float]] = {}
        if gold is not None and found:
            self.evaluation = evaluate(list(found.values()), gold, n_samples=0)
            results = (result.scores for result in self.evaluation.results)
            self._scores = dict(zip(found, results, strict=True))
        self.agreement = np.full((len(runs), len(runs)), np.nan)
        coder = Coder(list(found.values())) if found else None
        codes = {k: coder.encode(links) for k, links in found.items() if coder is not None}
        for k, mine in codes.items():
            for m, others in codes.items():
                both = 2 * among(mine, others).sum()
                self.agreement[k, m] = share(both, np.array(len(mine) + len(others)))

    def table(self) -> Rows:
        """A row a run: scores in percent, links, objective, cost."""
        of_scores = list(SCORES.values()) if self.evaluation is not None else []
        rows = [["", *of_scores, "links", "objective", "value", "seconds", "MB"]]
        for k, run in enumerate(self.runs):
            cells = [f"{100 * self._scores[k][key]:.2f}" for key in SCORES] if k in self._scores else []
            if run.links is None:
                cells = [""] * len(of_scores)
            name, value = run.objective or ("", None)
            rows.append(
                [
                    run.name,
                    *cells,
                    run.failure if run.links is None else f"{len(run.links.src)}",
                    name,
                    _number(value, 0),
                    _number(run.seconds, 1),
                    _number(run.megabytes, 0),
                ]
            )
        return rows

    def agreements(self) -> Rows:
        """A row and a column a run: how far their links agree, in percent."""
        names = [run.name for run in self.runs]
        rows = [["agreement", *names]]
        for name, numbers in zip(names, self.agreement, strict=True):
            rows.append([name, *("" if np.isnan(x) else f"{100 * x:.1f}" for x in numbers)])
        return rows

    def shown(self, format: str, signature: str = "") -> str:
        """The two tables in one of FORMATS, and the signature of the scores, if there are scores."""
        parts = [FORMATTED[format](rows) for rows in (self.table(), self.agreements())]
        if signature:
            parts.append(f"# {signature}\n" if format == "tsv" else f"{signature}\n")
        return "\n".join(parts)

    def as_json(self, about: dict[str, Any]) -> str:
        """JSON for programs: shares are between 0 and 1. about: more for the beginning"""
        rows = []
        for k, run in enumerate(self.runs):
            row: dict[str, Any] = {"name": run.name}
            if run.links is None:
                row["failure"] = run.failure
            else:
                row |= {"links": len(run.links.src)} | self._scores.get(k, {})
            if run.objective is not None:
                row["objective"] = dict(zip(("name", "value"), run.objective, strict=True))
            for key in ("seconds", "megabytes", "signature"):
                if getattr(run, key):
                    row[key] = getattr(run, key)
            rows.append(row)
        shares = [[None if np.isnan(x) else x for x in row] for row in self.agreement.tolist()]
        return json.dumps(about | {"runs": rows, "agreement": shares}, indent=1, ensure_ascii=False) + "\n"


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _text(rows: Rows) -> str:
    """Names stand left, and all else right. Widths are those of a terminal."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(places, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        blanks = [" " * (width - places(cell)) for cell, width in zip(row, widths, strict=True)]
        right = (blank + cell for blank, cell in zip(blanks[1:], row[1:], strict=True))
        lines.append("  ".join([row[0] + blanks[0], *right]).rstrip() + "\n")
    return "".join(lines)


def _markdown(rows: Rows) -> str:
    head, *others = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    rule = ["---", *(["---:"] * (len(head) - 1))]
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *others))


def _tsv(rows: Rows) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


FORMATTED = dict(zip(FORMATS, (_text, _markdown, _tsv), strict=True))
