"""How near the kernels come to what the machine can do: the table of docs/performance.md.

    scripts/roofline.py [--corpus hansards-en-fr] [--pairs 20000] [--rounds 5]

Three loops measure the machine: a triad of long arrays (bytes of memory a second), multiplications and
additions in registers, and loads from random places of a table as large as the lexicon. `needs` says how much
of each a kernel needs for a cell at least, whatever its code. The need that takes longest is the bound.
Prints a Markdown table: millions of cells a second, the needs, what binds, and how many times as long as the
bound the kernel takes. All is on one thread, in CPU seconds. Kernels and loops take turns, and the best round
counts: other programs on the machine disturb little.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from kernels import Bench, Work
from texts import CORPORA, of_corpus

from aligner import simd
from aligner.models.counts import UNIT

LOOPS = """
#include <cstdint>
typedef float vec __attribute__((vector_size(64)));
extern "C" void triad(float *a, const float *b, const float *c, int64_t n) {
    for (int64_t k = 0; k < n; k++) a[k] = b[k] + 3.0f * c[k];
}
/* 2 * 16 * 12 operations a round, in chains that do not wait for each other */
extern "C" float multiply_add(int64_t n) {
    vec x[12];
    for (int k = 0; k < 12; k++) x[k] = vec{} + (float)k;
    const vec factor = vec{} + 0.999f, term = vec{} + 0.001f;
    for (int64_t round = 0; round < n; round++)
        for (int k = 0; k < 12; k++) x[k] = x[k] * factor + term;
    float total = 0;
    for (int k = 0; k < 12; k++) total += x[k][0];
    return total;
}
extern "C" float gather(const float *table, const int32_t *places, int64_t n) {
    float total[8] = {0};
    for (int64_t k = 0; k + 8 <= n; k += 8)
        for (int l = 0; l < 8; l++) total[l] += table[places[k + l]];
    return total[0] + total[1] + total[2] + total[3] + total[4] + total[5] + total[6] + total[7];
}
"""


@dataclass(frozen=True)
class Need:
    """What a cell needs at least, in both directions.

    bytes       of memory: what is read or written once a pass, and does not stay in the cache
    operations  multiplications and additions
    loads       from random places of the lexicon or of its counts
    """

    bytes: float
    operations: float
    loads: float


# A cell of a direction's lattice, with the usual window of W = 5, has 2 W + 1 products and as many sums of
# neighbours in alpha_row and again in beta_row, 4 operations for each of two far sums, and 12 for scaling,
# twins and posteriors. Counting adds 2 W + 3 products and sums. Emissions have a load and 4 operations.
ROWS = 2 * (2 * (2 * 11 + 8) + 24)
JUMPS = 2 * 2 * 13
EMISSION = Need(bytes=4 + 8, operations=4, loads=1)


def needs(calls: dict[str, float]) -> dict[str, Need]:
    """Name of a work -> what a cell needs. calls: name of a projection -> calls of the lattice"""
    # Two passes read a cell and its t; the second one adds to two counts, or to one where directions agree.
    model1 = Need(bytes=2 * (4 + 8) + 2 * 16, operations=2 + 2 * 4, loads=3)
    lattice = Need(EMISSION.bytes, EMISSION.operations + ROWS, EMISSION.loads)
    return {
        # A word pair is looked for among those of its source word. The last load is from anywhere.
        "look up cells": Need(bytes=4, operations=0, loads=1),
        "Model 1": model1,
        "Model 1, agreement": replace(model1, bytes=model1.bytes - 16),
        "HMM": Need(lattice.bytes, lattice.operations + JUMPS, lattice.loads),
        "HMM, projection": replace(
            lattice, operations=lattice.operations + JUMPS + ROWS * calls["HMM, projection"]
        ),
        "leave-one-out HMM": lattice,
        "leave-one-out HMM, projection": replace(
            lattice, operations=lattice.operations + ROWS * calls["leave-one-out HMM, projection"]
        ),
        "decode": Need(lattice.bytes + 2 * 8, lattice.operations + 2, lattice.loads),
    }


def calls_of(bench: Bench, n_pairs: int = 500) -> dict[str, float]:
    """Name of a projection -> calls of the lattice for a cell, the mean of some sentence pairs."""
    offsets = bench.seen.cell_offsets
    found = {}
    for name, (model, stage) in bench.stages().items():
        if stage.constrained:
            expect, total, n_cells = bench.part(model, stage), 0.0, 0
            for n in range(0, len(offsets) - 1, max(1, len(offsets) // n_pairs)):
                cells = int(offsets[n + 1] - offsets[n])
                total += cells * expect(n, n + 1)["calls"] / UNIT
                n_cells += cells
            found[name] = total / n_cells
    return found


class Machine:
    """What one core does in a second."""

    def __init__(self, folder: Path, table_bytes: int) -> None:
        source = folder / "loops.cpp"
        source.write_text(LOOPS)
        compiler = [os.environ.get("CXX", "c++"), "-O3", "-march=native", "-ffp-contract=off", "-Wno-psabi"]
        library = str(folder / "loops.so")
        subprocess.run([*compiler, "-shared", "-fPIC", str(source), "-o", library], check=True)
        self.loops = ctypes.CDLL(library)
        random = np.random.default_rng(1)
        self.long = [np.zeros(1 << 25, np.float32) for _ in range(3)]  # 128 MB each, more than caches hold
        self.table = np.zeros(table_bytes // 4, np.float32)
        self.places = random.integers(0, len(self.table), 1 << 23, dtype=np.int32)

    def works(self) -> dict[str, tuple[Work, float]]:
        """Name -> a loop, and how many bytes, operations or loads it has."""

        def address(array: npt.NDArray[Any]) -> ctypes.c_void_p:
            return ctypes.c_void_p(array.ctypes.data)

        n_long, n_rounds, n_places = (ctypes.c_int64(n) for n in (len(self.long[0]), 10**6, len(self.places)))
        return {
            "bytes": (lambda: self.loops.triad(*map(address, self.long), n_long), 12 * n_long.value),
            "operations": (lambda: self.loops.multiply_add(n_rounds), 2 * 16 * 12 * n_rounds.value),
            "loads": (
                lambda: self.loops.gather(address(self.table), address(self.places), n_places),
                n_places.value,
            ),
        }


def seconds(work: Work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(src: Path, tgt: Path, folder: Path, rounds: int) -> str:
    """The table."""
    bench = Bench(str(src), str(tgt), n_threads=1)
    lexicon = bench.hmm.views[0].parameters.lexicon
    machine = Machine(folder, lexicon.t.nbytes)
    works = {
        "look up cells": bench.look_up,
        **bench.expectations(),
        "decode": lambda: bench.decode(bench.hmm, seen=[bench.seen]),
    }
    loops = machine.works()
    best = dict.fromkeys([*works, *loops], math.inf)
    for _ in range(rounds):
        for name, work in {**works, **{name: loop for name, (loop, _) in loops.items()}}.items():
            best[name] = min(best[name], seconds(work))
    rates = {name: amount / best[name] for name, (_, amount) in loops.items()}
    lengths = bench.corpus.src.lengths, bench.corpus.tgt.lengths
    lanes = sum(int((-(-a // 16) * 16 * b).sum()) for a, b in (lengths, lengths[::-1])) / 2
    lines = [
        f"{bench.n_cells:,} cells, a lexicon of {lexicon.t.nbytes / 1e6:.0f} MB, {simd.level('models._hmm')};"
        f" a core: {rates['bytes'] / 1e9:.1f} GB, {rates['operations'] / 1e9:.1f} billion operations,"
        f" {rates['loads'] / 1e6:.0f} million loads a second; {100 * bench.n_cells / lanes:.0f}% of lanes"
        " have a cell\n",
        "| | million cells a second | bytes a cell | operations | loads | bound by | times the bound |",
        "|---|---:|---:|---:|---:|---|---:|",
    ]
    for name, need in needs(calls_of(bench)).items():
        bounds = {what: getattr(need, what) / rate for what, rate in rates.items()}
        worst = max(bounds, key=lambda what: bounds[what])
        numbers = f"{need.bytes:.0f} | {need.operations:.0f} | {need.loads:.0f}"
        rate, times = bench.n_cells / best[name] / 1e6, best[name] / bench.n_cells / bounds[worst]
        lines.append(f"| {name} | {rate:.1f} | {numbers} | {worst} | {times:.1f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=CORPORA, help="where the corpora are")
    parser.add_argument("--corpus", default="hansards-en-fr")
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        of_corpus(given.data / given.corpus, given.pairs, folder)
        print(measure(folder / "src", folder / "tgt", folder, given.rounds))


if __name__ == "__main__":
    main()
