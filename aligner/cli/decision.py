"""How links are chosen: options of directions, projection and links a word; the links to choose from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from aligner.cli.dual import DualLog
from aligner.cli.options import F
from aligner.cli.sentence_scores import SentenceScores
from aligner.decoding.combine import DECODERS, MOST_FERTILITY, fertility_of
from aligner.decoding.dual import DUAL, THRESHOLD, Dual
from aligner.decoding.model import Model
from aligner.decoding.posteriors import PROJECTIONS, UNCHANGED
from aligner.learning.combiner import Combiner
from aligner.links.links import Links
from aligner.links.symmetrize import METHODS, VARIANTS, our_name
from aligner.models.kinds import HMMS
from aligner.text.corpus import Corpus
from aligner.training.progress import Progress


class MethodName(click.Choice):  # type: ignore[type-arg]
    """A method of symmetrization, by our name or by another tool's. models: dual, which needs a model, too"""

    def __init__(self, models: bool = False) -> None:
        super().__init__([*METHODS, DUAL] if models else list(METHODS))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == DUAL and DUAL not in self.choices:
            self.fail(
                "dual needs a model: it is a method of `aligner align` and `aligner decode`.", param, ctx
            )
        return super().convert(our_name(value), param, ctx)


def variant(command: F) -> F:
    return click.option(
        "--variant",
        type=click.Choice(list(VARIANTS)),
        default="symal",
        help="The tool whose links are given, those of symal and atools byte for byte. lilt is"
        " combine_bidirectional_alignments.py, which adds links of two free words only. soft-union and"
        " product are the same in all.",
    )(command)


def directions(command: F) -> F:
    """How a model's two directions become one: --viterbi, --symmetrize and --variant."""
    for add in (
        variant,
        click.option(
            "--symmetrize",
            "method",
            type=MethodName(models=True),
            metavar="METHOD",
            help="How two directions become one, see `aligner symmetrize --help`; or dual: the links that are"
            " best for both directions at once, searched for by dual decomposition, with the threshold"
            f" {THRESHOLD:g}.  [default: soft-union; of best paths grow-diag-final-and]",
        ),
        click.option(
            "--viterbi",
            is_flag=True,
            help="Take the links of each direction's most probable alignment, its best path, instead of each"
            " link that is probable enough by itself.",
        ),
    ):
        command = add(command)
    return command


def projection(command: F) -> F:
    """--project: what posteriors are projected onto when text is decoded."""
    return click.option(
        "--project",
        type=click.Choice(list(PROJECTIONS)),
        default="trained",
        help="What posteriors are projected onto when text is decoded, so that the two directions agree"
        " (symmetric), or each word has at most one link expected (bijective). both is the mean of the two;"
        f" trained is what the model was trained with. For {', '.join(HMMS)} in both directions.",
    )(command)


def check_model(project: str, dual: Dual | None, fits: bool, name: str) -> None:
    """Refuses a projection, and dual decomposition, that the model cannot have.

    fits  whether the model is an HMM of both directions
    name  of the model
    """
    asked = [f"--project {project}"] if project not in UNCHANGED else []
    asked += ["--symmetrize dual"] if dual is not None else []
    if asked and not fits:
        raise click.UsageError(
            f"{asked[0]} is for HMMs of both directions ({', '.join(HMMS)}), not for {name}."
        )


def method_of(
    method: str | None, viterbi: bool, project: str, scores: bool, threshold: str | float | None
) -> str:
    """The method that is given, or the default. Refuses what best paths, or links without scores, lack."""
    if viterbi and project == "both":
        raise click.UsageError("--project both is not for --viterbi: two best paths have no mean.")
    if viterbi and threshold is not None:
        raise click.UsageError("--threshold is not for --viterbi: links of a best path have no scores.")
    method = method or ("grow-diag-final-and" if viterbi else "soft-union")
    if scores and METHODS[method].threshold is None:
        raise click.UsageError(f"--scores is for soft-union and product, not {method}.")
    return method


def decoder(command: F) -> F:
    """Which of the links above the threshold are chosen: --decode and --max-fertility."""
    command = click.option(
        "--max-fertility",
        type=click.IntRange(1, MOST_FERTILITY),
        help=f"How many links a word has at most.  [--decode fertility; default: {DECODERS['fertility']}]",
    )(command)
    return click.option(
        "--decode",
        type=click.Choice(list(DECODERS)),
        default="threshold",
        help="Which of the links above the threshold are chosen. threshold: all. one-to-one: at most one a"
        " word. fertility: at most --max-fertility a word. Of all such choices, the one with the largest sum"
        " of scores above the threshold is taken.",
    )(command)


def check_decoder(
    decode: str,
    max_fertility: int | None,
    method: str | None,
    viterbi: bool = False,
    given: str | None = None,
) -> int | None:
    """How many links a word has at most; None: any number. Refuses a decoder where there are no scores.

    method: how two directions become one; None: there is one direction
    """
    if max_fertility is not None and decode != "fertility":
        raise click.UsageError("--max-fertility is for --decode fertility.")
    if decode != "threshold" and viterbi:
        raise click.UsageError(
            f"--decode {decode} is not for --viterbi: links of a best path have no scores."
        )
    if decode != "threshold" and method is not None and METHODS[method].threshold is None:
        raise click.UsageError(f"--decode {decode} needs links with scores, not those of {method}.")
    if decode != "threshold" and given is not None:
        raise click.UsageError(f"--decode {decode} is not for --given: given links are all kept.")
    return fertility_of(decode, max_fertility)


def decoded(
    model: Model,
    corpus: Corpus,
    scored: SentenceScores,
    certified: DualLog,
    progress: Progress | None,
    *,
    project: str,
    combiner: Combiner | None = None,
    **settings: Any,
) -> Iterator[tuple[Links, Links]]:
    """The links of a text, forward and reverse, as they come, with costs and certificates if they are wanted.

    project, settings  those of decoding.posteriors.directions
    combiner           scores links of both directions at once: the two are the same
    """
    beside: dict[str, Any] = {
        "costs": scored.costs(len(corpus)),
        "certificates": certified.certificates(len(corpus)),
    }
    if combiner is None:
        blocks = model.directions(corpus, project=project, **beside, **settings)
    else:
        blocks = ((links, links) for links in combiner.scores(model, corpus, **beside, **settings))
    return blocks if progress is None else progress.follow(blocks, corpus, model.recipe, project)
