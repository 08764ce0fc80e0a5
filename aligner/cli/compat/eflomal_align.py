"""aligner eflomal-align"""

from __future__ import annotations

import os
from collections.abc import Callable

import click

from aligner.cli.compat.command_lines import Getopt, unused, warn_of_unused
from aligner.cli.compat.eflomal_text import Lines, sides, text
from aligner.cli.options import F, check_outputs
from aligner.compat.eflomal import Aligner
from aligner.errors import DataError


def _letters(option: str, what: str) -> Callable[[F], F]:
    return click.option(option, metavar="N", type=click.IntRange(0), default=0, help=what)


@click.command("eflomal-align", cls=Getopt)
@text
@click.option("-f", "--forward-links", metavar="FILE", help="Write links, at most one a target word.")
@click.option("-r", "--reverse-links", metavar="FILE", help="Write links, at most one a source word.")
@click.option("-F", "--forward-scores", metavar="FILE", help="Write a score a line, of the target side.")
@click.option("-R", "--reverse-scores", metavar="FILE", help="Write a score a line, of the source side.")
@click.option(
    "-p", "--priors", metavar="FILE", help="Priors of eflomal-makepriors: counts beside this text's."
)
@click.option(
    "-m", "--model", metavar="N", type=click.IntRange(1, 3), default=3, help="1: ibm1, 2: shmm, 3: loo."
)
@click.option(
    "-M",
    "--score-model",
    metavar="N",
    type=click.IntRange(0, 3),
    default=0,
    help="What scores are made of: 1 words, 2 also jumps, 3 also fertilities; 0: as --model.",
)
@click.option(
    "--null-prior", metavar="X", type=float, default=0.2, help="Probability of NULL; not of model 1."
)
@_letters("--source-prefix", "See only so many letters of source words, from the left; 0: all.")
@_letters("--source-suffix", "The same, from the right.")
@_letters("--target-prefix", "See only so many letters of target words, from the left; 0: all.")
@_letters("--target-suffix", "The same, from the right.")
@click.option("--n-samplers", metavar="N", type=int, default=3, help="Use at most 2 N threads.")
@click.option("--overwrite", is_flag=True, help="Write links to files that exist, too.")
@click.option("-v", "--verbose", is_flag=True, help="Say on stderr how training goes.")
@unused("-l", "--length", metavar="X", type=float)
@unused("-1", "--ibm1-iters", metavar="N", type=int)
@unused("-2", "--hmm-iters", metavar="N", type=int)
@unused("-3", "--fert-iters", metavar="N", type=int)
@unused("--debug", is_flag=True)
def command(
    source: str | None,
    target: str | None,
    joint: str | None,
    forward_links: str | None,
    reverse_links: str | None,
    forward_scores: str | None,
    reverse_scores: str | None,
    priors: str | None,
    model: int,
    score_model: int,
    null_prior: float,
    source_prefix: int,
    source_suffix: int,
    target_prefix: int,
    target_suffix: int,
    n_samplers: int,
    overwrite: bool,
    verbose: bool,
) -> None:
    """Align as eflomal-align does.

    Text is lower-cased and split at any blanks of Unicode. Links are lines of `i-j`; an empty line stays one.
    They are the links of `aligner align`, chosen so that atools and symal lose nothing. Every call gives the
    same links. Files are written in place. Files of links that exist are refused without --overwrite.

    Scores are made as eflomal's are, of the best paths of an HMM. Lower is better. On real text they are some
    1 higher than eflomal's, and 2 higher for wrong sentence pairs. A sentence pair that has an empty side, or
    is too long, scores 0.

    With --priors, the counts of another text are added to those of this one. They should not be of the same
    sentence pairs, which then count twice.

    A sentence pair of more than 2,048 x 2,048 words is too long: it has no links, and a warning names it.
    eflomal leaves sentences of 1,024 words without links.

    \b
    Example:
      aligner eflomal-align -s corpus.en -t corpus.fr -f forward.links -r reverse.links
      aligner eflomal-align -i new.both --priors corpus.priors -f new.forward -r new.reverse --overwrite
    """
    warn_of_unused()
    if priors == "-" and "-" in ((joint,) if joint else (source, target)):
        raise DataError("stdin cannot be both text and priors", hint="give one of them as a file")
    src, tgt = sides(source, target, joint)
    for path in (forward_links, reverse_links):
        if path is not None and not overwrite and os.path.exists(path):
            raise DataError(f"output file {path} exists, will not overwrite!", hint="allow it by --overwrite")
    outputs = {"-f": forward_links, "-r": reverse_links, "-F": forward_scores, "-R": reverse_scores}
    check_outputs(outputs, (source, target, joint, priors), overwrite=True)
    Aligner(
        model,
        score_model,
        n_samplers=n_samplers,
        null_prior=null_prior,
        source_prefix_len=source_prefix,
        source_suffix_len=source_suffix,
        target_prefix_len=target_prefix,
        target_suffix_len=target_suffix,
    ).align(
        src,
        tgt,
        forward_links,
        reverse_links,
        forward_scores,
        reverse_scores,
        None if priors is None else Lines(priors),
        quiet=not verbose,
    )
