"""Two directional alignments into one. Each method is a pure function in METHODS.

FORWARD is p(tgt | src): at most one link a target word (symal's inverse alignment, atools' -i).
REVERSE is p(src | tgt): at most one link a source word (symal's direct alignment, atools' -j).
Neither is required: any sets of links will do.

The growing heuristics depend on the order in which points are scanned, and tools differ in it:
"symal" and "atools" name whose result, and whose order of links, is wanted, byte for byte.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aligner.errors import DataError
from aligner.links import LinkReader, Links

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

logger = logging.getLogger(__name__)

VARIANTS = ("symal", "atools")

# Sets of flags for _symmetrize.select: bit 1 forward only, bit 2 reverse only, bit 3 both
FORWARD_ONLY, REVERSE_ONLY, BOTH = 1 << 1, 1 << 2, 1 << 3


@dataclass(frozen=True)
class Method:
    """One way to make one alignment of two."""

    help: str
    combine: Callable[[Links, Links, str], Links] | None = None  # (forward, reverse, variant)
    blend: Callable[[Links, Links, float], Links] | None = None  # (forward, reverse, threshold)
    threshold: float = 0.0  # of a blend, where the user gives none


def _room(
    forward: Links, reverse: Links
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Arrays for offsets, src and tgt of a result."""
    import numpy as np

    n = len(forward.src) + len(reverse.src)
    return np.empty(len(forward) + 1, np.int64), np.empty(n, np.int32), np.empty(n, np.int32)


def _arrays(links: Links) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    return links.offsets, links.src, links.tgt


def _select(forward: Links, reverse: Links, wanted: int, by_tgt: bool) -> Links:
    from aligner._symmetrize import select

    offsets, src, tgt = _room(forward, reverse)
    n = select(*_arrays(forward), *_arrays(reverse), wanted, by_tgt, offsets, src, tgt)
    return Links(offsets, src[:n], tgt[:n])


def _grow(forward: Links, reverse: Links, variant: str, diagonal: bool, final: bool, both: bool) -> Links:
    from aligner._symmetrize import grow

    offsets, src, tgt = _room(forward, reverse)
    n = grow(
        *_arrays(forward), *_arrays(reverse), variant == "symal", diagonal, final, both, offsets, src, tgt
    )
    return Links(offsets, src[:n], tgt[:n])


def _blend(forward: Links, reverse: Links, threshold: float, product: bool) -> Links:
    import numpy as np

    from aligner._symmetrize import blend

    offsets, src, tgt = _room(forward, reverse)
    scores = np.empty(len(src), dtype=np.float64)
    assert forward.scores is not None and reverse.scores is not None
    n = blend(
        *_arrays(forward),
        forward.scores,
        *_arrays(reverse),
        reverse.scores,
        product,
        threshold,
        offsets,
        src,
        tgt,
        scores,
    )
    return Links(offsets, src[:n], tgt[:n], scores=scores[:n])


def intersection(forward: Links, reverse: Links, variant: str) -> Links:
    """By source, then target."""
    return _select(forward, reverse, BOTH, by_tgt=False)


def union(forward: Links, reverse: Links, variant: str) -> Links:
    """symal: reverse's links by source, then what forward adds by target. atools: by source."""
    import numpy as np

    if variant == "atools":
        return _select(forward, reverse, FORWARD_ONLY | REVERSE_ONLY | BOTH, by_tgt=False)
    first = _select(forward, reverse, REVERSE_ONLY | BOTH, by_tgt=False)
    second = _select(forward, reverse, FORWARD_ONLY, by_tgt=True)
    order = np.argsort(np.concatenate([first.sentences, second.sentences]), kind="stable")
    return Links(
        first.offsets + second.offsets,
        np.concatenate([first.src, second.src])[order],
        np.concatenate([first.tgt, second.tgt])[order],
    )


def forward(forward: Links, reverse: Links, variant: str) -> Links:
    """symal (t2s): by target. atools: by source."""
    return _select(forward, reverse, FORWARD_ONLY | BOTH, by_tgt=variant == "symal")


def reverse(forward: Links, reverse: Links, variant: str) -> Links:
    """By source, then target."""
    return _select(forward, reverse, REVERSE_ONLY | BOTH, by_tgt=False)


def grow(forward: Links, reverse: Links, variant: str) -> Links:
    """symal: by target, then source, as all that grows. atools: by source, then target."""
    return _grow(forward, reverse, variant, diagonal=False, final=False, both=False)


def grow_diag(forward: Links, reverse: Links, variant: str) -> Links:
    return _grow(forward, reverse, variant, diagonal=True, final=False, both=False)


def grow_diag_final(forward: Links, reverse: Links, variant: str) -> Links:
    return _grow(forward, reverse, variant, diagonal=True, final=True, both=False)


def grow_diag_final_and(forward: Links, reverse: Links, variant: str) -> Links:
    return _grow(forward, reverse, variant, diagonal=True, final=True, both=True)


def soft_union(forward: Links, reverse: Links, threshold: float) -> Links:
    return _blend(forward, reverse, threshold, product=False)


def product(forward: Links, reverse: Links, threshold: float) -> Links:
    return _blend(forward, reverse, threshold, product=True)


METHODS = {
    "intersection": Method("links in both directions", intersection),
    "union": Method("links in either direction", union),
    "grow": Method("intersection, and links of the union next to it that have a free word", grow),
    "grow-diag": Method("grow, diagonal neighbours too", grow_diag),
    "grow-diag-final": Method("grow-diag, then links that have a free word", grow_diag_final),
    "grow-diag-final-and": Method("grow-diag, then links of two free words", grow_diag_final_and),
    "forward": Method("links of FORWARD", forward),
    "reverse": Method("links of REVERSE", reverse),
    "soft-union": Method(
        "mean of the two scores above the threshold (DeNero & Klein 2007)",
        blend=soft_union,
        threshold=0.4,
    ),
    "product": Method(
        "product of the two scores above the threshold (Liang et al. 2006)",
        blend=product,
        threshold=0.25,
    ),
}


def symmetrize(
    forward: Links,
    reverse: Links,
    method: str = "grow-diag-final-and",
    *,
    variant: str = "symal",
    threshold: float | None = None,
) -> Links:
    """One alignment of two. Methods and what they do: METHODS. Of as many sentences both."""
    if len(forward) != len(reverse):
        raise ValueError(f"{len(forward)} sentences forward, {len(reverse)} reverse")
    how = METHODS[method]
    if how.combine is not None:
        return how.combine(forward, reverse, variant)
    assert how.blend is not None
    for links in (forward, reverse):
        if links.scores is None and len(links.src):
            raise ValueError(f"{method} needs links with scores")
    limit = how.threshold if threshold is None else threshold
    return how.blend(_with_scores(forward), _with_scores(reverse), limit)


def _with_scores(links: Links) -> Links:
    """No links have no scores: an array of none."""
    import numpy as np

    return links if links.scores is not None else replace(links, scores=np.empty(0, dtype=np.float64))


def symmetrize_files(
    forward: LinkReader,
    reverse: LinkReader,
    method: str,
    *,
    variant: str = "symal",
    threshold: float | None = None,
) -> Iterator[Links]:
    """The same, block by block of two files that must match line by line."""
    scored = METHODS[method].blend is not None
    a_blocks, b_blocks = forward.blocks(), reverse.blocks()
    while True:
        a, b = next(a_blocks, None), next(b_blocks, None)
        if a is None or b is None or len(a) != len(b):
            break
        if forward.n_sentences == 0 and _look_swapped(a, b):
            logger.warning(
                "%s and %s look swapped: FORWARD should link each target word at most once, REVERSE"
                " each source word",
                forward.name,
                reverse.name,
            )
        if scored:
            _check_scores(forward, a)
            _check_scores(reverse, b)
        yield symmetrize(a, b, method, variant=variant, threshold=threshold)
    for blocks in (a_blocks, b_blocks):  # to the end of both, to count their lines
        for _ in blocks:
            pass
    if forward.n_sentences != reverse.n_sentences:
        raise DataError(
            f"{forward.name} has {forward.n_sentences} lines, {reverse.name} has {reverse.n_sentences}",
            hint="directional alignments must match line by line",
        )


def _look_swapped(forward: Links, reverse: Links) -> bool:
    """Whether forward links each source word once and reverse each target word, and not as it should be."""
    import numpy as np

    def once(links: Links, positions: npt.NDArray[np.int32]) -> bool:
        words = np.stack([links.sentences, positions])
        return bool(np.unique(words, axis=1).shape[1] == words.shape[1])

    return (
        once(forward, forward.src)
        and once(reverse, reverse.tgt)
        and not once(forward, forward.tgt)
        and not once(reverse, reverse.src)
    )


def _check_scores(reader: LinkReader, links: Links) -> None:
    """Posteriors are between 0 and 1."""
    import numpy as np

    if links.scores is None:
        if len(links.src) == 0:
            return
        raise DataError("the links have no scores", file=reader.name, hint="give links `i-j:0.93`")
    outside = np.flatnonzero((links.scores < 0) | (links.scores > 1))
    if outside.size:
        k = outside[0]
        raise DataError(
            f"score {links.scores[k]:g} of link {links.src[k]}-{links.tgt[k]} is no probability",
            file=reader.name,
            line=reader.n_sentences + int(links.sentences[k]) + 1,
            hint="soft-union and product take posteriors between 0 and 1",
        )
