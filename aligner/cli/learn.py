"""aligner learn"""

from __future__ import annotations

import json
from typing import Any

import click
from click.core import ParameterSource

from aligner import store
from aligner.cli import options
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.files import display_name
from aligner.learning.combiner import KIND
from aligner.learning.learn import (
    FEW,
    FEWEST,
    FOLDS,
    PENALTY,
    PENALTY_OF_FEW,
    PENALTY_OF_STRUCTURE,
    Learned,
    learn_combiner,
)
from aligner.learning.margin import STRUCTURES
from aligner.learning.structure import require
from aligner.links.formats import LinkReader
from aligner.text.corpus import warn_of_long
from aligner.text.reading import read_corpus

SHOWN = 10  # features
ROWS = ("model alone", "with combiner")
MEASURES = {"aer": "AER", "precision": "precision", "recall": "recall"}


@click.command("learn")
@click.argument("model")
@click.argument("src")
@click.argument("tgt")
@click.argument("gold")
@click.option("-o", "--output", metavar="COMBINER", required=True, help="Where to write what was learned.")
@click.option("--overwrite", is_flag=True, help="Replace COMBINER if it exists.")
@click.option(
    "--passes",
    type=click.IntRange(1, 2),
    default=2,
    help="2: a second classifier sees what the first one says of the neighbours.",
)
@click.option(
    "--penalty",
    type=options.Share(1e-6, 1e6),
    metavar="NUMBER",
    help=f"Of squared weights.  [default: {PENALTY:g}; {PENALTY_OF_FEW:g} for fewer than {FEW} pairs;"
    f" {PENALTY_OF_STRUCTURE:g} with --structure]",
)
@click.option(
    "--words/--no-words",
    "words",
    default=True,
    show_default=True,
    help="Learn of single words and word pairs, too.",
)
@click.option(
    "--structure",
    type=click.Choice(["none", *STRUCTURES]),
    default="none",
    help="none: score each link by itself. matching: whole alignments, at most one link a word; fertility:"
    " at most three; quadratic: also by adjacent links (needs scipy, slow). These are learned with a large"
    " margin, and err more.",
)
@click.option(
    "--folds",
    type=click.IntRange(2, 100),
    default=FOLDS,
    help="Parts of the text that are held out in turn.",
)
@click.option("--force", is_flag=True, help=f"Learn from fewer than {FEWEST} sentence pairs, too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, shares between 0 and 1.")
@options.format("--gold-format", "gold_format", "gold")
@options.base("--gold-base", "gold_base", "gold")
@options.encoding
@options.threads
def command(
    model: str,
    src: str,
    tgt: str,
    gold: str,
    output: str,
    overwrite: bool,
    passes: int,
    penalty: float | None,
    words: bool,
    structure: str,
    folds: int,
    force: bool,
    as_json: bool,
    gold_format: str | None,
    gold_base: int | None,
    encoding: str,
    threads: int,
) -> None:
    """Learn from labelled sentences how to score links, and keep it in a file.

    SRC and TGT are a text whose gold links are GOLD, line by line: 50 sentence pairs often gain
    something, 200 are good. COMBINER is for `aligner decode` and `aligner align`. What it weighs for each
    likely link: what MODEL says of the link and of those of the same words and of neighbours, how the words
    are spelled, how often they were linked, and which words they are.

    Train MODEL on SRC and TGT together with the text that you have, so that it knows their words.

    The table compares MODEL alone with MODEL and the combiner. Each sentence pair is scored by what was
    learned from others. p is that of the difference in AER, by a paired bootstrap.

    \b
    Example:
      aligner train corpus.src corpus.tgt -o corpus.model
      aligner learn corpus.model dev.src dev.tgt dev.gold -o corpus.combiner
      aligner decode corpus.model corpus.src corpus.tgt --combiner corpus.combiner -o corpus.links
    """
    source = click.get_current_context().get_parameter_source
    if structure != "none" and source("passes") is not ParameterSource.DEFAULT:
        raise click.UsageError("--passes is for --structure none.")
    if structure != "none" and source("words") is not ParameterSource.DEFAULT:
        raise click.UsageError("--words and --no-words are for --structure none.")
    if structure == "quadratic":
        require()
    options.one_stdin(src, tgt, gold)
    store.check_name(output, KIND)
    options.check_outputs({"the table": "-", "-o": output}, (model, src, tgt, gold), overwrite)
    trained = Model.load(model)
    trained.check_trained(model)
    recipe = trained.recipe
    text = read_corpus(src, tgt, encoding=encoding, split=recipe.split, lowercase=recipe.lowercase)
    if len(text) == 0:
        raise DataError("no sentence pairs", file=display_name(src))
    warn_of_long(text.long_pairs(), display_name(src))
    reader = LinkReader(gold, gold_format, gold_base, text=text)
    links = reader.read()
    reader.tell_null()
    if links.n_sure == 0:
        raise DataError("there are no sure links", file=reader.name, hint="AER needs some")
    how = {"passes": passes, "penalty": penalty, "words": words, "folds": folds, "structure": structure}
    with store.open_new(output, overwrite, KIND) as out:
        learned = learn_combiner(trained, text, links, force=force, n_threads=threads, **how)
        learned.combiner.write(out)
    if not learned.better:
        options.tell("the combiner is no better than the model alone: label more sentence pairs")
    options.show(_as_json(learned) if as_json else _as_text(learned))


def _as_text(learned: Learned) -> str:
    """The comparison, and the features that weigh most."""
    width = max(map(len, ROWS))
    lines = [f"{'':{width}}  " + "  ".join(f"{head:>9}" for head in MEASURES.values())]
    for name, result in zip(ROWS, learned.compared.results, strict=True):
        lines.append(f"{name:{width}}  " + "  ".join(f"{100 * result.scores[x]:9.2f}" for x in MEASURES))
    facts = learned.combiner.facts
    lines += [f"{facts['pairs']} sentence pairs, each held out once; p = {learned.compared.p_value:.3f}"]
    lines += ["", "weight  feature"]
    lines += [f"{weight:+6.2f}  {name}" for name, weight in learned.combiner.heaviest(SHOWN)]
    return "\n".join(lines) + "\n"


def _as_json(learned: Learned) -> str:
    compared = learned.compared
    results = {
        name: {x: result.scores[x] for x in MEASURES}
        for name, result in zip(("model", "combiner"), compared.results, strict=True)
    }
    found: dict[str, Any] = {
        "pairs": learned.combiner.facts["pairs"],
        **results,
        "p_value": compared.p_value,
        "threshold": learned.combiner.threshold,
        "features": dict(learned.combiner.heaviest(SHOWN)),
    }
    return json.dumps(found, indent=2) + "\n"
