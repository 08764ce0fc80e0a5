"""Accuracy and speed on real corpora, beside fast_align and eflomal where they are on PATH.

    scripts/reproduce.py [--data ../shared/data] [--sizes 10000 100000] [--rounds 3] [--threads 2]

Hansards en-fr: the first N pairs of train, dev and test, lower-cased; scored on the 447 test sentences. Wall
seconds are text to text, both directions and symmetrization; the programs take turns, the median counts.
Thresholds are the defaults, which were chosen on dev. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ALIGNER = str(Path(sys.executable).with_name("aligner"))


def write_corpus(data: Path, n: int, folder: Path) -> None:
    """folder/src, folder/tgt and folder/both: n pairs of train, dev and test."""
    sides = []
    for language in ("en", "fr"):
        with gzip.open(data / f"train.{language}.gz", "rt") as train:
            lines = list(itertools.islice(train, n))
        for part in ("dev", "test"):
            lines += (data / f"{part}.{language}").read_text().splitlines(keepends=True)
        sides.append([line.lower() for line in lines])
    for name, lines in zip(("src", "tgt"), sides, strict=True):
        (folder / name).write_text("".join(lines))
    both = (f"{a.strip()} ||| {b.strip()}\n" for a, b in zip(*sides, strict=True))
    (folder / "both").write_text("".join(both))


def programs(folder: Path, threads: int) -> dict[str, list[str]]:
    """name -> shell commands; the links end up in folder/name."""
    f = str(folder)
    align = f"{ALIGNER} align {f}/src {f}/tgt -q --threads {threads}"
    commands = {
        f"aligner {method}": [f"{align} --symmetrize {method} > '{f}/aligner {method}'"]
        for method in ("soft-union", "grow-diag-final-and")
    }
    if shutil.which("fast_align") and shutil.which("atools"):
        for method in ("grow-diag-final-and", "intersect"):
            commands[f"fast_align {method}"] = [
                f"OMP_NUM_THREADS={threads} fast_align -d -o -v -i {f}/both > {f}/fwd",
                f"OMP_NUM_THREADS={threads} fast_align -d -o -v -r -i {f}/both > {f}/rev",
                f"atools -c {method} -i {f}/fwd -j {f}/rev > '{f}/fast_align {method}'",
            ]
    if shutil.which("eflomal-align") and shutil.which("atools"):
        for method in ("grow-diag-final-and", "intersect"):
            commands[f"eflomal {method}"] = [
                f"eflomal-align -i {f}/both -m 3 -f {f}/fwd -r {f}/rev --overwrite",
                f"atools -c {method} -i {f}/fwd -j {f}/rev > '{f}/eflomal {method}'",
            ]
    return commands


def score(links: Path, gold: Path) -> str:
    command = [ALIGNER, "evaluate", "--last", "447", str(links), str(gold), "-b", "--hyp-base", "0"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    data = options.data / "hansards-en-fr"
    print(f"| Hansards, {options.threads} threads | pairs | AER | seconds |\n|---|---|---|---|")
    for n in options.sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_corpus(data, n, folder)
            commands = programs(folder, options.threads)
            times: dict[str, list[float]] = {program: [] for program in commands}
            for _ in range(options.rounds):
                for program, steps in commands.items():
                    start = time.perf_counter()
                    for step in steps:
                        subprocess.run(step, shell=True, check=True, stderr=subprocess.DEVNULL)
                    times[program].append(time.perf_counter() - start)
                    print(f"{program} {n} {times[program][-1]:.2f} s", file=sys.stderr)
            for program, seconds in times.items():
                aer = score(folder / program, data / "test.gold")
                print(f"| {program} | {n} | {aer} | {statistics.median(seconds):.1f} |", flush=True)


if __name__ == "__main__":
    main()
