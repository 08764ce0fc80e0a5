"""Priors: what earlier text taught, which counts beside the text that is trained on.

By a prior, chunks of a large text share what a sample taught. Its pseudo-counts are added in every M-step, and at
the start, so that the first iteration knows them already.
"""

from __future__ import annotations

import zlib
from typing import Protocol

import numpy as np
import numpy.typing as npt

from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.models import _shares
from aligner.models.counts import Counts
from aligner.models.lexicon import Evidence, Lexicon
from aligner.models.parameters import Parameters, View
from aligner.models.positions import Jumps
from aligner.models.pseudo import Overlap, Table
from aligner.models.recipe import LATTICES, Recipe
from aligner.models.update import spelled
from aligner.text.cells import Seen, cell_offsets, in_shards
from aligner.text.spelling import likeness_of

Doubles = npt.NDArray[np.float64]
Keys = npt.NDArray[np.uint64]

EXACT = 1e-6  # a smaller share of a count, with smoothing's, can come from rounding


class Prior(Protocol):
    """What training asks of a prior.

    checksum  what a signature calls the prior
    """

    @property
    def checksum(self) -> str: ...

    def check(self, recipe: Recipe) -> None:
        """Refuses a recipe that the prior has no counts for."""

    def table(self, view: str, seen: Seen, n_threads: int) -> Table:
        """What was counted, as a view sees it. seen: what the view sees of the text that is trained on"""

    def overlap(self, keys: Keys, seen: Seen, lexicon: Lexicon, n_threads: int) -> Overlap | None:
        """What the sentence pairs of the text that is trained on added to the table.

        keys     of the text's sentence pairs
        lexicon  of the word pairs that a view sees of the text
        """

    def positions(self, seen: Seen, window: int) -> Doubles | None:
        """[2, n] what was counted of positions, as Jumps lay them out; None: nothing."""


class ModelPrior:
    """What a model was taught.

    A model of leave-one-out has kept how much it was learned from: its counts are found again. Other models
    have not. A word of theirs counts as often as it occurs in the text that is trained on.
    """

    def __init__(self, model: Model) -> None:
        model.check_trained()
        self.model = model
        self.views = {view.name: view for view in model.views}

    @property
    def checksum(self) -> str:
        return f"{zlib.crc32(self.model.signature.encode()):08x}"

    def check(self, recipe: Recipe) -> None:
        """Refuses another language of words: views, letters, directions and windows that the model lacks."""
        own = self.model.recipe
        if lacking := [name for name in recipe.views if name not in self.views]:
            raise DataError(
                f"the prior has the views {','.join(self.views)}, not {','.join(lacking)}",
                hint=f"train the views {','.join(self.views)}",
            )
        if own.direction not in ("both", recipe.direction):
            raise DataError(
                f"the prior was trained {own.direction} only", hint=f"train {own.direction} only"
            )
        if own.lowercase != recipe.lowercase:
            was = "in lower case" if own.lowercase else "not lower-cased"
            raise DataError(f"the text of the prior was {was}", hint="do the same here")
        jumps = self.model.views[0].parameters.positions
        lattices = any(stage.family in LATTICES for stage in recipe.stages)
        if lattices and isinstance(jumps, Jumps) and jumps.window != recipe.window:
            raise DataError(
                f"the jumps of the prior have a window of {jumps.window}, not {recipe.window}",
                hint=f"train with a window of {jumps.window}",
            )

    def table(self, view: str, seen: Seen, n_threads: int) -> Table:
        one = self.views[view]
        m = one.parameters.lexicon
        e = np.repeat(np.arange(len(one.src), dtype=np.int32), np.diff(m.rows))
        if m.evidence is None:
            pairs, occurrences, nulls = self._as_often_as_here(one, e, seen)
        else:
            pairs, occurrences, nulls = self._found_again(one, m.evidence, e, n_threads)
        return Table(one.src.words, one.tgt.words, e, m.tgt, pairs, occurrences, nulls)

    def _found_again(
        self, view: View, evidence: Evidence, e: npt.NDArray[np.int32], n_threads: int
    ) -> tuple[Doubles, tuple[Doubles, Doubles], tuple[Doubles, Doubles]]:
        """Counts without what smoothing added: c = t(f | e) src(e) - w alpha / V."""
        m, leaving, alpha = view.parameters.lexicon, self.model.recipe.last.leaving, evidence.alpha
        assert leaving is not None
        alike = likeness_of(view.src, view.tgt, m.rows, m.tgt, n_threads)
        least_rev, least_fwd = (alpha / max(1, n) for n in evidence.words)
        smoothed = m.t[:, 0].astype(np.float64) * evidence.src[e]
        c = smoothed - spelled(leaving)[alike] * least_fwd
        c[c < EXACT * smoothed] = 0
        occurrences = [
            np.maximum(0, many.astype(np.float64) - alpha) / (kappa or 1)
            for many, kappa in zip((evidence.src, evidence.tgt), evidence.kappa, strict=True)
        ]
        nulls = [
            np.maximum(0, row.astype(np.float64) * total - least)
            for row, total, least in zip(
                (m.null_fwd, m.null_rev), evidence.nulls, (least_fwd, least_rev), strict=True
            )
        ]
        return np.stack([c, c], axis=1), (occurrences[0], occurrences[1]), (nulls[0], nulls[1])

    def _as_often_as_here(
        self, view: View, e: npt.NDArray[np.int32], seen: Seen
    ) -> tuple[Doubles, tuple[Doubles, Doubles], tuple[Doubles, Doubles]]:
        """t(f | e) times the occurrences of e in the text that is trained on, p0 of all words with NULL."""
        m, text = view.parameters.lexicon, seen.text
        occurrences = []
        for side, vocab, here in zip((text.src, text.tgt), (view.src, view.tgt), seen.occurrences, strict=True):
            ids = side.vocab.find(vocab.words)
            occurrences.append(np.where(ids < 0, 0, here[ids] if len(here) else 0).astype(np.float64))
        pairs = m.t * np.stack([occurrences[0][e], occurrences[1][m.tgt]], axis=1)
        p0 = self.model.recipe.p0
        nulls = [
            row * (p0 * here.sum()) for row, here in zip((m.null_fwd, m.null_rev), seen.occurrences[::-1], strict=True)
        ]
        return pairs, (occurrences[0], occurrences[1]), (nulls[0], nulls[1])

    def overlap(self, keys: Keys, seen: Seen, lexicon: Lexicon, n_threads: int) -> Overlap | None:
        """The shares of sentence pairs that the model was trained on. A pair that occurs often is found once."""
        shares = self.model.shares
        if shares is None:
            return None
        known, first = np.unique(keys, return_index=True)
        places = shares.find(known)
        found = places >= 0
        if not found.any():
            return None
        keep = np.zeros(len(keys), dtype=bool)
        keep[first[found]] = True
        order = places[found][np.argsort(first[found])]
        text = seen.text.select(keep)
        part = Seen(lambda: text, seen.rows, seen.tgt, cell_offsets(text), None)
        counts = Counts.zero(Parameters(lexicon), shared=True)
        for start, stop, (shard,) in in_shards([part], n_threads):
            packed = _shares.gather(shares.offsets, shares.entries, order[start:stop], n_threads)
            _shares.count(shard, lexicon, *packed, counts, n_threads)
        return Overlap(counts, part.occurrences)

    def positions(self, seen: Seen, window: int) -> Doubles | None:
        """The jumps of as many links as were counted, and a first position a sentence pair."""
        view = self.model.views[0]
        jumps, evidence = view.parameters.positions, view.parameters.lexicon.evidence
        leaving = self.model.recipe.last.leaving
        power = 1.0 if leaving is None else leaving.evenness
        if not isinstance(jumps, Jumps) or power == 0:
            return None
        if evidence is None:
            links = np.array([[len(seen.text.tgt.ids)], [len(seen.text.src.ids)]])
            n_pairs = len(seen.text)
        else:
            links = (evidence.src.sum(dtype=np.float64) - evidence.alpha * len(evidence.src)) * np.ones((2, 1))
            n_pairs = int(self.model.facts["pairs"])
        tables = []
        for table, total in ((jumps.jump, links), (jumps.first, n_pairs)):
            raised = (table / table.max(axis=1, keepdims=True)) ** (1 / power)
            tables.append(raised / raised.sum(axis=1, keepdims=True) * total)
        return np.concatenate(tables, axis=1)
