"""aligner analyze"""

from __future__ import annotations

import os
from urllib.parse import quote

import click

from aligner.cli import compared, options
from aligner.errors import DataError
from aligner.files import display_name, open_output
from aligner.links.formats import LinkReader
from aligner.scoring import analysis_page, analysis_text, report
from aligner.scoring.analysis import analyze
from aligner.scoring.analysis_tables import Names
from aligner.scoring.evaluate import evaluate
from aligner.text.reading import read_corpus


@click.command("analyze")
@click.argument("hyp")
@click.argument("gold")
@click.option("--src", required=True, metavar="FILE", help="The source sentences of HYP and GOLD.")
@click.option("--tgt", required=True, metavar="FILE", help="The target sentences.")
@click.option(
    "--train-src",
    metavar="FILE",
    help="Text to count source words in, to tell rare words from common ones.  [default: all of --src]",
)
@click.option("--train-tgt", metavar="FILE", help="The same of target words.  [default: all of --tgt]")
@compared.part
@click.option(
    "--threshold",
    type=options.Share(0, 1),
    help="Analyze the links with scores above this; all links of HYP are in the table of scores.  [default:"
    " analyze all links]",
)
@click.option(
    "--top", type=click.IntRange(0), default=10, metavar="N", help="How many examples of each kind to show."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, shares between 0 and 1.")
@click.option("--page", metavar="OUT.html", help="Also write a page for a browser, which needs no network.")
@click.option(
    "--view-page",
    metavar="PAGE",
    help="A page of `aligner view`, to which lines of --page are linked.",
)
@options.output
@options.format("--hyp-format", "hyp_format", "hyp")
@options.format("--gold-format", "gold_format", "gold")
@options.base("--hyp-base", "hyp_base", "hyp")
@options.base("--gold-base", "gold_base", "gold")
@options.encoding
@options.split
@options.lowercase
def command(
    hyp: str,
    gold: str,
    src: str,
    tgt: str,
    train_src: str | None,
    train_tgt: str | None,
    first: int | None,
    last: int | None,
    threshold: float | None,
    top: int,
    as_json: bool,
    page: str | None,
    view_page: str | None,
    output: str,
    overwrite: bool,
    hyp_format: str | None,
    gold_format: str | None,
    hyp_base: int | None,
    gold_base: int | None,
    encoding: str,
    split: str,
    lowercase: bool,
) -> None:
    """Say what is wrong with links, and where: rare words, kinds of links, scores, worst examples.

    An error is a wrong link, which GOLD does not have, or a missed link, a sure one that HYP does not have.
    AER is the number of errors divided by the number of links and sure links. So tables of parts show where
    AER comes from.

    Lines are those of --src, from 1. With --last the sentences are the last ones of each file.

    \b
    Example:
      aligner analyze data/sample.forward data/sample.gold --src data/sample.en --tgt data/sample.fr
      aligner decode MODEL dev.en dev.fr --scores --threshold 0 -o dev.scores
      aligner analyze dev.scores dev.gold --threshold 0.4 --src dev.en --tgt dev.fr \\
        --train-src train.en --train-tgt train.fr --page analysis.html --view-page view.html
    """
    compared.check_part(first, last)
    if (train_src is None) != (train_tgt is None):
        raise click.UsageError("--train-src and --train-tgt go together.")
    if view_page is not None and page is None:
        raise click.UsageError("--view-page is for --page.")
    options.one_stdin(hyp, gold, src, tgt, *filter(None, (train_src, train_tgt)))
    inputs = hyp, gold, src, tgt, train_src, train_tgt
    options.check_outputs({"--page": page, "-o": output}, inputs, overwrite)
    readers = [LinkReader(hyp, hyp_format, hyp_base), LinkReader(gold, gold_format, gold_base)]
    found, answer = files = compared.matched(readers, first, last)
    if threshold is not None and found.scores is None and len(found.src):
        raise DataError("the links have no scores", file=display_name(hyp), hint="--threshold needs them")
    whole = read_corpus(src, tgt, encoding=encoding, split=split, lowercase=lowercase)
    text = compared.matched_text(whole, src, readers, len(answer), first, last)
    for reader, links in zip(readers, files, strict=True):
        reader.check(links, text)
    counted = whole
    if train_src is not None:
        counted = read_corpus(train_src, train_tgt, encoding=encoding, split=split, lowercase=lowercase)
    names = _names(hyp, gold, src, tgt, train_src or src, train_tgt or tgt)
    settings: dict[str, object] = {"lines": compared.lines(first, last), "null": "no"}
    settings |= {} if threshold is None else {"threshold": f"{threshold:g}"}
    settings |= compared.counting(counted, lowercase, split)
    signature = report.signature(evaluate([found], answer, n_samples=0), settings)
    analysis = analyze(
        found,
        answer,
        text,
        counted,
        threshold=None if found.scores is None else threshold,
        top=top,
        first_line=1 + (len(whole) - len(text) if last else 0),
    )
    if page is not None:
        view = None if view_page is None else _link(view_page, page)
        shown = analysis_page.as_page(analysis, names, signature, threshold, view)
        with open_output(page, overwrite) as out:
            out.write(shown.encode("utf-8", "replace"))
    show = analysis_text.as_json if as_json else analysis_text.as_text
    with open_output(output, overwrite) as out:
        out.write(show(analysis, names, signature, threshold).encode("utf-8", "surrogateescape"))


def _names(*paths: str) -> Names:
    """The names of files without their folders, unless two files then have one name."""
    short = {path: os.path.basename(path) or path for path in map(display_name, paths)}
    clash = len(set(short.values())) < len(short)
    return Names(*(path if clash else short[path] for path in map(display_name, paths)))


def _link(view_page: str, page: str) -> str:
    """The address of another page: of the web as it is given, of a file from the folder of this page."""
    if "://" in view_page:
        return view_page
    return quote(os.fsencode(os.path.relpath(view_page, os.path.dirname(os.path.abspath(page)))))
