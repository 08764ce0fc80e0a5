"""The output of --sentence-scores: a line of numbers a sentence pair, written as the text is aligned."""

from __future__ import annotations

from operator import methodcaller

import click
import numpy as np
import numpy.typing as npt

from aligner.cli.options import F
from aligner.cli.outputs import Outputs
from aligner.decoding.sentences import confidence, format_scores
from aligner.files import open_output
from aligner.links.links import Links


def option(command: F) -> F:
    return click.option(
        "--sentence-scores",
        "sentence_score_file",
        metavar="FILE",
        help="Write a line of three numbers a sentence pair, too: -log p(tgt | src) a target word,"
        " -log p(src | tgt) a source word (lower is better), and the mean posterior of the links (higher is"
        " better).",
    )(command)


def check(path: str | None, given: str | None) -> None:
    """Refuses scores of sentence pairs whose links are known."""
    if path is not None and given is not None:
        raise click.UsageError("--sentence-scores is not for --given: given links make a pair too probable.")


class SentenceScores:
    """Writes the scores of a text's sentence pairs, or nothing if no file is named.

    viterbi: links are those of best paths, and have no posteriors
    """

    def __init__(self, path: str | None, overwrite: bool, beside: Outputs, viterbi: bool) -> None:
        self._output = None if path is None else beside.open(open_output(path, overwrite))
        self._viterbi = viterbi
        self._costs, self._n_written = np.empty((0, 2)), 0

    def costs(self, n_pairs: int) -> npt.NDArray[np.float64] | None:
        """The array that decoding of the next sentence pairs fills; None: nothing is wanted."""
        if self._output is None:
            return None
        self._costs, self._n_written = np.empty((n_pairs, 2)), 0
        return self._costs

    def write(self, links: Links, forward: Links, reverse: Links, direction: str) -> None:
        """Writes the lines of the sentence pairs that these links are of."""
        if self._output is not None:
            costs = self._costs[self._n_written : self._n_written + len(links)]
            trust = None if self._viterbi else confidence(links, forward, reverse, direction)
            self._output.attempt(methodcaller("write", format_scores(costs, trust)))
            self._n_written += len(links)

    def flush(self) -> None:
        if self._output is not None:
            self._output.attempt(methodcaller("flush"))
