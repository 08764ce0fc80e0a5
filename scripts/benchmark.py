"""Times what the README claims, beside symal and atools where they are on PATH, and compares their bytes.

    scripts/benchmark.py [--pairs 1000000] [--rounds 3]

Makes a corpus, reads it, and symmetrizes two noisy directional alignments of it, text to text, on one core;
the programs take turns, and the median counts. Prints a Markdown table; progress on stderr.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from aligner import LinkReader, Links, __version__, format_links, read_corpus
from aligner.text.corpus import Corpus

ALIGNER = [sys.executable, "-m", "aligner"]
SYMAL = ["symal", "-alignment=grow", "-diagonal=yes", "-final=yes", "-both=yes"]


def one_core() -> None:
    """In the child process: run on the first core that this process may use."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def run(command: list[str], stdin: Path | None = None, stdout: Path | None = None) -> tuple[float, float]:
    """(seconds, peak memory in MB) of a command on one core; its memory is at least this process's."""
    with open(stdin or os.devnull, "rb") as source, open(stdout or os.devnull, "wb") as sink:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=source, stdout=sink, stderr=subprocess.DEVNULL, preexec_fn=one_core
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    print(f"{seconds:7.2f} s  {' '.join(command)[:100]}", file=sys.stderr)
    return seconds, usage.ru_maxrss / 1024


def directional(gold: Links, corpus: Corpus, seed: int) -> Links:
    """One link a target word: a gold link of it, moved by a word or dropped now and then."""
    random = np.random.default_rng(seed)
    sentences = gold.sentences
    words = corpus.tgt.offsets[sentences] + gold.tgt
    _, first = np.unique(words, return_index=True)
    first = first[random.random(len(first)) < 0.9]
    n_src = corpus.src.lengths[sentences[first]]
    src = gold.src[first] + np.where(random.random(len(first)) < 0.15, random.integers(-1, 2, len(first)), 0)
    offsets = np.searchsorted(sentences[first], np.arange(len(gold) + 1))
    return Links(offsets, np.clip(src, 0, n_src - 1).astype(np.int32), gold.tgt[first])


def write_bal(path: Path, corpus: Corpus, forward: Links, reverse: Links) -> None:
    """symal's input: target words with their source positions, source words with their target positions."""
    columns = []
    for side, at, other in (
        (corpus.tgt, corpus.tgt.offsets[forward.sentences] + forward.tgt, forward.src),
        (corpus.src, corpus.src.offsets[reverse.sentences] + reverse.src, reverse.tgt),
    ):
        positions = np.zeros(len(side.ids), dtype=np.int64)
        positions[at] = other + 1
        columns.append((side, side.offsets.tolist(), side.ids.tolist(), positions.tolist()))
    with open(path, "w") as out:
        for n in range(len(corpus)):
            out.write("1\n")
            for side, offsets, ids, linked in columns:
                a, b = offsets[n], offsets[n + 1]
                words = " ".join([side.vocab.words[k] for k in ids[a:b]])
                out.write(f"{b - a} {words}  # {' '.join(map(str, linked[a:b]))}\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows: list[tuple[str, str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        corpus_files = [Path(folder, f"toy.{suffix}") for suffix in ("src", "tgt", "gold")]
        seconds, _ = run([*ALIGNER, "generate", "--pairs", str(options.pairs), f"{folder}/toy"])
        rows.append(("`aligner generate`", f"{seconds:.1f}", ""))
        size = sum(path.stat().st_size for path in corpus_files[:2]) / 2**20
        seconds, memory = run([*ALIGNER, "check", *map(str, corpus_files[:2])])
        rows.append((f"`aligner check`: read {size:.0f} MB of text", f"{seconds:.1f}", f"{memory:.0f}"))

        corpus = read_corpus(*map(str, corpus_files[:2]))
        gold = LinkReader(str(corpus_files[2]), "gold", 0).read()
        forward = directional(gold, corpus, 1)
        turned = Corpus(corpus.tgt, corpus.src)
        order = np.lexsort((gold.src, gold.tgt, gold.sentences))
        reverse = directional(Links(gold.offsets, gold.tgt[order], gold.src[order]), turned, 2).transposed()
        files = {name: Path(folder, name) for name in ("forward", "reverse", "bal")}
        for name, links in (("forward", forward), ("reverse", reverse)):
            files[name].write_bytes(format_links(links, "pharaoh"))
        write_bal(files["bal"], corpus, forward, reverse)

        sides = [str(files["forward"]), str(files["reverse"])]
        commands: dict[str, tuple[list[str], Path | None]] = {
            "aligner symal": ([*ALIGNER, "symmetrize", *sides], None),
            "aligner atools": ([*ALIGNER, "symmetrize", "--variant", "atools", *sides], None),
        }
        if shutil.which("symal"):
            commands["symal"] = (SYMAL, files["bal"])
        if shutil.which("atools"):
            commands["atools"] = (
                ["atools", "-c", "grow-diag-final-and", "-i", sides[0], "-j", sides[1]],
                None,
            )
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, (command, stdin) in commands.items():
                times[name].append(run(command, stdin, Path(folder, f"{name}.links"))[0])
        for tool in ("symal", "atools"):
            if tool in commands:
                ours, theirs = (
                    Path(folder, f"{name}.links").read_bytes() for name in (f"aligner {tool}", tool)
                )
                print(f"same bytes as {tool}: {ours == theirs}", file=sys.stderr)
                if ours != theirs:
                    sys.exit(f"{tool} gives other links")
        for name, seconds_each in times.items():
            mine = name.startswith("aligner")
            label = f"`aligner symmetrize --variant {name.split()[1]}`" if mine else f"{name}, the same links"
            rows.append((label, f"{statistics.median(seconds_each):.1f}", ""))
    print(f"aligner {__version__}, {options.pairs} pairs, one core, {platform.machine()}\n")
    print("| | seconds | peak MB |\n|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
