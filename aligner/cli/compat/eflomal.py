"""aligner eflomal"""

from __future__ import annotations

from typing import NoReturn

import click

from aligner.cli.compat.command_lines import unused, warn_of_unused
from aligner.cli.options import check_outputs
from aligner.compat.eflomal.numbered import read_numbered_priors, read_sentences
from aligner.compat.eflomal.task import Files, Task
from aligner.compat.eflomal.words import corpus_of
from aligner.errors import DataError
from aligner.files import display_name
from aligner.text.reading import read_lines


def _print_usage(ctx: click.Context) -> NoReturn:
    """As the original does: this is no success."""
    click.echo(ctx.get_usage(), err=True)
    ctx.exit(1)


def _asked_for_usage(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        _print_usage(ctx)


@click.command("eflomal", context_settings={"help_option_names": ["--help"]})
@click.option("-s", "source", metavar="FILE", default="-", help="Source text of numbers.")
@click.option("-t", "target", metavar="FILE", default="-", help="Target text of numbers.")
@click.option("-p", "priors", metavar="FILE", help="Priors of numbers: counts beside the text's.")
@click.option("-f", "forward_links", metavar="FILE", help="Write links, at most one a target word.")
@click.option("-r", "reverse_links", metavar="FILE", help="Write links, at most one a source word.")
@click.option("-F", "forward_scores", metavar="FILE", help="Write a score a line, of the target side.")
@click.option("-R", "reverse_scores", metavar="FILE", help="Write a score a line, of the source side.")
@click.option("-m", "model", metavar="N", type=int, help="Needed. 1: ibm1, 2: shmm, 3: loo.")
@click.option(
    "-M",
    "score_model",
    metavar="N",
    type=int,
    help="What scores are made of: 1 words, 2 also jumps, 3 also fertilities; default: as -m.",
)
@click.option("-n", "n_samplers", metavar="N", type=int, default=1, help="Use at most 2 N threads.")
@click.option("-N", "null_prior", metavar="X", type=float, default=0.2, help="Probability of NULL.")
@click.option("-q", "quiet", is_flag=True, help="Say nothing on stderr about training.")
@unused("-1", "ibm1_iters", metavar="N", type=int)
@unused("-2", "hmm_iters", metavar="N", type=int)
@unused("-3", "fert_iters", metavar="N", type=int)
@unused("-S", "statistics", metavar="FILE", help="Changes nothing: no statistics are written.")
@click.option(
    "-h", is_flag=True, expose_value=False, is_eager=True, callback=_asked_for_usage, help="Print the usage."
)
def command(
    source: str,
    target: str,
    priors: str | None,
    forward_links: str | None,
    reverse_links: str | None,
    forward_scores: str | None,
    reverse_scores: str | None,
    model: int | None,
    score_model: int | None,
    n_samplers: int,
    null_prior: float,
    quiet: bool,
) -> None:
    """Align numbered text as eflomal's program in C does.

    Text begins with a line `sentences words`; then a line has the length of a sentence and its words'
    numbers, from 0 on. eflomal's write_text writes such text, and ours does. Numbers have no letters, so that
    links are not as good as those of `aligner eflomal-align`. A sentence pair of more than 2,048 x 2,048
    words has no links, and a warning names it. - is stdin; both texts and the priors may come from it, one
    after another. Files are overwritten in place.

    \b
    Example:
      aligner eflomal -s source.numbers -t target.numbers -f forward.links -r reverse.links -m 3 -q
    """
    if model is None:
        _print_usage(click.get_current_context())
    warn_of_unused()
    if 0 in (model, score_model):
        raise DataError("there is no model 0", hint="the models are 1, 2 and 3")
    task = Task.of(model, score_model or 0, null_prior, n_samplers, quiet)
    files = Files(forward_links, reverse_links, forward_scores, reverse_scores)
    outputs = {"-f": forward_links, "-r": reverse_links, "-F": forward_scores, "-R": reverse_scores}
    check_outputs(outputs, (source, target, priors), overwrite=True)
    stdin = read_lines("-")
    src, tgt = (
        read_sentences(stdin if path == "-" else read_lines(path), display_name(path))
        for path in (source, target)
    )
    known = None
    if priors is not None:
        lines = stdin if priors == "-" else read_lines(priors)
        known = read_numbered_priors(lines, display_name(priors))
    task.run(corpus_of(src, tgt), files, known, whole=False, letters=False)
