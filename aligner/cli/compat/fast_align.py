"""aligner fast-align"""

from __future__ import annotations

import logging
import os
from typing import Any

import click
import numpy as np

from aligner.cli.compat.command_lines import Getopt, unused, warn_of_unused
from aligner.cli.options import Share, check_outputs, tell
from aligner.compat import fast_align
from aligner.errors import DataError, message_of
from aligner.files import check_output, display_name, open_output
from aligner.links.formats import format_links
from aligner.models.diagonal import LARGEST, SMALLEST, USUAL
from aligner.models.recipe import Recipe
from aligner.text.corpus import warn_of_long
from aligner.text.fast_align import read_pairs, stream_pairs
from aligner.threads import available
from aligner.training.cache import trained

# parameters that change nothing: of training, of a table alone, of a model beside a table
OF_TABLES = ("favor_diagonal", "diagonal_tension", "p0", "no_null_word")
UNUSED_IN_TRAINING = (*OF_TABLES, "mean_srclen_multiplier", "iterations")
UNUSED_WITH_TABLE = (
    *("optimize_tension", "iterations", "print_scores", "no_cache"),
    *("conditional_probabilities", "beam_threshold"),
)
UNUSED_WITH_MODEL = (*UNUSED_WITH_TABLE, *OF_TABLES)


@click.command("fast-align", cls=Getopt)
@click.option("-i", "--input", metavar="FILE", required=True, help="Lines `source ||| target`; - is stdin.")
@click.option("-r", "--reverse", is_flag=True, help="Generate the source of the target: p(source | target).")
@click.option("-s", "--print_scores", is_flag=True, help="Print ` ||| log-probability` after the links.")
@click.option(
    "-p",
    "--conditional_probabilities",
    metavar="TABLE",
    help="Write word pairs and their log-probabilities to TABLE, and the model to TABLE.model.",
)
@click.option(
    "-t",
    "--beam_threshold",
    type=Share(-(10**6), 10**6),
    default=-4.0,
    help="TABLE lacks words less probable than the best word's probability to the power of minus this.",
)
@click.option(
    "-f",
    "--force_align",
    metavar="TABLE",
    help="Align by the model of TABLE, and train none: print `source ||| target ||| links ||| score`.",
)
@click.option(
    "-m",
    "--mean_srclen_multiplier",
    type=Share(0),
    default=1.0,
    help="With -f: generated words a given word, for the score.",
)
@click.option("-d", "--favor_diagonal", is_flag=True, help="With -f: prefer links near the diagonal.")
@click.option(
    "-T",
    "--diagonal_tension",
    type=Share(SMALLEST, LARGEST),
    help=f"With -f: how much to prefer them; means -d.  [default: {USUAL:g}]",
)
@click.option(
    "-q",
    "--p0",
    type=Share(0, 1, max_open=True),
    default=fast_align.P0,
    help="With -f: the probability of NULL.",
)
@click.option("-N", "--no_null_word", is_flag=True, help="With -f: no NULL word.")
@click.option(
    "-o", "--optimize_tension", is_flag=True, help="With -d: print the tension of the links on stderr."
)
@unused("-v", "--variational_bayes", is_flag=True)
@click.option(
    "-I",
    "--iterations",
    type=click.IntRange(0, 1000, clamp=True),
    default=5,
    help="Changes nothing but the lines on stderr.",
)
@unused("-a", "--alpha", type=float, default=0.01)
@unused("-b", "--thread_buffer_size", type=int, default=10000)
@click.option("--no-cache", is_flag=True, help="Train anew, and do not keep the model for the next call.")
def command(force_align: str | None, **options: Any) -> None:
    """Align as fast_align does, one direction.

    The links of a sentence pair are a line of `i-j` on stdout, at most one link a generated word, in the
    order of these words. They are the links of `aligner align`, chosen so that atools and symal lose nothing.
    Options of fast_align's training are accepted and change nothing; a line on stderr names them.

    The first call trains both directions, and keeps the model in $ALIGNER_CACHE, by default ~/.cache/aligner.
    A second call, with -r or with the sides of the text swapped, finds it there. $ALIGNER_CACHE_SIZE, by
    default 2G, bounds the folder; ALIGNER_CACHE=off turns it off.

    With -f, lines are answered as they come. TABLE.model is used if -p wrote both. A table alone gives the
    links of fast_align itself, and -d, -T, -q, -N and -m mean the same as there.

    \b
    Example:
      aligner fast-align -i corpus.both -d -o -v > forward.links
      aligner fast-align -i corpus.both -d -o -v -r > reverse.links
      aligner atools -i forward.links -j reverse.links -c grow-diag-final-and
    """
    direction = "reverse" if options["reverse"] else "forward"
    if force_align is None:
        warn_of_unused(*UNUSED_IN_TRAINING)
        _train_and_align(direction, **options)
    else:
        _align_new_text(force_align, direction, **options)


def _train_and_align(
    direction: str,
    *,
    input: str,
    print_scores: bool,
    conditional_probabilities: str | None,
    beam_threshold: float,
    favor_diagonal: bool,
    diagonal_tension: float | None,
    optimize_tension: bool,
    iterations: int,
    no_cache: bool,
    **_: Any,
) -> None:
    """Trains a model of the text, or finds it, and prints the links of one direction."""
    table = conditional_probabilities
    check_output("-")
    if table is not None:
        check_outputs({"-p": table}, [input], overwrite=True)
    tell("INITIAL PASS")
    corpus, odd = read_pairs(input)
    for n, line in odd.items():
        tell(f"Error in line {n}\n{line}")
    warn_of_long(corpus.long_pairs(), display_name(input))
    ratio = fast_align.length_ratio(corpus, direction)
    tell(f"expected target length = source length * {ratio:g}")
    kept = trained(corpus, Recipe.of(), n_threads=available(), cached=not no_cache)
    aligner = fast_align.ModelAligner(kept, direction, ratio if print_scores else None, available())
    fit = fast_align.TensionFit(corpus, direction)
    with open_output("-") as out:
        for links, scores in aligner.align(corpus):
            text = format_links(links, "pharaoh")
            if scores is not None:
                lines = zip(text.decode().splitlines(), scores, strict=True)
                text[:] = "".join(f"{line} ||| {score:g}\n" for line, score in lines).encode()
            out.write(text)
            fit.add(links)
    tension = fit.tension() if optimize_tension and (favor_diagonal or diagonal_tension is not None) else None
    for n in range(1, iterations + 1):
        tell(f"ITERATION {n}" + (" (FINAL)" if n == iterations else ""))
        if tension is not None and 1 < n < iterations:
            tell(f"     final tension: {tension:g}")
    if table is not None:
        tell(f"conditional probabilities: {table}")
        fast_align.write_table(kept, direction, beam_threshold, table)
        if os.path.isfile(table):
            try:
                fast_align.save_model(kept, table)
            except (DataError, OSError) as error:  # the original has no such file
                logging.warning("the model beside the table cannot be written: %s", message_of(error))


def _align_new_text(
    table: str,
    direction: str,
    *,
    input: str,
    mean_srclen_multiplier: float,
    favor_diagonal: bool,
    diagonal_tension: float | None,
    p0: float,
    no_null_word: bool,
    **_: Any,
) -> None:
    """Prints source, target, links and score of lines, each as soon as it comes."""
    aligner: fast_align.Aligner
    if (kept := fast_align.load_model(table)) is not None:
        warn_of_unused(*UNUSED_WITH_MODEL)
        aligner = fast_align.ModelAligner(kept, direction, mean_srclen_multiplier, available())
    else:
        warn_of_unused(*UNUSED_WITH_TABLE)
        words = fast_align.read_table(table)
        tell(f"Loaded {sum(map(len, words.values()))} translation parameters.")
        tension = diagonal_tension if diagonal_tension is not None else USUAL if favor_diagonal else None
        aligner = fast_align.TableAligner(
            words, direction, tension, p0, not no_null_word, mean_srclen_multiplier
        )
    n_before, total = 0, 0.0
    with open_output("-") as out:
        for corpus, sides in stream_pairs(input):
            for n in np.flatnonzero((corpus.src.lengths == 0) | (corpus.tgt.lengths == 0)).tolist():
                tell(f"Error in line {n_before + n + 1}")
            n_before += len(corpus)
            for links, scores in aligner.align(corpus):
                assert scores is not None
                lines = bytes(format_links(links, "pharaoh")).split(b"\n")
                out.write(b"".join(map(_forced, sides, lines, scores.tolist())))
                del sides[: len(links)]
                total += float(scores.sum())
            out.flush()
    tell(f"TOTAL LOG PROB {total:g}")


def _forced(sides: tuple[bytes, bytes], links: bytes, score: float) -> bytes:
    """A line of new text with its links and its score."""
    src, tgt = ([word for word in side.split(b" ") if word] for side in sides)
    return b" ".join([*src, b"|||", *tgt, b"|||", *([links] if links else []), b"|||", b"%g\n" % score])
