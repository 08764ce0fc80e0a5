"""Classes of words in a training: what jumps depend on."""

from __future__ import annotations

import logging
import reprlib

from aligner.models.census import Census
from aligner.models.class_jumps import ClassJumps
from aligner.models.jumps import Jumps
from aligner.models.kinds import LATTICES
from aligner.models.parameters import View
from aligner.models.positions import Positions
from aligner.models.recipe import Recipe
from aligner.models.settings import checked
from aligner.text.classes import BothClasses, WordClasses, cluster
from aligner.text.corpus import Corpus

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


def classes_of(classes: BothClasses | None, recipe: Recipe, corpus: Corpus) -> tuple[BothClasses | None, str]:
    """The classes of a training, given or learned from its text, and the checksum of given ones."""
    checksum = "" if classes is None else check_classes(classes, recipe, corpus)
    if recipe.classes:
        classes = cluster(corpus.src, recipe.classes), cluster(corpus.tgt, recipe.classes)
    return classes, checksum


def with_classes(positions: Positions | None, census: Census, view: str) -> Positions | None:
    """Jumps that depend on the classes of a view's words; other positions, and such jumps, as they are."""
    if census.src.classes is None or not isinstance(positions, Jumps) or isinstance(positions, ClassJumps):
        return positions
    seen = census.seen(view)
    assert seen.src.classes is not None and seen.tgt.classes is not None
    return ClassJumps.of(positions, seen.src.classes, seen.tgt.classes)


def inherited(jumps: ClassJumps, view: View, corpus: Corpus, classes: BothClasses | None) -> Jumps:
    """The jumps of another model, with the words of a text; those of all words if there are other classes.

    view: of the model whose jumps they are
    """
    if classes is not None:
        return jumps.of_all_words
    return jumps.of_words(view.src.find(corpus.src.vocab.words), view.tgt.find(corpus.tgt.vocab.words))
