"""Annotated sentence pairs and their links: matched sentence by sentence, and filtered.

The filters are those of Ganchev, Gillenwater & Taskar (2009).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from aligner.decoding.combine import above
from aligner.errors import DataError, number_of
from aligner.links.formats import FORMATS, PLAIN, LinkReader
from aligner.links.links import Links
from aligner.links.symmetrize import check_scores
from aligner.uses.conllu import NOTHING, UPOS, Sentence

NOUNS = ("NOUN", "PROPN")
VERBS = ("VERB", "AUX")
PUNCTUATION = "PUNCT"

Link = tuple[int, int, float]  # source word, target word, score; 1 if links have no scores


class Pair(NamedTuple):
    """A sentence, its translation, and their links. scored: whether the links have scores of their own"""

    src: Sentence
    tgt: Sentence
    links: list[Link]
    scored: bool


@dataclass(frozen=True)
class Filters:
    """What is not carried.

    compatible  nothing along links of a noun with a verb, where the target has parts of speech
    verb_root   no edges of a sentence whose root is no verb, or is linked to no verb
    no_punct    no edges to and from punctuation
    """

    compatible: bool = False
    verb_root: bool = False
    no_punct: bool = False

    def __str__(self) -> str:
        names = [name for name in ("compatible", "verb_root", "no_punct") if getattr(self, name)]
        return "+".join(names).replace("_", "-") or "none"


def aligned(
    src: Iterable[Sentence],
    tgt: Iterable[Sentence],
    links: LinkReader | Links,
    threshold: float | None = None,
) -> Iterator[Pair]:
    """The sentence pairs with their links. Refuses files that do not match, and links to no words.

    threshold: links that score above it are taken; None: all
    """
    reader = links if isinstance(links, LinkReader) else None
    for n, (source, target, found) in enumerate(
        itertools.zip_longest(src, tgt, _sentences(links, threshold))
    ):
        if found is None and reader is not None and reader.sparse:
            found = [], False
        if source is None or target is None or found is None:
            name = "the links" if reader is None else reader.name
            sides = {"the source": source, "the target": target, name: found}
            longer = target if source is None else source
            raise DataError(
                f"{number_of(n, 'sentence')} in {' and in '.join(x for x, y in sides.items() if y is None)},"
                f" more in {' and in '.join(x for x, y in sides.items() if y is not None)}",
                file=None if longer is None else longer.file,
                line=None if longer is None else longer.line,
                hint="the files must match sentence by sentence",
            )
        for i, j, _ in found[0]:
            if not (0 <= i < len(source) and 0 <= j < len(target)):
                raise _outside(i, j, n, source, target, reader)
        yield Pair(source, target, *found)


def _sentences(links: LinkReader | Links, threshold: float | None) -> Iterator[tuple[list[Link], bool]]:
    """(links, whether they have scores) of each sentence pair. A link given twice has the better score."""
    reader = links if isinstance(links, LinkReader) else None
    for first, block in [(0, links)] if isinstance(links, Links) else links.blocks():
        scored = block.scores is not None
        if scored and reader is not None:
            check_scores(reader, block, first, "carrying along links")
        if threshold is not None and len(block.src):
            if not scored:
                name = None if reader is None else reader.name
                hint = "a threshold needs links `i-j:0.93`"
                raise DataError("the links have no scores", file=name, hint=hint)
            block = above(block, threshold)
        scores = itertools.repeat(1.0) if block.scores is None else block.scores.tolist()
        flat = list(zip(block.src.tolist(), block.tgt.tolist(), scores, strict=False))
        for a, b in itertools.pairwise(block.offsets.tolist()):
            some = flat[a:b]
            if len({link[:2] for link in some}) < len(some):
                best = {(i, j): (i, j, score) for i, j, score in sorted(some, key=lambda link: link[2])}
                some = list(best.values())
            yield some, scored


def _outside(i: int, j: int, n: int, src: Sentence, tgt: Sentence, reader: LinkReader | None) -> DataError:
    """A link to a word that is not there."""
    base = 0 if reader is None else reader.base or 0
    hint = "are the files of the same sentences, with the sides in the same order?"
    if src.has_multiword() or tgt.has_multiword():
        hint += " Links must count words, not multiword tokens"
    return DataError(
        f"link {i + base}-{j + base} of sentence {n + 1} is outside its pair of {len(src)} and {len(tgt)}"
        f" words ({src.file}, line {src.line}; {tgt.file}, line {tgt.line})",
        file=None if reader is None else reader.name,
        line=None if reader is None or not reader.has_lines else FORMATS[reader.format or PLAIN].line(n),
        hint=hint,
    )


def checked(sentences: Iterable[Sentence], text: Iterable[Sentence]) -> Iterator[Sentence]:
    """The sentences. Refuses them if the text that links were made of has other numbers of words."""
    for sentence, plain in itertools.zip_longest(sentences, text):
        if sentence is None or plain is None:
            longer = plain if sentence is None else sentence
            what = (
                "the text that was aligned has fewer sentences"
                if plain is None
                else "no sentence for this line"
            )
            raise longer.error(what, hint="text and annotation must match sentence by sentence")
        if len(sentence) != len(plain):
            raise plain.error(
                f"{number_of(len(plain), 'word')}, the sentence in {sentence.file}, line {sentence.line}, has"
                f" {len(sentence)}",
                hint="align the words of the annotated file, of which a multiword token is none",
            )
        yield sentence


def filtered(pair: Pair, filters: Filters) -> list[Link]:
    """The links to carry annotations along."""
    if not filters.compatible:
        return pair.links
    src, tgt = pair.src.column(UPOS), pair.tgt.column(UPOS)
    if all(tag == NOTHING for tag in tgt) and tgt:
        raise pair.tgt.error(
            "no parts of speech", hint="links of nouns and verbs can only be left out with them"
        )
    return [
        (i, j, score)
        for i, j, score in pair.links
        if not (src[i] in NOUNS and tgt[j] in VERBS or src[i] in VERBS and tgt[j] in NOUNS)
    ]


class Edges(NamedTuple):
    """Where edges are carried.

    targets  source word -> its (target word, score)
    root     the score of the best link of the root with a verb; 1 if the root does not matter
    """

    targets: list[list[tuple[int, float]]]
    root: float


def edge_targets(
    links: list[Link], src: list[str], tgt: list[str], root: int | None, filters: Filters
) -> Edges | None:
    """What edges are carried along; None: the sentence has none to be carried.

    src, tgt: parts of speech. root: the source word that is the root; None if there is none
    """
    best = 1.0
    if filters.verb_root:
        if root is None or src[root] not in VERBS:
            return None
        scores = [score for i, j, score in links if i == root and tgt[j] in VERBS]
        if not scores:
            return None
        best = max(scores)
    targets: list[list[tuple[int, float]]] = [[] for _ in src]
    for i, j, score in links:
        if not filters.no_punct or (src[i] != PUNCTUATION and tgt[j] != PUNCTUATION):
            targets[i].append((j, score))
    return Edges(targets, best)
