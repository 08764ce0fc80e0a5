"""Scores of links from a trained model, shard by shard: posteriors, best paths or dual decomposition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.decoding._select import above as select
from aligner.decoding.dual import CERTIFICATE, Dual, add_scores
from aligner.errors import DataError
from aligner.links.known import SURE
from aligner.links.links import Links
from aligner.models.families import FAMILIES
from aligner.models.kinds import CONSTRAINTS, LATTICES
from aligner.models.parameters import View
from aligner.models.recipe import Recipe
from aligner.models.shares import Own, Shares
from aligner.models.stage import Stage
from aligner.text.cells import Seen, Shard, cell_offsets, in_shards
from aligner.text.corpus import Corpus
from aligner.text.known import NOTHING, Known
from aligner.text.sides import Relabelled, Side
from aligner.threads import useful

Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

NO_COST = 100.0  # of a sentence pair that has no lattice: more than any that has one
CUTOFF = 1e-3  # a cell that scores no more than this is never a link

# What posteriors are projected onto when text is decoded
PROJECTIONS = {
    "trained": "what the model was trained with",
    **{name: f"the {name} constraint" for name in CONSTRAINTS},
    "both": "the mean of the two constraints' posteriors",
    "none": "nothing",
}
UNCHANGED = ("trained", "none")  # that any model, and any way to decode, can have


@dataclass(frozen=True, eq=False)
class Block:
    """The scores of all cells of some sentence pairs, those from start to stop of a text.

    shards  what each view sees of the sentence pairs
    own     the shares of the sentence pairs in the counts of the model; None: nothing is left out
    scores  forward and reverse scores [n_cells]
    before  forward and reverse scores before projection, where they are wanted
    """

    start: int
    stop: int
    shards: list[Shard]
    own: Own | None
    scores: tuple[Reals, Reals]
    before: tuple[Reals, Reals] | None

    def links(self, scores: Reals, n_threads: int = 1) -> Links:
        """The cells that score above CUTOFF. scores: [n_cells]"""
        shard = self.shards[0]
        places = shard.src_offsets, shard.tgt_offsets, shard.cell_offsets
        starts, src, tgt, values = select(*places, scores, CUTOFF, n_threads)
        return Links(starts, src, tgt, scores=values)

    def assert_known(self, scores: Reals) -> None:
        """Given links score 1, excluded ones 0. scores: [n_cells]"""
        shard = self.shards[0]
        known = shard.known.weights
        if known is None:
            return
        part = slice(known.offsets[0], known.offsets[-1])
        sentence = np.repeat(np.arange(len(shard)), np.diff(known.offsets))
        begin = shard.cell_offsets[sentence] - shard.cell_offsets[0]
        width = np.diff(shard.tgt_offsets)[sentence]
        cells = begin + known.src[part] * width + known.tgt[part]
        for weight, score in ((np.float32(SURE), 1.0), (np.float32(0), 0.0)):
            scores[cells[known.weight[part] == weight]] = score


def directions(
    views: Sequence[View],
    recipe: Recipe,
    corpus: Corpus,
    *,
    n_threads: int = 1,
    **settings: Any,
) -> Iterator[tuple[Links, Links]]:
    """Forward and reverse links, a shard of sentence pairs at a time. Scores are means over the views.

    settings: those of `blocks`
    A direction that the model was not trained in has no links. Nor has a sentence pair that is too long
    (text/corpus.py).
    """
    n_threads = useful(n_threads, int(cell_offsets(corpus.bounded())[-1]))
    for block in blocks(views, recipe, corpus, n_threads=n_threads, **settings):
        forward, reverse = (block.links(scores, n_threads) for scores in block.scores)
        yield forward, reverse


def blocks(
    views: Sequence[View],
    recipe: Recipe,
    corpus: Corpus,
    *,
    project: str = "trained",
    unprojected: bool = False,
    seen: Sequence[Seen | None] | None = None,
    shares: Shares | None = None,
    known: Known = NOTHING,
    viterbi: bool = False,
    dual: Dual | None = None,
    costs: Doubles | None = None,
    certificates: Doubles | None = None,
    n_threads: int = 1,
) -> Iterator[Block]:
    """The scores of all cells, a block of sentence pairs at a time. Scores are means over the views.

    project  one of PROJECTIONS: what posteriors are projected onto, before best paths are looked for, too
    unprojected  whether scores before projection are wanted, too
    seen     what each view sees of corpus.bounded(); None: the view looks again
    shares   of the text that the views were trained on, where a sentence pair is not its own witness
    known    what is known beforehand: given links score 1, excluded ones 0
    dual     the links of the two directions are found together, by dual decomposition (decoding/dual.py)
    costs    [S, 2] is filled, shard by shard: -log p(tgt | src) a target word, -log p(src | tgt) a source
             word. p sums over all alignments, before projection; of models that have a lattice a view, the
             logarithms are means over the views. A sentence pair that has an empty side, or is too long, has
             NO_COST; a direction that the model was not trained in has nan. Given links make costs useless
    certificates  [S, len(CERTIFICATE)] is filled, shard by shard, by dual decomposition. Of models that have
             a lattice a view, numbers are sums over the views, but converged is the share of the views. They
             take more time than the links. A sentence pair that has no lattice has 0
    """
    corpus = corpus.bounded()
    n_threads = useful(n_threads, int(cell_offsets(corpus)[-1]))
    if costs is not None and costs.shape != (len(corpus), 2):
        raise ValueError(f"the costs are not of {len(corpus)} sentence pairs")
    if certificates is not None and (dual is None or certificates.shape != (len(corpus), len(CERTIFICATE))):
        raise ValueError(f"the certificates are not of dual decomposition of {len(corpus)} sentence pairs")
    if dual is not None:
        arguments.instance("dual", dual, Dual, "a Dual")
        check_dual(recipe, known, viterbi, project)
    stages = projected(recipe, project)
    sights = [
        _known_words(corpus, view) if sight is None else sight
        for view, sight in zip(views, seen or [None] * len(views), strict=True)
    ]
    leaving = recipe.last.leaving
    own = None if shares is None or leaving is None else shares.of(corpus, leaving.left_out, n_threads)
    for start, stop, shards in in_shards(sights, n_threads, known, scored=True):
        scores, before = (
            (np.zeros(shards[0].n_cells, np.float32), np.zeros(shards[0].n_cells, np.float32))
            for _ in range(2)
        )
        mine = None if own is None else own.part(start, stop)
        block = Block(start, stop, shards, mine, scores, before if unprojected else None)
        some = None if costs is None else costs[start:stop]
        found = None if certificates is None else certificates[start:stop]
        _score(views, block, recipe, stages, viterbi, dual, some, found, n_threads)
        yield block


def _check_lattices(recipe: Recipe, what: str, hint: str) -> None:
    """Refuses models that have no two lattices. what: is asked of the model; hint: what else can be asked"""
    if recipe.last.family not in LATTICES or recipe.direction != "both":
        only = "" if recipe.direction == "both" else f", trained {recipe.direction} only"
        raise DataError(
            f"{what} is for HMMs of both directions; this model is {recipe.model}{only}",
            hint=f"train such a model, or {hint}",
        )


def check_projection(recipe: Recipe, project: str) -> None:
    """Refuses a projection that is not known, or that the model cannot have."""
    arguments.choice("project", project, PROJECTIONS)
    if project not in UNCHANGED:
        _check_lattices(recipe, f"the projection {project}", "project onto nothing")


def check_dual(recipe: Recipe, known: Known, viterbi: bool, project: str) -> None:
    """Refuses dual decomposition of a model that cannot have it, or beside what it cannot have."""
    _check_lattices(recipe, "dual decomposition", "make the directions one in another way")
    if viterbi or project not in UNCHANGED:
        what = "best paths" if viterbi else f"the projection {project}"
        raise ValueError(f"dual decomposition has rounds of its own, and not {what}")
    if known.constraints is not None:
        raise DataError("constraints are not for dual decomposition", hint="project posteriors instead")


def projected(recipe: Recipe, project: str) -> list[Stage]:
    """The stages whose posteriors are averaged: the last one, with the objective that is asked for.

    A projection is as exact as the recipe says. Recipes of models without a constraint have limits, too.
    """
    check_projection(recipe, project)
    if project == "trained":
        return [recipe.last]
    objectives = {"none": ("likelihood",), "both": CONSTRAINTS}.get(project, (project,))
    return [replace(recipe.last, objective=objective) for objective in objectives]


def check_constraints(recipe: Recipe, known: Known) -> None:
    """Refuses constraints on a model that has no use for them."""
    fit = FAMILIES[recipe.last.family].constrained and recipe.direction == "both"
    if known.constraints is not None and not fit:
        raise DataError("constraints are for HMMs of both directions", hint="train such a model")


def check_not_given(known: Known) -> None:
    """Refuses given links where a word may have too many of them."""
    if known.weights is not None and (known.weights.weight == np.float32(SURE)).any():
        raise DataError(
            "given links are all kept, and a word may have too many of them", hint="decode by the threshold"
        )


def known_words(views: Sequence[View], corpus: Corpus) -> list[Seen]:
    """What each view of a model sees of a text."""
    return [_known_words(corpus, view) for view in views]


def unknown_words(seen: Sequence[Seen]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """[V_src], [V_tgt] which words of a text no view knows: neither the words, nor what other views see.

    seen: what the views of a model see of the text, as known_words tells it
    """

    def unknown(sides: Iterable[Side]) -> npt.NDArray[np.bool_]:
        known = [side.new < 0 for side in sides if isinstance(side, Relabelled)]
        return np.asarray(np.logical_and.reduce(known))

    return unknown(sight.text.src for sight in seen), unknown(sight.text.tgt for sight in seen)


def _known_words(corpus: Corpus, view: View) -> Seen:
    lexicon = view.parameters.lexicon
    return Seen.of_known_words(corpus, view.name, view.src, view.tgt, lexicon.rows, lexicon.tgt)


def _score(
    views: Sequence[View], block: Block, recipe: Recipe, stages: Sequence[Stage], viterbi: bool,
    dual: Dual | None, costs: Doubles | None, certificates: Doubles | None, n_threads: int,
) -> None:  # fmt: skip
    """Fills in the scores of a block, and costs and certificates where they are wanted.

    stages: of the same family and as many views; each scores by itself, and scores are their mean
    """
    shards, own = block.shards, block.own
    for numbers in (costs, certificates):
        if numbers is not None:
            numbers[:] = 0
    fwd, rev = block.scores
    family, parameters = FAMILIES[recipe.last.family], [view.parameters for view in views]
    step = len(views) if recipe.last.together else 1
    share = step / len(views) / len(stages)
    for k, stage in enumerate(stages):
        before = block.before if stage.constrained else None
        for n in range(0, len(views), step):
            some, seen, told = parameters[n : n + step], shards[n : n + step], None if k else costs
            if dual is not None:
                add_scores(some, seen, dual, own, share, fwd, rev, told, certificates, n_threads)
            else:
                family.posteriors(
                    some,
                    seen,
                    stage,
                    recipe.direction,
                    own,
                    viterbi,
                    share,
                    fwd,
                    rev,
                    told,
                    n_threads,
                    before,
                )
    if block.before is not None and not stages[0].constrained:
        for known, scores in zip(block.before, block.scores, strict=True):
            known[:] = scores
    if certificates is not None:
        certificates[:, CERTIFICATE.index("converged")] /= len(views) // step
    if costs is not None:
        costs *= len(stages)  # costs are those before projection: the first stage tells them
        _divide(costs, shards[0], recipe.direction)
    for both in (block.scores, block.before or ()):
        for direction, scores in zip(("forward", "reverse"), both, strict=False):
            if not any(len(m.lexicon.tgt) for m in parameters):  # nothing was learned
                scores[:] = 0
            block.assert_known(scores)
            if recipe.direction not in ("both", direction):
                scores[:] = 0


def _divide(costs: Doubles, shard: Shard, direction: str) -> None:
    """Makes costs of sentence pairs costs of words, and says where there are none."""
    lengths = np.stack([np.diff(shard.tgt_offsets), np.diff(shard.src_offsets)], axis=1)
    costs /= np.maximum(lengths, 1)
    costs[(lengths == 0).any(axis=1)] = NO_COST
    for n, other in enumerate(("reverse", "forward")):
        if direction == other:
            costs[:, n] = np.nan
