"""aligner evaluate"""

from __future__ import annotations

import logging

import click

from aligner.cli import options
from aligner.errors import DataError
from aligner.links import FORMATS, LinkReader, Links


@click.command("evaluate")
@click.argument("hyp")
@click.argument("gold")
@click.argument("hyp2", required=False)
@click.option("--first", type=click.IntRange(1), metavar="N", help="The first N sentences only.")
@click.option("--last", type=click.IntRange(1), metavar="N", help="The last N sentences of each file only.")
@click.option("--by-sentence", is_flag=True, help="A line of scores a sentence, as TSV.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-b", "--score-only", is_flag=True, help="Print the AER only.")
@click.option("-w", "--width", type=click.IntRange(0, 15), default=2, help="Digits after the point.")
@click.option("--alpha", type=click.FloatRange(0, 1), default=0.4, help="Weight of precision in F-alpha.")
@click.option(
    "--bootstrap", type=click.IntRange(0), default=1000, metavar="N", help="Samples; 0: no intervals."
)
@click.option("--level", type=click.FloatRange(0, 100), default=95.0, help="Of the intervals, in percent.")
@click.option("--seed", type=click.IntRange(0), default=1, help="Of the bootstrap.")
@options.format("--hyp-format", "hyp_format", "HYP")
@options.format("--gold-format", "gold_format", "GOLD")
@options.base("--hyp-base", "hyp_base", "HYP, if it cannot be seen")
@options.base("--gold-base", "gold_base", "GOLD, if it cannot be seen")
@options.text("The sentences: check links, and split scores by rare (at most 5 times) and common words.")
@click.option("--counts", nargs=2, metavar="SRC TGT", help="Corpus to count words in.  [default: --text]")
@options.lowercase
def command(
    hyp: str,
    gold: str,
    hyp2: str | None,
    first: int | None,
    last: int | None,
    by_sentence: bool,
    as_json: bool,
    score_only: bool,
    width: int,
    alpha: float,
    bootstrap: int,
    level: float,
    seed: int,
    hyp_format: str | None,
    gold_format: str | None,
    hyp_base: int | None,
    gold_base: int | None,
    text: tuple[str, str] | None,
    counts: tuple[str, str] | None,
    encoding: str,
    lowercase: bool,
) -> None:
    """Score links against a gold standard.

    Precision against sure and possible links, recall against the sure ones, AER, F1, F-alpha, the share of
    links whose words have no other link, and bootstrap intervals. With HYP2 also the difference in AER by
    paired bootstrap, and the symmetry |A n B| / |A u B|.

    \b
    Example:
      aligner evaluate data/sample.forward data/sample.gold
      aligner evaluate --last 447 all.links test.gold --json
      aligner evaluate data/sample.forward data/sample.gold data/sample.reverse
    """
    from aligner import report
    from aligner.evaluate import evaluate

    if first is not None and last is not None:
        raise click.UsageError("--first and --last exclude each other.")
    if counts is not None and text is None:
        raise click.UsageError("--counts needs --text.")
    hyps = [hyp] if hyp2 is None else [hyp, hyp2]
    options.one_stdin(*hyps, gold, *(text or ()), *(counts or ()))
    corpus = options.read_text(text, encoding, lowercase)
    readers = [
        LinkReader(path, hyp_format, hyp_base, format_option="--hyp-format", base_option="--hyp-base")
        for path in hyps
    ]
    readers.append(
        LinkReader(gold, gold_format, gold_base, format_option="--gold-format", base_option="--gold-base")
    )
    *found, answer = matched(readers, first, last)
    if corpus is not None:
        if len(corpus) != len(answer):
            raise DataError(f"the text has {len(corpus)} sentences, {len(answer)} are scored")
        for reader, links in zip(readers, [*found, answer], strict=True):
            reader.check(links, corpus, skipped=reader.n_sentences - len(links) if last else 0)
    evaluation = evaluate(
        found,
        answer,
        alpha=alpha,
        n_samples=0 if score_only else bootstrap,
        seed=seed,
        level=level,
        text=corpus,
        counted=options.read_text(counts, encoding, lowercase),
    )
    settings: dict[str, object] = {"lines": f"first{first}" if first else f"last{last}" if last else "all"}
    settings |= {"null": "no", "alpha": f"{alpha:g}", "ci": f"{level:g}", "boot": bootstrap, "seed": seed}
    signature = report.signature(evaluation, settings)
    if score_only:
        for result in evaluation.results:
            click.echo(f"{100 * result.scores['aer']:.{width}f}")
    elif as_json:
        click.echo(report.as_json(evaluation, hyps, signature, by_sentence, alpha), nl=False)
    elif by_sentence:
        click.echo(report.as_tsv(evaluation, hyps, alpha, width), nl=False)
    else:
        click.echo(report.as_text(evaluation, hyps, signature, alpha, width), nl=False)


def matched(readers: list[LinkReader], first: int | None, last: int | None) -> list[Links]:
    """The sentences to compare, of as many in each file. WPT files have no lines for those without links."""
    files = [reader.read() for reader in readers]
    for reader in readers:
        if reader.n_null:
            logging.warning("%s: %d links to the NULL word (0) left out", reader.name, reader.n_null)
    wanted = first or last or max(len(links) for links in files)
    for k, reader in enumerate(readers):
        if reader.format is not None and FORMATS[reader.format].link_a_line:
            files[k] = files[k].padded(wanted)
    if wanted == 0:
        raise DataError("no sentences to score", file=readers[-1].name)
    if first is None and last is None and any(len(links) != wanted for links in files):
        lengths = ", ".join(
            f"{reader.name} has {len(links)} lines" for reader, links in zip(readers, files, strict=True)
        )
        raise DataError(lengths, hint="score a part of them with --first N or --last N")
    for reader, links in zip(readers, files, strict=True):
        if len(links) < wanted:
            raise DataError(f"{len(links)} lines, fewer than {wanted}", file=reader.name)
    return [links.part(len(links) - wanted, len(links)) if last else links.part(0, wanted) for links in files]
