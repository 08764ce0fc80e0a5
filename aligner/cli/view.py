"""aligner view"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from typing import Any

import click
from click.core import ParameterSource

from aligner.cli import chosen, options
from aligner.decoding.model import Model
from aligner.files import display_name, open_output
from aligner.links.formats import LinkReader
from aligner.links.links import Links
from aligner.scoring.drawing import ASCII, UNICODE, Drawing
from aligner.scoring.page import page
from aligner.scoring.viewer import Belief, belief, page_data
from aligner.store import is_model
from aligner.text.corpus import Corpus, warn_of_long


@click.command("view")
@click.argument("files", nargs=-1, metavar="[MODEL] SRC [TGT]")
@click.option("--gold", metavar="GOLD", help="Right links of the text, sure and possible.")
@click.option("--links", multiple=True, metavar="FILE", help="Links of the text; can be given again.")
@chosen.part("Show")
@click.option("--text", is_flag=True, help="Draw matrices for a terminal, instead of a page.")
@click.option("--ascii", is_flag=True, help="Draw matrices with ASCII characters; for --text.")
@chosen.formats
@options.layout
@options.encoding
@options.split
@options.check
@options.threads
@options.output
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    gold: str | None,
    links: tuple[str, ...],
    first: int | None,
    last: int | None,
    lines: tuple[int, int] | None,
    text: bool,
    ascii: bool,
    links_format: str | None,
    links_base: int | None,
    gold_format: str | None,
    gold_base: int | None,
    layout: str | None,
    vcb: tuple[str, str] | None,
    encoding: str,
    split: str,
    check: bool,
    threads: int,
    output: str,
    overwrite: bool,
) -> None:
    """Look at alignments: a page for the browser, or matrices on the terminal.

    The page is one file. It opens from disk and asks no network for anything. It has the matrix of each
    sentence pair, with what MODEL believes of each link in both directions, before and after projection;
    links of other files beside it; a threshold that moves links and scores; search and sorting. Links can
    be corrected by hand, and exported as a gold standard.

    MODEL may be left out: the page then has the links of --links and --gold. The first file is MODEL if it is
    a model. SRC and TGT as for `aligner decode`. Links may be in any format that `aligner convert` reads. A
    file of links has the lines of the whole text, or of the part that is shown. A page has at most 5,000
    sentence pairs.

    With --text, rows are source words and columns are target words. The larger the circle, the more probable
    the link; [ ] is a sure link of GOLD, ( ) a possible one. Below stand the links of MODEL that are above
    its threshold, or those of the one file of --links. GOLD tells which are right, wrong or missed.

    \b
    Example:
      aligner view generated.model data/generated.src data/generated.tgt --first 500 -o page.html
      aligner view data/sample.en data/sample.fr --links data/sample.forward -o page.html
      aligner view data/sample.en data/sample.fr --gold data/sample.gold --text --line 7
    """
    model, src, tgt = named(files)
    if src is None:
        options.no_terminal(ctx)
        src = "-"
    if not text and ctx.get_parameter_source("output") is ParameterSource.DEFAULT:
        raise click.UsageError("-o is needed, the name of the page, or --text.")
    if ascii and not text:
        raise click.UsageError("--ascii is for --text.")
    chosen.check_formats("--links", links, links_format, links_base)
    chosen.check_formats("--gold", gold, gold_format, gold_base)
    options.exclusive(first=first, last=last, lines=lines)
    if text and len(links) + (model is not None) > 1:
        raise click.UsageError("--text draws one alignment: give MODEL, or one file of --links.")
    if model is None and gold is None and not links:
        raise click.UsageError("give MODEL, --links or --gold: there is nothing to be seen without links.")
    if model is not None and ctx.get_parameter_source("split") is not ParameterSource.DEFAULT:
        raise click.UsageError("--split is not for MODEL: the text is split as the model's was.")
    options.check_layout(tgt, layout, vcb, split)
    inputs = [path for path in (src, tgt, *(vcb or ()), gold, *links) if path is not None]
    options.one_stdin(*inputs)
    options.check_outputs({"-o": output}, (model, *inputs), overwrite)
    trained = None if model is None else Model.load(model, check)
    if trained is not None:
        trained.check_trained(model)
        split = trained.recipe.split
    corpus = options.read_pairs(src, tgt, layout, vcb, encoding, split, lowercase=False)
    part = chosen.Part.of(corpus, display_name(src), first, last, lines)
    if not text:
        part.check_page()

    def read(path: str, format: str | None, base: int | None) -> tuple[str, Links]:
        reader = LinkReader(path, format, base)
        return reader.name, part.links(reader)

    answer = None if gold is None else read(gold, gold_format, gold_base)
    systems = [read(path, links_format, links_base) for path in links]
    believed = None
    if model is not None and trained is not None:
        warn_of_long(part.text.long_pairs(part.start), display_name(src))
        believed = believed_of(trained, model, part.text, threads)
    names = display_name(src), display_name(tgt or src)
    data = page_data(part.text, names, believed, answer, systems, first=part.start + 1)
    with open_output(output, overwrite) as out:
        if text:
            code = sys.stdout.encoding if output == "-" and sys.stdout is not None else "utf-8"
            out.writelines(x.encode(code, "replace") for x in drawn(data, code, ascii))
        else:
            out.write(page("page.html", data))


def believed_of(model: Model, name: str, text: Corpus, n_threads: int) -> Belief:
    """What a model says of a text. Warns if the model does not know most of the words."""
    text = text.fitted(model.recipe.lowercase, model.recipe.split).bounded()
    return belief(model, display_name(name), text, model.seen(text, name), n_threads)


def drawn(data: dict[str, Any], code: str, ascii: bool) -> Iterator[str]:
    """What the marks mean, if they mean something, and a matrix for each sentence pair."""
    marks = ASCII if ascii or not UNICODE.fits(code) else UNICODE
    drawing = Drawing(data, marks, shutil.get_terminal_size().columns)
    yield drawing.legend()
    yield from map(drawing.sentence, range(len(data["sentences"])))


def named(files: tuple[str, ...]) -> tuple[str | None, str | None, str | None]:
    """MODEL, SRC and TGT, where they are given."""
    if len(files) > 3:
        raise click.UsageError("give MODEL SRC TGT, or SRC TGT without a model.")
    model = files[0] if len(files) == 3 or files and is_model(files[0]) else None
    src, tgt, *_ = [*files[model is not None :], None, None]
    return model, src, tgt
