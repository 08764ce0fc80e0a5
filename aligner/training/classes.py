"""Classes of words in a training: what jumps depend on."""

from __future__ import annotations

import logging
import reprlib

import numpy as np
import numpy.typing as npt

from aligner.models.class_jumps import ClassJumps
from aligner.models.jumps import Jumps
from aligner.models.kinds import LATTICES
from aligner.models.parameters import View
from aligner.models.positions import Positions
from aligner.models.recipe import Recipe
from aligner.models.settings import checked
from aligner.text.classes import BothClasses, WordClasses
from aligner.text.corpus import Corpus, Side
from aligner.text.views import see

Ints = npt.NDArray[np.int32]

FEW = 0.1  # of all tokens: a warning tells if more have no class

logger = logging.getLogger(__name__)


def check_classes(classes: BothClasses, recipe: Recipe, corpus: Corpus) -> str:
    """A checksum of classes. Refuses classes that no stage uses, and too many; warns if words have none."""
    if recipe.classes:
        raise ValueError("classes of words are given or learned, not both")
    if not any(stage.family in LATTICES for stage in recipe.stages):
        raise ValueError(f"{recipe.model} has no jumps that classes of words could change")
    if not isinstance(classes, tuple) or [type(given) for given in classes] != [WordClasses, WordClasses]:
        raise TypeError(
            "classes must be two WordClasses, of source words and of target words, not"
            f" {reprlib.repr(classes)}"
        )
    for name, side, given in zip(("source", "target"), (corpus.src, corpus.tgt), classes, strict=True):
        checked("classes", given.n_classes)
        without = int(side.counts[given.of(side.vocab) == 0].sum())
        if without > FEW * len(side.ids):
            logger.warning(
                "%.0f%% of the %s tokens have no class: the jumps from them are those from all words;"
                " are these the classes of the same text, and of the right side?",
                100 * without / len(side.ids),
                name,
            )
    return "/".join(given.checksum() for given in classes)


def with_classes(
    positions: Positions | None, classes: BothClasses, corpus: Corpus, view: str
) -> Positions | None:
    """Jumps that depend on the classes of a view's words; other positions, and such jumps, as they are."""
    if not isinstance(positions, Jumps) or isinstance(positions, ClassJumps):
        return positions
    return ClassJumps.of(positions, *classes_in(corpus, see(corpus, view), classes))


def inherited(jumps: ClassJumps, view: View, corpus: Corpus, classes: BothClasses | None) -> Jumps:
    """The jumps of another model, with the words of a text; those of all words if there are other classes.

    view: of the model whose jumps they are
    """
    if classes is not None:
        return jumps.of_all_words
    return jumps.of_words(view.src.find(corpus.src.vocab.words), view.tgt.find(corpus.tgt.vocab.words))


def classes_in(text: Corpus, seen: Corpus, classes: BothClasses) -> tuple[Ints, Ints]:
    """[V_src], [V_tgt] the classes of what a view sees of a text's words.

    The class of what a view sees is that of the most tokens of the text that look so, the first of equals.
    """
    sides = zip((text.src, text.tgt), (seen.src, seen.tgt), classes, strict=True)
    src, tgt = (_of_view(side, view, words) for side, view, words in sides)
    return src, tgt


def _of_view(side: Side, view: Side, classes: WordClasses) -> Ints:
    found = classes.of(side.vocab)
    if view is side:
        return found
    looks = np.full(len(side.vocab), -1, dtype=np.int64)  # word -> what the view sees of it
    looks[side.ids] = view.ids
    there = (looks >= 0) & (found > 0)
    looks, of_word, counts = looks[there], found[there], side.counts[there]
    codes, place = np.unique(looks * (classes.n_classes + 1) + of_word, return_inverse=True)
    tokens = np.bincount(place, counts, minlength=len(codes))
    order = np.lexsort((-codes, tokens))  # the last one of a view's word is that of the most tokens
    result = np.zeros(len(view.vocab), dtype=np.int32)
    result[codes[order] // (classes.n_classes + 1)] = codes[order] % (classes.n_classes + 1)
    return result
