"""aligner curve"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import click

from aligner.cli import compared, options
from aligner.decoding.combine import above, threshold_of
from aligner.decoding.model import Model
from aligner.decoding.tuned import SYSTEMS
from aligner.errors import DataError
from aligner.files import SUFFIX, display_name, open_output
from aligner.links.formats import LinkReader
from aligner.links.links import Links
from aligner.links.symmetrize import check_scores
from aligner.scoring import charts, pictures
from aligner.scoring.charts import Chart, Sized
from aligner.scoring.curves import Calibration, Curve
from aligner.scoring.evaluate import evaluate
from aligner.scoring.tuning import Goal, system_links
from aligner.store import is_model
from aligner.text.corpus import Corpus
from aligner.text.reading import read_corpus

KINDS = ("curve", "calibration", "learning", "rare")
SIZED = ("learning", "rare")  # kinds whose files have sizes of training texts
UNITS = {"": 1, "k": 1_000, "M": 1_000_000}


class NamedFile(str):
    """The path of a file that may have a label, given as LABEL=FILE."""

    label: str | None = None


class NamedFileType(click.ParamType):  # type: ignore[type-arg]
    """FILE or LABEL=FILE."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> NamedFile:
        label, equals, path = value.partition("=")
        if not equals:
            return NamedFile(value)
        if not label or not path:
            self.fail(f"{value!r} is neither FILE nor NAME=FILE.", param, ctx)
        file = NamedFile(path)
        file.label = label
        return file


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
@click.option(
    "--system",
    type=click.Choice(SYSTEMS),
    help="The links of models.  [default: soft-union; of a model of one direction, that]",
)
@click.option(
    "--threshold",
    type=options.Share(0, 1),
    help="Take the links that score above this (learning, rare).  [default: a model's own; all of a file]",
)
@click.option(
    "--at-precision",
    type=options.Share(0, 1),
    metavar="SHARE",
    help="Take the threshold of most recall with at least this precision (learning, rare).",
)
@click.option(
    "--at-recall",
    type=options.Share(0, 1),
    metavar="SHARE",
    help="Take the threshold of most precision with at least this recall (learning, rare).",
)
@compared.part
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
def command(
    files: tuple[NamedFile, ...],
    gold: str,
    kind: str,
    system: str | None,
    threshold: float | None,
    at_precision: float | None,
    at_recall: float | None,
    first: int | None,
    last: int | None,
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
    matplotlib, which comes with `pip install "aligner[plot]"`.

    \b
    Kinds:
      curve        precision by recall at every threshold; links without scores are one point
      calibration  the share of links that are right by their score, in ten bins
      learning     AER by training size, of files given as SIZE=FILE or NAME:SIZE=FILE, for example
                   10k=FILE; precision with --at-recall, recall with --at-precision
      rare         precision and recall of rare and of common words by training size, with --text:
                   a link is rare if one of its words occurs at most 5 times

    \b
    Example:
      aligner curve generated.model --gold data/sample.gold --text data/sample.en data/sample.fr
      aligner curve ours=scored.links giza=plain.links --gold test.gold -o curves.svg
      aligner curve --kind learning 10k=small.links 100k=large.links --gold test.gold -o learning.png
    """
    compared.check_part(first, last)
    if kind not in SIZED and any(x is not None for x in (threshold, at_precision, at_recall)):
        raise click.UsageError(
            f"--threshold, --at-precision and --at-recall are for --kind {' or '.join(SIZED)}."
        )
    if sum(x is not None for x in (threshold, at_precision, at_recall)) > 1:
        raise click.UsageError("--threshold, --at-precision and --at-recall exclude each other.")
    if kind == "rare" and text is None:
        raise click.UsageError("--kind rare needs --text: the words tell which links are rare.")
    if kind != "rare" and (counts is not None or lowercase):
        raise click.UsageError("--counts and --lowercase are for --kind rare.")
    names = [_label(file, kind in SIZED) for file in files]
    if again := [label for label, n in Counter(names).items() if n > 1]:
        raise click.UsageError(f"two files are {_spoken(*again[0])}: give them names, as in NAME=FILE.")
    models = [file for file in files if is_model(file)]
    if models and text is None:
        raise click.UsageError(f"{models[0]} is a model: it needs --text.")
    if not models and system is not None:
        raise click.UsageError("--system is for models, and there is none.")
    format = _format(output)
    options.one_stdin(*files, gold, *(text or ()), *(counts or ()))
    options.check_outputs({"-o": output}, (*files, gold, *(text or ()), *(counts or ())), overwrite)
    if format != "tsv":
        pictures.require()
    readers = {file: LinkReader(file, hyp_format, hyp_base) for file in files if file not in models}
    *hyps, answer = compared.matched(
        [*readers.values(), LinkReader(gold, gold_format, gold_base)], first, last
    )
    links = dict(zip(readers, hyps, strict=True))
    reading: dict[str, Any] = {"encoding": encoding, "n": len(answer), "first": first, "last": last}
    found = []
    for file, (name, size) in zip(files, names, strict=True):
        if file in links:
            found.append(Found(display_name(file), name, size, links[file]))
        else:
            assert text is not None
            found.append(
                Found(display_name(file), name, size, *_aligned(file, text, system, threads, reading))
            )
    words = None
    if text is not None and (kind == "rare" or readers):
        words = _read(text, split=split, lowercase=lowercase, **reading)
        for file, reader in readers.items():
            reader.check(links[file], words)
    if kind == "curve":
        chart = charts.curves([(one.name, _curve(one.links, answer)) for one in found])
    elif kind == "calibration":
        for file, reader in readers.items():
            _check_posteriors(reader, links[file], last)
        chart = charts.calibration([(one.name, Calibration.of(one.links, answer)) for one in found])
    else:
        counted = None if counts is None else options.read_text(counts, encoding, split, lowercase)
        goal = None
        if at_precision is not None or at_recall is not None:
            by, least = ("recall", at_precision) if at_recall is None else ("precision", at_recall)
            goal = Goal(by, least=least)
        split_by = words if kind == "rare" else None
        sized = [_sized(one, answer, threshold, goal, split_by, counted) for one in found]
        chart = charts.rare(sized) if kind == "rare" else charts.learning(sized, goal.by if goal else "aer")
    _write(chart, format, title, output, overwrite)


def _label(file: NamedFile, sized: bool) -> tuple[str, float]:
    """(name, size) of a file. size: 0 where none is wanted"""
    if not sized:
        return _whole(file.label or display_name(file)), 0
    name, _, size = (file.label or "").rpartition(":")
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kM]?)", size)
    if match is None or float(match[1]) == 0:
        raise click.UsageError(f"{file} has no size: give SIZE=FILE or NAME:SIZE=FILE, as in 10k={file}.")
    return _whole(name), float(match[1]) * UNITS[match[2]]


def _whole(name: str) -> str:
    """Refuses a name that would break a table."""
    if "\t" in name or "\n" in name:
        raise click.UsageError("a name has no tabs and no line ends: give another one, as in NAME=FILE.")
    return name


def _spoken(name: str, size: float) -> str:
    """What messages call a file with a label."""
    return f"{name or 'without a name'} of size {size:g}" if size else f"called {name}"


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


def _aligned(
    file: str, text: tuple[str, str], system: str | None, threads: int, reading: dict[str, Any]
) -> tuple[Links, float]:
    """(scored links, threshold) of a model."""
    model = Model.load(file)
    model.check_trained()
    direction = model.recipe.direction
    if direction != "both" and system not in (None, direction):
        raise click.UsageError(f"{file} was trained {direction} only.")
    system = system or ("soft-union" if direction == "both" else direction)
    corpus = _read(text, split=model.recipe.split, lowercase=model.recipe.lowercase, **reading)
    tuned = model.tuned_threshold("both", system)
    return system_links(model, corpus, threads)[system], threshold_of(system, tuned, model.threshold)


def _check_posteriors(reader: LinkReader, links: Links, last: int | None) -> None:
    """Refuses links without scores, and scores above 1. The lines of the last sentences are not known."""
    if last is None:
        check_scores(reader, links, 0, "calibration")
    elif links.scores is None and len(links.src):
        raise DataError("calibration needs links with scores", file=reader.name)
    elif links.scores is not None and (odd := links.scores[(links.scores < 0) | (links.scores > 1)]).size:
        what = f"score {odd[0]:g} is not between 0 and 1"
        raise DataError(what, file=reader.name, hint="calibration takes posteriors")


def _curve(links: Links, gold: Links) -> Any:
    """The curve of links that have scores; the scores of others."""
    if links.scores is not None and len(links.src):
        return Curve.of(links, gold)
    return evaluate([links], gold, n_samples=0).results[0]


def _sized(
    one: Found,
    gold: Links,
    threshold: float | None,
    goal: Goal | None,
    text: Corpus | None,
    counted: Corpus | None,
) -> Sized:
    """The scores of links above a threshold: the given one, the goal's, or that of a model."""
    links, limit = one.links, one.threshold if threshold is None else threshold
    scored = links.scores is not None
    if not scored and (goal is not None or threshold is not None):
        raise DataError("the links have no scores", file=one.file, hint="a threshold needs links `i-j:0.93`")
    if goal is not None:
        curve = Curve.of(links, gold)
        limit = float(curve.thresholds[goal.reach(curve, one.file)])
    if limit is not None:
        links = above(links, limit)
    result = evaluate([links], gold, n_samples=0, text=text, counted=counted).results[0]
    return Sized(one.name, one.size, limit, result)


def _write(chart: Chart, format: str, title: str, output: str, overwrite: bool) -> None:
    tsv = format == "tsv"
    content = (
        chart.as_tsv().encode("utf-8", "surrogateescape") if tsv else pictures.draw(chart, format, title)
    )
    with open_output(output, overwrite) as out:
        out.write(content)
