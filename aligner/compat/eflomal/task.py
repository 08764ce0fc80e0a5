"""What eflomal's interface and programs have in common: train on a text, then write links and scores."""

from __future__ import annotations

import logging
import os
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.compat.eflomal.scores import sentence_scores
from aligner.decoding.kept import Kept
from aligner.errors import DataError
from aligner.files import check_output, open_in_place, output_place
from aligner.links.formats import BLOCK, PLAIN, format_links
from aligner.links.links import Links
from aligner.links.priors import Priors
from aligner.models.jumps import Jumps
from aligner.models.kinds import HMMS, LOO
from aligner.models.recipe import Recipe
from aligner.models.settings import SETTINGS
from aligner.text.cells import Seen
from aligner.text.corpus import Corpus, warn_of_long
from aligner.threads import available
from aligner.training.loop import MEMORY, learn
from aligner.training.prior import CountsPrior
from aligner.training.progress import Progress

MODELS = {1: "ibm1", 2: "shmm", 3: "loo"}
SCORED = "agree"  # the model of the best paths that scores are of: they tell wrong sentence pairs best

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Files:
    """The names of outputs; None: not wanted."""

    forward_links: str | None
    reverse_links: str | None
    forward_scores: str | None
    reverse_scores: str | None

    def names(self) -> list[str]:
        """The names of what is wanted."""
        named = (self.forward_links, self.reverse_links, self.forward_scores, self.reverse_scores)
        return [name for name in named if name is not None]

    def check(self) -> None:
        """Refuses, before long work, what cannot be written."""
        places = [output_place(name) for name in self.names()]
        for n, name in enumerate(self.names()):
            check_output(name, overwrite=True)
            if places[n] in places[:n] and places[n] != os.devnull:
                raise DataError("two outputs have the same name", file=name, hint="give each its own")


@dataclass(frozen=True)
class Task:
    """How a text is aligned.

    model        1, 2 or 3
    score_model  1, 2 or 3: what scores are made of
    """

    model: int
    score_model: int
    null_prior: float
    n_threads: int
    quiet: bool

    @staticmethod
    def of(model: int, score_model: int, null_prior: float, n_samplers: int, quiet: bool) -> Task:
        """score_model: 0 for the model. n_samplers: eflomal has a thread each, in both directions"""
        if model not in MODELS or score_model not in (0, *MODELS):
            wrong = model if model not in MODELS else score_model
            raise DataError(f"there is no model {wrong}", hint="the models are 1, 2 and 3")
        most = SETTINGS["p0"].most
        if not 0 <= null_prior <= most:
            raise DataError(f"the probability of NULL must be between 0 and {most:g}, not {null_prior:g}")
        n_threads = max(1, min(available(), 2 * n_samplers))
        return Task(model, score_model or model, null_prior, n_threads, quiet)

    def run(
        self, corpus: Corpus, files: Files, priors: Priors | None, *, whole: bool = True, letters: bool = True
    ) -> None:
        """Writes what is wanted of a text.

        whole    words are seen as they are
        letters  words are made of letters, and are no numbers
        """
        if not files.names():
            logger.warning("no output is wanted: nothing is aligned")
        warn_of_long(corpus.long_pairs())
        if files.forward_links or files.reverse_links:
            recipe = self._recipe(MODELS[self.model], None if whole else ("word",), letters)
            links = self._links(corpus, recipe, priors)
            for name, one in zip((files.forward_links, files.reverse_links), links, strict=True):
                if name is not None:
                    _write_links(name, one)
        if files.forward_scores or files.reverse_scores:
            links = self._links(corpus, self._recipe(SCORED, ("word",), letters), priors, viterbi=True)
            self._write_scores(files.forward_scores, corpus, links[0], priors)
            swapped = None if priors is None else priors.transposed()
            sides = Corpus(corpus.tgt, corpus.src)
            self._write_scores(files.reverse_scores, sides, links[1].transposed(), swapped)

    def _recipe(self, model: str, views: tuple[str, ...] | None, letters: bool) -> Recipe:
        settings: dict[str, Any] = {"p0": max(self.null_prior, SETTINGS["p0"].least)} if model in HMMS else {}
        settings |= {"agree": True} if model == "ibm1" else {}
        settings |= {} if letters else {"identical": 1.0}
        settings |= {"spelling": 0.0} if model in LOO and not letters else {}
        return Recipe.of(model, views=views, lowercase=letters, **settings)

    def _links(
        self, corpus: Corpus, recipe: Recipe, priors: Priors | None, viterbi: bool = False
    ) -> tuple[Links, Links]:
        """At most one link a target word, and at most one a source word. viterbi: those of best paths"""
        prior = None
        if priors is not None:
            prior = Jumping(priors, recipe.window) if viterbi else CountsPrior(priors)
        n_threads, memory = self.n_threads, arguments.size(MEMORY)
        with nullcontext() if self.quiet else Progress(verbose=True) as progress:
            learned = learn(
                corpus, recipe, prior=prior, n_threads=n_threads, progress=progress, memory=memory
            )
        kept = Kept(learned[0], False, corpus, learned[1])
        if not viterbi:
            return kept.one_each_way(corpus, n_threads=n_threads)
        paths = list(kept.directions(corpus, viterbi=True, n_threads=n_threads))
        return Links.joined(forward for forward, _ in paths), Links.joined(reverse for _, reverse in paths)

    def _write_scores(self, name: str | None, text: Corpus, links: Links, priors: Priors | None) -> None:
        if name is None:
            return
        scores = sentence_scores(text, links, self.score_model, self.n_threads, priors)
        with open_in_place(name) as out:
            for part in np.array_split(scores, len(scores) // BLOCK + 1):
                out.write("".join(map("%g\n".__mod__, part.tolist())).encode())


class Jumping(CountsPrior):
    """Priors with their jumps: best paths need them where a text is too short to teach them."""

    def __init__(self, priors: Priors, window: int) -> None:
        """window: of the model that is trained"""
        super().__init__(priors)
        self.window = window

    def positions(self, view: str, seen: Seen) -> npt.NDArray[np.float64]:
        """As Jumps lays them out. The jump to the first word counts as one between words."""
        jumps = Jumps.even(self.window, 0.0)
        counts = np.zeros((2, jumps.n_counts))
        for row, found in zip(counts, self.priors.jumps, strict=True):
            for jump, count in found.items():
                row[min(max(jump, -self.window), self.window) + self.window] += count
        return counts


def _write_links(name: str, links: Links) -> None:
    with open_in_place(name) as out:
        for start in range(0, len(links), BLOCK):
            out.write(format_links(links.part(start, min(start + BLOCK, len(links))), PLAIN))
