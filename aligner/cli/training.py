"""What commands that train have in common, beside the options of a recipe: the training itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

import click

from aligner import arguments, store
from aligner.cli import options
from aligner.cli.known import KnownFiles
from aligner.cli.options import F
from aligner.cli.outputs import Outputs
from aligner.cli.recipes import recipe_of
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.files import display_name
from aligner.lexicons.dictionary import read_dictionary
from aligner.links.formats import LinkReader
from aligner.links.links import Links
from aligner.models.jumps import Jumps
from aligner.models.kinds import HMMS, LATTICES, MODELS
from aligner.models.recipe import Recipe
from aligner.models.steps import Step
from aligner.text.cells import Seen, cell_offsets
from aligner.text.classes import BothClasses, WordClasses, read_classes
from aligner.text.corpus import Corpus, sampled, warn_of_long
from aligner.text.reading import read_corpus
from aligner.training.checkpoint import Checkpoints
from aligner.training.development import Development
from aligner.training.loop import MEMORY, learn
from aligner.training.prior import CountsPrior, ModelPrior, Prior, read_prior
from aligner.training.progress import Progress, decoding_work

Learner = Callable[..., tuple[Model, list[Seen | None]]]  # of the arguments of `learn`


def model_output(command: F) -> F:
    """-o and --overwrite of a command that makes a model."""
    command = click.option("--overwrite", is_flag=True, help="Replace MODEL if it exists.")(command)
    return click.option("-o", "--output", metavar="MODEL", required=True, help="Where to write the model.")(
        command
    )


def progress(command: F) -> F:
    for add in (
        click.option(
            "--log-json",
            metavar="FILE",
            help="Write the run's signature, then a line of JSON per iteration; - is stdout.",
        ),
        click.option("-v", "--verbose", is_flag=True, help="Print a line an iteration on stderr, too."),
        click.option("-q", "--quiet", is_flag=True, help="Print nothing on stderr about the training."),
    ):
        command = add(command)
    return command


def checkpoint(command: F) -> F:
    for add in (
        click.option(
            "--resume",
            is_flag=True,
            help="Go on with the newest checkpoint in DIR, to the same bits; begin anew if there is none.",
        ),
        click.option(
            "--checkpoint",
            metavar="DIR",
            help="Write a checkpoint into a folder after each iteration. A killed run goes on from there with"
            " --resume. DIR has two models, and three while one is written: 12 bytes a word pair and view.",
        ),
    ):
        command = add(command)
    return command


def _size(_: click.Context, __: click.Parameter, text: str) -> int:
    """Bytes: a number with K, M, G or T after it, or nothing."""
    try:
        return arguments.size(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None


def memory(command: F) -> F:
    return click.option(
        "--memory",
        metavar="SIZE",
        default=MEMORY,
        callback=_size,
        help="Room for text, parameters, expected links and cells. A cell is a source word and a target word"
        " of one sentence pair, and takes 4 bytes a view. Cells that do not fit are looked up again in each"
        " iteration.",
    )(command)


def sample(command: F) -> F:
    return click.option(
        "--train-sample",
        type=click.IntRange(1),
        metavar="N",
        help="Train on N of the sentence pairs, chosen at random but always alike, and align all of them.",
    )(command)


def inputs(training: Mapping[str, Any]) -> list[str | None]:
    """The files that training reads, except the model to start from: the new model may replace that one."""
    names = ("src", "tgt", "dev_src", "dev_tgt", "dev_gold", "given", "exclude", "prior", "dictionary")
    pairs = ("vcb", "class_files")
    return [training.get(name) for name in names] + [x for name in pairs for x in training.get(name) or ()]


def told(quiet: bool, verbose: bool, aligns: str | None) -> AbstractContextManager[Progress | None]:
    """What the run says of itself on stderr. aligns: that of Progress"""
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose do not go together.")
    return nullcontext() if quiet else Progress(verbose, aligns)


def learner_in(folder: str | None, resume: bool, beside: Outputs, progress: Progress | None) -> Learner:
    """What trains: with the checkpoints of --checkpoint, written beside other outputs, or without."""
    if folder is not None:
        return beside.add(Checkpoints(folder, resume, None if progress is None else progress.say)).learn
    if resume:
        raise click.UsageError("--resume is for --checkpoint.")
    return learn


def train_model(
    output: str,
    overwrite: bool,
    log_json: str | None,
    quiet: bool,
    verbose: bool,
    checkpoint: str | None = None,
    resume: bool = False,
    cluster: AbstractContextManager[Learner] | None = None,
    **settings: Any,
) -> None:
    """Trains a model, and writes it to a file that is opened before.

    cluster: what trains instead of `learn`; entered when the outputs are open, and left after the training
    """
    named = {"-o": output, "--log-json": log_json}
    options.check_outputs(named, inputs(settings), overwrite, output)
    telling = told(quiet, verbose, aligns=None)
    with Outputs() as beside, store.open_new(output, overwrite) as out, telling as progress:
        log = beside.open_log(log_json, overwrite)
        own = learner_in(checkpoint, resume, beside, progress)
        with cluster or nullcontext(own) as learner:
            corpus, model, *_ = train(learner, log=log, progress=progress, **settings)
        model.write(out)
        if progress is not None:
            progress.end(len(corpus))


def train(
    learner: Learner,
    *,
    src: str,
    tgt: str | None,
    layout: str | None,
    vcb: tuple[str, str] | None,
    encoding: str,
    split: str,
    lowercase: bool,
    model: str,
    views: tuple[str, ...] | None,
    fast: bool,
    threads: int,
    log: IO[str] | None,
    progress: Progress | None,
    init: str | None = None,
    prior: str | None = None,
    prior_weight: float | None = None,
    dictionary: str | None = None,
    stages: Sequence[Step] | None = None,
    ibm1_iterations: int | None = None,
    window: int | None = None,
    class_files: tuple[str, str] | None = None,
    dev_src: str | None = None,
    dev_tgt: str | None = None,
    dev_gold: str | None = None,
    given: str | None = None,
    exclude: str | None = None,
    known_base: int | None = None,
    known_format: str | None = None,
    memory: int = arguments.size(MEMORY),  # noqa: B008
    train_sample: int | None = None,
    run: Mapping[str, str] | None = None,
    **settings: Any,
) -> tuple[Corpus, Model, list[Seen | None], Links | None]:
    """Trains what the options of corpus_arguments, recipe and threads ask for.

    learner: what trains, with the arguments of `learn`
    Returns the corpus, its model, what the model's views see of the corpus, and the links known by hand.
    """
    views = views_of(model, views, fast)
    development = [path for path in (dev_src, dev_tgt, dev_gold) if path is not None]
    if len(development) in (1, 2):
        raise click.UsageError("--dev-src, --dev-tgt and --dev-gold go together.")
    by_hand = KnownFiles(given, exclude, known_base, known_format)
    by_hand.check(settings.get("threshold"))
    if init is not None and settings.get("identical") is not None:
        raise click.UsageError("--identical is for a training that begins anew, not with --init.")
    if init is not None and prior is not None:
        raise click.UsageError("--prior and --init do not go together.")
    if dictionary is not None and (init is not None or prior is not None):
        raise click.UsageError(f"--dictionary and --{'init' if init else 'prior'} do not go together.")
    if prior is None and dictionary is None and prior_weight is not None:
        raise click.UsageError("--prior-weight is for --prior and --dictionary.")
    options.check_layout(tgt, layout, vcb, split)
    options.one_stdin(
        src,
        tgt or "",
        *(vcb or ()),
        *(class_files or ()),
        *development,
        *by_hand.paths,
        prior or "",
        dictionary or "",
    )
    taught: Prior | None = None if prior is None else read_prior(prior)
    if dictionary is not None:
        entries = read_dictionary(dictionary, lowercase=lowercase, encoding=encoding)
        taught = CountsPrior(entries, partial=True)
    if taught is not None and settings.get("dirichlet") is None:
        settings["dirichlet"] = 0.0  # counts are the prior
    first = taught.model if isinstance(taught, ModelPrior) else None if init is None else Model.load(init)
    if first is not None:
        first.check_trained(init)
        views = views or tuple(view.name for view in first.views)
        if model != "ibm1" and stages is None and taught is None:
            ibm1_iterations = ibm1_iterations or 0
        if model in HMMS:
            jumps = first.views[0].parameters.positions
            window = window or (jumps.window if isinstance(jumps, Jumps) else None)
        if vcb is not None:  # words that are split already go with any model
            split = first.recipe.split
        _check_words(first, init or prior or "", lowercase, split)
    reading: dict[str, Any] = {"encoding": encoding, "split": split, "lowercase": lowercase}
    settings |= {"views": views, "window": window, "stages": stages, "ibm1_iterations": ibm1_iterations}
    recipe = recipe_of(model, lowercase=lowercase, split=split, **settings)
    check_class_files(class_files, recipe)
    dev = None
    if dev_src is not None and dev_gold is not None:
        text = read_corpus(dev_src, dev_tgt, **reading)
        warn_of_long(text.long_pairs(), display_name(dev_src))
        dev = Development(text, LinkReader(dev_gold, text=text).read())
    corpus = read_text(src, tgt, layout, vcb, progress, **reading)
    links = by_hand.read(corpus)
    classes = read_both_classes(class_files)
    used, known = corpus, links
    if train_sample is not None and train_sample < len(corpus):
        keep = sampled(len(corpus), train_sample)
        used, known = corpus.select(keep).compact(), None if links is None else links.select(keep)
        run = {**(run or {}), "sample": str(len(used))}
        if progress is not None:
            progress.say(f"training on a sample of {len(used):,} sentence pairs")
            if progress.aligns is not None:
                n_others = int(cell_offsets(corpus)[-1] - cell_offsets(used)[-1])
                progress.plan(decoding_work(recipe, n_others, progress.aligns))
    trained, seen = learner(
        used,
        recipe,
        init=first if taught is None else None,
        prior=taught,
        prior_weight=1.0 if prior_weight is None else prior_weight,
        development=dev,
        n_threads=threads,
        progress=progress,
        log=log,
        facts={"src": src, "tgt": tgt},
        run=run,
        memory=memory,
        links=known,
        classes=classes,
    )
    if used is not corpus:
        seen = [*trained.seen(corpus.bounded(), "the model of the sample")]
    return corpus, trained, seen, links


def views_of(model: str, views: tuple[str, ...] | None, fast: bool) -> tuple[str, ...] | None:
    """The views that --views or --fast ask for; None: the model's."""
    if fast and views is not None:
        raise click.UsageError(f"--fast is --views {','.join(MODELS[model].fast)}: give one of them.")
    return MODELS[model].fast if fast else views


def read_text(
    src: str,
    tgt: str | None,
    layout: str | None,
    vcb: tuple[str, str] | None,
    progress: Progress | None,
    **reading: Any,
) -> Corpus:
    """The text to train on. Says how much it is, and warns of what is too long."""
    corpus = options.read_pairs(src, tgt, layout, vcb, **reading)
    warn_of_long(corpus.long_pairs(), display_name(src))
    if progress is not None:
        progress.say(
            f"read {len(corpus):,} sentence pairs: {len(corpus.src.ids):,} source words,"
            f" {len(corpus.tgt.ids):,} target words"
        )
    return corpus


def check_class_files(paths: tuple[str, str] | None, recipe: Recipe) -> None:
    """Refuses --class-files beside --classes, and for models that have no use for classes."""
    if paths is None:
        return
    if recipe.classes:
        raise click.UsageError("--class-files takes the place of --classes: give one of them.")
    if not any(stage.family in LATTICES for stage in recipe.stages):
        raise click.UsageError(f"--class-files is not for {recipe.model}.")


def read_both_classes(paths: tuple[str, str] | None) -> BothClasses | None:
    """The classes of --class-files, if it is given."""
    return None if paths is None else (_read_classes(paths[0]), _read_classes(paths[1]))


def _read_classes(path: str) -> WordClasses:
    """Classes of a file. `aligner classes` writes UTF-8, whatever the encoding of the text."""
    try:
        return read_classes(path)
    except DataError as error:
        if error.setting != "encoding":
            raise
        raise DataError(
            error.what,
            file=error.file,
            line=error.line,
            column=error.column,
            hint="files of classes are in UTF-8, also if the text is not: convert the file",
        ) from None


def _check_words(first: Model, name: str, lowercase: bool, split: str) -> None:
    """Refuses to begin with a model of other words. name: of its file"""
    if lowercase != first.recipe.lowercase:
        how = "without" if lowercase else "with"
        raise click.UsageError(f"{name} was trained {how} --lowercase: do the same here.")
    if split != first.recipe.split:
        raise click.UsageError(f"{name} was trained with --split {first.recipe.split}: do the same here.")
