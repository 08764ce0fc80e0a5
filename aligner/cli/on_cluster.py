"""--cluster of the commands that train: a training on the workers of Dask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import click
from click.core import ParameterSource

from aligner.cli.options import F
from aligner.cli.training import Learner
from aligner.cluster.signals import held
from aligner.decoding.model import Model
from aligner.models.recipe import Recipe
from aligner.text.cells import Seen
from aligner.text.classes import BothClasses
from aligner.text.corpus import Corpus
from aligner.training.progress import Progress

NOT_THERE = ("init", "prior", "dictionary", "dev_src", "given", "exclude", "checkpoint", "memory")
UNUSED = {"train": ("threads",), "align": ()}  # command -> what else it cannot honour


def option(command: str) -> Callable[[F], F]:
    *names, last = (f"--{name.replace('_', '-')}" for name in NOT_THERE + UNUSED[command])
    beside = " Links are found by the process that asks, with --threads." if command == "align" else ""
    return click.option(
        "--cluster",
        metavar="ADDRESS|local:N",
        help="Train on the workers of Dask's scheduler at ADDRESS, or on N processes of this machine; the"
        f" model is the same. A shard of the text has one thread.{beside} Not with {', '.join(names)} and"
        f" {last}.",
    )


def check() -> None:
    """Refuses options that a training on a cluster would ignore."""
    ctx = click.get_current_context()
    for name in NOT_THERE + UNUSED[ctx.command.name or ""]:
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--{name.replace('_', '-')} is not for --cluster.")


@contextmanager
def learner_on(address: str) -> Iterator[Learner]:
    """What trains on a cluster."""
    try:
        with held():
            from aligner.cluster.connection import connected
            from aligner.cluster.workers import learn_on
    except ImportError as error:
        raise click.UsageError(f"--cluster needs Dask, which word-aligner[cluster] has ({error}).") from None

    with connected(address) as client:

        def learn(
            corpus: Corpus,
            recipe: Recipe,
            *,
            classes: BothClasses | None,
            progress: Progress | None,
            log: IO[str] | None,
            facts: Mapping[str, Any] | None,
            run: Mapping[str, str] | None,
            **others: Any,
        ) -> tuple[Model, list[Seen | None]]:
            for name in ("init", "prior", "development", "links"):
                if others.pop(name) is not None:
                    raise ValueError(f"a cluster trains without {name}")
            told: dict[str, Any] = {"progress": progress, "log": log, "facts": facts, "run": run}
            model = learn_on(client, corpus, recipe, classes=classes, **told)
            return model, [None] * len(model.views)

        yield learn
