"""Phrase tables: how probable phrases are, given one another, as Moses' `score` and `consolidate` have it.

A line of a table is

    src ||| tgt ||| p(src | tgt) lex(src | tgt) p(tgt | src) lex(tgt | src) ||| i-j ... ||| counts ||| |||

p is the relative frequency of phrase pairs, lex the lexical weight, i-j the links that the phrase pair has
most often, and the counts are those of the target phrase, of the source phrase and of the phrase pair.
Word translation probabilities are those of Moses' lexical tables, which have seven decimals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from aligner.lexicons.counting import Counts
from aligner.lexicons.table import NULL, Table
from aligner.links.links import Links
from aligner.text.corpus import Corpus
from aligner.text.sides import Vocab
from aligner.uses._table import Consolidator, Scorer
from aligner.uses.phrases import MAX_LENGTH, extract_phrases, inverse_lines
from aligner.uses.sorting import LineSorter

NULL_WORD = "NULL"  # how lexical tables spell the NULL word
DECIMALS = 7  # of lexical tables


def phrase_table(
    blocks: Iterable[tuple[Corpus, Links]], memory: int, max_length: int = MAX_LENGTH
) -> Iterator[bytes]:
    """The lines of the phrase table of a text, in order, in blocks of whole lines.

    blocks  the text and its links, a part at a time
    memory  bytes for phrase pairs; others go to a temporary file. Words and word pairs need memory besides
    """
    counts = Counts(NULL_WORD)
    with LineSorter(memory // 2) as by_target, LineSorter(memory // 2) as by_source:
        for text, links in blocks:
            counts.add(text, links)
            by_target.add(inverse_lines(text, links, extract_phrases(text, links, max_length)))
        scorer = _scorer(counts.table())
        for lines in by_target.blocks():
            by_source.add(scorer.add(lines))
        by_source.add(scorer.end())
        consolidator = Consolidator()
        for lines in by_source.blocks():
            yield consolidator.add(lines)
        yield consolidator.end()


def _scorer(table: Table) -> Scorer:
    """What scores phrase pairs by a lexicon, whose word pairs are sorted."""
    starts = np.searchsorted(table.e, np.arange(NULL, len(table.src) + 1))
    src, tgt = _numbered(table.src), _numbered(table.tgt)
    return Scorer(src, tgt, starts, table.f.astype(np.int32), np.round(table.p, DECIMALS))


def _numbered(vocab: Vocab) -> list[tuple[bytes, int]]:
    """The words and their ids. The word that is spelled as NULL is NULL."""
    return [*((word, id) for id, word in enumerate(vocab.encoded())), (NULL_WORD.encode(), NULL)]
