"""What labelled sentences buy: AER of the test sentences, the model alone and with what was learned.

    scripts/learning.py [--only hansards-en-fr:10000 ...] [--labels 50 100 200] [--ways alone learn ...]

A model is trained on the first N pairs of train, dev and test, lower-cased. Labelled are dev, and of Hansards
the first 200 test sentences, too (Lacoste-Julien et al. 2006): the other 247 are scored. Ways to use labels:

    alone      the model alone, labels unused
    learn      `aligner learn`; learn-1: one pass; matching, fertility, quadratic: with --structure
    given      labelled links are given in training (`--given`)
    both       given in training, and learned from

With --labels, only the first so many labelled sentences are used, dev last: a table a number.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import ALIGNER
from texts import CORPORA, lines_of, of_corpus, write_text

from aligner import LinkReader, evaluate

CORPORA_USED = [
    "hansards-en-fr:2400",
    "hansards-en-fr:10000",
    "hansards-en-fr:100000",
    "hansards-en-fr:258000",
    "czenali-en-cs:14710",
    "kftt-ja-en:49996",
]
FIRST = {"hansards-en-fr": 200}  # test sentences that are labelled, too
LEARNERS = {
    "learn": [],
    "learn-1": ["--passes", "1"],
    "matching": ["--structure", "matching"],
    "fertility": ["--structure", "fertility"],
    "quadratic": ["--structure", "quadratic"],
}
WAYS = ("alone", *LEARNERS, "given", "both")


@dataclass(frozen=True)
class Sample:
    """Sentence pairs with gold links: lines of a source, a target and a gold file."""

    src: list[str]
    tgt: list[str]
    gold: list[str]

    def part(self, start: int, stop: int | None) -> Sample:
        return Sample(self.src[start:stop], self.tgt[start:stop], self.gold[start:stop])

    def plus(self, other: Sample) -> Sample:
        return Sample(self.src + other.src, self.tgt + other.tgt, self.gold + other.gold)

    def write(self, folder: Path) -> list[str]:
        """The names of three files."""
        write_text(folder, [self.src, self.tgt], None)
        (folder / "gold").write_text("".join(f"{line}\n" for line in self.gold))
        return [str(folder / name) for name in ("src", "tgt", "gold")]


def sample_of(data: Path, part: str) -> Sample:
    src, tgt = (
        [line.lower() for line in lines_of(data / f"{part}.{language}")]
        for language in data.name.split("-")[1:]
    )
    return Sample(src, tgt, lines_of(data / f"{part}.gold"))


def run(*words: object) -> None:
    subprocess.run(
        [ALIGNER, *map(str, words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def given_links(labelled: Sample, n_pairs: int, n_train: int, n_dev: int, n_first: int, path: Path) -> None:
    """Sure links of the labelled lines of a text; all other lines are empty."""
    dev, first = labelled.gold[n_first:], labelled.gold[:n_first]
    known = [*[""] * n_train, *dev, *[""] * (n_dev - len(dev)), *first]
    known += [""] * (n_pairs - len(known))
    sure = [" ".join(link for link in line.split() if "?" not in link) for line in known]
    path.write_text("".join(f"{line}\n" for line in sure))


def rows(
    data: Path, n: int, ways: Sequence[str], labels: int | None, folder: Path, threads: int
) -> list[str]:
    """A row of a table for each way."""
    text = of_corpus(data, n, folder / "text")
    dev, test = sample_of(data, "dev"), sample_of(data, "test")
    first = FIRST.get(data.name, 0)
    labelled = test.part(0, first).plus(dev).part(0, labels)
    n_first = min(first, len(labelled.gold))
    n_train = text.n_pairs - len(dev.gold) - len(test.gold)
    tested = test.part(first, None).write(folder / "test")
    gold = LinkReader(tested[2]).read()
    learned_from = labelled.write(folder / "labelled")
    corpus = [text.folder / "src", text.folder / "tgt"]
    models: dict[bool, Path] = {}

    def model(with_given: bool) -> Path:
        if with_given not in models:
            models[with_given] = folder / f"model{int(with_given)}"
            options: list[object] = ["--threads", threads, "-o", models[with_given]]
            if with_given:
                given_links(labelled, text.n_pairs, n_train, len(dev.gold), n_first, folder / "given")
                options += ["--given", folder / "given"]
            run("train", *corpus, *options)
        return models[with_given]

    found = []
    for way in ways:
        trained = model(way in ("given", "both"))
        options, seconds = [], 0.0
        if way in LEARNERS or way == "both":
            start = time.perf_counter()
            combiner = folder / way
            learner = LEARNERS.get(way, [])
            run("learn", trained, *learned_from, "-o", combiner, *learner, "--threads", threads)
            seconds = time.perf_counter() - start
            options = ["--combiner", combiner]
        run("decode", trained, *tested[:2], "-o", folder / "links", "--overwrite", *options)
        links = LinkReader(str(folder / "links")).read()
        aer = evaluate([links], gold, n_samples=0).results[0].scores["aer"]
        what = f"{data.name}, {n:,} pairs | {len(labelled.gold)} | {way}"
        found.append(f"| {what} | {100 * aer:.2f} | {f'{seconds:.1f}' if seconds else ''} |")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=CORPORA_USED, metavar="CORPUS:N")
    parser.add_argument("--ways", nargs="+", default=["alone", "learn"], choices=WAYS)
    parser.add_argument("--labels", nargs="+", type=int, default=[None], metavar="N")
    parser.add_argument("--data", type=Path, default=CORPORA, help="where the corpora are")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    print("| text | labelled | way | AER | seconds to learn |\n|---|---|---|---|---|")
    for one in options.only:
        name, n = one.split(":")
        for labels in options.labels:
            with tempfile.TemporaryDirectory() as folder:
                found = rows(options.data / name, int(n), options.ways, labels, Path(folder), options.threads)
                print("\n".join(found), flush=True)


if __name__ == "__main__":
    main()
