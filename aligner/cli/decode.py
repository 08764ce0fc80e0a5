"""aligner decode"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import click
import numpy as np

from aligner.cli import options, sentence_scores, training, tuned
from aligner.cli import threshold as thresholds
from aligner.cli.outputs import Outputs
from aligner.cli.sentence_scores import SentenceScores
from aligner.decoding.combine import Decision, combine, threshold_of
from aligner.decoding.model import Model
from aligner.decoding.posteriors import directions, known_words, unknown_tokens
from aligner.files import display_name, open_output
from aligner.links.formats import format_links
from aligner.links.known import known_of
from aligner.models.recipe import DIRECTIONS, HMMS
from aligner.text import doubts
from aligner.text.cells import cell_offsets
from aligner.text.corpus import warn_of_long
from aligner.text.reading import stream_corpus
from aligner.training.progress import Progress, decoding_work


@click.command("decode")
@click.argument("model")
@click.argument("src", default="-", callback=options.not_from_terminal)
@click.argument("tgt", required=False)
@options.layout
@options.encoding
@click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    help="forward: p(tgt | src); reverse: p(src | tgt); both: the two made one.  [default: as trained]",
)
@options.directions
@options.projection
@thresholds.option
@tuned.at
@options.decoder
@training.known
@click.option(
    "--scores",
    is_flag=True,
    help="Print links with their scores, `i-j:p` (soft-union, product, one direction).",
)
@sentence_scores.option
@options.check
@options.threads
@options.output
def command(
    model: str,
    src: str,
    tgt: str | None,
    layout: str | None,
    vcb: tuple[str, str] | None,
    encoding: str,
    direction: str | None,
    viterbi: bool,
    method: str | None,
    variant: str,
    project: str,
    threshold: str | float | None,
    at_precision: float | None,
    at_recall: float | None,
    decode: str,
    max_fertility: int | None,
    given: str | None,
    exclude: str | None,
    known_base: int | None,
    known_format: str | None,
    scores: bool,
    sentence_score_file: str | None,
    check: bool,
    threads: int,
    output: str,
    overwrite: bool,
) -> None:
    """Print links of any text with a trained model.

    SRC and TGT as for `aligner align`. The text need not be the text that MODEL was trained on; for
    that text the links are those of `aligner align`. The text is lower-cased if the model's was, and
    split as the model's was. Lines of stdin are answered as they come. A warning says if MODEL does not know
    most words of a side, in none of its views.

    The links of one direction are those above the threshold; --threshold 0 prints all that score above 0.001.

    A model that `aligner tune --store` has tuned takes the threshold that was best for what it is asked for.
    Of such a model, --at-precision and --at-recall take a threshold of its curve.

    --threshold auto prints the AER that is expected if each link is right with its probability. The expected
    AER does not tell the real one: gold standards differ in what they call a link.
    Of a stream, --threshold auto is the number that training found.

    The numbers of --sentence-scores are those of `aligner align`. A direction that MODEL was not trained in
    has no number: its column is empty.

    \b
    Example:
      aligner decode generated.model data/generated.src data/generated.tgt
      aligner decode generated.model data/generated.src data/generated.tgt --threshold points
      aligner decode generated.model --direction forward --scores < corpus.both
      aligner decode generated.model data/generated.src data/generated.tgt --decode one-to-one
      aligner decode tuned.model data/generated.src data/generated.tgt --at-precision 0.95
    """
    options.check_layout(tgt, layout, vcb)
    options.one_stdin(src, tgt or "", *(vcb or ()), *(path for path in (given, exclude) if path))
    streamed = tgt is None and vcb is None
    if streamed and threshold == "points":
        raise click.UsageError(
            "--threshold points is for two files, SRC and TGT: links are counted before they are printed."
        )
    if tgt is None and (given or exclude):
        raise click.UsageError("--given and --exclude are for two files, SRC and TGT.")
    training.check_known(given, exclude, known_base, known_format, threshold)
    sentence_scores.check(sentence_score_file, given)
    named = {"-o": output, "--sentence-scores": sentence_score_file}
    options.check_outputs(named, (model, src, tgt, *(vcb or ()), given, exclude), overwrite)
    trained = Model.load(model, check)
    trained.check_trained()
    trained_direction = trained.recipe.direction
    if direction is not None and trained_direction not in ("both", direction):
        raise click.UsageError(f"{model} was trained {trained_direction} only.")
    direction = direction or trained_direction
    if method is not None and direction != "both":
        raise click.UsageError("--symmetrize is for both directions.")
    fits = trained.recipe.model in HMMS and trained_direction == "both"
    options.check_projection(project, viterbi, fits, model)
    method = options.method_of(method, viterbi, scores and direction == "both", threshold)
    made_one = method if direction == "both" else None
    fertility = options.check_decoder(decode, max_fertility, made_one, viterbi, given)
    if at_precision is not None or at_recall is not None:
        tuned.check(at_precision, at_recall, threshold, viterbi, project != "trained", decode)
        threshold = tuned.threshold(trained, model, direction, method, at_precision, at_recall)
    elif threshold is None and not viterbi and project == "trained":  # tuning is of such posteriors alone
        threshold = trained.tuned_threshold(direction, method)
    limit = threshold_of(method, thresholds.number_of(threshold), trained.threshold)
    how = Decision(limit, direction, method, variant, fertility)
    telling = nullcontext() if streamed or options.on_terminal(output) else Progress()
    with Outputs() as beside, open_output(output, overwrite) as out, telling as progress:
        scored = SentenceScores(sentence_score_file, overwrite, beside, viterbi)
        recipe = trained.recipe
        reading: dict[str, Any] = {
            "encoding": encoding,
            "lowercase": recipe.lowercase,
            "split": recipe.split,
        }
        if streamed:
            parts = stream_corpus(src, layout=layout, **reading)
        else:
            parts = iter([options.read_pairs(src, tgt, layout, vcb, **reading)])
        n_before, long_pairs = 0, []
        unknown, tokens = np.zeros(2, np.int64), np.zeros(2, np.int64)  # of the source, of the target
        for corpus in parts:
            known = known_of(
                training.read_known(given, exclude, known_base, known_format, corpus), None, corpus
            )
            long_pairs += corpus.long_pairs(n_before)
            n_before += len(corpus)
            corpus = corpus.bounded()
            seen = known_words(trained.views, corpus)
            unknown += [np.count_nonzero(side) for side in unknown_tokens(seen)]
            tokens += len(corpus.src.ids), len(corpus.tgt.ids)
            decoding: dict[str, Any] = {"seen": seen, "known": known, "project": project}
            decoding["n_threads"] = threads
            if not streamed:
                how = thresholds.found(threshold, trained, corpus, how, **decoding)
            blocks = directions(
                trained.views,
                recipe,
                corpus,
                costs=scored.costs(len(corpus)),
                shares=trained.shares,
                viterbi=viterbi,
                **decoding,
            )
            if progress is not None:
                progress.plan(decoding_work(recipe, int(cell_offsets(corpus)[-1])))
                blocks = progress.follow(blocks, corpus, recipe)
            for forward, reverse in blocks:
                links = combine(forward, reverse, how, threads)
                out.write(format_links(links.rounded(), "scored" if scores else "pharaoh"))
                scored.write(links, forward, reverse, direction)
            out.flush()
            scored.flush()
    warn_of_long(long_pairs, display_name(src))
    doubts.warn_of_unknown(model, unknown.tolist(), tokens.tolist())
