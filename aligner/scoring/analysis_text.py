"""An analysis as text for a terminal of 80 columns, and as JSON."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict
from typing import Any

from aligner import __version__
from aligner.errors import number_of
from aligner.scoring.analysis import Analysis
from aligner.scoring.analysis_tables import Cell, Column, Kind, Names, Table, scales, shown, summary, tables
from aligner.scoring.comparison import Part
from aligner.scoring.terminal import cut, places, printable

WIDTH = 80
BAR = 6  # columns of the longest bar
WORD = 18  # columns of a word; longer ones end in an ellipsis
EIGHTHS = " ▏▎▍▌▋▊▉"


def as_text(analysis: Analysis, names: Names, signature: str, threshold: float | None) -> str:
    """The report: a summary, then a table after another."""
    n_src, n_tgt = (number_of(n, "word") for n in analysis.n_tokens)
    head = [
        f"{names.hyp} against {names.gold}, {number_of(analysis.n_sentences, 'sentence pair')}",
        f"source  {names.src}, {n_src}",
        f"target  {names.tgt}, {n_tgt}",
        "",
    ]
    head += [f"{name:<9}  {shown(value):>5}  {what}" for name, value, what in summary(analysis)]
    lines = [*map(printable, head)]
    for table in tables(analysis, names, threshold):
        title = printable(table.title)
        lines += ["", title, "─" * places(title), *_wrapped(table.tells)]
        lines += _rows(table) if table.rows else []
    return "\n".join([*lines, "", signature]) + "\n"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(printable(text), WIDTH, break_on_hyphens=False)


def bar(value: float, most: float) -> str:
    """A bar of BAR columns for the largest number, in eighths of a column."""
    eighths = round(8 * BAR * value / most) if most else 0
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip().ljust(BAR)


def _cell(cell: Cell, column: Column) -> str:
    if column.kind is Kind.SHARE:
        assert cell is None or isinstance(cell, float)
        return shown(cell)
    if isinstance(cell, tuple):
        return " ".join(map(printable, cell))
    return cut(printable(str(cell)), WORD)


def _padded(text: str, width: int, to_the_right: bool) -> str:
    blanks = " " * (width - places(text))
    return blanks + text if to_the_right else text + blanks


def _rows(table: Table) -> list[str]:
    """Columns side by side, numbers to the right, bars behind their numbers."""
    most = scales(table)
    done: list[list[str]] = []
    left = WIDTH
    for k, column in enumerate(table.columns):
        cells = [_cell(row[k], column) for row in table.rows]
        name = cut(printable(column.name), WORD)
        if column.kind is Kind.WORDS:
            cells = [cut(cell, left) for cell in cells]
        width = max(map(places, [name, *cells]))
        to_the_right = column.kind in (Kind.COUNT, Kind.SHARE, Kind.LINE)
        padded = [_padded(cell, width, to_the_right) for cell in (name, *cells)]
        if column.bar:
            values = [row[k] for row in table.rows]
            bars = [bar(value if isinstance(value, int | float) else 0, most[column.bar]) for value in values]
            padded = [f"{cell} {more}" for cell, more in zip(padded, [" " * BAR, *bars], strict=True)]
        left -= places(padded[0]) + 2
        done.append(padded)
    return ["  ".join(cells).rstrip() for cells in zip(*done, strict=True)]


def as_json(analysis: Analysis, names: Names, signature: str, threshold: float | None) -> str:
    """All numbers for programs: shares are between 0 and 1."""

    def fields(part: Part) -> dict[str, Any]:
        more = ("wrong", "missed", "precision", "recall", "aer")
        return {**asdict(part), **{name: getattr(part, name) for name in more}}

    found = asdict(analysis)
    found["total"] = fields(analysis.total)
    for name in ("occurrences", "kinds", "distances", "crossing"):
        found[name] = [fields(part) for part in getattr(analysis, name)]
    whole = {"version": __version__, "signature": signature, "files": asdict(names), "threshold": threshold}
    return json.dumps({**whole, **found}, indent=1, ensure_ascii=False) + "\n"
