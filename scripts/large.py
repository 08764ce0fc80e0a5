"""What a large text costs a sentence pair beside a small one, and two cores beside one.

    python scripts/large.py [--pairs 1000000] [--memory 800M] [--rounds 1]

Sentences of `aligner generate` are drawn, and three in five are joined with another: 20 words a sentence on
average. `aligner align` has the default recipe. The small text has 100,000 pairs and keeps its cells. The
large one has `--memory`. Writes a table of Markdown. 10,000,000 pairs with 8G take half an hour.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from measure import ALIGNER, Cost, Job, in_turns, leave_at_signals
from texts import generated

SMALL = 100_000  # pairs
JOINED = 0.6  # of the sentences


def write_joined(pairs: Sequence[tuple[str, str]], n: int, folder: Path) -> None:
    """A text of n sentence pairs: src and tgt. Fewer pairs are the beginning of more."""
    folder.mkdir()
    draw = random.Random(7).random
    with (
        open(folder / "src", "w", encoding="utf-8") as src,
        open(folder / "tgt", "w", encoding="utf-8") as tgt,
    ):
        for _ in range(n):
            one, other = pairs[int(draw() * len(pairs))]
            if draw() < JOINED:
                more = pairs[int(draw() * len(pairs))]
                one, other = f"{one} {more[0]}", f"{other} {more[1]}"
            src.write(one + "\n")
            tgt.write(other + "\n")


def job(folder: Path, options: str) -> Job:
    return Job(f"{ALIGNER} align src tgt --quiet --overwrite -o links {options}", folder)


def line(n: int, cores: int, memory: str, cost: Cost) -> str:
    a_pair = f"{1e6 * cost.wall / n:.0f} | {1e6 * cost.cpu / n:.0f}"
    return f"| {n:,} | {cores} | {memory} | {cost.wall:.1f} | {a_pair} | {cost.megabytes / 1000:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--memory", default="800M")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    leave_at_signals()
    head = "pairs | cores | `--memory` | seconds | µs a pair | CPU µs a pair | GB"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs = [(src, tgt) for src, tgt, _ in generated(min(options.pairs, 1_000_000), folder)]
        for n in {SMALL, options.pairs}:
            write_joined(pairs, n, folder / str(n))
        print(f"| {head} |\n" + "|---" * 7 + "|")
        for n, cores, memory in ((SMALL, 1, "4G"), (SMALL, 2, "4G"), (options.pairs, 2, options.memory)):
            one = {"align": job(folder / str(n), f"--memory {memory} --threads {cores}")}
            cost = in_turns(one, options.rounds, cores, 1e6)["align"]
            assert cost is not None
            print(line(n, cores, memory, cost), flush=True)


if __name__ == "__main__":
    main()
