"""Symmetrization alone, beside symal and atools where they are on PATH, whose bytes must be ours.

Makes a text, reads it, and symmetrizes two noisy directional alignments of it, text to text, on one core; the
programs take turns, and the median counts.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which

import numpy as np
from measure import ALIGNER, Job, in_turns

from aligner import LinkReader, Links, format_links, read_corpus
from aligner.text.corpus import Corpus

OURS = shlex.quote(ALIGNER)
SYMMETRIZE = f"{OURS} symmetrize forward reverse --base 0 --overwrite"
JOBS = {  # name -> (script, the program of others that it needs)
    "`aligner symmetrize --variant symal`": (f"{SYMMETRIZE} -o ours.symal", ""),
    "symal, the same bytes": (
        "symal -alignment=grow -diagonal=yes -final=yes -both=yes < bal > symal",
        "symal",
    ),
    "`aligner symmetrize --variant atools`": (f"{SYMMETRIZE} --variant atools -o ours.atools", ""),
    "atools, the same bytes": ("atools -c grow-diag-final-and -i forward -j reverse > atools", "atools"),
    "`aligner check`: read the text": (f"{OURS} check toy.src toy.tgt", ""),
    "`aligner generate`": (f"{OURS} generate again --pairs $(wc -l < toy.src) --overwrite", ""),
}


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


def write_files(folder: Path) -> None:
    """forward and reverse, and bal, which has both, of toy.src, toy.tgt and toy.gold."""
    corpus = read_corpus(str(folder / "toy.src"), str(folder / "toy.tgt"))
    gold = LinkReader(str(folder / "toy.gold"), "gold", 0).read()
    forward = directional(gold, corpus, 1)
    turned = Corpus(corpus.tgt, corpus.src)
    order = np.lexsort((gold.src, gold.tgt, gold.sentences))
    reverse = directional(Links(gold.offsets, gold.tgt[order], gold.src[order]), turned, 2).transposed()
    for name, links in (("forward", forward), ("reverse", reverse)):
        (folder / name).write_bytes(format_links(links, "pharaoh"))
    write_bal(folder / "bal", corpus, forward, reverse)


def table(pairs: int, rounds: int, limit: float) -> str:
    """Markdown: seconds and megabytes of each job."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([ALIGNER, "generate", str(folder / "toy"), "--pairs", str(pairs)], check=True)
        write_files(folder)
        there = {job: script for job, (script, needs) in JOBS.items() if not needs or which(needs)}
        jobs = {job: Job(script, folder) for job, script in there.items()}
        costs = in_turns(jobs, rounds, cores=1, limit=limit)
        for theirs in (folder / tool for tool in ("symal", "atools")):
            ours = folder / f"ours.{theirs.name}"
            if theirs.exists() and theirs.read_bytes() != ours.read_bytes():
                sys.exit(f"{theirs.name} gives other links")
    lines = [f"| {pairs:,} pairs, one core | seconds | MB |", "|---|---|---|"]
    for job, cost in costs.items():
        spent = f"{cost.wall:.1f} | {cost.megabytes:.0f}" if cost else f"more than {limit:g} | "
        lines.append(f"| {job} | {spent} |")
    return "\n".join(lines) + "\n"
