"""AER, seconds and megabytes of every model on real text: the table of docs/models.md.

    scripts/compare.py [--corpus hansards-en-fr] [--sizes 10000 100000] [--gold test] [--threads 2]

Training text is the first N pairs of train, then dev and test, lower-cased. `aligner compare` trains every
model on it, and, if all models are wanted, the settings of SETTINGS, once on words alone and once on the
views that each model has by default. Seconds and megabytes are those of the largest text. Prints a Markdown
table.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from measure import ALIGNER
from texts import CORPORA, n_lines, of_corpus

from aligner.models.kinds import MODELS
from aligner.threads import available

# name of a row -> options of `aligner align`; rows beside those of the models
AGREED = "--stages ibm1:1,ibm1-agree:4"  # Model 1 with agreement, as the start of others
SETTINGS = {
    "`ibm2 --agree` (Liang et al. 2006)": "--model ibm2 --agree",
    "`diagonal`, best paths, intersection": "--model diagonal --viterbi --symmetrize intersection",
    "the same, `--tension 4`": "--model diagonal --tension 4 --viterbi --symmetrize intersection",
    "`ibm1:1,ibm1-agree:4,diagonal-agree:3`": f"{AGREED},diagonal-agree:3",
    "`surrogate`, best paths, intersection": "--model surrogate --viterbi --symmetrize intersection",
    "`surrogate --smooth ibm2`, the same": "--model surrogate --smooth ibm2 --viterbi"
    " --symmetrize intersection",
    "`ibm1:1,ibm1-agree:4,surrogate:2`": f"{AGREED},surrogate:2",
    "`convex`, best paths, intersection": "--model convex --viterbi --symmetrize intersection",
    "`ibm1:1,ibm1-agree:4,convex-agree:3`": f"{AGREED},convex-agree:3 --dirichlet 0 --smooth none"
    " --threshold 0.6",
    "`hmm`, best paths, grow-diag-final-and": "--model hmm --viterbi --symmetrize grow-diag-final-and",
    "`hmm --classes 50`": "--model hmm --classes 50",
    "`hmm`, projected when it decodes": "--model hmm --project both",
    "`hmm`, dual decomposition": "--model hmm --symmetrize dual",
}
COSTS = {"seconds": 1, "megabytes": 0}  # name -> digits after the point
VIEWS = {"words": ["--views", "word"], "views": []}


def rows(data: Path, n: int, part: str, models: list[str], more: list[str]) -> dict[str, dict[str, Any]]:
    """Name of a row -> what `aligner compare` says of it, of n pairs. more: options of the comparison"""
    n_dev, n_test = (n_lines(data / f"{x}.gold") for x in ("dev", "test"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stop = of_corpus(data, n, folder).n_pairs - (n_test if part == "dev" else 0)
        start = stop - (n_dev if part == "dev" else n_test) + 1
        text = [str(folder / side) for side in ("src", "tgt")]
        command = [ALIGNER, "compare", *text, "--gold", str(data / f"{part}.gold")]
        command += ["--lines", f"{start}-{stop}", "--models", ",".join(models), "--quiet", "--json", "-"]
        if models == list(MODELS):
            command += [x for row, options in SETTINGS.items() for x in ("--align", f"{row}={options}")]
        done = subprocess.run([*command, *more, "-o", "/dev/null"], stdout=subprocess.PIPE, check=True)
    return {row["name"]: row for row in json.loads(done.stdout)["runs"]}


def table(data: Path, sizes: list[int], part: str, models: list[str], threads: int) -> str:
    columns = {}
    for n in sizes:
        for name, options in VIEWS.items():
            columns[n, name] = rows(data, n, part, models, [*options, "--threads", str(threads)])
    largest = [columns[max(sizes), name] for name in VIEWS]
    head = [f"{data.name}, {part}", *(f"{n:,} {name}" for n, name in columns), "seconds", "MB"]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for row in largest[0]:
        cells = [f"{100 * column[row]['aer']:.1f}" for column in columns.values()]
        spent = [" / ".join(f"{x[row][key]:.{k}f}" for x in largest) for key, k in COSTS.items()]
        lines.append([f"`{row}`" if row in MODELS else row, *cells, *spent])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=CORPORA, help="where the corpora are")
    parser.add_argument("--corpus", default="hansards-en-fr")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--threads", type=int, default=available())
    parser.add_argument("--gold", choices=("dev", "test"), default="test", help="the sentences to score")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    options = parser.parse_args()
    data = options.data / options.corpus
    print(table(data, options.sizes, options.gold, options.models, options.threads), end="")


if __name__ == "__main__":
    main()
