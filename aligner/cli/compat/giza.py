"""aligner giza"""

from __future__ import annotations

import logging
import os
import time

import click

from aligner.cli import options
from aligner.cli.compat.command_lines import of_words, warn_of_words
from aligner.cli.compat.giza_parameters import INCREMENTAL, PREVIOUS, Parameters
from aligner.compat.giza import read_vcbs, write_a3, write_table
from aligner.errors import DataError
from aligner.files import check_output, display_name
from aligner.models.kinds import DEFAULT
from aligner.models.recipe import Recipe
from aligner.text.corpus import warn_of_long
from aligner.text.giza import read_snt
from aligner.threads import available
from aligner.training.cache import trained

ITERATIONS = {"m1": 5, "m2": 0, "mh": 5, "m3": 5, "m4": 5, "m5": 0, "m6": 0}  # of the originals
LOWER = {"mh": ("hmm", "th"), "m2": ("2", "t2"), "m1": ("1", "t1")}  # what a dump is called, and how often
NOTHING = (None, "", "NONE")  # names of no file
MOST_PARTS = 1024
LINE = "[CONFIG] [-name value]..."  # the command line
HELP = ("--help", "--h")


@of_words("giza", LINE, HELP)
def command(words: tuple[str, ...]) -> None:
    """Align as GIZA++ does, one direction.

    -s and -t are the .vcb files of the source and the target, -c is the .snt file, and -o is the prefix of
    what is written. CONFIG has the same parameters, as GIZA++'s own .gizacfg files have them. Names of
    parameters are those of GIZA++, in any case, and may be cut short.

    The file of the alignment has GIZA++'s name: PREFIX.A3.final after Models 3 to 6; PREFIX.Ahmm.N, if -th
    asks for it, after N iterations of the HMM; PREFIX.A2.N and PREFIX.A1.N likewise. PREFIX.t3.final,
    PREFIX.thmm.N and so on have `source target p(target | source)` lines of ids, 0 for NULL. -nodumps 1
    writes no file, unless -onlyaldumps 1 asks for that of the alignment. -tc is a second .snt file, which is
    aligned, too: PREFIX.tst.A3.final.

    What is different: the links are those of `aligner align`, at most one a target word, whichever models and
    iterations are asked for; after Model 1 alone they are those of our Model 1. Sentences are not cut at 100
    words, and sentence pairs with an empty side stay. Words that are not UTF-8 are written as they are. The
    score of an alignment is p(target | source), of all alignments together. Every sentence pair counts once,
    whatever its count in the .snt file. Parameters of training are accepted and change nothing; a line on
    stderr names them. The other tables of GIZA++ are not written. Training cannot begin with tables of
    GIZA++.

    The first call trains both directions, and keeps the model in $ALIGNER_CACHE, by default ~/.cache/aligner.
    The call for the other direction finds it there.

    \b
    Example:
      aligner plain2snt corpus.en corpus.fr
      aligner giza -s corpus.en.vcb -t corpus.fr.vcb -c corpus.en_corpus.fr.snt -o fr-en
    """
    run(words, mgiza=False)


def run(words: tuple[str, ...], mgiza: bool) -> None:
    """What GIZA++ and mgiza have in common."""
    if not words:
        raise click.UsageError("give -s, -t, -c and -o, or a file that has them.")
    given = Parameters.of(mgiza)
    for word in given.read_words(words):
        logging.warning("%s is no parameter, and is passed over", word)
    warn_of_words(given.unused)
    _refuse_tables(given)
    missing = [f"-{name}" for name in ("s", "t", "c") if not given.values.get(name)]
    if missing:
        raise click.UsageError(f"{' and '.join(missing)} must be given.")
    name, parts = _file_name(given), _parts(given) if mgiza else None
    options.one_stdin(*(given.values.get(name, "") for name in ("s", "t", "c", "tc")))
    (src, tgt), encoding = read_vcbs([given.values[side] for side in ("s", "t")])
    path = given.values["c"]
    corpus = read_snt(path, src, tgt)
    warn_of_long(corpus.long_pairs(), display_name(path))
    if len(corpus) == 0:
        raise DataError("no sentence pairs", file=display_name(path))
    test = read_snt(given.values["tc"], src, tgt) if given.values.get("tc") not in NOTHING else None
    n_threads = min(parts or available(), available())
    if name is None:
        logging.warning("no file is written: -nodumps forbids it, or -t1, -t2 or -th does not ask for it")
        return
    recipe = Recipe.of("ibm1" if name.startswith("1.") else DEFAULT)
    prefix = _prefix(given)
    paths = _paths(f"{prefix}.A{name}", name, parts)
    check_output(paths[0], overwrite=True)
    kept = trained(corpus, recipe, n_threads=n_threads)
    write_a3(kept, corpus, paths, encoding, n_threads)
    if not given.number("nodumps", 0):
        write_table(kept, src, tgt, f"{prefix}.t{name}")
    if test is not None:
        write_a3(kept, test, [f"{prefix}.tst.A{name}"], encoding, n_threads)


def _refuse_tables(given: Parameters) -> None:
    """Refuses what would need tables of GIZA++, and formats that we do not write."""
    tables = [name for name in ("readtableprefix", *PREVIOUS, *INCREMENTAL) if given.values.get(name)]
    if given.number("restart", 0):
        tables.append("restart")
    if tables:
        raise click.UsageError(
            f"-{tables[0]}: training cannot begin with tables of GIZA++. Align old and new text together."
        )
    if given.number("compactalignmentformat", 0):
        raise click.UsageError("-compactalignmentformat: the alignment is written in the usual format only.")


def _file_name(given: Parameters) -> str | None:
    """What follows PREFIX.A in the name of the alignment's file; None: it is not written."""
    n = {model: given.number(model, default) for model, default in ITERATIONS.items()}
    dumps = not given.number("nodumps", 0)
    if any(n[model] > 0 for model in ("m3", "m4", "m5", "m6")):
        return "3.final" if dumps or given.number("onlyaldumps", 0) else None
    last = next((model for model in LOWER if n[model] > 0), None)
    if last is None:
        raise click.UsageError("no model has an iteration.")
    short, frequency = LOWER[last]
    return f"{short}.{n[last]}" if dumps and given.number(frequency, 0) else None


def _parts(given: Parameters) -> int:
    """How many parts mgiza writes: a part a thread."""
    n = given.number("ncpus", 0)
    if n > MOST_PARTS:
        raise click.UsageError(f"-ncpus {n}: the alignment has at most {MOST_PARTS} parts.")
    return n if n > 0 else available()


def _prefix(given: Parameters) -> str:
    """How the names of files begin; by default with the time and the user's name."""
    name = given.values.get("o") or time.strftime("%Y-%m-%d.%H%M%S.") + os.environ.get("USER", "")
    folder = given.values.get("outputpath")
    return f"{folder}/{name}" if folder else name


def _paths(path: str, name: str, parts: int | None) -> list[str]:
    """The files of an alignment, as the originals call them. parts: of mgiza; None: GIZA++"""
    if parts is None or name.startswith("2."):
        return [path]
    if name.startswith("1."):
        return [f"{path}.part0"]
    return [f"{path}.part{k:03d}" for k in range(parts)]
