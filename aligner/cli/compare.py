"""aligner compare"""

from __future__ import annotations

import os
import shlex
import stat
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Any

import click

from aligner import __version__
from aligner.cli import Failure, align, chosen, compared, options, process, recipes
from aligner.cli.chosen import Part
from aligner.cli.named import NamedFile, NamedFileType, labels
from aligner.cli.outputs import Outputs
from aligner.errors import number_of
from aligner.files import display_name, open_output
from aligner.links.formats import LinkReader
from aligner.links.links import Links
from aligner.models.kinds import MODELS
from aligner.scoring import report
from aligner.scoring.page import page as page_of
from aligner.scoring.runs import FORMATS, Run, Runs
from aligner.scoring.viewer import page_data


@dataclass(frozen=True)
class Entry:
    """A run of `aligner align` that is asked for."""

    name: str
    options: tuple[str, ...]

    def file(self, folder: str) -> str:
        """Where the links of the run are written."""
        return os.path.join(folder, f"{self.name}.links")


class EntryType(click.ParamType):  # type: ignore[type-arg]
    """NAME=OPTIONS, options of `aligner align` as a shell would read them."""

    name = "run"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Entry:
        name, equals, words = value.partition("=")
        if not equals or not name or name.startswith("-"):
            self.fail(f"{value!r} is not NAME=OPTIONS, as 'fast=--fast'.", param, ctx)
        if "/" in name or not name.isprintable():
            self.fail(f"{name!r} is no name of a file: give another one.", param, ctx)
        try:
            return Entry(name, tuple(shlex.split(words)))
        except ValueError as error:
            self.fail(f"the options of {name}: {error}.", param, ctx)


def _known_models(_: click.Context, __: click.Parameter, names: str | None) -> list[Entry] | None:
    if names is None:
        return None
    found = [] if names == "none" else [name.strip() for name in names.split(",")]
    if unknown := [name for name in found if name not in MODELS]:
        raise click.BadParameter(f"there is no model {unknown[0]!r}; there are {', '.join(MODELS)}.")
    return [_of_model(name) for name in found]


def _of_model(name: str) -> Entry:
    return Entry(name, ("--model", name))


@click.command("compare")
@click.argument("src")
@click.argument("tgt", required=False)
@options.corpus_options
@click.option("--gold", metavar="GOLD", help="Right links of the text, sure and possible.")
@chosen.part("Compare")
@click.option(
    "--models",
    metavar="LIST",
    callback=_known_models,
    help="Models to train, of those above; or none.  [default: all of them; none if --align is given]",
)
@click.option(
    "--align",
    "entries",
    type=EntryType(),
    multiple=True,
    metavar="NAME=OPTIONS",
    help="A run of `aligner align` with any of its options; can be given again.",
)
@click.option(
    "--links",
    type=NamedFileType(),
    multiple=True,
    metavar="[NAME=]FILE",
    help="Links of the text that another aligner wrote; can be given again.",
)
@recipes.views
@click.option(
    "--format", "table_format", type=click.Choice(FORMATS), default="text", help="How tables are written."
)
@click.option("--json", "json_file", metavar="FILE", help="Write all numbers as JSON, too.")
@click.option("--page", metavar="OUT.html", help="Write a page of `aligner view` with all links, too.")
@click.option(
    "--keep",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Keep the links of each run, as DIR/NAME.links.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing on stderr about the runs.")
@chosen.formats
@options.threads
@options.output
@options.documented("Models:", MODELS)
def command(
    src: str,
    tgt: str | None,
    layout: str | None,
    vcb: tuple[str, str] | None,
    encoding: str,
    split: str,
    lowercase: bool,
    gold: str | None,
    first: int | None,
    last: int | None,
    lines: tuple[int, int] | None,
    models: list[Entry] | None,
    entries: tuple[Entry, ...],
    links: tuple[NamedFile, ...],
    views: tuple[str, ...] | None,
    fast: bool,
    table_format: str,
    json_file: str | None,
    page: str | None,
    keep: str | None,
    quiet: bool,
    links_format: str | None,
    links_base: int | None,
    gold_format: str | None,
    gold_base: int | None,
    threads: int,
    output: str,
    overwrite: bool,
) -> None:
    """Compare models on a text: train each, and print scores, agreement, time and memory.

    SRC and TGT as for `aligner align`, but not from stdin or a pipe: each model reads the text anew, in a
    process of its own. GOLD and files of --links have the lines of the whole text, or of the part that is
    compared. Gold links of a few sentences: put these sentences behind the training text, and give their
    number with --last.

    Models:

    A row is a model. AER, precision and recall are those of `aligner evaluate`. `value` says how well the
    model fits the text in the last iteration of training, by the measure of `objective`: the sum of both
    directions, the mean of the views. Values of two models are not comparable; those of one model with two
    settings are. `seconds` is the wall time from text to links, `MB` the most memory that the process had.
    The second table says how far the links of two rows agree: F1 in percent.

    A run that fails is a row that says so. The others go on, and the exit code is 1.

    \b
    Example:
      aligner compare data/generated.src data/generated.tgt --gold data/generated.gold
      aligner compare all.en all.fr --gold test.gold --last 447 --models loo,hmm --links giza=giza.links
      aligner compare all.en all.fr --align "loo=" --align "both=--model hmm --project both" --page page.html
    """
    if src == "-":
        raise click.UsageError("each model reads the text: give files, not stdin.")
    options.exclusive(first=first, last=last, lines=lines)
    options.check_layout(tgt, layout, vcb, split)
    chosen.check_formats("--links", links, links_format, links_base)
    chosen.check_formats("--gold", gold, gold_format, gold_base)
    if models is None:
        models = [] if entries else [_of_model(name) for name in MODELS]
    wanted = [*models, *entries]
    if not wanted and not links:
        raise click.UsageError("there is nothing to compare: give --models, --align or --links.")
    files = dict(zip((name for name, _ in labels(links, sized=False)), links, strict=True))
    if again := [name for name, n in Counter([*(entry.name for entry in wanted), *files]).items() if n > 1]:
        raise click.UsageError(f"two rows are called {again[0]}: give them other names.")
    reading = {"layout": layout, "vcb": vcb, "encoding": encoding, "split": split}
    common = _words(**reading, views=",".join(views) if views else None, fast=fast)
    common += _words(threads=threads, lowercase=lowercase)
    after = ["--", src, *([] if tgt is None else [tgt])]
    if wanted:
        _check_files(src, tgt, *(vcb or ()))
    for entry in wanted:
        _check(entry, [*common, *entry.options, *after], {"tgt": tgt, **reading})
    outputs = {"-o": output, "--json": json_file, "--page": page}
    if keep is not None:
        os.makedirs(keep, exist_ok=True)
        outputs |= {f"--keep {entry.name}": entry.file(keep) for entry in wanted}
    inputs = [path for path in (src, tgt, *(vcb or ()), gold, *links) if path is not None]
    options.one_stdin(*inputs)
    options.check_outputs(outputs, inputs, overwrite)
    corpus = options.read_pairs(src, tgt, layout, vcb, encoding, split, lowercase=False)
    part = Part.of(corpus, display_name(src), first, last, lines)
    if page is not None:
        part.check_page()

    def read(
        path: str, format: str | None, base: int | None, name: str | None = None
    ) -> tuple[LinkReader, Links]:
        reader = LinkReader(path, format, base)
        reader.name = name or reader.name
        return reader, part.links(reader)

    answer = None if gold is None else read(gold, gold_format, gold_base)
    others = [(Run(name), read(path, links_format, links_base)) for name, path in files.items()]
    with Outputs() as beside, open_output(output, overwrite) as out, tempfile.TemporaryDirectory() as scratch:
        to_json = None if json_file is None else beside.open(open_output(json_file, overwrite))
        to_page = None if page is None else beside.open(open_output(page, overwrite))
        done = []
        for n, entry in enumerate(wanted):
            if not quiet:
                options.tell(f"{entry.name}, {n + 1} of {len(wanted)}")
            place, log = entry.file(keep or scratch), os.path.join(scratch, f"{n}.log")
            told = _words(quiet=quiet, overwrite=overwrite, output=place, log_json=log)
            run = _run(entry, [*common, *entry.options, *told, *after], log)
            if run.failure:  # what the run itself said does not name it
                options.tell(f"{entry.name}: {run.failure}")
            done.append((run, place))
        pairs = [(run, None if run.failure else read(place, None, 0, run.name)) for run, place in done]
        pairs += others
        if answer is not None:
            read_files = [*(found for _, found in pairs if found is not None), answer]
            compared.look([reader for reader, _ in read_files], [found for _, found in read_files])
        runs = Runs(
            [run if found is None else replace(run, links=found[1]) for run, found in pairs],
            None if answer is None else answer[1],
        )
        about = _about(runs, part)
        out.write(runs.shown(table_format, about.get("signature", "")).encode("utf-8", "surrogateescape"))
        if to_json is not None:
            to_json.attempt(methodcaller("write", runs.as_json(about).encode("utf-8", "surrogateescape")))
        if to_page is not None:
            standard = None if answer is None else (answer[0].name, answer[1])
            to_page.attempt(methodcaller("write", _page(runs, part, display_name(tgt or src), standard)))
    if failed := [run.name for run in runs.runs if run.failure]:
        raise Failure(f"{len(failed)} of {number_of(len(wanted), 'run')} failed: {', '.join(failed)}")


def _run(entry: Entry, arguments: Sequence[str], log: str) -> Run:
    """A run, without its links."""
    took = process.align(arguments)
    run = Run(entry.name, failure=took.failure, seconds=took.seconds, megabytes=took.megabytes)
    if took.failure:
        return run
    signature, objective = process.read_log(log)
    return replace(run, signature=signature, objective=objective)


def _about(runs: Runs, part: Part) -> dict[str, Any]:
    """What the tables are of: text, lines, and how scores were made."""
    n_pairs = len(part.corpus)
    lines = "all" if len(part) == n_pairs else f"{part.start + 1}-{part.stop}"
    about: dict[str, Any] = {"text": part.name, "pairs": n_pairs, "lines": lines, "version": __version__}
    if runs.evaluation is not None:
        about["signature"] = report.signature(runs.evaluation, {"lines": lines, "null": "no"})
    return about


def _page(runs: Runs, part: Part, tgt: str, gold: tuple[str, Links] | None) -> bytes:
    """The page with all links and both tables. tgt: the name of the target side; gold: its name, too"""
    shown = [(run.name, run.links) for run in runs.runs if run.links is not None]
    tables = [runs.table(), runs.agreements()]
    data = page_data(part.text, (part.name, tgt), None, gold, shown, first=part.start + 1, tables=tables)
    return page_of("page.html", data)


def _words(**given: Any) -> list[str]:
    """Options of a command line. None and False are not given."""
    words = []
    for name, value in given.items():
        if value is not None and value is not False:
            words.append(recipes.option_of(name))
            words += [] if value is True else map(str, value if isinstance(value, tuple) else [value])
    return words


def _check_files(*paths: str | None) -> None:
    """Refuses a text that only this process can read, or that can be read once only."""
    for path in filter(None, paths):
        fifo = os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode)
        if fifo or path == "-" or path.startswith("/dev/"):
            raise click.UsageError(f"each model reads the text: {path} cannot be read again, give a file.")


def _check(entry: Entry, arguments: Sequence[str], common: Mapping[str, Any]) -> None:
    """Refuses, before long work, options that `aligner align` does not have, and those that are set here.

    common: how all runs read the text; the links of two readings are not comparable
    """
    try:
        given = align.command.make_context("align", list(arguments)).params
    except click.UsageError as error:
        raise click.UsageError(f"{entry.name}: {error.format_message()}") from None
    if given["tgt"] != common["tgt"]:
        raise click.UsageError(f"{entry.name}: give options of `aligner align`, and no files.")
    if given["output"] != "-" or given["log_json"] is not None:
        raise click.UsageError(f"{entry.name}: -o and --log-json are not for a run that is compared.")
    if given["fast"] and given["views"] is not None:
        raise click.UsageError(f"{entry.name}: --fast and --views both choose views: give one of them.")
    options_of = {param.name: param.opts[-1] for param in align.command.params}
    for name, value in given.items():
        if name in common and value != common[name]:
            raise click.UsageError(
                f"{entry.name}: {options_of[name]} is for all runs: do not give it to one."
            )
        if name != "output" and "-" in (value if isinstance(value, tuple) else [value]):
            raise click.UsageError(
                f"{entry.name}: {options_of[name]} needs a file: a run has no stdin or stdout."
            )
