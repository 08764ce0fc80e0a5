"""Links known by hand: training and decoding keep the given ones and leave the excluded ones out.

Known links are Links whose scores are weights. The emissions of a link are multiplied by its weight:

    0           the link is excluded
    1           nothing is known
    SURE        the link is given
    other       the link is this many times likelier
"""

from __future__ import annotations

import numpy as np

from aligner import arguments
from aligner.errors import DataError
from aligner.links.links import Links
from aligner.text.corpus import Corpus
from aligner.text.known import Constraints, Known, Weights

SURE = 1e12  # larger than the ratio of two probabilities of a translation table


def weighted(given: Links | None, excluded: Links | None) -> Links | None:
    """Given links and excluded links, together, as known links with weights."""
    if given is not None and given.sure is not None:  # a possible link is not known to be right
        given = given.chosen(given.sure > 0)
    parts = [(links, weight) for links, weight in ((given, SURE), (excluded, 0.0)) if links is not None]
    if not parts:
        return None
    n = max(len(links) for links, _ in parts)
    for links, _ in parts:
        if len(links) != n:
            raise DataError(
                f"known links are of {len(parts[0][0])} and of {len(parts[1][0])} sentence pairs",
                hint="they must match line by line",
            )
    sentence = np.concatenate([links.sentences for links, _ in parts])
    src = np.concatenate([links.src for links, _ in parts])
    tgt = np.concatenate([links.tgt for links, _ in parts])
    weights = np.concatenate([np.full(len(links.src), weight) for links, weight in parts])
    order = np.argsort(sentence, kind="stable")
    offsets = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(sentence, minlength=n), out=offsets[1:])
    return Links(offsets, src[order], tgt[order], scores=weights[order])


def known_of(links: Links | None, constraints: Constraints | None, corpus: Corpus) -> Known:
    """What is known of a text, as kernels take it, checked against the text.

    Sentence pairs that are too long (text/corpus.py) have no links: what is known of them is left out.
    """
    for name, known, kind in (("links", links, Links), ("constraints", constraints, Constraints)):
        if known is not None:
            arguments.instance(name, known, kind, kind.__name__)
        if known is not None and len(known) != len(corpus):
            raise DataError(
                f"there are known {name} of {len(known)} sentence pairs, the text has {len(corpus)}",
                hint=f"known {name} and text must match line by line",
            )
    weights = None if links is None or not len(links.src) else _weights(links, corpus)
    found = Known(weights, constraints)
    return found.emptied(~corpus.too_long) if corpus.too_long.any() else found


def _weights(links: Links, corpus: Corpus) -> Weights:
    """The weights of known links, each link once. Links without scores are all given."""
    at = links.sentences
    outside = links.outside(corpus.src.lengths, corpus.tgt.lengths)
    if outside.any():
        k = int(outside.argmax())
        raise DataError(
            f"known link {links.src[k]}-{links.tgt[k]} of sentence pair {at[k] + 1} is outside the pair",
            hint="are text and links of the same sentences, with the sides in the same order?",
        )
    weights = np.full(len(at), SURE) if links.scores is None else links.scores
    if not ((weights >= 0) & (weights <= SURE)).all():
        raise DataError(f"weights of known links must be between 0 and {SURE:g}")
    order = np.lexsort((links.tgt, links.src, at))
    at, src, tgt, weights = at[order], links.src[order], links.tgt[order], weights[order]
    again = (np.diff(at) == 0) & (np.diff(src) == 0) & (np.diff(tgt) == 0)
    clash = again & (np.diff(weights) != 0)
    if clash.any():
        k = int(clash.argmax())
        raise DataError(
            f"link {src[k]}-{tgt[k]} of sentence pair {at[k] + 1} is known twice, with different weights",
            hint="is it both given and excluded? take one of them out",
        )
    once = np.append(True, ~again)
    offsets = np.zeros(len(corpus) + 1, dtype=np.int64)
    np.cumsum(np.bincount(at[once], minlength=len(corpus)), out=offsets[1:])
    return Weights(offsets, src[once], tgt[once], weights[once].astype(np.float32))
