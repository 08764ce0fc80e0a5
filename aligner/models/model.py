"""What a model knows: translation tables of both directions over the word pairs of its corpus, and jumps.

A Model is one or more views, each trained by itself: the same model of what each view sees of a word.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner.links.links import Links
from aligner.models.recipe import Recipe
from aligner.text._cells import sort_rows
from aligner.text.corpus import Corpus, Vocab

Reals = npt.NDArray[np.float32]


def check_threads(n_threads: int) -> None:
    if not 1 <= n_threads <= 1024:
        raise ValueError(f"n_threads must be between 1 and 1024, not {n_threads}")


@dataclass
class Parameters:
    """The parameters of one view. Source words are e, target words f; P word pairs, sorted by e.

    rows      [V_src + 1]    pairs of source word e are those from rows[e] to rows[e + 1]
    tgt       [P]            pair -> f
    t         [P, 2]         pair -> t(f | e), t(e | f)
    null_fwd  [V_tgt]        f -> t(f | NULL)
    null_rev  [V_src]        e -> t(e | NULL)
    jump      [2, 2 W + 3]   forward and reverse: left of -W, distances -W ... W, right of W
    first     [2, W + 1]     the first position: 0 ... W - 1, and beyond
    p0        the probability of NULL
    ordered   whether the pairs of each source word are in the order of f, as looking them up needs
    """

    rows: npt.NDArray[np.int64]
    tgt: npt.NDArray[np.int32]
    t: Reals
    null_fwd: Reals
    null_rev: Reals
    jump: npt.NDArray[np.float64]
    first: npt.NDArray[np.float64]
    p0: float
    ordered: bool = False

    @property
    def window(self) -> int:
        return int(self.first.shape[1])

    def in_order(self) -> Parameters:
        """The same, ordered."""
        if self.ordered:
            return self
        tgt, t = sort_rows(self.rows, self.tgt, self.t)
        return replace(self, tgt=tgt, t=t, ordered=True)

    def copied(self) -> Parameters:
        """The same, not touched by the next iteration."""
        changing = ("t", "null_fwd", "null_rev", "jump", "first")
        return replace(self, **{name: getattr(self, name).copy() for name in changing})


@dataclass
class View:
    """What one set of parameters sees of the text (views.py): its own vocabularies."""

    name: str
    src: Vocab
    tgt: Vocab
    parameters: Parameters


@dataclass
class Model:
    """All that is needed to align text as it was aligned in training.

    facts    what it was trained on
    history  a dict for each iteration: view, model, log-likelihood, ...
    trained  the corpus it was trained on, and cells of some views; not saved
    """

    recipe: Recipe
    views: list[View]
    facts: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    trained: tuple[Corpus, dict[int, npt.NDArray[np.int32]]] | None = None

    @classmethod
    def load(cls, path: str | os.PathLike[str], check: bool = False) -> Model:
        """A model from a file; check: all of it is read, to see whether it is whole."""
        from aligner.models import modelfile

        return modelfile.load(path, check)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes the model to one file."""
        from aligner.models import modelfile

        modelfile.save(self, path, overwrite)

    def align(
        self,
        text: Corpus | Iterable[tuple[str | Sequence[str], str | Sequence[str]]],
        *,
        symmetrize: str = "soft-union",
        threshold: float | None = None,
        n_threads: int = 1,
    ) -> Links:
        """Links of sentence pairs, given as text, as lists of tokens or as a Corpus.

        threshold: of a link's score; None is what suits the model
        """
        from aligner.decoding import posteriors as decode

        check_threads(n_threads)
        if not isinstance(text, Corpus):
            text = Corpus.from_pairs(text, lowercase=bool(self.facts.get("lowercase")))
        limit = self.recipe.threshold if threshold is None else threshold
        blocks = decode.directions(self, text, n_threads=n_threads)
        return Links.joined(decode.combine(self, *block, symmetrize, limit) for block in blocks)
