"""Counts the instructions of the kernels at a small text, and fails if some kernel has more than it had.

    scripts/instructions            # prints a table; exit 1 if a count has grown by more than TOLERANCE
    scripts/instructions --update   # the same, and keeps the counts in scripts/instructions.json

Counts, unlike seconds, are the same in every run, on a busy machine, too. They are of one thread, of the
build for AVX2, and of the kernels alone: Python, numpy and the C library are left out. Callgrind, a tool of
valgrind, counts. Another compiler makes other instructions: only counts of one compiler are compared.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = Path(__file__).with_suffix(".json")
PAIRS = 200  # sentence pairs of the generated corpus
TOLERANCE = 0.03
SIMD = "avx2"  # valgrind does not know wider instructions
ENVIRONMENT = {"ALIGNER_SIMD": SIMD, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
# What a program says to callgrind. The header comes with valgrind.
REQUESTS = """
#include <valgrind/callgrind.h>
extern "C" void begin() { CALLGRIND_START_INSTRUMENTATION; }
extern "C" void end(const char *name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""


# In valgrind: the kernels at work


def work(folder: Path) -> None:
    """Lets the kernels work, one after the other. Callgrind writes a file for each."""
    from kernels import VIEW, Bench

    from aligner import LinkReader, format_links, read_corpus, symmetrize
    from aligner.text.cells import Seen
    from aligner.text.classes import cluster

    src, tgt, links = (str(folder / x) for x in ("src", "tgt", "links"))
    bench = Bench(src, tgt, n_threads=1)
    corpus = bench.corpus
    gold = LinkReader(links).read()
    forward, reverse = bench.decode(bench.hmm, viterbi=True)
    works: dict[str, Callable[[], object]] = {
        "read text": lambda: read_corpus(src, tgt),
        "number word pairs": lambda: Seen.of_own_words(corpus, VIEW, 1),
        "look up cells": bench.look_up,
        "word classes": lambda: cluster(corpus.src, 10, rounds=2),
        **bench.expectations(),
        "decode": lambda: bench.decode(bench.hmm, seen=[bench.seen]),
        "best paths": lambda: bench.decode(bench.hmm, seen=[bench.seen], viterbi=True),
        "symmetrize": lambda: symmetrize(forward, reverse),
        "read links": lambda: LinkReader(links).read(),
        "write links": lambda: format_links(gold, "gold"),
    }
    callgrind = ctypes.CDLL(str(folder / "requests.so"))
    for name, run in works.items():
        run()  # the first time, Python imports and allocates
        callgrind.begin()
        run()
        callgrind.end(name.encode())


# Outside: valgrind is called, and its files are read


def count(folder: Path) -> dict[str, int]:
    """Name of a work -> instructions of our kernels."""
    for side, name in (("src", "generated.src"), ("tgt", "generated.tgt"), ("links", "generated.gold")):
        lines = (ROOT / "data" / name).read_text().splitlines(keepends=True)
        (folder / side).write_text("".join(lines[:PAIRS]))
    (folder / "requests.cpp").write_text(REQUESTS)
    compiler = [os.environ.get("CXX", "c++"), "-O1", "-shared", "-fPIC", "-o", str(folder / "requests.so")]
    subprocess.run([*compiler, str(folder / "requests.cpp")], check=True)
    command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/out"]
    command += [sys.executable, __file__, "--work", str(folder)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"valgrind failed:\n{done.stderr}")
    files = sorted(folder.glob("out.*"), key=lambda path: int(path.suffix[1:]))
    counts = dict(parse(path.read_text()) for path in files)
    counts.pop("", None)
    return counts


def parse(text: str) -> tuple[str, int]:
    """(name of the work, instructions in our modules) of a file of callgrind."""
    trigger = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
    names: dict[str, str] = {}  # callgrind writes a name once, with a number
    total, ours, inclusive = 0, False, False
    for line in text.splitlines():
        if found := re.match(r"(c?ob)=(\(\d+\))(?: (.*))?$", line):
            key, number, name = found.groups()
            if name is not None:
                names[number] = name
            if key == "ob":
                ours = re.search(r"/aligner/.*\.so$", names[number]) is not None
        elif line.startswith("calls="):
            inclusive = True  # the next line has the cost of what was called
        elif line[:1] in "0123456789+-*" and line:
            if ours and not inclusive:
                total += int(line.split()[1])
            inclusive = False
    return trigger[1] if trigger else "", total


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--update", action="store_true", help=f"keep the counts in {KEPT.name}")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work is not None:
        return work(given.work)
    os.environ |= ENVIRONMENT
    from aligner import _build, simd

    if simd.level("models._hmm") != SIMD:
        print(f"instructions are not counted: {platform.machine()} without {SIMD}", file=sys.stderr)
        return
    build = f"{_build.compiler()} {_build.flags()}"
    with tempfile.TemporaryDirectory() as name:
        counts = count(Path(name))
    kept = json.loads(KEPT.read_text())
    if kept["build"] != build:
        print(
            f"NOTHING IS COMPARED: {KEPT.name} has counts of {kept['build']}, these are of {build}",
            file=sys.stderr,
        )
    before = kept["counts"] if kept["build"] == build else {}
    print(table(counts, before), end="")
    if given.update:
        KEPT.write_text(json.dumps({"build": build, "counts": counts}, indent=2) + "\n")
        return
    worse, better = compared(counts, before)
    if better:
        print(f"fewer instructions: {', '.join(better)}; keep the counts with --update", file=sys.stderr)
    if worse:
        sys.exit(f"more instructions: {', '.join(worse)}; mend it, or keep the counts with --update")


def compared(counts: dict[str, int], before: dict[str, int]) -> tuple[list[str], list[str]]:
    """The works that have more instructions than before, and those that have fewer. New ones are the same."""
    ratios = {name: n / before[name] for name, n in counts.items() if name in before}
    worse = [name for name, ratio in ratios.items() if ratio > 1 + TOLERANCE]
    return worse, [name for name, ratio in ratios.items() if ratio < 1 - TOLERANCE]


def table(counts: dict[str, int], before: dict[str, int]) -> str:
    """Millions of instructions now and before, and the change in percent."""
    lines = [("", "millions", "before", "change")]
    for name, n in counts.items():
        old = before.get(name)
        change = ("", "") if old is None else (f"{old / 1e6:.2f}", f"{100 * (n / old - 1):+.1f} %")
        lines.append((name, f"{n / 1e6:.2f}", *change))
    return "".join(f"{a:<30} {b:>10} {c:>10} {d:>10}".rstrip() + "\n" for a, b, c, d in lines)


if __name__ == "__main__":
    main()
