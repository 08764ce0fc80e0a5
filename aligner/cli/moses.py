"""aligner moses"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from aligner.cli import options
from aligner.compat import moses
from aligner.decoding.kept import Kept
from aligner.errors import DataError
from aligner.files import SUFFIX, check_output, display_name
from aligner.links.links import Links
from aligner.links.symmetrize import METHODS, OTHER_NAMES
from aligner.models.kinds import DEFAULT, MODELS
from aligner.models.recipe import Recipe
from aligner.text.corpus import Corpus, warn_of_long
from aligner.text.reading import read_corpus
from aligner.training.cache import trained


@click.command("moses")
@click.option("--corpus", "stem", metavar="C", required=True, help="The text is in C.F and C.E.")
@click.option("--f", required=True, help="The language that Moses translates from.")
@click.option("--e", required=True, help="The language that Moses translates into.")
@click.option("--root-dir", metavar="DIR", default=".", help="Where train-model.perl has its files.")
@click.option(
    "--alignment",
    "method",
    type=click.Choice([*METHODS, *OTHER_NAMES]),
    metavar="METHOD",
    default="grow-diag-final-and",
    help="How two directions become one, see `aligner symmetrize --help`; Moses' intersect, srctotgt and"
    " tgttosrc, too. soft-union gives the links of `aligner align`.",
)
@click.option(
    "--first-step",
    type=click.IntRange(1, 4),
    default=1,
    help="3 begins with the A3 files that are in DIR, 4 with the links.",
)
@click.option(
    "--last-step", type=click.IntRange(1, 4), help="4 writes the lexicons, too.  [default: 3, with --lex 4]"
)
@click.option("--lex", is_flag=True, help="Write the lexicons, too: the same as --last-step 4.")
@click.option("--giza-files", is_flag=True, help="Write what steps 1 and 2 of train-model.perl write, too.")
@click.option(
    "--model",
    type=click.Choice(list(MODELS)),
    metavar="|".join(MODELS),
    default=DEFAULT,
    help="The model to train, see `aligner align --help`.",
)
@options.encoding
@options.threads
@click.option("-q", "--quiet", is_flag=True, help="Do not say how train-model.perl goes on.")
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
def command(
    stem: str,
    f: str,
    e: str,
    root_dir: str,
    method: str,
    first_step: int,
    last_step: int | None,
    lex: bool,
    giza_files: bool,
    model: str,
    encoding: str,
    threads: int,
    quiet: bool,
    overwrite: bool,
) -> None:
    """Align a corpus for Moses: steps 1 to 4 of train-model.perl in one go.

    Writes DIR/model/aligned.METHOD, the links from F to E. `train-model.perl -first-step 4 -alignment METHOD`
    goes on from there. With --lex, DIR/model/lex.f2e and lex.e2f are written, too, and -first-step 5 goes on.

    --giza-files also writes the files of steps 1 and 2: DIR/corpus/*.vcb, *.vcb.classes and *.snt, and
    DIR/giza.F-E/F-E.A3.final.gz and DIR/giza.E-F/E-F.A3.final.gz. `train-model.perl -first-step 3` makes of
    these the very links that this command writes, if METHOD is one of Moses'. --last-step 2 writes these
    files only.

    The text may be compressed (C.F.gz). Words are what stands between spaces; factors are not taken apart.
    The model is kept in $ALIGNER_CACHE, by default ~/.cache/aligner: another METHOD is quickly made.

    \b
    Example:
      aligner moses --corpus text --f fr --e en --root-dir train
      train-model.perl -root-dir train -corpus text -f fr -e en -alignment grow-diag-final-and -first-step 4
    """
    if f == e:
        raise click.UsageError(f"--f and --e are both {f}.")
    if lex and last_step not in (None, 4):
        raise click.UsageError("--lex is for --last-step 4.")
    last_step = last_step or (4 if lex else 3)
    if first_step > last_step:
        raise click.UsageError("--first-step comes after --last-step.")
    if first_step == 2:
        raise click.UsageError("--first-step 2 needs what --first-step 1 does: give 1.")
    giza_files = giza_files or last_step <= 2
    if first_step == 3 and moses.takes_scores(method):
        raise click.UsageError(f"{method} needs scores, which A3 files do not have.")
    if encoding != "utf-8" and (giza_files or last_step == 4):
        raise click.UsageError("--encoding is for links alone: files with words need a text in UTF-8.")
    folder = moses.Folder(Path(root_dir), f, e, overwrite)
    steps = range(first_step, last_step + 1)
    _check_outputs(folder, method, steps, giza_files)
    paths = [_found(f"{stem}.{language}") for language in (f, e)]
    corpus = read_corpus(*paths, encoding=encoding)
    warn_of_long(corpus.long_pairs(), display_name(paths[0]))
    if len(corpus) == 0:
        raise DataError("no sentence pairs", file=display_name(paths[0]))
    if 1 in steps and giza_files:
        moses.write_text(folder, corpus)
    if 2 in steps:
        kept = trained(corpus, Recipe.of(model), n_threads=threads)
        links = _align(folder, corpus, kept, method, giza_files, threads)
    elif 3 in steps:
        links = moses.made_one(*moses.read_directed(folder, corpus), method)
    if 3 in steps:
        moses.write_links(folder, method, links)
    if 4 in steps:
        moses.write_lexicons(folder, corpus, method)
    if last_step > 2 and not quiet:
        options.tell(
            f"aligner: train-model.perl goes on with -first-step {last_step + 1} -alignment {method}"
        )


def _align(
    folder: moses.Folder, corpus: Corpus, kept: Kept, method: str, giza_files: bool, n_threads: int
) -> Iterator[Links]:
    """Step 2, and the links that step 3 writes, which are made when they are asked for."""
    scored = moses.takes_scores(method)
    if scored and not giza_files:
        return moses.blended(kept, corpus, method, n_threads)
    forward, reverse, costs = moses.directed(kept, corpus, n_threads)
    if giza_files:
        moses.write_directed(folder, corpus, forward, reverse, costs)
    if scored:
        return moses.blended(kept, corpus, method, n_threads)
    return moses.made_one(forward, reverse, method)


def _check_outputs(folder: moses.Folder, method: str, steps: range, giza_files: bool) -> None:
    """Refuses, before long work, files that are there already, unless they may be replaced."""
    wanted = [
        *(folder.prepared() if 1 in steps and giza_files else ()),
        *(folder.directed() if 2 in steps and giza_files else ()),
        *([folder.aligned(method)] if 3 in steps else ()),
        *(folder.lexicons() if 4 in steps else ()),
    ]
    for path in wanted:
        if path.exists():
            check_output(str(path), folder.overwrite)


def _found(path: str) -> str:
    """A text, or the compressed one of the same name."""
    return next((path + end for end in ("", *SUFFIX) if os.path.exists(path + end)), path)
