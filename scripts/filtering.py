"""How well scores of sentence pairs tell translations from other pairs, beside eflomal's where it is on PATH.

    python scripts/filtering.py SRC TGT [--share 0.1] [--seed 1]

Every tenth pair, by default, gets the target of another. AUC is the chance that such a pair has the worse
score than a pair that was left alone. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
from measure import ALIGNER

Reals = npt.NDArray[np.float64]


def exchanged(lines: list[str], share: float, seed: int) -> tuple[list[str], npt.NDArray[np.bool_]]:
    """The lines, a share of them in each other's places; and which ones."""
    chosen = random.Random(seed).sample(range(len(lines)), round(share * len(lines)))  # in any order
    new, wrong = list(lines), np.zeros(len(lines), dtype=bool)
    for k, n in enumerate(chosen):
        new[n] = lines[chosen[k - 1]]
        wrong[n] = new[n] != lines[n]
    return new, wrong


def area(scores: Reals, wrong: npt.NDArray[np.bool_]) -> float:
    """The chance that a wrong pair scores higher than a right one; equal scores count half."""
    values, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[place]
    n = int(wrong.sum())
    return float((ranks[wrong].sum() - n * (n + 1) / 2) / (n * (len(scores) - n)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("src", type=Path)
    parser.add_argument("tgt", type=Path)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    src, tgt = (path.read_text().split("\n")[:-1] for path in (arguments.src, arguments.tgt))
    tgt, wrong = exchanged(tgt, arguments.share, arguments.seed)
    titles = "p(tgt \\| src)", "p(src \\| tgt)", "mean of the two", "mean posterior of links"
    print("| |", " | ".join(titles), "|\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, lines in (("src", src), ("tgt", tgt)):
            (folder / file).write_text("".join(line + "\n" for line in lines))
        command = [ALIGNER, "align", "src", "tgt", "-q", "--sentence-scores", "scores", "-o", "links"]
        subprocess.run(command, cwd=folder, check=True)
        fwd, rev, posterior = np.loadtxt(folder / "scores").T
        columns = [fwd, rev, (fwd + rev) / 2, -posterior]
        print("| aligner |", " | ".join(f"{area(x, wrong):.3f}" for x in columns), "|", flush=True)
        if shutil.which("eflomal-align"):
            command = ["eflomal-align", "-s", "src", "-t", "tgt", "-F", "fwd", "-R", "rev"]
            subprocess.run(command, cwd=folder, check=True)
            fwd, rev = (np.loadtxt(folder / file) for file in ("fwd", "rev"))
            columns = [fwd, rev, (fwd + rev) / 2]
            print("| eflomal |", " | ".join(f"{area(x, wrong):.3f}" for x in columns), "| |")


if __name__ == "__main__":
    main()
