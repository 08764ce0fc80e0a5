"""Every number of the README, of docs/performance.md and of docs/models.md, in tables of Markdown.

    scripts/reproduce [--tables readme languages europarl new-text symmetrization models] [--most 10000]

Text of the corpora is the first N pairs of train, then dev and test, lower-cased; the test sentences are
scored. Rows and costs are those of scripts/benchmark. p is that of a paired bootstrap of AER against the
first program. Our defaults were chosen on dev sets; of programs that write two directions, the heuristic
that is best on the test set is shown. Texts of more pairs than --most are left out. All of it takes hours.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import compare
import symmetrization
from benchmark import TOO_LONG, Row, measured, measuring, present
from contenders import score
from measure import ALIGNER, leave_at_signals
from texts import CORPORA, Text, lines_of, of_corpus, write_text

from aligner import LinkReader
from aligner.models.kinds import MODELS

OTHERS = ("fast_align", "eflomal", "eflomal, 4-letter prefixes", "GIZA++", "mgiza")
OURS = ("aligner align", "aligner align --fast", "aligner align --model shmm")
SHOWN = (*OURS, "aligner align --fast --model hmm", *OTHERS)
# table -> corpus, and pairs of train
CORPUS_TABLES = {
    "readme": [("hansards-en-fr", n) for n in (2_400, 10_000, 100_000, 258_000)],
    "languages": [("czenali-en-cs", 14_710), ("kftt-ja-en", 49_996)],
    "europarl": [("europarl-en-fr", 235_000)],
    "new-text": [("hansards-en-fr", 100_000), ("czenali-en-cs", 14_710)],
    "models": [("hansards-en-fr", 10_000), ("hansards-en-fr", 100_000)],
}
SYMMETRIZED = 1_000_000  # pairs


def costs(corpus: str, n: int, options: argparse.Namespace) -> str:
    """A row a program of what a corpus costs."""
    with tempfile.TemporaryDirectory() as name:
        text = of_corpus(options.data / corpus, n, Path(name))
        rows = measured(text, options.only, options.threads, options.rounds, options.limit, significance=True)
        return cost_table(corpus, rows)


def cost_table(corpus: str, rows: Sequence[Row]) -> str:
    head = f"{corpus}, {rows[0].text.n_pairs:,} pairs, {rows[0].threads} threads"
    lines = [f"| {head} | AER | p | seconds | CPU seconds | MB |", "|---" * 6 + "|"]
    for row in rows:
        p = "" if row.p is None else f"{row.p:.3f}"
        spent = TOO_LONG + " | | "
        if row.cost:
            spent = f"{row.cost.wall:.1f} | {row.cost.cpu:.1f} | {row.cost.megabytes:.0f}"
        lines.append(f"| {row.program} | {row.score or ''} | {p} | {spent} |")
    return "\n".join(lines) + "\n"


def new_text(corpus: str, n: int, options: argparse.Namespace) -> str:
    """AER of the test sentences, aligned by models of the training pairs alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = of_corpus(options.data / corpus, n, folder)
        gold = LinkReader(str(whole.gold)).read()
        known, test = parted(whole, n, len(gold))
        lines = [f"| {corpus}, a model of {known.n_pairs:,} pairs, new text | AER |", "|---|---|"]
        for options_of_training in ("", "--model shmm"):
            words = [ALIGNER, "train", known.folder / "src", known.folder / "tgt", "--quiet", "--overwrite"]
            words += ["--threads", options.threads, *options_of_training.split(), "-o", folder / "model"]
            subprocess.run(list(map(str, words)), check=True)
            words = [ALIGNER, "decode", folder / "model", test.folder / "src", test.folder / "tgt"]
            words += ["--overwrite", "-o", test.folder / "links"]
            subprocess.run(list(map(str, words)), check=True, stderr=subprocess.DEVNULL)
            program = f"aligner train {options_of_training}".strip()
            lines.append(f"| {program}, aligner decode | {score(test.folder, gold)} |")
    return "\n".join(lines) + "\n"


def parted(text: Text, n_first: int, n_last: int) -> tuple[Text, Text]:
    """The first and the last pairs of a text, as texts."""
    sides = [lines_of(text.folder / side) for side in ("src", "tgt")]
    first, last = [x[:n_first] for x in sides], [x[-n_last:] for x in sides]
    return write_text(text.folder / "first", first, None), write_text(text.folder / "last", last, text.gold)


def models(corpus: str, n: int, options: argparse.Namespace) -> str:
    """AER, seconds and megabytes of every model, by `aligner compare`."""
    return compare.table(options.data / corpus, [n], "test", list(MODELS), options.threads)


def main() -> None:
    parser = measuring(__doc__, SHOWN)
    tables = [*CORPUS_TABLES, "symmetrization"]
    parser.add_argument(
        "--tables", nargs="+", choices=tables, default=tables, metavar="TABLE", help=", ".join(tables)
    )
    parser.add_argument("--most", type=int, default=SYMMETRIZED, metavar="N", help="pairs of a text")
    parser.add_argument("--data", type=Path, default=CORPORA, help="where the corpora are")
    options = parser.parse_args()
    leave_at_signals()
    options.only = present(options.only)
    for table in options.tables:
        if table == "symmetrization":
            print(
                symmetrization.table(min(options.most, SYMMETRIZED), options.rounds, options.limit),
                flush=True,
            )
        for corpus, n in CORPUS_TABLES.get(table, []):
            if n > options.most:
                print(f"{table}: {corpus}, {n:,} pairs, is left out (--most)", file=sys.stderr)
            elif not (options.data / corpus).is_dir():
                print(f"{table}: {corpus} is left out: there is no {options.data / corpus}", file=sys.stderr)
            else:
                make = {"new-text": new_text, "models": models}.get(table, costs)
                print(make(corpus, n, options), flush=True)


if __name__ == "__main__":
    main()
