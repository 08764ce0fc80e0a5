"""--symmetrize dual: options of dual decomposition, what they do not go with, and the log of certificates."""

from __future__ import annotations

import math
from operator import methodcaller
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from aligner.cli.options import F, NumberOrWord, Share
from aligner.cli.outputs import Outputs
from aligner.decoding.dual import (
    CERTIFICATE,
    COLUMNS,
    DUAL,
    LEAST_RATE,
    MOST_RATE,
    MOST_ROUNDS,
    THRESHOLD,
    Dual,
    format_certificates,
)
from aligner.decoding.posteriors import UNCHANGED
from aligner.files import open_output


def option(command: F) -> F:
    """--penalty, --rounds, --rate and --dual-log."""
    usual = Dual()
    for add in (
        click.option(
            "--dual-log",
            metavar="FILE",
            help="Write a table of certificates, too, a line a sentence pair between tabs:"
            f" {', '.join(COLUMNS)}. This takes more time than the links.  [--symmetrize dual]",
        ),
        click.option(
            "--rate",
            type=Share(LEAST_RATE, MOST_RATE),
            help=f"The first step of the multipliers.  [--symmetrize dual; default: {usual.rate:g}]",
        ),
        click.option(
            "--rounds",
            type=click.IntRange(1, MOST_ROUNDS),
            help=f"Rounds at most.  [--symmetrize dual; default: {usual.rounds}]",
        ),
        click.option(
            "--penalty",
            type=NumberOrWord(0, math.inf, "inf"),
            callback=lambda _, __, value: None if value is None else float(value),
            help="What a link costs that is beside a word's own link, as a natural logarithm; inf: a word has"
            f" one link.  [--symmetrize dual; default: {usual.penalty:g}]",
        ),
    ):
        command = add(command)
    return command


def dual_of(
    method: str | None,
    penalty: float | None,
    rounds: int | None,
    rate: float | None,
    log: str | None,
    viterbi: bool,
    project: str,
    threshold: str | float | None,
) -> Dual | None:
    """What --symmetrize dual asks for; None: another method is wanted. Refuses options that do not fit."""
    given = {"penalty": penalty, "rounds": rounds, "rate": rate}
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if method != DUAL:
        for name in (*settings, *(["dual-log"] if log is not None else [])):
            raise click.UsageError(f"--{name} is for --symmetrize dual.")
        return None
    if viterbi:
        raise click.UsageError(
            "--symmetrize dual is not for --viterbi: its rounds have best paths of their own."
        )
    if project not in UNCHANGED:
        raise click.UsageError(
            f"--symmetrize dual is not for --project {project}: it makes the two directions agree by itself."
        )
    if isinstance(threshold, str):
        raise click.UsageError(
            f"--threshold {threshold} is not for --symmetrize dual: its scores are no probabilities."
        )
    return Dual(**settings)


def threshold_of(dual: Dual | None, given: float | None) -> float | None:
    """The threshold that is given, or dual decomposition's own."""
    return THRESHOLD if dual is not None and given is None else given


class DualLog:
    """Writes the certificates of a text's sentence pairs, or nothing if no file is named."""

    def __init__(self, path: str | None, overwrite: bool, beside: Outputs) -> None:
        self._output = None if path is None else beside.open(open_output(path, overwrite))
        self._certificates, self._n_written, self._n_before = np.empty((0, 0)), 0, 0
        if self._output is not None:
            self._output.attempt(methodcaller("write", "\t".join(COLUMNS).encode() + b"\n"))

    def certificates(self, n_pairs: int) -> npt.NDArray[np.float64] | None:
        """The array that decoding of the next sentence pairs fills; None: nothing is wanted."""
        if self._output is None:
            return None
        self._n_before += self._n_written
        self._certificates, self._n_written = np.zeros((n_pairs, len(CERTIFICATE))), 0
        return self._certificates

    def write(self, n_pairs: int) -> None:
        """Writes the lines of the next sentence pairs, whose links are found."""
        if self._output is not None:
            some = self._certificates[self._n_written : self._n_written + n_pairs]
            lines = format_certificates(some, self._n_before + self._n_written + 1)
            self._output.attempt(methodcaller("write", lines))
            self._n_written += n_pairs

    def flush(self) -> None:
        if self._output is not None:
            self._output.attempt(methodcaller("flush"))
