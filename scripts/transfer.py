"""How well annotation is carried along links: parts of speech, heads, edges that the target's trees have.

    python scripts/transfer.py PUD [--pairs 100000] [--corpus FOLDER] [--src en] [--tgt fr]

PUD is a folder that has XX_pud-ud-test.conllu of both languages, parallel treebanks of Universal
Dependencies. They are aligned together with the first pairs of a corpus, in lower case. Prints tables in
Markdown.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from measure import ALIGNER
from texts import CORPORA, lines_of

from aligner import LinkReader
from aligner.uses.annotated import Filters, aligned
from aligner.uses.conllu import DEPREL, FORM, HEAD, NOTHING, UPOS, plain_sentence, read_conllu
from aligner.uses.edges import EdgeCurve
from aligner.uses.transfer import HEADS, Rules, transfer

THRESHOLDS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.9)
MODELS = {"aligner": [], "HMM": ["--model", "hmm", "--symmetrize", "soft-union"]}
FILTERS = {
    "no filter": Filters(),
    "`--compatible`": Filters(compatible=True),
    "`--verb-root`": Filters(verb_root=True),
    "`--no-punct`": Filters(no_punct=True),
    "all three": Filters(True, True, True),
}


def row(*cells: object) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def head(*cells: object) -> None:
    print()
    row(*cells)
    row(*["---"] * len(cells))


def align(folder: Path, treebanks: list[Path], corpus: Path, pairs: int, options: list[str]) -> Path:
    """Links of the treebanks, with scores."""
    for name, treebank, side in zip(("src", "tgt"), treebanks, corpus.name.split("-")[-2:], strict=True):
        done = subprocess.run([ALIGNER, "words", treebank], check=True, capture_output=True, text=True)
        more = "".join(f"{line}\n" for line in lines_of(corpus / f"train.{side}.gz")[:pairs])
        (folder / name).write_text(done.stdout + more, encoding="utf-8")
        n = done.stdout.count("\n")
    links = folder / "links"
    command = [
        ALIGNER,
        "align",
        "src",
        "tgt",
        "-q",
        "--lowercase",
        "--scores",
        "--threshold",
        "0.05",
        *options,
    ]
    subprocess.run([*command, "-o", links, "--overwrite"], cwd=folder, check=True)
    links.write_text("".join(links.read_text().splitlines(keepends=True)[:n]))
    return links


def shares(treebanks: list[Path], links: Path, threshold: float, heads: str) -> list[str]:
    """Percent of words that have a part of speech, and of these that it is right; the same of heads."""
    src, tgt = (list(read_conllu(str(path))) for path in treebanks)
    bare = (plain_sentence(sentence.column(FORM)) for sentence in tgt)
    n = Counter[str]()
    found = transfer(src, bare, LinkReader(str(links)), Rules(heads=heads), threshold=threshold)
    for one, gold in zip(found, tgt, strict=True):
        for a, b in zip(one.words, gold.words, strict=True):
            n["words"] += 1
            n["tags"] += a[UPOS] != NOTHING
            n["right tags"] += a[UPOS] == b[UPOS]
            n["heads"] += a[HEAD] != NOTHING
            n["right heads"] += a[HEAD] == b[HEAD]
            relations = {x[DEPREL].partition(":")[0] for x in (a, b)}
            n["labelled"] += a[HEAD] == b[HEAD] and len(relations) == 1
    of = [("tags", "words"), ("right tags", "tags"), ("heads", "words")]
    of += [("right heads", "heads"), ("labelled", "heads")]
    return [f"{100 * n[a] / n[b]:.1f}" for a, b in of]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pud", type=Path)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--corpus", type=Path, default=CORPORA / "europarl-en-fr")
    parser.add_argument("--src", default="en")
    parser.add_argument("--tgt", default="fr")
    given = parser.parse_args()
    treebanks = [given.pud.resolve() / f"{side}_pud-ud-test.conllu" for side in (given.src, given.tgt)]
    curves = {}
    with tempfile.TemporaryDirectory() as name:
        for model, options in MODELS.items():
            links = align(Path(name), treebanks, given.corpus, given.pairs, options)
            if model == "aligner":
                head("threshold", "heads", "UPOS", "right", "HEAD", "right", "with DEPREL")
                for threshold in THRESHOLDS:
                    for heads in HEADS:
                        row(f"{threshold:g}", heads, *shares(treebanks, links, threshold, heads))
            for label, filters in FILTERS.items():
                if model == "aligner" or label == "no filter":
                    src, tgt = (read_conllu(str(path)) for path in treebanks)
                    pairs = aligned(src, tgt, LinkReader(str(links)))
                    curves[f"{model}, {label}"] = EdgeCurve.of(pairs, filters)
    head("conserved % of edges a sentence", *(f"{x:g}" for x in THRESHOLDS))
    for label, curve in curves.items():
        points = [curve.at(threshold) for threshold in THRESHOLDS]
        row(label, *(f"{100 * x['accuracy']:.1f} of {x['edges_a_sentence']:.1f}" for x in points))


if __name__ == "__main__":
    main()
