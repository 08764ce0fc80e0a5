"""aligner align"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from operator import methodcaller
from typing import Any

import click

from aligner import store
from aligner.cli import (
    combined,
    decision,
    dual,
    on_cluster,
    options,
    recipes,
    retokenised,
    sentence_scores,
    threshold,
    training,
)
from aligner.cli.dual import DualLog
from aligner.cli.outputs import Outputs
from aligner.cli.retokenised import Remapper
from aligner.cli.sentence_scores import SentenceScores
from aligner.decoding.combine import Decision, above, combine
from aligner.decoding.dual import DUAL, METHOD, Dual
from aligner.files import open_output
from aligner.links.formats import format_links
from aligner.links.known import known_of
from aligner.models.kinds import HMMS, MODELS


@click.command("align")
@options.corpus_arguments
@decision.directions
@dual.option
@decision.projection
@threshold.option
@decision.decoder
@combined.option
@click.option("--scores", is_flag=True, help="Print links with their scores, `i-j:p` (soft-union, product).")
@click.option(
    "--forward",
    metavar="FILE",
    help="Write the links of the direction p(tgt | src), too: those above the threshold; with --scores all"
    " that score above 0.001, as `i-j:p`.",
)
@click.option("--reverse", metavar="FILE", help="The same for the direction p(src | tgt).")
@retokenised.option
@sentence_scores.option
@click.option("--save", metavar="MODEL", help="Keep the model, for `aligner decode`.")
@recipes.option
@on_cluster.option("align")
@training.checkpoint
@training.progress
@training.memory
@training.sample
@options.threads
@options.output
@options.documented("Models:", MODELS)
def command(
    viterbi: bool,
    method: str | None,
    variant: str,
    penalty: float | None,
    rounds: int | None,
    rate: float | None,
    dual_log: str | None,
    project: str,
    decode: str,
    max_fertility: int | None,
    combiner: str | None,
    scores: bool,
    forward: str | None,
    reverse: str | None,
    remap_src: str | None,
    remap_tgt: str | None,
    remap_schemes: retokenised.Schemes,
    pieces: str,
    merge: str,
    sentence_score_file: str | None,
    save: str | None,
    cluster: str | None,
    checkpoint: str | None,
    resume: bool,
    log_json: str | None,
    quiet: bool,
    verbose: bool,
    output: str,
    overwrite: bool,
    **settings: Any,
) -> None:
    """Align a corpus: train a model of it in both directions, and print links.

    SRC and TGT are two files, line by line; or SRC alone, a file or stdin of `source ||| target` or
    tab-separated lines. A sentence pair becomes a line of `i-j` links; the order stays. The defaults are the
    best we know.

    Models:

    --threshold auto prints the AER that is expected if each link is right with its probability. The expected
    AER does not tell the real one: gold standards differ in what they call a link.

    The numbers of --sentence-scores tell translations from other pairs. p is that of the model, all
    alignments summed: of loo, that of all views at once; of other models, the mean over views of log p. A
    pair that has an empty side, or is too long, has 100, 100 and 0; a pair without links has 0 as its third
    number. With --viterbi and --symmetrize dual, the third number is left out.

    --remap-src and --remap-tgt leave the links of --forward and --reverse, and the scores of sentence pairs,
    as they are: those of words.

    \b
    Example:
      aligner align data/generated.src data/generated.tgt -o generated.links
      aligner align --model shmm --project both --threshold auto data/generated.src data/generated.tgt
      aligner align --lowercase --symmetrize grow-diag-final-and < corpus.both > links
      aligner align --model hmm --symmetrize dual --dual-log log.tsv data/generated.src data/generated.tgt
      aligner align --train-sample 1000000 large.src.gz large.tgt.gz -o large.links.gz
      aligner align corpus.src corpus.tgt --checkpoint run --resume --overwrite -o corpus.links
      aligner align data/generated.src data/generated.tgt -o generated.links --cluster local:2
      aligner align corpus.en corpus.fr --remap-src corpus.bpe.en --remap-tgt corpus.bpe.fr -o bpe.links
    """
    if cluster is not None:
        on_cluster.check()
    rule = settings.pop("threshold")
    given = threshold.number_of(rule)
    combined.check(
        combiner,
        symmetrize=method,
        viterbi=viterbi,
        project=project if project != "trained" else None,
        forward=forward,
        reverse=reverse,
    )
    threshold.check_combiner(combiner, rule)
    together = dual.dual_of(method, penalty, rounds, rate, dual_log, viterbi, project, rule)
    decision.check_model(project, together, settings["model"] in HMMS, settings["model"])
    method = METHOD if together is not None else decision.method_of(method, viterbi, project, scores, rule)
    fertility = decision.check_decoder(decode, max_fertility, method, viterbi, settings["given"])
    layout = "scored" if scores else "pharaoh"
    sentence_scores.check(sentence_score_file, settings["given"])
    named = {"-o": output, "--forward": forward, "--reverse": reverse, "--save": save, "--log-json": log_json}
    named |= {"--sentence-scores": sentence_score_file, "--dual-log": dual_log}
    others = Remapper((remap_src, remap_tgt), remap_schemes, pieces, merge, scores, settings["threads"])
    inputs = [combiner, *others.inputs, *training.inputs(settings)]
    options.one_stdin(*(path for path in inputs if path is not None))
    options.check_outputs(named, inputs, overwrite, save)
    learned = combined.read(combiner)
    if learned is not None and settings["views"] is None and not settings["fast"]:
        settings["views"] = learned.views
    telling = training.told(quiet, verbose, aligns=project)
    with (
        ExitStack() as stack,
        Outputs() as beside,
        open_output(output, overwrite) as out,
        telling as progress,
    ):
        sides = [
            None if path is None else beside.open(open_output(path, overwrite)) for path in (forward, reverse)
        ]
        scored = SentenceScores(sentence_score_file, overwrite, beside, viterbi or together is not None)
        certified = DualLog(dual_log, overwrite, beside)
        saved = None if save is None else beside.open(store.open_new(save, overwrite))
        log = beside.open_log(log_json, overwrite)
        run = _told(method, variant, viterbi, project, together, fertility, rule, combiner)
        learner = training.learner_in(checkpoint, resume, beside, progress)
        if cluster is not None:
            learner = stack.enter_context(on_cluster.learner_on(cluster))
        corpus, model, seen, known = training.train(
            combined.checking(learner, learned),
            run=run,
            log=log,
            progress=progress,
            threshold=given if learned is None else None,  # what combiners score, the model does not
            **settings,
        )
        stack.close()  # workers are not needed any more
        if learned is not None and combiner is not None:
            tell = options.tell if progress is None else progress.say
            combined.check_model(learned, combiner, model, "that of this text", tell)
        recipe = model.recipe
        if saved is not None:
            saved.attempt(model.write)
            saved.close()
        by_hand, n_threads = known_of(known, None, corpus), settings["threads"]
        decoding = {"seen": seen, "known": by_hand, "project": project, "n_threads": n_threads}
        number = learned.threshold if learned is not None and given is None else given
        limit = model.threshold_of(recipe.direction, method, dual.threshold_of(together, number))
        how = Decision(limit, recipe.direction, method, variant, fertility)
        say = None if progress is None else progress.say
        how = threshold.found(rule, model, corpus, how, say, **decoding)
        of_sides = model.threshold if rule is None and together is None else how.threshold
        if progress is not None and options.on_terminal(output):
            progress.hide()
        n_links = 0
        others.begin(corpus, settings["src"], settings["tgt"], settings["encoding"], settings["split"])
        decoding |= {"viterbi": viterbi, "dual": together, "combiner": learned}
        for links in decision.decoded(model, corpus, scored, certified, progress, **decoding):
            for side, one in zip(sides, links, strict=True):
                if side is not None:
                    kept = one if scores else above(one, of_sides)
                    side.attempt(methodcaller("write", format_links(kept.rounded(), layout)))
            both = combine(*links, how, n_threads)
            n_links += len(both.src)
            out.write(format_links(others.remapped(both).rounded(), layout))
            scored.write(both, *links, recipe.direction)
            certified.write(len(both))
        others.end(settings["src"])
        if progress is not None:
            above_what = "" if viterbi else f" that score above {how.threshold:g}"
            progress.say(f"found {n_links:,} links{above_what}")
            progress.end(len(corpus))


def _told(
    method: str,
    variant: str,
    viterbi: bool,
    project: str,
    together: Dual | None,
    fertility: int | None,
    rule: str | float | None,
    combiner: str | None,
) -> dict[str, str]:
    """How links are chosen, as the log's signature tells it: what is not as usual."""
    run = {
        "sym": method if together is None else DUAL,
        **({} if together is None else asdict(together)),
        "variant": variant if variant != "symal" else None,
        "links": "viterbi" if viterbi else None,
        "project": project if project != "trained" else None,
        "fertility": fertility,
        "rule": rule if isinstance(rule, str) else None,
        "combiner": None if combiner is None else store.checksum(combiner),
    }
    return {key: str(value) for key, value in run.items() if value is not None}
