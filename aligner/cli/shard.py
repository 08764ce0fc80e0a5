"""aligner shard"""

from __future__ import annotations

import os
import re
from typing import Any

import click

from aligner import store
from aligner.cli import options, recipes, training
from aligner.cluster.due import n_steps
from aligner.cluster.jobs import begin
from aligner.cluster.shards import KIND, MOST_SHARDS, in_text_shards
from aligner.errors import DataError, number_of
from aligner.models.kinds import MODELS
from aligner.models.recipe import DIRECTIONS

START = "start.model"
SHARD = re.compile(r"shard-[1-9][0-9]*")


@click.command("shard")
@options.corpus_arguments
@click.option("-o", "--output", metavar="DIR", required=True, help="The folder to write to; it is created.")
@click.option("--overwrite", is_flag=True, help="Replace a training that DIR has.")
@click.option(
    "--shards",
    "n_shards",
    type=click.IntRange(1, MOST_SHARDS),
    required=True,
    help="How many shards there are: as many jobs can run at the same time.",
)
@click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    default="both",
    help="Train one direction only: forward is p(tgt | src), reverse is p(src | tgt).",
)
@recipes.alone
@click.option("-q", "--quiet", is_flag=True, help="Print nothing on stderr.")
@options.documented("Models:", MODELS)
def command(
    src: str,
    tgt: str | None,
    layout: str | None,
    vcb: tuple[str, str] | None,
    encoding: str,
    split: str,
    lowercase: bool,
    output: str,
    overwrite: bool,
    n_shards: int,
    model: str,
    views: tuple[str, ...] | None,
    fast: bool,
    class_files: tuple[str, str] | None,
    quiet: bool,
    **settings: Any,
) -> None:
    """Cut a corpus into shards, and begin a training in jobs that any scheduler can run.

    SRC and TGT as for `aligner align`. DIR/start.model is a training that has done nothing yet. DIR/shard-1,
    DIR/shard-2, ... are parts of the text with about as many cells. In each step of the training, `aligner
    expect` counts in each shard, and `aligner update` makes the next model of the counts. After the last step
    the model is the one that `aligner train` makes, to the last bit, for any number of shards.

    The options are those of `aligner train`. There is no --init, --prior, --dictionary, --dev-src, --given
    and --exclude, and --prune must be 0: such trainings run in one process.

    Models:

    \b
    Example:
      aligner shard data/generated.src data/generated.tgt -o parts --shards 2 --model ibm1 --iterations 1
      aligner expect parts/start.model parts/shard-1 -o counts-1
      aligner expect parts/start.model parts/shard-2 -o counts-2
      aligner update parts/start.model counts-1 counts-2 -o step-1.model
    """
    options.check_layout(tgt, layout, vcb, split)
    options.one_stdin(src, tgt or "", *(vcb or ()), *(class_files or ()))
    reading: dict[str, Any] = {"encoding": encoding, "split": split, "lowercase": lowercase}
    settings["views"] = training.views_of(model, views, fast)
    recipe = recipes.recipe_of(model, lowercase=lowercase, split=split, **settings)
    training.check_class_files(class_files, recipe)
    old = _replaced(output, overwrite)
    with training.told(quiet, False, aligns=None) as progress:
        corpus = training.read_text(src, tgt, layout, vcb, progress, **reading)
        classes = training.read_both_classes(class_files)
        begun = begin(corpus, recipe, classes=classes, facts={"src": src, "tgt": tgt})
        os.makedirs(output, exist_ok=True)
        for file in old:  # no shard of another cut stays
            os.unlink(file)
        for shard in in_text_shards(corpus, begun.recipe, n_shards, begun.facts["text"]):
            with store.open_new(os.path.join(output, f"shard-{shard.number}"), kind=KIND) as out:
                shard.write(out)
        begun.save(os.path.join(output, START))
        if progress is not None:
            many = number_of(n_shards, "shard")
            progress.say(f"{many} in {output}; training has {n_steps(begun.recipe)} steps")


def _replaced(path: str, overwrite: bool) -> list[str]:
    """The files of a training that a folder has. Refuses a folder that has none but other files, or a
    training that is not to be replaced.
    """
    if not os.path.isdir(path):
        if os.path.lexists(path):
            raise DataError("this is no folder", file=path, hint="choose another name")
        return []
    names = [
        name for name in os.listdir(path) if not name.startswith(".")
    ]  # a killed run leaves hidden files
    if names and not overwrite:
        raise DataError(
            "the folder is not empty", file=path, hint="choose another one, or allow it", setting="overwrite"
        )
    old = [os.path.join(path, name) for name in names if name == START or SHARD.fullmatch(name)]
    if names and not old:
        raise DataError("the folder has files, and no training", file=path, hint="choose another one")
    for file in old:
        if not store.is_model(file):
            raise DataError("no training has written this, and it would go", file=file, hint="move it away")
    return old
