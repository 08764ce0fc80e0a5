"""aligner decode"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import click
import numpy as np

from aligner import store
from aligner.cli import combined, decision, dual, known, options, recipes, retokenised, sentence_scores
from aligner.cli import threshold as thresholds
from aligner.cli.dual import DualLog
from aligner.cli.known import KnownFiles
from aligner.cli.outputs import Outputs
from aligner.cli.retokenised import Remapper
from aligner.cli.sentence_scores import SentenceScores
from aligner.cli.systems import check_direction
from aligner.cluster.shards import TextShard
from aligner.decoding.combine import Decision, combine
from aligner.decoding.dual import METHOD
from aligner.decoding.model import Model
from aligner.decoding.posteriors import known_words, unknown_words
from aligner.files import display_name, open_output
from aligner.links.formats import format_links
from aligner.links.known import known_of
from aligner.models.kinds import HMMS, SKIPPING
from aligner.models.recipe import DIRECTIONS
from aligner.text.cells import Seen, cell_offsets
from aligner.text.corpus import Corpus, warn_of_long
from aligner.text.doubts import warn_of_unknown
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
@decision.directions
@dual.option
@decision.projection
@recipes.chain
@thresholds.option
@thresholds.at("on the text that `aligner tune --store` tuned the model on")
@decision.decoder
@combined.option
@known.option
@click.option(
    "--scores",
    is_flag=True,
    help="Print links with their scores, `i-j:p` (soft-union, product, one direction).",
)
@retokenised.option
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
    penalty: float | None,
    rounds: int | None,
    rate: float | None,
    dual_log: str | None,
    project: str,
    chain: str | None,
    threshold: str | float | None,
    at_precision: float | None,
    at_recall: float | None,
    decode: str,
    max_fertility: int | None,
    combiner: str | None,
    given: str | None,
    exclude: str | None,
    known_base: int | None,
    known_format: str | None,
    scores: bool,
    remap_src: str | None,
    remap_tgt: str | None,
    remap_schemes: retokenised.Schemes,
    pieces: str,
    merge: str,
    sentence_score_file: str | None,
    check: bool,
    threads: int,
    output: str,
    overwrite: bool,
) -> None:
    """Print links of any text with a trained model.

    SRC and TGT as for `aligner align`, or SRC is a shard of `aligner shard`. The text need not be the text
    that MODEL was trained on; for that text the links are those of `aligner align`. The text is lower-cased
    if the model's was, and split as the model's was. Lines of stdin are answered as they come. A warning says
    if MODEL does not know most words of a side, in none of its views.

    The links of one direction are those above the threshold; --threshold 0 prints all that score above 0.001.

    The threshold is the first of these: what --threshold gives; what --at-precision or --at-recall finds on
    the curve of a model that `aligner tune --store` has tuned; the best one that tuning found, except with
    --viterbi, --project, another --chain and --symmetrize dual; 0.5 for dual, 0.25 for product; the model's,
    which `aligner info` tells.

    --threshold auto prints the AER that is expected if each link is right with its probability. The expected
    AER does not tell the real one: gold standards differ in what they call a link.
    Of a stream, --threshold auto is the number that training found, where it found one. Of a shard, auto and
    points look at this shard alone: shards get other thresholds then.

    The numbers of --sentence-scores are those of `aligner align`. A direction that MODEL was not trained in
    has no number: its column is empty.

    \b
    Example:
      aligner decode generated.model data/generated.src data/generated.tgt
      aligner decode generated.model data/generated.src data/generated.tgt --threshold points
      aligner decode generated.model --direction forward --scores < corpus.both
      aligner decode generated.model data/generated.src data/generated.tgt --decode one-to-one
      aligner decode tuned.model data/generated.src data/generated.tgt --at-precision 0.95
      aligner decode hmm.model data/generated.src data/generated.tgt --symmetrize dual --rounds 250 --rate 2
      aligner decode generated.model parts/shard-1
      aligner decode corpus.model corpus.src corpus.tgt --combiner corpus.combiner
      aligner decode corpus.model corpus.src corpus.tgt --remap-src bpe.src --remap-tgt bpe.tgt
    """
    options.check_layout(tgt, layout, vcb)
    sharded = tgt is None and store.is_model(src)
    if sharded and layout is not None:
        raise click.UsageError(f"--layout is for text, and {src} is none.")
    files = KnownFiles(given, exclude, known_base, known_format)
    others = Remapper((remap_src, remap_tgt), remap_schemes, pieces, merge, scores, threads)
    options.one_stdin(src, tgt or "", *(vcb or ()), *files.paths, *others.inputs)
    streamed = tgt is None and vcb is None and not sharded
    if streamed and threshold == "points":
        raise click.UsageError(
            "--threshold points is for two files, SRC and TGT: links are counted before they are printed."
        )
    if tgt is None and files.paths:
        raise click.UsageError("--given and --exclude are for two files, SRC and TGT.")
    files.check(threshold)
    combined.check(
        combiner,
        direction=direction if direction != "both" else None,
        symmetrize=method,
        viterbi=viterbi,
        project=project if project != "trained" else None,
        chain=chain,
        at_precision=at_precision,
        at_recall=at_recall,
    )
    thresholds.check_combiner(combiner, threshold)
    sentence_scores.check(sentence_score_file, given)
    together = dual.dual_of(method, penalty, rounds, rate, dual_log, viterbi, project, threshold)
    named = {"-o": output, "--sentence-scores": sentence_score_file, "--dual-log": dual_log}
    inputs = model, combiner, src, tgt, *(vcb or ()), *files.paths, *others.inputs
    options.check_outputs(named, inputs, overwrite)
    learned = combined.read(combiner)
    trained = Model.load(model, check)
    trained.check_trained(model)
    check_direction(trained, model, direction)
    if learned is not None and combiner is not None:
        combined.check_model(learned, combiner, trained, model)
    as_trained = trained.recipe
    if chain is not None:
        if trained.recipe.model not in SKIPPING:
            raise click.UsageError(f"--chain is for {', '.join(SKIPPING)}, not for {model}.")
        trained.recipe = trained.recipe.chained(chain)
    recipe, rechained = trained.recipe, trained.recipe != as_trained
    direction = direction or recipe.direction
    if method is not None and direction != "both":
        raise click.UsageError("--symmetrize is for both directions.")
    fits = recipe.model in HMMS and recipe.direction == "both"
    decision.check_model(project, together, fits, model)
    if together is not None:
        method = METHOD
    else:
        of_both = scores and direction == "both"
        method = decision.method_of(method, viterbi, project, of_both, threshold)
    if streamed and threshold == "auto":
        thresholds.check_found(trained, model, direction, method)
    made_one = method if direction == "both" else None
    fertility = decision.check_decoder(decode, max_fertility, made_one, viterbi, given)
    options.exclusive(at_precision=at_precision, at_recall=at_recall, threshold=threshold)
    if (wanted := thresholds.wanted_of(at_precision, at_recall)) is not None:
        thresholds.check_wanted(viterbi, project, rechained, decode, together is not None)
    threshold = threshold if isinstance(threshold, str) else dual.threshold_of(together, threshold)
    as_tuned = not viterbi and not rechained and project == "trained"
    if learned is not None and threshold is None:
        threshold = learned.threshold
    limit = thresholds.limit_of(trained, model, direction, method, threshold, wanted, as_tuned)
    how = Decision(limit, direction, method, variant, fertility)
    reading: dict[str, Any] = {"encoding": encoding, "lowercase": recipe.lowercase, "split": recipe.split}
    usual: dict[str, Any] = {"project": project, "n_threads": threads}
    telling = nullcontext() if streamed or options.on_terminal(output) else Progress()
    doubts = Doubts(trained)
    with Outputs() as beside, open_output(output, overwrite) as out, telling as progress:
        scored = SentenceScores(sentence_score_file, overwrite, beside, viterbi or together is not None)
        certified = DualLog(dual_log, overwrite, beside)
        if sharded:
            parts = iter([TextShard.load(src).corpus.fitted(recipe.lowercase, recipe.split)])
        elif streamed:
            parts = stream_corpus(src, layout=layout, **reading)
        else:
            parts = iter([options.read_pairs(src, tgt, layout, vcb, **reading)])
        for corpus in parts:
            others.begin(corpus, src, tgt, encoding, recipe.split)
            by_hand = known_of(files.read(corpus), None, corpus)
            corpus, seen = doubts.look(corpus)
            settings = usual | {"seen": seen, "known": by_hand}
            if not streamed:
                how = thresholds.found(threshold, trained, corpus, how, **settings)
            if progress is not None:
                progress.plan(decoding_work(recipe, int(cell_offsets(corpus)[-1]), project))
            settings |= {"viterbi": viterbi, "dual": together, "combiner": learned}
            blocks = decision.decoded(trained, corpus, scored, certified, progress, **settings)
            for forward, reverse in blocks:
                links = combine(forward, reverse, how, threads)
                new = others.remapped(links).rounded()
                out.write(format_links(new, "scored" if scores else "pharaoh"))
                scored.write(links, forward, reverse, direction)
                certified.write(len(links))
            out.flush()
            scored.flush()
            certified.flush()
        others.end(src)
    doubts.warn(model, display_name(src))


class Doubts:
    """What looks wrong with a text that comes part by part: sentences that are too long, unknown words."""

    def __init__(self, model: Model) -> None:
        self.views = model.views
        self.n_pairs = 0
        self.long_pairs: list[tuple[int, int, int]] = []
        self.unknown, self.tokens = np.zeros(2, np.int64), np.zeros(2, np.int64)  # source, target

    def look(self, corpus: Corpus) -> tuple[Corpus, list[Seen]]:
        """The next part without what is too long, and what each view sees of this part."""
        self.long_pairs += corpus.long_pairs(self.n_pairs)
        self.n_pairs += len(corpus)
        corpus = corpus.bounded()
        seen = known_words(self.views, corpus)
        words = zip((corpus.src, corpus.tgt), unknown_words(seen), strict=True)
        self.unknown += [side.counts[which].sum() for side, which in words]
        self.tokens += len(corpus.src.ids), len(corpus.tgt.ids)
        return corpus, seen

    def warn(self, model: str, text: str) -> None:
        """Warns once, of all parts. model, text: their names"""
        warn_of_long(self.long_pairs, text)
        warn_of_unknown(model, self.unknown.tolist(), self.tokens.tolist())
