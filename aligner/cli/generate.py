"""aligner generate"""

from __future__ import annotations

import contextlib
import os
import sys

import click
from tqdm import tqdm

from aligner.files import open_output
from aligner.text.generate.writer import generate


@click.command("generate")
@click.argument("prefix")
@click.option("--pairs", type=click.IntRange(0), default=2000, metavar="N", help="Sentence pairs.")
@click.option("--seed", type=click.IntRange(0), default=1, help="Seed of the random sentences.")
@click.option("--overwrite", is_flag=True, help="Replace the files if they exist.")
def command(prefix: str, pairs: int, seed: int, overwrite: bool) -> None:
    """Make a parallel corpus with exact gold links.

    Writes PREFIX.src, PREFIX.tgt and PREFIX.gold: sentences of a small bilingual grammar with the phenomena
    of real translation, and the links they were made with. The same seed makes the same text, and fewer
    pairs are the beginning of more.

    \b
    Example:
      aligner generate --pairs 10000 toy
    """
    if not os.path.basename(prefix) or os.path.isdir(prefix):
        raise click.BadParameter("it must end in a file name.", param_hint="PREFIX")
    with contextlib.ExitStack() as stack:
        outs = [
            stack.enter_context(open_output(f"{prefix}.{suffix}", overwrite))
            for suffix in ("src", "tgt", "gold")
        ]
        hidden = True if sys.stderr is None else None  # None: shown on a terminal
        for lines in tqdm(generate(pairs, seed), total=pairs, unit=" pairs", disable=hidden, leave=False):
            for out, line in zip(outs, lines, strict=True):
                out.write(line.encode() + b"\n")
