"""aligner curve"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from aligner.cli import annotation, compared, options, systems
from aligner.cli import threshold as thresholds
from aligner.cli.named import NamedFile, NamedFileType, labels
from aligner.decoding.combine import above
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.files import SUFFIX, display_name, open_output
from aligner.links.formats import LinkReader
from aligner.links.links import Links
from aligner.links.symmetrize import check_scores
from aligner.scoring import charts, pictures
from aligner.scoring.charts import Chart, Sized
from aligner.scoring.curves import Calibration, Curve
from aligner.scoring.evaluate import Result, evaluate
from aligner.scoring.tuning import Goal, system_links
from aligner.store import is_model
from aligner.text.corpus import Corpus
from aligner.text.reading import read_corpus
from aligner.uses.annotated import Filters
from aligner.uses.edges import edge_chart

KINDS = ("curve", "calibration", "learning", "rare", "edges")
EDGES = (
    "kind",
    "edges",
    *annotation.FILTERS,
    "gold",
    "hyp_format",
    "hyp_base",
    "title",
    "output",
    "overwrite",
)
SIZED = ("learning", "rare")  # kinds whose files have sizes of training texts


@dataclass(frozen=True)
class Found:
    """Links of a file, or of a model, on the sentences of the gold standard.

    size       of the text that their model was trained on; 0 where no size is wanted
    threshold  that of a model; None for a file, whose links all count
    """

    file: str
    name: str
    size: float
    links: Links
    threshold: float | None = None


@click.command("curve")
@click.argument("files", nargs=-1, required=True, type=NamedFileType(), metavar="[NAME=]FILE...")
@click.option("--gold", required=True, metavar="FILE", help="Gold links of the sentences.")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="curve",
    help="What to draw, see above.",
)
@systems.option("The links of models.")
@click.option(
    "--threshold",
    type=options.Share(0, 1),
    help="Take the links that score above this (learning, rare).  [default: a model's own; all of a file]",
)
@thresholds.at("of each file (learning, rare)")
@compared.part
@click.option("--edges", metavar="SRC", help="Source trees in CoNLL-U (edges); --gold has the target's.")
@annotation.filters
@click.option("--title", default="", help="Text above the picture.", show_default=False)
@options.format("--hyp-format", "hyp_format", "files", of="the link files")
@options.format("--gold-format", "gold_format", "gold")
@options.base("--hyp-base", "hyp_base", "files", of="the link files")
@options.base("--gold-base", "gold_base", "gold")
@options.text("The sentences of GOLD, which models align. A model's text is lower-cased if the model's was.")
@click.option("--counts", nargs=2, metavar="SRC TGT", help="Corpus to count words in, to find the rare ones.")
@options.lowercase
@options.threads
@options.output
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[NamedFile, ...],
    gold: str,
    kind: str,
    system: str | None,
    threshold: float | None,
    at_precision: float | None,
    at_recall: float | None,
    first: int | None,
    last: int | None,
    edges: str | None,
    compatible: bool,
    verb_root: bool,
    no_punct: bool,
    title: str,
    hyp_format: str | None,
    gold_format: str | None,
    hyp_base: int | None,
    gold_base: int | None,
    text: tuple[str, str] | None,
    counts: tuple[str, str] | None,
    encoding: str,
    split: str,
    lowercase: bool,
    threads: int,
    output: str,
    overwrite: bool,
) -> None:
    """Draw precision and recall of models and scored links: curves, calibration, training size.

    FILE is a model, with --text, or a file of links. NAME=FILE names it in the picture. OUT is a picture if
    it ends in .svg, .png or .pdf. If OUT ends in .tsv, or is stdout, it is a table of the same numbers, in
    percent; of a curve with more than 500 points it has 500, equally far apart on the curve. Pictures need
    matplotlib, which comes with `pip install "word-aligner[plot]"`.

    \b
    Kinds:
      curve        precision by recall at every threshold; links without scores are one point
      calibration  the share of links that are right by their score, in ten bins
      learning     AER by training size, of files given as SIZE=FILE or NAME:SIZE=FILE, for example
                   10k=FILE; precision with --at-recall, recall with --at-precision
      rare         precision and recall of rare and of common words by training size, with --text:
                   a link is rare if one of its words occurs at most 5 times
      edges        the share of transferred dependency edges that the target's trees have, by edges a
                   sentence, at every threshold of links, with --edges

    \b
    Example:
      aligner curve generated.model --gold data/sample.gold --text data/sample.en data/sample.fr
      aligner curve ours=scored.links giza=plain.links --gold test.gold -o curves.svg
      aligner curve --kind edges en-fr.links --edges en.conllu --gold fr.conllu -o edges.svg
      aligner curve --kind learning 10k=small.links 100k=large.links --gold test.gold -o learning.png
    """
    compared.check_part(first, last)
    options.exclusive(threshold=threshold, at_precision=at_precision, at_recall=at_recall)
    wanted = thresholds.wanted_of(at_precision, at_recall)
    sized = kind in SIZED
    if not sized and (threshold is not None or wanted is not None):
        raise click.UsageError(
            f"--threshold, --at-precision and --at-recall are for --kind {' or '.join(SIZED)}."
        )
    if (kind == "edges") != (edges is not None):
        raise click.UsageError("--kind edges and --edges go together.")
    filters = Filters(compatible, verb_root, no_punct)
    if edges is None and filters != Filters():
        raise click.UsageError("--compatible, --verb-root and --no-punct are for --kind edges.")
    if kind == "rare" and text is None:
        raise click.UsageError("--kind rare needs --text: the words tell which links are rare.")
    if kind != "rare" and (counts is not None or lowercase):
        raise click.UsageError("--counts and --lowercase are for --kind rare.")
    names = labels(files, sized)
    models = [file for file in files if is_model(file)]
    if models and text is None:
        raise click.UsageError(f"{models[0]} is a model: it needs --text.")
    if not models and system is not None:
        raise click.UsageError("--system is for models, and there is none.")
    format = _format(output)
    inputs = (*files, gold, *(text or ()), *(counts or ()), *([] if edges is None else [edges]))
    options.one_stdin(*inputs)
    options.check_outputs({"-o": output}, inputs, overwrite)
    if format != "tsv":
        pictures.require()
    if edges is not None:
        annotation.only(ctx, "--kind edges", EDGES)
        annotation.check_stdin(len(files), gold, edges)
        linked = (LinkReader(file, hyp_format, hyp_base) for file in files)
        carried = [annotation.edge_curve(edges, gold, reader, filters) for reader in linked]
        edge_curves = [(name, curve) for (name, _), curve in zip(names, carried, strict=True)]
        with open_output(output, overwrite) as out:
            out.write(_content(edge_chart(edge_curves), format, title))
        return
    readers = {file: LinkReader(file, hyp_format, hyp_base) for file in files if file not in models}
    standard = LinkReader(gold, gold_format, gold_base)
    *hyps, answer = compared.matched([*readers.values(), standard], first, last)
    links = dict(zip(readers, hyps, strict=True))
    reading: dict[str, Any] = {"encoding": encoding, "n": len(answer), "first": first, "last": last}
    found = []
    for file, (name, size) in zip(files, names, strict=True):
        if file in links:
            scored: tuple[Links, float | None] = links[file], None
        else:
            assert text is not None
            model = _load(file, split if kind == "rare" else None)
            corpus = _read(text, split=model.recipe.split, lowercase=model.recipe.lowercase, **reading)
            standard.check(answer, corpus)
            scored = _aligned(file, model, corpus, system, threads)
        found.append(Found(display_name(file), name, size, *scored))
    words = None
    if text is not None and (kind == "rare" or readers):
        words = _read(text, split=split, lowercase=lowercase, **reading)
        for reader, some in zip([*readers.values(), standard], [*hyps, answer], strict=True):
            reader.check(some, words)
    if kind == "curve":
        chart = charts.curves([(one.name, _curve(one.links, answer)) for one in found])
    elif kind == "calibration":
        for file, reader in readers.items():
            check_scores(reader, links[file], None if last else 0, "calibration")
        chart = charts.calibration([(one.name, Calibration.of(one.links, answer)) for one in found])
    else:
        counted = None if counts is None else options.read_text(counts, encoding, split, lowercase)
        goal = None if wanted is None else Goal.at(*wanted)
        rare = {"text": words, "counted": counted} if kind == "rare" else {}
        results = [_sized(one, answer, threshold, goal, rare) for one in found]
        chart = charts.rare(results) if rare else charts.learning(results, goal.by if goal else "aer")
    with open_output(output, overwrite) as out:
        out.write(_content(chart, format, title))


def _format(output: str) -> str:
    """What the name of an output asks for: one of pictures.FORMATS, or tsv."""
    if output == "-":
        return "tsv"
    stem, ending = os.path.splitext(output)
    if ending in SUFFIX:
        ending = os.path.splitext(stem)[1]
    if ending[1:] not in (*pictures.FORMATS, "tsv"):
        raise click.UsageError(f"-o {output} does not end in .svg, .png, .pdf or .tsv.")
    return ending[1:]


def _read(text: tuple[str, str], n: int, first: int | None, last: int | None, **reading: Any) -> Corpus:
    """The n sentences of a text that are scored."""
    corpus = read_corpus(*text, **reading)
    if first is None and last is None and len(corpus) != n:
        raise DataError(
            f"the text has {len(corpus)} sentence pairs, {n} are scored", file=text[0], hint="give their text"
        )
    return compared.cut(corpus, n, bool(last))


def _load(file: str, split: str | None) -> Model:
    """A model. Refuses one whose text was not split in a way; None: in any way."""
    model = Model.load(file)
    model.check_trained(file)
    if split not in (None, model.recipe.split):
        raise click.UsageError(
            f"the text of {file} was split {model.recipe.split}: do the same with --split."
        )
    return model


def _aligned(
    file: str, model: Model, corpus: Corpus, system: str | None, threads: int
) -> tuple[Links, float]:
    """(scored links, threshold) of a model. file: where it is from"""
    system = systems.system_of(model, file, system)
    links = system_links(model, corpus, threads, display_name(file))[system]
    return links, model.threshold_of("both", system)


def _curve(links: Links, gold: Links) -> Curve | Result:
    """The curve of links that have scores; the scores of others."""
    if links.scores is not None and len(links.src):
        return Curve.of(links, gold)
    return evaluate([links], gold, n_samples=0).results[0]


def _sized(
    one: Found, gold: Links, threshold: float | None, goal: Goal | None, rare: Mapping[str, Any]
) -> Sized:
    """The scores of links above a threshold: the given one, the goal's, or that of a model.

    rare: the arguments of `evaluate` that say which words are rare
    """
    links, limit = one.links, one.threshold if threshold is None else threshold
    if links.scores is None and (goal is not None or threshold is not None):
        raise DataError("the links have no scores", file=one.file, hint="a threshold needs links `i-j:0.93`")
    if goal is not None:
        curve = Curve.of(links, gold)
        limit = float(curve.thresholds[goal.reach(curve, one.file)])
    if limit is not None:
        links = above(links, limit)
    result = evaluate([links], gold, n_samples=0, **rare).results[0]
    return Sized(one.name, one.size, limit, result)


def _content(chart: Chart, format: str, title: str) -> bytes:
    """A chart as a file has it."""
    if format == "tsv":
        return chart.as_tsv().encode("utf-8", "surrogateescape")
    return pictures.draw(chart, format, title)
