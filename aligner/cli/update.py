"""aligner update"""

from __future__ import annotations

import click

from aligner import store
from aligner.cli import options, training
from aligner.cluster.counted import Counted
from aligner.cluster.due import due
from aligner.cluster.jobs import check_due, update
from aligner.decoding.model import Model
from aligner.training.monitor import describe


@click.command("update")
@click.argument("model")
@click.argument("counts", nargs=-1, required=True)
@click.option("-o", "--output", metavar="NEXT", required=True, help="Where to write the next model.")
@click.option("--overwrite", is_flag=True, help="Replace NEXT if it exists.")
@click.option("-v", "--verbose", is_flag=True, help="Print how the iteration went on stderr, too.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing on stderr.")
@options.check
@options.threads
def command(
    model: str,
    counts: tuple[str, ...],
    output: str,
    overwrite: bool,
    verbose: bool,
    quiet: bool,
    check: bool,
    threads: int,
) -> None:
    """End a step of a training in jobs: make the next model of the counts of all shards.

    MODEL is the model that `aligner expect` counted with. COUNTS are what it wrote for each shard, in any
    order. Counts of another model, of another step, of a shard that is there twice, and too few counts are
    refused. `aligner info NEXT` says which step comes next. After the last step NEXT is a finished model.

    \b
    Example:
      aligner update parts/start.model counts-1 counts-2 -o step-1.model
    """
    options.check_outputs({"-o": output}, (model, *counts), overwrite, output)
    trained = Model.load(model, check)
    step = check_due(trained, model)
    with store.open_new(output, overwrite) as out, training.told(quiet, verbose, None) as progress:
        new = update(trained, map(Counted.load, counts), n_threads=threads)
        new.write(out)
        if progress is not None:
            if verbose and len(new.history) > len(trained.history):
                progress.say(describe(new.history[-1]))
            following = due(new)
            ahead = (
                "training is finished" if following is None else f"next: {following.described(new.recipe)}"
            )
            progress.say(f"{step.described(new.recipe)}: done; {ahead}")
