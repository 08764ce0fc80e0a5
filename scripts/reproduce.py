"""Accuracy, speed and memory on real corpora, beside fast_align and eflomal where they are on PATH.

    scripts/reproduce [--corpus hansards-en-fr] [--sizes 10000 100000] [--rounds 3] [--threads 2]

Training text is the first N pairs of train, then dev and test, lower-cased; the test sentences are scored.
Wall seconds are text to text, with grow-diag-final-and of two directions but for our soft union; programs
take turns, the median counts. Our defaults were chosen on dev sets; of programs that write two directions
(the others, our plain HMM), the heuristic that is best on the test set is shown. p is that of a paired
bootstrap of AER against the table's first program. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ALIGNER = str(Path(sys.executable).with_name("aligner"))
CORPORA = Path(os.environ.get("ALIGNER_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
HEURISTICS = ("grow-diag-final-and", "grow-diag", "intersection")


# name -> shell commands that write links to {out}, or directional ones, too, to {out}.fwd and {out}.rev
ATOOLS = "atools -c grow-diag-final-and -i {out}.fwd -j {out}.rev > {out}"
PROGRAMS = {
    "aligner align": [ALIGNER + " align {f}/src {f}/tgt -q --threads {n} > {out}"],
    "aligner align --fast": [ALIGNER + " align {f}/src {f}/tgt -q --fast --threads {n} > {out}"],
    "aligner align --model shmm": [ALIGNER + " align {f}/src {f}/tgt -q --model shmm --threads {n} > {out}"],
    "aligner align --fast --model hmm": [
        ALIGNER
        + " align {f}/src {f}/tgt -q --fast --model hmm --symmetrize grow-diag-final-and --threads {n}"
        + " --forward {out}.fwd --reverse {out}.rev --overwrite > {out}"
    ],
    "fast_align": [
        "OMP_NUM_THREADS={n} fast_align -d -o -v -i {f}/both > {out}.fwd",
        "OMP_NUM_THREADS={n} fast_align -d -o -v -r -i {f}/both > {out}.rev",
        ATOOLS,
    ],
    "eflomal": ["eflomal-align -i {f}/both -m 3 -f {out}.fwd -r {out}.rev --overwrite", ATOOLS],
    "eflomal, 4-letter prefixes": [
        "eflomal-align -i {f}/prefixes -m 3 -f {out}.fwd -r {out}.rev --overwrite",
        ATOOLS,
    ],
}

NEEDS = {
    "fast_align": ("fast_align", "atools"),
    "eflomal": ("eflomal-align", "atools"),
    "eflomal, 4-letter prefixes": ("eflomal-align", "atools"),
}


def write_corpus(data: Path, languages: tuple[str, str], n: int, folder: Path) -> None:
    """folder/src, tgt and both: n pairs of train, dev and test; prefixes: both, four letters a word."""
    sides = []
    for language in languages:
        with gzip.open(data / f"train.{language}.gz", "rt") as train:
            lines = list(itertools.islice(train, n))
        for part in ("dev", "test"):
            lines += (data / f"{part}.{language}").read_text().splitlines(keepends=True)
        sides.append([line.lower() for line in lines])
    for name, lines in zip(("src", "tgt"), sides, strict=True):
        (folder / name).write_text("".join(lines))
    both = [f"{a.strip()} ||| {b.strip()}\n" for a, b in zip(*sides, strict=True)]
    (folder / "both").write_text("".join(both))
    cut = (" ".join(word[:4] for word in line.split()) + "\n" for line in both)
    (folder / "prefixes").write_text("".join(cut))


def run(commands: list[str]) -> tuple[float, float]:
    """Seconds that the commands take, and the megabytes that the largest needs."""
    start, most = time.perf_counter(), 0
    for command in commands:
        with (
            tempfile.TemporaryFile() as errors,
            subprocess.Popen(command, shell=True, stderr=errors) as process,
        ):
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                raise SystemExit(f"failed: {command}\n{errors.read().decode()}")
        most = max(most, usage.ru_maxrss)
    return time.perf_counter() - start, most / 1024


def n_lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def score(links: Path, gold: Path) -> float:
    n = str(n_lines(gold))
    command = [ALIGNER, "evaluate", "--last", n, str(links), str(gold), "-b", "--hyp-base", "0"]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def difference(links: Path, others: Path, gold: Path) -> float:
    """p of the paired bootstrap: that two programs' links differ in AER by chance."""
    n = str(n_lines(gold))
    command = [
        ALIGNER,
        "evaluate",
        "--last",
        n,
        str(links),
        str(gold),
        str(others),
        "--json",
        "--hyp-base",
        "0",
    ]
    return float(json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["p_value"])


def best_score(out: Path, gold: Path) -> tuple[str, Path]:
    """The AER of a program's links, and where they are; of two directions, by the heuristic that is best."""
    if not Path(f"{out}.fwd").exists():
        return f"{score(out, gold):.2f}", out
    scores = {}
    for method in HEURISTICS:
        command = [ALIGNER, "symmetrize", f"{out}.fwd", f"{out}.rev", "--method", method, "--base", "0"]
        subprocess.run([*command, "--overwrite", "-o", f"{out}.{method}"], check=True, capture_output=True)
        scores[score(Path(f"{out}.{method}"), gold)] = method
    best = scores[min(scores)]
    return f"{min(scores):.2f} ({best})", Path(f"{out}.{best}")


def parser_of(description: str) -> argparse.ArgumentParser:
    """The options of a script that measures on some pairs of a corpus."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=CORPORA, help="where the corpora are")
    parser.add_argument("--corpus", default="hansards-en-fr")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--threads", type=int, default=2)
    return parser


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS))
    options = parser.parse_args()
    data = options.data / options.corpus
    _, first, second = options.corpus.split("-")
    print(f"| {options.corpus}, {options.threads} threads | pairs | AER | p | seconds | MB |")
    print("|---" * 6 + "|")
    for n in options.sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_corpus(data, (first, second), n, folder)
            n_pairs = n_lines(folder / "both")
            wanted = [x for x in options.only if all(map(shutil.which, NEEDS.get(x, ())))]
            seconds: dict[str, list[float]] = {program: [] for program in wanted}
            memory: dict[str, float] = {}
            for _ in range(options.rounds):
                for k, program in enumerate(wanted):
                    values = {"f": folder, "out": folder / f"links{k}", "n": options.threads}
                    took, memory[program] = run([step.format(**values) for step in PROGRAMS[program]])
                    seconds[program].append(took)
                    print(f"{program} {n} {took:.2f} s", file=sys.stderr)
            gold = data / "test.gold"
            for k, program in enumerate(wanted):
                aer, links = best_score(folder / f"links{k}", gold)
                p = f"{difference(folder / 'links0', links, gold):.3f}" if k else ""
                middle = statistics.median(seconds[program])
                row = program, n_pairs, aer, p, f"{middle:.1f}", f"{memory[program]:.0f}"
                print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
