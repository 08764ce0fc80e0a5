"""aligner tune"""

from __future__ import annotations

from dataclasses import replace

import click

from aligner import store
from aligner.cli import options, systems
from aligner.cli import threshold as thresholds
from aligner.decoding.model import Model
from aligner.decoding.tuned import FACT
from aligner.files import display_name
from aligner.links.formats import LinkReader
from aligner.scoring.curves import CRITERIA
from aligner.scoring.tuning import Goal, Tuning
from aligner.text.corpus import warn_of_long
from aligner.text.reading import read_corpus


@click.command("tune")
@click.argument("model")
@click.argument("dev_src")
@click.argument("dev_tgt")
@click.argument("dev_gold")
@click.option(
    "--by",
    type=click.Choice(CRITERIA),
    help="What the best threshold is best by.  [default: aer]",
)
@click.option("--alpha", type=options.Share(0, 1), default=0.4, help="Weight of precision in F(alpha).")
@thresholds.at("of each system")
@systems.option("The system whose thresholds are shown.")
@click.option(
    "--store",
    "keep",
    is_flag=True,
    help="Keep in the model the best threshold and the curve of each system: give a new name with -o, or"
    " --overwrite to replace MODEL.",
)
@click.option("-o", "--output", metavar="NEWMODEL", help="Where to write the tuned model.")
@click.option("--overwrite", is_flag=True, help="Replace NEWMODEL if it exists; without -o, MODEL.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, shares between 0 and 1.")
@options.format("--gold-format", "gold_format", "dev_gold")
@options.base("--gold-base", "gold_base", "dev_gold")
@options.encoding
@options.threads
def command(
    model: str,
    dev_src: str,
    dev_tgt: str,
    dev_gold: str,
    by: str | None,
    alpha: float,
    at_precision: float | None,
    at_recall: float | None,
    system: str | None,
    keep: bool,
    output: str | None,
    overwrite: bool,
    as_json: bool,
    gold_format: str | None,
    gold_base: int | None,
    encoding: str,
    threads: int,
) -> None:
    """Find the best threshold of a model by gold links, and keep it in the model.

    DEV_SRC and DEV_TGT are a text whose gold links are DEV_GOLD, line by line. The first table has a row a
    system: the two directions, their soft union and their product. It says the area under the curve of
    precision by recall, the best threshold, and the scores there. The second table has the scores of one
    system at thresholds from 0.05 to 0.95.

    With --store, `aligner decode` takes the threshold of the system that it is asked for, and
    `aligner decode --at-precision 0.95` finds the threshold on the curve. Links are scored as by
    `aligner evaluate`. Some 250 sentence pairs are enough to meet a precision within two or three points.

    \b
    Example:
      aligner tune generated.model data/sample.en data/sample.fr data/sample.gold
      aligner tune generated.model dev.src dev.tgt dev.gold --at-precision 0.95 --store -o precise.model
    """
    options.exclusive(by=by, at_precision=at_precision, at_recall=at_recall)
    if not keep and (output is not None or overwrite):
        raise click.UsageError("-o and --overwrite are for --store.")
    if keep and output is None and not overwrite:
        raise click.UsageError("--store needs a name with -o, or --overwrite to replace MODEL.")
    options.one_stdin(dev_src, dev_tgt, dev_gold)
    kept = (output or model) if keep else None
    options.check_outputs({"the table": "-", "-o": kept}, (dev_src, dev_tgt, dev_gold), overwrite, kept)
    wanted = thresholds.wanted_of(at_precision, at_recall)
    goal = Goal(by or "aer", alpha) if wanted is None else Goal.at(*wanted, alpha)
    trained = Model.load(model)
    trained.check_trained(model)
    system = systems.system_of(trained, model, system)
    recipe = trained.recipe
    text = read_corpus(dev_src, dev_tgt, encoding=encoding, split=recipe.split, lowercase=recipe.lowercase)
    warn_of_long(text.long_pairs(), display_name(dev_src))
    gold = LinkReader(dev_gold, gold_format, gold_base, text=text).read()
    tuning = Tuning.of(trained, text, gold, goal, threads)
    if kept is not None:
        goal.reach(tuning.curves[system], system)
        tuned = replace(trained, facts=trained.facts | {FACT: tuning.kept()})
        with store.open_new(kept, overwrite) as out:
            tuned.write(out)
    options.show(tuning.as_json(system) if as_json else tuning.as_text(system))
