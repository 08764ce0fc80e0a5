"""aligner expect"""

from __future__ import annotations

import time

import click

from aligner import store
from aligner.cli import options, training
from aligner.cluster.counted import KIND
from aligner.cluster.due import ITERATE
from aligner.cluster.jobs import check_due, count
from aligner.cluster.shards import TextShard
from aligner.decoding.model import Model
from aligner.text.cells import cell_offsets
from aligner.training.progress import expected, kind_of


@click.command("expect")
@click.argument("model")
@click.argument("shard")
@click.option("-o", "--output", metavar="COUNTS", required=True, help="Where to write the counts.")
@click.option("--overwrite", is_flag=True, help="Replace COUNTS if it exists.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing on stderr.")
@options.check
@options.threads
def command(
    model: str, shard: str, output: str, overwrite: bool, quiet: bool, check: bool, threads: int
) -> None:
    """Do one job of a training: count what its next step expects of a shard.

    MODEL is DIR/start.model of `aligner shard`, or what `aligner update` wrote. SHARD is one of DIR/shard-1,
    DIR/shard-2, ... The jobs of a step are independent: they can run at the same time, anywhere, and again.
    COUNTS is complete as soon as a file of that name is there.

    \b
    Example:
      aligner expect parts/start.model parts/shard-1 -o counts-1
    """
    store.check_name(output, KIND)
    options.check_outputs({"-o": output}, (model, shard), overwrite)
    began = time.perf_counter()
    trained = Model.load(model, check)
    step, recipe = check_due(trained, model), trained.recipe
    part = TextShard.load(shard)
    with store.open_new(output, overwrite, KIND) as out, training.told(quiet, False, None) as progress:
        advance = None
        if progress is not None and step.kind == ITERATE:
            kind, n_views = kind_of(step.stage(recipe)), len(recipe.views) if step.view < 0 else 1
            n_cells = int(cell_offsets(part.trained_on(recipe))[-1])
            progress.plan({kind: expected(kind, n_cells, n_views)})
            progress.enter(step.described(recipe))

            def advance(n: int) -> None:
                progress.advance(kind, n, n_views)

        count(trained, part, n_threads=threads, advance=advance).write(out)
        if progress is not None:
            seconds = time.perf_counter() - began
            progress.say(f"shard {part.number} of {part.n_shards}: {step.described(recipe)}: {seconds:.1f} s")
