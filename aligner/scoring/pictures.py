"""Charts as pictures, by matplotlib: the same chart gives the same bytes.

Colours are those of Okabe & Ito (2008), which colour-blind readers can tell apart. Lines differ in style and
markers, too, so that they can be told apart in grey. The legend stands outside the axes, and covers nothing.
"""

from __future__ import annotations

import importlib.util
import io
import logging
import warnings
from typing import Any

from aligner.errors import DataError
from aligner.scoring.charts import Chart, Panel

logger = logging.getLogger(__name__)

FORMATS = ("svg", "png", "pdf")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
WIDTH, HEIGHT = 4.0, 3.8  # inches of a panel
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "aligner",  # names of parts do not depend on the time
    "svg.fonttype": "none",  # text stays text
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "legend.frameon": False,
    "figure.constrained_layout.w_pad": 0.12,
    "figure.constrained_layout.h_pad": 0.08,
    "savefig.dpi": 160,
}
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


def require() -> None:
    """Refuses to draw where matplotlib is not installed. For use before long work."""
    if importlib.util.find_spec("matplotlib") is None:
        raise DataError(
            "pictures need matplotlib",
            hint="install it with the extra word-aligner[plot], or ask for .tsv, which needs none",
        )


def draw(chart: Chart, format: str, title: str = "") -> bytes:
    """A picture in one of FORMATS."""
    require()
    import matplotlib  # 0.3 s
    from matplotlib.figure import Figure

    out = io.BytesIO()
    with matplotlib.rc_context(), warnings.catch_warnings(record=True) as caught:
        matplotlib.rcdefaults()  # the picture is the same for every user
        matplotlib.rcParams.update(SETTINGS)
        warnings.simplefilter("always")
        columns = len(chart.panels) if len(chart.panels) < 4 else 2
        rows = -(-len(chart.panels) // columns)
        names = [line.name for line in chart.panels[0].lines]
        named = len(names) > 1 or names != [""]
        beside = 0.7 + 0.08 * max(map(len, names)) if named else 0  # inches of the legend, about
        figure = Figure(figsize=(columns * WIDTH + beside, rows * HEIGHT), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).flatten()
        for panel, place in zip(chart.panels, axes, strict=True):
            _draw_panel(panel, place)
        if title:
            (figure.suptitle if len(axes) > 1 else axes[0].set_title)(title, parse_math=False)
        if named:
            handles = axes[0].get_lines()[-len(names) :]
            legend = figure.legend(handles, [str(n) for n in range(len(names))], loc="outside right upper")
            for text, name in zip(legend.get_texts(), names, strict=True):
                text.set_parse_math(False)  # a name is no formula
                text.set_text(name.encode("utf-8", "replace").decode())
        figure.savefig(out, format=format, metadata=UNDATED[format])
    for message in dict.fromkeys(str(one.message) for one in caught):
        logger.warning("the picture: %s", message)
    return out.getvalue()


def _draw_panel(panel: Panel, axes: Any) -> None:
    """The lines of a panel, each with its colour, style and marker, in the order of the legend."""
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    axes.set_title(panel.title, fontsize=11)
    if panel.least is not None:
        end = 100 + (100 - panel.least) / 50  # lines at 100 are seen whole
        axes.set_xlim(panel.least, end)
        axes.set_ylim(panel.least, end)
        axes.set_box_aspect(1)
        axes.set_anchor("W")
    if panel.diagonal:
        axes.plot([0, 100], [0, 100], color="#999999", linewidth=1)
    if panel.sizes:
        axes.set_xscale("log")
        sizes = sorted({x for line in panel.lines for x in line.x})
        axes.set_xticks(sizes, [_short(x) for x in sizes])
        axes.set_xticks([], minor=True)
    if panel.decades:
        from matplotlib.ticker import LogLocator

        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_yticks([], minor=True)
    for n, line in enumerate(panel.lines):
        axes.plot(
            line.x,
            line.y,
            color=COLOURS[n % len(COLOURS)],
            linestyle=STYLES[n % len(STYLES)] if len(line.x) > 1 else "",
            marker=MARKERS[n % len(MARKERS)],
            markevery=None if len(line.x) <= 20 else (0.03 * n, 0.12),
        )


def _short(size: float) -> str:
    """10000 -> 10k"""
    for letter, unit in (("M", 1e6), ("k", 1e3)):
        if size >= unit:
            return f"{size / unit:g}{letter}"
    return f"{size:g}"
