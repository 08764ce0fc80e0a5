"""Two directional alignments into one. Each method is a pure function in METHODS.

FORWARD is p(tgt | src): at most one link per target word (symal's inverse alignment, atools' -i).
REVERSE is p(src | tgt): at most one link per source word (symal's direct alignment, atools' -j).
Links that are not so are taken too.

The growing heuristics depend on the order in which cells are scanned. Tools scan in different orders. The
variants "symal" and "atools" give the links of these tools in their order, byte for byte. The variant "lilt"
gives the links of lilt's combine_bidirectional_alignments.py, by source, then target: links are added only
between two free words, in every step.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.errors import DataError
from aligner.links._symmetrize import Scan, blend, grow, select
from aligner.links.formats import LinkReader
from aligner.links.links import Links

Arrays = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]

logger = logging.getLogger(__name__)

VARIANTS = {"symal": Scan.SYMAL, "atools": Scan.ATOOLS, "lilt": Scan.LILT}

# Sets of flags for _symmetrize.select: bit 1 forward only, bit 2 reverse only, bit 3 both
FORWARD_ONLY, REVERSE_ONLY, BOTH = 1 << 1, 1 << 2, 1 << 3


@dataclass(frozen=True)
class Method:
    """A way to make one alignment of two."""

    help: str
    combine: Callable[[Links, Links, str, float], Links]  # (forward, reverse, variant, threshold)
    threshold: float | None = None  # the default threshold; None: the method works on sets, not on scores


def _arrays(links: Links) -> Arrays:
    return links.offsets, links.src, links.tgt


def _room(forward: Links, reverse: Links) -> Arrays:
    """Arrays that a result's offsets, src and tgt fit in."""
    n = len(forward.src) + len(reverse.src)
    return np.empty(len(forward) + 1, np.int64), np.empty(n, np.int32), np.empty(n, np.int32)


def _select(
    forward: Links, reverse: Links, variant: str, _: float, *, wanted: int, symal_by_tgt: bool = False
) -> Links:
    """The links of the wanted directions, by source, then target. symal_by_tgt: symal sorts by target."""
    offsets, src, tgt = links = _room(forward, reverse)
    by_tgt = symal_by_tgt and variant == "symal"
    n = select(_arrays(forward), _arrays(reverse), wanted, by_tgt, links)
    return replace(forward, offsets=offsets, src=src[:n], tgt=tgt[:n], sure=None, scores=None)


def _union(forward: Links, reverse: Links, variant: str, _: float) -> Links:
    """symal: the links of reverse by source, then what forward adds by target. Others: all by source."""
    if variant != "symal":
        return _select(forward, reverse, variant, _, wanted=FORWARD_ONLY | REVERSE_ONLY | BOTH)
    first = _select(forward, reverse, variant, _, wanted=REVERSE_ONLY | BOTH)
    second = _select(forward, reverse, variant, _, wanted=FORWARD_ONLY, symal_by_tgt=True)
    order = np.argsort(np.concatenate([first.sentences, second.sentences]), kind="stable")
    return replace(
        first,
        offsets=first.offsets + second.offsets,
        src=np.concatenate([first.src, second.src])[order],
        tgt=np.concatenate([first.tgt, second.tgt])[order],
    )


def _grow(
    forward: Links, reverse: Links, variant: str, _: float, *, diagonal: bool, final: bool, both: bool
) -> Links:
    """symal: links by target, then source. Others: links by source, then target."""
    offsets, src, tgt = links = _room(forward, reverse)
    both |= variant == "lilt"
    n = grow(_arrays(forward), _arrays(reverse), VARIANTS[variant], diagonal, final, both, links)
    return replace(forward, offsets=offsets, src=src[:n], tgt=tgt[:n], sure=None, scores=None)


def _blend(forward: Links, reverse: Links, _: str, threshold: float, *, product: bool) -> Links:
    """Links by source, then target, with their combined scores."""
    offsets, src, tgt = _room(forward, reverse)
    scores = np.empty(len(src), dtype=np.float64)
    none = np.empty(0, dtype=np.float64)  # the scores of a direction without links
    f_scores, r_scores = (none if links.scores is None else links.scores for links in (forward, reverse))
    directions = (*_arrays(forward), f_scores), (*_arrays(reverse), r_scores)
    n = blend(*directions, product, threshold, (offsets, src, tgt, scores))
    return replace(forward, offsets=offsets, src=src[:n], tgt=tgt[:n], sure=None, scores=scores[:n])


METHODS = {
    "intersection": Method("links in both directions", partial(_select, wanted=BOTH)),
    "union": Method("links in either direction", _union),
    "grow": Method(
        "intersection, and links of the union next to it that have a free word",
        partial(_grow, diagonal=False, final=False, both=False),
    ),
    "grow-diag": Method(
        "grow, diagonal neighbours too", partial(_grow, diagonal=True, final=False, both=False)
    ),
    "grow-final": Method(
        "grow, then links that have a free word", partial(_grow, diagonal=False, final=True, both=False)
    ),
    "grow-final-and": Method(
        "grow, then links of two free words", partial(_grow, diagonal=False, final=True, both=True)
    ),
    "grow-diag-final": Method(
        "grow-diag, then links that have a free word", partial(_grow, diagonal=True, final=True, both=False)
    ),
    "grow-diag-final-and": Method(
        "grow-diag, then links of two free words", partial(_grow, diagonal=True, final=True, both=True)
    ),
    "forward": Method("links of FORWARD", partial(_select, wanted=FORWARD_ONLY | BOTH, symal_by_tgt=True)),
    "reverse": Method("links of REVERSE", partial(_select, wanted=REVERSE_ONLY | BOTH)),
    "soft-union": Method(
        "mean of the two scores above the threshold (DeNero & Klein 2007)",
        partial(_blend, product=False),
        threshold=0.4,  # the middle one of the three that Graca et al. (2010, 5.1) try
    ),
    "product": Method(
        "product of the two scores above the threshold (Liang et al. 2006)",
        partial(_blend, product=True),
        threshold=0.25,  # 0.5 in each direction
    ),
}

# What others call the methods: atools, symal and lilt's script
OTHER_NAMES = {
    "intersect": "intersection",
    "i": "intersection",
    "u": "union",
    "g": "grow",
    "srctotgt": "reverse",
    "s2t": "reverse",
    "tgttosrc": "forward",
    "t2s": "forward",
    "grow-diagonal": "grow-diag",
    "grow-diagonal-final": "grow-diag-final",
}


def our_name(method: str) -> str:
    """What we call a method that may have the name of another tool."""
    return OTHER_NAMES.get(method, method)


def symmetrize(
    forward: Links,
    reverse: Links,
    method: str = "grow-diag-final-and",
    *,
    variant: str = "symal",
    threshold: float | None = None,
) -> Links:
    """One alignment of two, which have the same number of sentences. METHODS says what the methods do."""
    for name, links in (("forward", forward), ("reverse", reverse)):
        arguments.instance(name, links, Links, "Links")
    if len(forward) != len(reverse):
        raise ValueError(f"{len(forward)} sentences forward, {len(reverse)} reverse")
    how = METHODS[arguments.choice("method", method, METHODS)]
    arguments.choice("variant", variant, VARIANTS)
    if how.threshold is not None:
        for links in (forward, reverse):
            if links.scores is None and len(links.src):
                raise ValueError(f"{method} needs links with scores")
    limit = how.threshold or 0.0
    if threshold is not None:
        limit = arguments.number("threshold", threshold, 0, 1)
    return how.combine(forward, reverse, variant, limit)


def symmetrize_files(
    forward: LinkReader,
    reverse: LinkReader | None,
    method: str,
    *,
    variant: str = "symal",
    threshold: float | None = None,
    one_scored: bool = False,
) -> Iterator[Links]:
    """One alignment of two files, block by block. The files must match line by line.

    reverse     None: forward has both directions
    one_scored  the methods forward and reverse need scores and keep them; links above the threshold, by
                default 0, are taken, by source, then target
    """
    one_scored = one_scored and method in ("forward", "reverse")
    scored = one_scored or METHODS[method].threshold is not None
    readers = forward, reverse or forward
    for first, a, b in directions(forward, reverse):
        if first == 0:
            _look(readers[0], a, readers[1], b, scored)
        if one_scored:
            reader, one = (readers[0], a) if method == "forward" else (readers[1], b)
            check_scores(reader, one, first, method)
            yield symmetrize(one, one, "soft-union", threshold=threshold or 0.0)  # of equal scores the mean
            continue
        if scored:
            for reader, links in zip(readers, (a, b), strict=True):
                check_scores(reader, links, first, method)
        yield symmetrize(a, b, method, variant=variant, threshold=threshold)


def directions(forward: LinkReader, reverse: LinkReader | None) -> Iterator[tuple[int, Links, Links]]:
    """(number of the first sentence, links forward, links reverse), block by block, of two files or of one.

    Of files of unequal length, what both have comes before the error.
    """
    if reverse is None:
        yield from forward.directions()
        return
    streams = [forward.blocks(), reverse.blocks()]
    n_sentences = [0, 0]
    while True:
        blocks = [next(stream, (0, Links.from_pairs([])))[1] for stream in streams]
        n = min(map(len, blocks))
        if n:
            yield n_sentences[0], blocks[0].part(0, n), blocks[1].part(0, n)
        n_sentences = [k + len(block) for k, block in zip(n_sentences, blocks, strict=True)]
        if n == 0 or n_sentences[0] != n_sentences[1]:
            break
    for k, stream in enumerate(streams):  # read both files to their ends, to count their lines
        n_sentences[k] += sum(len(links) for _, links in stream)
    if n_sentences[0] != n_sentences[1]:
        raise DataError(
            f"{forward.name} has {n_sentences[0]} lines, {reverse.name} has {n_sentences[1]}",
            hint="directional alignments must match line by line",
        )


def _look(forward: LinkReader, a: Links, reverse: LinkReader, b: Links, scored: bool) -> None:
    """Warns of what looks wrong with the first block of two files, and of what is not used."""

    def codes(links: Links, src: npt.NDArray[np.int32], tgt: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        code = (links.sentences << 40) + (src.astype(np.int64) << 20) + tgt  # of positions below 2^20
        return np.asarray(code, dtype=np.int64)

    def once(links: Links, positions: npt.NDArray[np.int32]) -> bool:
        words = (links.sentences << 32) + positions
        return len(np.unique(words)) == len(words)

    if once(a, a.src) and once(b, b.tgt) and not once(a, a.tgt) and not once(b, b.src):
        logger.warning(
            "%s and %s look swapped: FORWARD should link each target word at most once, REVERSE each source"
            " word",
            forward.name,
            reverse.name,
        )
    links = codes(a, a.src, a.tgt)
    shared, turned = (int(np.isin(links, codes(b, *s)).sum()) for s in ((b.src, b.tgt), (b.tgt, b.src)))
    if turned > 2 * shared + 10:
        logger.warning(
            "%s looks transposed (more of its links are in %s as `j-i`): swap its sides first",
            reverse.name,
            forward.name,
        )
    for reader, block in ((forward, a), (reverse, b)):
        if not scored and block.scores is not None:
            logger.warning("%s: its scores are not used by this method", reader.name)
        if block.sure is not None and not block.sure.all():
            logger.warning("%s: possible links count as links", reader.name)


def check_scores(reader: LinkReader, links: Links, first: int | None, method: str) -> None:
    """Refuses links without scores, and scores that are not between 0 and 1.

    first: the number of the first sentence; None: it is not known
    """
    if links.scores is None:
        if len(links.src) == 0:
            return
        raise DataError(f"{method} needs links with scores", file=reader.name, hint="give links `i-j:0.93`")
    outside = np.flatnonzero((links.scores < 0) | (links.scores > 1))
    if outside.size:
        k = outside[0]
        raise DataError(
            f"score {links.scores[k]:g} of link {links.src[k]}-{links.tgt[k]} is not between 0 and 1",
            file=reader.name,
            line=None if first is None else first + int(links.sentences[k]) + 1,
            hint=f"{method} takes posteriors",
        )
