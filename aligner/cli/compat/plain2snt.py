"""aligner plain2snt"""

from __future__ import annotations

import logging
import math

import click
import numpy as np

from aligner.cli.compat.command_lines import of_words
from aligner.cli.options import check_outputs
from aligner.files import open_in_place
from aligner.text.corpus import Corpus, shown
from aligner.text.giza import add_plain, numbered, write_snt, write_vcb
from aligner.text.sides import Builder

OUTPUTS = ("-vcb1", "-vcb2", "-snt1", "-snt2")  # mgiza's options
ENDINGS = (".tok", ".txt")  # what the names of outputs are without, if both inputs have it


@of_words("plain2snt", "SRC TGT [SRC TGT ...]")
def command(words: tuple[str, ...]) -> None:
    """Number text as GIZA++'s plain2snt does.

    Writes SRC.vcb, TGT.vcb, SRC_TGT.snt and TGT_SRC.snt; mgiza's -vcb1, -vcb2, -snt1 and -snt2 give other
    names. -weight W is the count of the sentence pairs of a pair of files; the first -weight is for the first
    pair. Sentence pairs with an empty side are left out, as in the original.

    Unlike the original, the program says in one line which sentence pairs are left out, and says so where one
    file has more lines than the other. It refuses files that it cannot read.

    \b
    Example:
      aligner plain2snt corpus.en corpus.fr
      aligner plain2snt corpus.en corpus.fr -vcb1 en.vcb -vcb2 fr.vcb -snt1 en_fr.snt -snt2 fr_en.snt
    """
    files, weights, named = _parsed(words)
    if not files or len(files) % 2:
        raise click.UsageError("give two files, or pairs of files.")
    bases = files[:2]
    if any(all(len(base) > 4 and base.endswith(end) for base in bases) for end in ENDINGS):
        bases = [base[:-4] for base in bases]
    tails = [base.rsplit("/", 1)[-1] or base for base in bases]
    for base, tail in zip(bases, tails, strict=True):
        click.echo(f"{base} -> {tail}")
    defaults = (
        f"{bases[0]}.vcb",
        f"{bases[1]}.vcb",
        f"{bases[0]}_{tails[1]}.snt",
        f"{bases[1]}_{tails[0]}.snt",
    )
    paths = [named.get(option, default) for option, default in zip(OUTPUTS, defaults, strict=True)]
    for option, path in zip(OUTPUTS, paths, strict=True):
        check_outputs({option: path}, files, overwrite=True)
    corpus, cuts = _read(files)
    vcbs = numbered(corpus.src), numbered(corpus.tgt)
    for path, vcb in zip(paths, vcbs, strict=False):
        with open_in_place(path) as out:
            write_vcb(out, vcb)
    src, tgt = vcbs[0].ids_of(corpus.src.vocab), vcbs[1].ids_of(corpus.tgt.vocab)
    with open_in_place(paths[2]) as forward, open_in_place(paths[3]) as reverse:
        for n, (start, stop) in enumerate(cuts):
            weight = b"%g" % (weights[n] if n < len(weights) else 1)
            part = _without_empty(corpus.part(start, stop), files[2 * n])
            write_snt(forward, part, src, tgt, count=weight, end=b" \n")
            write_snt(reverse, Corpus(part.tgt, part.src), tgt, src, count=weight, end=b" \n")


def _parsed(words: tuple[str, ...]) -> tuple[list[str], list[float], dict[str, str]]:
    """Files, weights, and the outputs that have names of their own."""
    files, weights, named = [], [], {}
    rest = iter(words)
    for word in rest:
        if word not in (*OUTPUTS, "-weight"):
            files.append(word)
            continue
        if (value := next(rest, None)) is None:
            raise click.UsageError(f"{word} needs a value.")
        if word in OUTPUTS:
            named[word] = value
            continue
        try:
            weights.append(float(value))
        except ValueError:
            weights.append(math.nan)
        if not math.isfinite(weights[-1]):
            raise click.UsageError(f"-weight {value} is not a number.")
    return files, weights, named


def _read(files: list[str]) -> tuple[Corpus, list[tuple[int, int]]]:
    """All pairs of files as one corpus, and where each pair of files begins and ends in it."""
    builders = Builder(), Builder()
    cuts = []
    for pair in zip(files[::2], files[1::2], strict=True):
        start = builders[0].n_lines
        for builder, path in zip(builders, pair, strict=True):
            add_plain(builder, path)
        found = [builder.n_lines - start for builder in builders]
        if found[0] != found[1]:
            logging.warning(
                "%s has %d lines, %s has %d: the lines that are too many are left out",
                *(pair[0], found[0], pair[1], found[1]),
            )
        stop = start + min(found)
        for builder in builders:
            builder.n_tokens -= int(builder.lengths[stop : builder.n_lines].sum())
            builder.n_lines = stop
        cuts.append((start, stop))
    return Corpus(*(builder.side(lowercase=False) for builder in builders)), cuts


def _without_empty(corpus: Corpus, file: str) -> Corpus:
    """The sentence pairs that have words on both sides. Says which ones are left out."""
    full = (corpus.src.lengths > 0) & (corpus.tgt.lengths > 0)
    if not full.all():
        lines = (np.flatnonzero(~full) + 1).tolist()
        logging.warning(
            "%s: %d sentence pairs with an empty side are left out: lines %s", file, len(lines), shown(lines)
        )
    return corpus.select(full)
