"""The kernels at work on a text: what scripts/instructions.py counts and scripts/roofline.py times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from aligner import Links, Model, Recipe, learn, read_corpus
from aligner.models.counts import Counts
from aligner.models.families import FAMILIES
from aligner.models.stage import Stage
from aligner.text.cells import Seen, cuts

Work = Callable[[], object]
VIEW = "word"


class Bench:
    """A text, and models of it that kernels work with.

    seen    what the one view sees of the text
    hmm     after two iterations of Model 1 and one of the HMM
    loo     after the usual iterations
    """

    def __init__(self, src: str, tgt: str, n_threads: int) -> None:
        self.files, self.n_threads = (src, tgt), n_threads
        self.corpus = read_corpus(src, tgt)
        self.seen = Seen.of_own_words(self.corpus, VIEW, n_threads)
        self.seen.keep(self.seen.n_cells, n_threads)
        self.hmm = self._model(Recipe.of("hmm", views=[VIEW], ibm1_iterations=2, iterations=1))
        self.loo = self._model(Recipe.of("loo", views=[VIEW]))

    def _model(self, recipe: Recipe) -> Model:
        return learn(self.corpus, recipe, n_threads=self.n_threads)[0]

    @property
    def n_cells(self) -> int:
        return int(self.seen.cell_offsets[-1])

    def stages(self) -> dict[str, tuple[Model, Stage]]:
        """Iterations of training: name -> a model to begin with, and the stage."""
        hmm, loo = self.hmm.recipe.last, self.loo.recipe.last
        words = Stage("ibm1", "likelihood", 1)
        return {
            "Model 1": (self.hmm, words),
            "Model 1, agreement": (self.hmm, replace(words, objective="agreement")),
            "HMM": (self.hmm, hmm),
            "HMM, projection": (self.hmm, replace(hmm, objective="symmetric")),
            "leave-one-out HMM": (self.loo, replace(loo, objective="likelihood")),
            "leave-one-out HMM, projection": (self.loo, loo),
        }

    def expectations(self) -> dict[str, Work]:
        """Iterations without their updates: name -> what finds the expected counts of the text."""
        return {name: self._expect(*stage) for name, stage in self.stages().items()}

    def _expect(self, model: Model, stage: Stage) -> Work:
        expect = self.part(model, stage)

        def run() -> None:
            for start, stop in cuts(self.seen.cell_offsets):
                expect(start, stop)

        return run

    def part(self, model: Model, stage: Stage) -> Callable[[int, int], dict[str, int]]:
        """What adds the expected counts of the sentence pairs start to stop, and returns statistics."""
        parameters = [view.parameters for view in model.views]
        counts = [Counts.zero(m, shared=stage.shared) for m in parameters]
        own = None
        if stage.leaving is not None and model.shares is not None:
            own = model.shares.of(self.corpus, stage.leaving.left_out)

        def expect(start: int, stop: int) -> dict[str, int]:
            shards = [self.seen.shard(start, stop, self.n_threads)]
            mine = None if own is None else own.part(start, stop)
            family = FAMILIES[stage.family]
            return family.expect(parameters, shards, stage, "both", mine, counts, self.n_threads)[0]

        return expect

    def look_up(self) -> None:
        """Finds the cells of the text among the word pairs of a model, shard by shard."""
        again = Seen(self.seen.text, self.seen.rows, self.seen.tgt)
        for start, stop in cuts(self.seen.cell_offsets):
            again.shard(start, stop, self.n_threads)

    def decode(self, model: Model, **settings: Any) -> list[Links]:
        """The links of both directions."""
        found = list(model.directions(self.corpus, n_threads=self.n_threads, **settings))
        return [Links.joined(block[k] for block in found) for k in range(2)]
