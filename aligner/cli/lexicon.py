"""aligner lexicon"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO

import click
import numpy as np

from aligner.cli import options
from aligner.cli.settings import Setting
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.files import open_output
from aligner.lexicons.counting import count
from aligner.lexicons.format import Format
from aligner.lexicons.formats import FORMATS, Giza
from aligner.lexicons.table import Table, joined
from aligner.links.formats import LinkReader
from aligner.text.giza import read_vcb

DIRECTIONS = ("forward", "reverse")
FEW = 0.01  # of a model, less probable word pairs are left out unless the user says otherwise


@click.command("lexicon")
@click.argument("files", metavar="[MODEL | TABLE...]", nargs=-1)
@click.option("--links", metavar="LINKS", help="Count word pairs along these links of --text.")
@options.base("--base", "base", "links")
@options.text("The sentences of --links.")
@click.option(
    "--from",
    "source",
    cls=Setting,
    setting="format",
    files=("files",),
    type=click.Choice(list(FORMATS)),
    help="Read tables of this format: one of p(tgt | src), and perhaps one of p(src | tgt) after it.",
)
@click.option(
    "--format", "output_format", type=click.Choice(list(FORMATS)), default="tsv", help="Format to write."
)
@click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    help="Write p(tgt | src), forward, or p(src | tgt), reverse, alone.  [default: both, in two files;"
    " with fast_align and giza forward]",
)
@click.option("--vcb", nargs=2, metavar="SRC TGT", help="The .vcb files of the words' numbers, for giza.")
@click.option(
    "--min-prob",
    type=options.Share(0, 1),
    help="Leave out word pairs that are less probable than this in all directions of the file.  [default:"
    f" {FEW} of a model, else none is left out]",
)
@click.option(
    "--top",
    type=click.IntRange(0),
    default=0,
    help="Print at most this many translations of a word; 0: all.",
)
@click.option(
    "--view",
    "name",
    metavar="VIEW",
    help="The view of the model whose table is printed, see `aligner info MODEL`.  [default: the first]",
)
@options.output
@options.documented("Formats:", FORMATS)
def command(
    files: tuple[str, ...],
    links: str | None,
    base: int | None,
    text: tuple[str, str] | None,
    encoding: str,
    split: str,
    source: str | None,
    output_format: str,
    direction: str | None,
    vcb: tuple[str, str] | None,
    min_prob: float | None,
    top: int,
    name: str | None,
    output: str,
    overwrite: bool,
) -> None:
    """Print which word translates which: a table of a model, of links, or of another program.

    The table is that of MODEL; with --links it is counted along links of --text; with --from it is read from
    TABLE files. By default it is printed as TSV without a header: source, target, p(target | source),
    p(source | target). A column is empty if there is no such probability. Source words are in the order of
    their first occurrence, each with its best translation first.

    Formats:

    All but tsv have one direction a file; the lines above are of p(tgt | src). In a file of p(src | tgt), src
    and tgt change places. -o OUT writes two files: OUT.f2e and OUT.e2f for moses, OUT.s2t and OUT.t2s for
    marian, OUT.f2e.gz and OUT.e2f.gz for bicleaner; the first is p(tgt | src). With --direction, or if there
    is but one direction, OUT is the file itself. Lines are sorted by words, src first.

    A table of links is what Moses' step 4 and extract_lex count. A word without a link is linked with NULL:
    the table has p(NULL | src) and p(NULL | tgt), too. A model has p(tgt | NULL) and p(src | NULL) only.
    bicleaner leaves out words of other characters than letters, digits, - and ', and what is less probable
    than a tenth of the best; its text must be in lower case. fast_align leaves out what is less probable than
    the fourth power of the best, giza what is not above 1e-7.

    \b
    Example:
      aligner lexicon generated.model --top 3
      aligner lexicon --links sample.links --text sample.en sample.fr --format moses -o model/lex
      aligner lexicon --from moses lex.f2e --format fast_align -o fwd_params
    """
    options.one_stdin(*files, *filter(None, [links]), *(text or ()), *(vcb or ()))
    if ("giza" in (source, output_format)) != (vcb is not None):
        raise click.UsageError("--vcb is for giza." if vcb else "giza needs --vcb SRC TGT.")
    if (links is None) != (text is None) or (links is not None) + bool(files) != 1:
        raise click.UsageError("give MODEL, or --links with --text, or --from with TABLE.")
    if links is not None and source is not None:
        raise click.UsageError("--from is for a TABLE, not for --links.")
    if name is not None and (source is not None or links is not None):
        raise click.UsageError("--view is for a MODEL.")
    corpus = options.read_text(text, encoding, split)
    numbers = None if vcb is None else [_numbers(path, encoding) for path in vcb]
    writing = _format(output_format, numbers)
    if source is not None:
        table = _read(files, _format(source, numbers), encoding)
    elif links is not None and corpus is not None:
        table = count(corpus, LinkReader(links, base=base, text=corpus).read(), writing.null)
    elif len(files) > 1:
        raise click.UsageError("give one MODEL; tables need --from.")
    else:
        table = _of_model(files[0], name)
        min_prob = FEW if min_prob is None else min_prob
    wanted = _directions(table, writing, direction)
    outputs = dict(zip(wanted, _outputs(output, writing, wanted), strict=True))
    inputs = *files, links, *(text or ()), *(vcb or ())
    options.check_outputs({f"the {way} table": path for way, path in outputs.items()}, inputs, overwrite)
    with contextlib.ExitStack() as stack:
        for way, path in outputs.items():
            out = stack.enter_context(open_output(path, overwrite))
            if way == "forward":
                _write(table, writing, min_prob, top, out)
            else:
                _write(table.transposed(), writing.transposed(), min_prob, top, out)


def _write(table: Table, format: Format, min_prob: float | None, top: int, out: BinaryIO) -> None:
    """Writes p(f | e) of what the user wants to see."""
    table = table if format.both else table.forward()
    table = table if format.null else table.without_null()
    table = table if min_prob is None else table.probable(min_prob)
    for what, n in format.losses(table).items():
        logging.warning("%d %s", n, what)
    format.write(table.best_first(top), out)


def _numbers(path: str, encoding: str) -> dict[str, int]:
    """word -> its number, of a .vcb file"""
    return {word.decode(): id for word, id in read_vcb(path, encoding=encoding).id_of.items()}


def _format(name: str, numbers: Sequence[dict[str, int]] | None) -> Format:
    """A format with all that it needs. numbers: of both sides"""
    format = FORMATS[name]
    if numbers is None or not isinstance(format, Giza):
        return format
    src, tgt = numbers
    return replace(format, numbers=(src, tgt))


def _read(files: tuple[str, ...], format: Format, encoding: str) -> Table:
    """The table of one or two files."""
    if len(files) > 2 - format.both:
        raise click.UsageError(f"give {'one TABLE' if format.both else 'one TABLE or two'}.")
    table = format.read(files[0], encoding)
    if len(files) == 1:
        return table
    return joined(table, format.transposed().read(files[1], encoding).transposed())


def _of_model(path: str, name: str | None) -> Table:
    """The table of a view of a model."""
    trained = Model.load(path)
    trained.check_trained(path)
    views = {view.name: view for view in trained.views}
    name = name or next(iter(views))
    if name not in views:
        raise click.UsageError(f"{path} has no view {name}; it has {', '.join(views)}.")
    view = views[name]
    return view.parameters.lexicon.table(view.src, view.tgt, trained.recipe.direction)


def _directions(table: Table, format: Format, direction: str | None) -> list[str]:
    """The directions to write, each to a file of its own."""
    if format.both:
        if direction is not None:
            raise click.UsageError("--direction is for formats with one direction a file.")
        return ["forward"]
    there = [way for way, column in zip(DIRECTIONS, table.p.T, strict=True) if not np.isnan(column).all()]
    there = there or list(DIRECTIONS)  # an empty table lacks nothing
    if direction is not None and direction not in there:
        raise DataError(f"there are no probabilities of direction {direction}")
    if direction is not None:
        return [direction]
    return there if format.names is not None else there[:1]


def _outputs(output: str, format: Format, wanted: list[str]) -> list[str]:
    """The files of the directions."""
    if len(wanted) == 1:
        return [output]
    assert format.names is not None
    if output == "-":
        names = " and ".join(f"OUT{end}" for end in format.names)
        raise click.UsageError(f"give -o OUT, for {names}, or --direction.")
    return [output + end for end in format.names]
