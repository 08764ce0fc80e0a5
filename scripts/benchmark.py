"""Time, memory and AER over the number of sentence pairs and over their length: ours, and others on PATH.

    scripts/benchmark [--pairs 500 2000] [--lengths 10 40] [--text SRC TGT [GOLD]] [--only NAME ...]

All programs have the same text and the same cores, and take turns; the median of the rounds counts. Text is
that of `aligner generate`, or the last pairs of --text, whose GOLD has links of the last lines. For --lengths
neighbours are joined and cut: all sentences of a text have so many words, and all texts as many words.
Wall seconds are text to text, with grow-diag-final-and of two directions; AER is that of the best heuristic.
Writes benchmark.csv, benchmark.md, pairs.svg and length.svg into a folder. Progress is on stderr.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from contenders import CONTENDERS, Score, p_value, score
from measure import Cost, Job, in_turns, leave_at_signals
from texts import Pair, Text, generated, of_length, of_pairs, pairs_of

from aligner import LinkReader, __version__
from aligner.scoring import pictures
from aligner.scoring.charts import Chart, Line, Panel
from aligner.threads import available

ROOT = Path(__file__).resolve().parent.parent
AXES = {"pairs": "sentence pairs", "length": "words a sentence"}
TOO_LONG = "too long"


@dataclass(frozen=True)
class Row:
    """What a program needs for a text, and how good its links are.

    cost   None: it took longer than the limit
    score  None: there are no links, or no gold links
    p      of the paired bootstrap of AER against the first program; None: it was not asked for
    """

    program: str
    text: Text
    threads: int
    cost: Cost | None
    score: Score | None
    p: float | None = None


def measured(
    text: Text, programs: Sequence[str], threads: int, rounds: int, limit: float, significance: bool = False
) -> list[Row]:
    """A row a program, in their order."""
    jobs = {}
    for number, name in enumerate(programs):
        folder = text.folder / f"program{number}"
        folder.mkdir()
        (folder / "text").symlink_to(text.folder.resolve())
        jobs[name] = Job(CONTENDERS[name].script, folder)
    costs = in_turns(jobs, rounds, threads, limit)
    gold = LinkReader(str(text.gold)).read() if text.gold else None
    rows: list[Row] = []
    for name, cost in costs.items():
        found, p = None, None
        if gold is not None and cost:
            found = score(jobs[name].folder, gold)
            if significance and rows and (first := rows[0].score):
                p = p_value(first, found, gold)
        rows.append(Row(name, text, threads, cost, found, p))
    return rows


def present(names: Sequence[str]) -> list[str]:
    """The programs that are there. Says which are not, and ends this program if all are missing."""
    missing = {name: CONTENDERS[name].needs for name in names if not CONTENDERS[name].is_there()}
    for name, needs in missing.items():
        print(f"{name} is left out: not all of {', '.join(needs)} are on PATH", file=sys.stderr)
    if len(missing) == len(names):
        sys.exit("no program is left to measure: put one on PATH, or choose others by --only")
    return [name for name in names if name not in missing]


@dataclass(frozen=True)
class Point:
    """A row, and where it is on an axis of AXES."""

    axis: str
    at: int
    row: Row


def points(axis: str, texts: dict[int, Sequence[Pair]], options: argparse.Namespace) -> list[Point]:
    """Of texts by their place on an axis, the smallest first. What took too long gets no larger ones."""
    found: list[Point] = []
    programs = options.only
    for at in sorted(texts):
        with tempfile.TemporaryDirectory() as folder:
            text = of_pairs(texts[at], Path(folder))
            print(f"{axis} {at}: {text.n_pairs:,} pairs, {text.n_words[0]:,} words", file=sys.stderr)
            rows = measured(text, programs, options.threads, options.rounds, options.limit)
        found += [Point(axis, at, row) for row in rows]
        programs = [row.program for row in rows if row.cost]
    return found


def by_pairs(options: argparse.Namespace) -> dict[int, Sequence[Pair]]:
    """Number of pairs -> the last ones of the text."""
    most = max(options.pairs)
    pairs = text_of(options, most)
    if len(pairs) < most:
        sys.exit(f"{options.text[0]} has {len(pairs):,} lines: --pairs cannot be {most:,}")
    return {n: pairs[len(pairs) - n :] for n in options.pairs}


def by_length(options: argparse.Namespace) -> dict[int, Sequence[Pair]]:
    """Words a sentence -> pairs of such sentences, --words words a side, or as many as the text has."""
    pairs = text_of(options, options.words // 5 + 2 * options.words // min(options.lengths))
    made = {n: itertools.islice(of_length(pairs, n), max(1, options.words // n)) for n in options.lengths}
    texts: dict[int, Sequence[Pair]] = {n: list(some) for n, some in made.items()}
    if missing := [n for n, some in texts.items() if not some]:
        sys.exit(f"the text is too short for sentences of {missing[0]} words")
    return texts


def text_of(options: argparse.Namespace, n: int) -> list[Pair]:
    """All pairs of the text that is given, or n generated ones."""
    if options.text:
        return pairs_of(options.text)
    with tempfile.TemporaryDirectory() as folder:
        return generated(n, Path(folder))


def machine() -> str:
    """What the numbers are of: version, commit, processor."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    commit = subprocess.run(command, capture_output=True, text=True).stdout.strip() or "no checkout"
    info = Path("/proc/cpuinfo")
    models = [x for x in info.read_text().splitlines() if x.startswith("model name")] if info.exists() else []
    processor = models[0].partition(":")[2].strip() if models else platform.processor() or platform.machine()
    return f"aligner {__version__}, {commit}, {processor}"


COLUMNS = (
    "program", "axis", "at", "pairs", "src_words", "tgt_words", "threads",
    "wall_seconds", "cpu_seconds", "megabytes", "src_words_a_second", "aer", "heuristic", "machine",
)  # fmt: skip


def write_csv(path: Path, found: Sequence[Point]) -> None:
    """All numbers, a line a point. What there is not is empty."""
    place = machine()
    with path.open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(COLUMNS)
        for one in found:
            row, (src, tgt) = one.row, one.row.text.n_words
            cost: list[object] = [""] * 4
            if row.cost:
                cost = [f"{row.cost.wall:.3f}", f"{row.cost.cpu:.3f}", f"{row.cost.megabytes:.1f}"]
                cost.append(f"{src / row.cost.wall:.0f}")
            links = [f"{row.score.aer:.4f}", row.score.heuristic] if row.score else ["", ""]
            size = [row.text.n_pairs, src, tgt, row.threads]
            table.writerow([row.program, one.axis, one.at, *size, *cost, *links, place])


def markdown(found: Sequence[Point], rounds: int) -> str:
    """A table an axis: seconds, megabytes and AER, a row a program, a column a text."""
    lines = [f"{machine()}, {found[0].row.threads} threads, the median of {rounds}"]
    for axis, title in AXES.items():
        here = [one for one in found if one.axis == axis]
        if not here:
            continue
        places = sorted({one.at for one in here})
        lines += ["", f"| seconds / MB / AER, {title} | " + " | ".join(f"{at:,}" for at in places) + " |"]
        lines.append("|---" * (1 + len(places)) + "|")
        for program in dict.fromkeys(one.row.program for one in here):
            cells = {one.at: cell(one.row) for one in here if one.row.program == program}
            lines.append(f"| {program} | " + " | ".join(cells.get(at, "") for at in places) + " |")
    return "\n".join(lines) + "\n"


def cell(row: Row) -> str:
    if row.cost is None:
        return TOO_LONG
    aer = f"{row.score.aer:.1f}" if row.score else "-"
    return f"{row.cost.wall:.1f} / {row.cost.megabytes:.0f} / {aer}"


def chart(found: Sequence[Point], axis: str) -> Chart:
    """Seconds, memory and AER over an axis: a line a program."""
    here = [one for one in found if one.axis == axis and one.row.cost]
    programs = list(dict.fromkeys(one.row.program for one in here))
    panels = []
    for title, value in VALUES.items():
        lines = []
        for program in programs:
            drawn = [(one.at, value(one.row)) for one in here if one.row.program == program]
            shown = [(x, y) for x, y in drawn if y is not None]
            lines.append(Line(program, [x for x, _ in shown], [y for _, y in shown]))
        if any(line.x for line in lines):
            panels.append(Panel(AXES[axis], title, lines, sizes=True, decades=title != "AER (%)"))
    return Chart(panels, [], [])


VALUES: dict[str, Callable[[Row], float | None]] = {  # title of a panel -> what it shows
    "wall seconds": lambda row: row.cost.wall if row.cost else None,
    "memory (MB)": lambda row: row.cost.megabytes if row.cost else None,
    "AER (%)": lambda row: row.score.aer if row.score else None,
}


def measuring(description: str | None, programs: Sequence[str]) -> argparse.ArgumentParser:
    """The options of a script that lets programs take turns."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=programs, default=programs)
    parser.add_argument("--threads", type=int, default=available(), help="and cores")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="a run may take")
    return parser


def main() -> None:
    parser = measuring(__doc__, list(CONTENDERS))
    parser.add_argument("--pairs", type=int, nargs="*", default=[500, 2_000])
    parser.add_argument("--lengths", type=int, nargs="*", default=[10, 40])
    parser.add_argument("--words", type=int, default=10_000, help="a side of the texts of --lengths")
    parser.add_argument("--text", type=Path, nargs="+", metavar="FILE", help="SRC TGT [GOLD]")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmark", metavar="FOLDER")
    options = parser.parse_args()
    if options.text and not 2 <= len(options.text) <= 3:
        parser.error("--text is SRC TGT, or SRC TGT GOLD")
    if min([1, *options.pairs, *options.lengths, options.rounds, options.threads]) < 1:
        parser.error("numbers of pairs, lengths, rounds and threads must be positive")
    if not options.pairs and not options.lengths:
        parser.error("there is no text to measure on: give --pairs or --lengths")
    leave_at_signals()
    options.only = present(options.only)
    try:
        benchmark(options)
    except OSError as error:
        parser.error(str(error))


def benchmark(options: argparse.Namespace) -> None:
    """Measures, and writes the files and the tables."""
    options.out.mkdir(parents=True, exist_ok=True)
    found: list[Point] = []
    for axis, wanted, texts in (("pairs", options.pairs, by_pairs), ("length", options.lengths, by_length)):
        if wanted:
            found += points(axis, texts(options), options)
            write_csv(options.out / "benchmark.csv", found)
            drawn = chart(found, axis)
            if drawn.panels:
                (options.out / f"{axis}.svg").write_bytes(pictures.draw(drawn, "svg"))
    if found:
        table = markdown(found, options.rounds)
        (options.out / "benchmark.md").write_text(table, encoding="utf-8")
        print(table, end="")


if __name__ == "__main__":
    main()
