"""eflomal's Python interface: `from aligner.compat import eflomal` takes the place of `import eflomal`.

Text may be any lines: lists, generators, open files. It is lower-cased, and split as str.split does. Files
that are written to may exist, and may be held open. Priors are those of eflomal (links/priors.py). What is
wrong with the input is an InputError, which is a ValueError, as in eflomal.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

import numpy as np

from aligner.compat.eflomal.numbered import read_text, write_text
from aligner.compat.eflomal.task import Files, Task
from aligner.compat.eflomal.words import Sight, corpus_of, name_of
from aligner.errors import DataError
from aligner.links.formats import BLOCK, FORMATS, PLAIN
from aligner.links.formats.format import LinkFile
from aligner.links.links import Links
from aligner.links.priors import Priors, Table, count_priors, format_priors, parse_priors
from aligner.text.corpus import Corpus
from aligner.text.reading import line_blocks
from aligner.text.sides import Vocab

__all__ = [
    "Aligner",
    "InputError",
    "calculate_priors",
    "read_priors",
    "read_text",
    "sentences_from_joint_file",
    "write_priors",
    "write_text",
]

Lines = Iterable[str]
WordCounts = Counter[tuple[str, str]]
FertilityCounts = Counter[tuple[str, int]]
JumpCounts = Counter[int]

logger = logging.getLogger(__name__)


class InputError(DataError, ValueError):
    """Text, links or priors cannot be used."""


@contextlib.contextmanager
def _input() -> Iterator[None]:
    """What is wrong with the input can be caught as a ValueError."""
    try:
        yield
    except DataError as error:
        raise InputError(
            error.what,
            file=error.file,
            line=error.line,
            column=error.column,
            hint=error.hint,
            setting=error.setting,
            value=error.value,
        ) from None


class Aligner:
    """Aligns text in both directions, with eflomal's arguments.

    model              3: loo, 2: shmm, 1: ibm1 (models/kinds.py)
    score_model        what sentence scores are made of (scores.py); 0: the model
    n_samplers         there are two threads a sampler, and no more than the process may use
    null_prior         the probability of NULL, of models 2 and 3
    source_prefix_len  only so many letters of words are seen, from the left; of suffixes from the right
    n_iterations and rel_iterations change nothing.
    """

    def __init__(
        self,
        model: int = 3,
        score_model: int = 0,
        n_iterations: tuple[int, int, int] | None = None,
        n_samplers: int = 3,
        rel_iterations: float = 1.0,
        null_prior: float = 0.2,
        source_prefix_len: int = 0,
        source_suffix_len: int = 0,
        target_prefix_len: int = 0,
        target_suffix_len: int = 0,
    ) -> None:
        self.model = model
        self.score_model = score_model
        self.n_iterations = n_iterations
        self.n_samplers = n_samplers
        self.rel_iterations = rel_iterations
        self.null_prior = null_prior
        self.source_prefix_len = source_prefix_len
        self.source_suffix_len = source_suffix_len
        self.target_prefix_len = target_prefix_len
        self.target_suffix_len = target_suffix_len

    def align(
        self,
        src_input: Lines,
        trg_input: Lines,
        links_filename_fwd: str | None = None,
        links_filename_rev: str | None = None,
        scores_filename_fwd: str | None = None,
        scores_filename_rev: str | None = None,
        priors_input: Lines | None = None,
        quiet: bool = True,
        use_gdb: bool = False,
    ) -> None:
        """Writes links and scores of sentence pairs to the files that are named.

        priors_input  lines of priors
        quiet         nothing is said on stderr about iterations
        use_gdb       changes nothing
        """
        given = {
            "n_iterations": self.n_iterations is not None,
            "rel_iterations": self.rel_iterations != 1,
            "use_gdb": use_gdb,
        }
        if not quiet and any(given.values()):
            names = " ".join(name for name, is_given in given.items() if is_given)
            logger.warning("arguments that change nothing here: %s", names)
        with _input():
            task = Task.of(self.model, self.score_model, self.null_prior, self.n_samplers, quiet)
            named = (links_filename_fwd, links_filename_rev, scores_filename_fwd, scores_filename_rev)
            files = Files(*(name or None for name in named))  # an empty name is none, as in eflomal
            files.check()
            src = Sight(self.source_prefix_len, self.source_suffix_len)
            tgt = Sight(self.target_prefix_len, self.target_suffix_len)
            corpus = corpus_of(_lines(src_input), _lines(trg_input), (src, tgt))
            priors = None
            if priors_input is not None:
                priors = parse_priors(_lines(priors_input), name_of(priors_input, "priors"))
                priors = priors.seen(src.word, tgt.word)
            task.run(corpus, files, priors, whole=not (src.cuts or tgt.cuts))


def _lines(text: Lines) -> Lines:
    """Refuses one string, whose letters would be taken for lines."""
    if isinstance(text, str):
        raise TypeError("lines are wanted, for example an open file or a list, not one string")
    return text


def sentences_from_joint_file(joint_file: Lines, index: int | None = None) -> Iterator[Any]:
    """The two sentences of each line `source ||| target`; with index 0 or 1, one of them."""
    for n, line in enumerate(_lines(joint_file)):
        sentences = line.strip().split(" ||| ")
        if len(sentences) != 2:
            raise InputError(
                "the line is not `source ||| target`, or a side is empty",
                file=name_of(joint_file, "text"),
                line=n + 1,
                hint="give the two sides as two files",
            )
        yield tuple(sentences) if index is None else sentences[index]


def calculate_priors(
    src_sentences: Lines,
    trg_sentences: Lines,
    fwd_alignments: Lines,
    rev_alignments: Lines,
    reverse: bool = False,
) -> tuple[WordCounts, JumpCounts, JumpCounts, FertilityCounts, FertilityCounts]:
    """What `write_priors` writes, counted from text and links: of words, jumps and fertilities.

    reverse: for the text with its sides swapped. The words of a pair are swapped, too; those of eflomal
    are not, and are of no use there.
    """
    with _input():
        text = corpus_of(_lines(src_sentences), _lines(trg_sentences))
        forward = _links(fwd_alignments, name_of(fwd_alignments, "forward links"))
        backward = _links(rev_alignments, name_of(rev_alignments, "reverse links"))
        priors = priors_of(text, forward, backward, reverse)
    src_words, tgt_words = priors.src.words, priors.tgt.words
    return (
        Counter({(src_words[e], tgt_words[f]): int(n) for e, f, n in _rows(priors.pairs)}),
        Counter({jump: int(n) for jump, n in priors.jumps[0].items()}),
        Counter({jump: int(n) for jump, n in priors.jumps[1].items()}),
        Counter({(src_words[e], k): int(n) for e, k, n in _rows(priors.fertilities[0])}),
        Counter({(tgt_words[f], k): int(n) for f, k, n in _rows(priors.fertilities[1])}),
    )


def priors_of(text: Corpus, forward: Links, reverse: Links, swapped: bool) -> Priors:
    """The priors of text and links. swapped: for the text with its sides swapped"""
    if swapped:
        text, forward, reverse = Corpus(text.tgt, text.src), reverse.transposed(), forward.transposed()
    return count_priors(text, forward, reverse)


def _rows(table: Table) -> Iterator[tuple[int, int, float]]:
    return zip(table.a.tolist(), table.b.tolist(), table.counts.tolist(), strict=True)


def _links(lines: Lines, name: str) -> Links:
    """Links `i-j`, one line a sentence."""
    text = (line.rstrip("\n").encode() + b"\n" for line in _lines(lines))
    chunks = iter(lambda: b"".join(itertools.islice(text, BLOCK)), b"")
    return Links.joined(FORMATS[PLAIN].read(LinkFile(name, PLAIN, 0, None), line_blocks(chunks, BLOCK)))


def write_priors(
    priorsf: IO[str],
    priors_list: Mapping[tuple[str, str], float],
    hmmf_priors: Mapping[int, float],
    hmmr_priors: Mapping[int, float],
    ferf_priors: Mapping[tuple[str, int], float],
    ferr_priors: Mapping[tuple[str, int], float],
) -> None:
    """Writes priors to an open file."""
    src: dict[str, int] = {}
    tgt: dict[str, int] = {}

    def table(
        counts: Mapping[tuple[str, Any], float], first: dict[str, int], second: dict[str, int] | None
    ) -> Table:
        a = [first.setdefault(word, len(first)) for word, _ in counts]
        b = [other if second is None else second.setdefault(other, len(second)) for _, other in counts]
        return Table(np.array(a, np.int64), np.array(b, np.int64), np.array([*counts.values()], np.float64))

    pairs, ferf, ferr = (
        table(priors_list, src, tgt),
        table(ferf_priors, src, None),
        table(ferr_priors, tgt, None),
    )
    jumps = dict(hmmf_priors), dict(hmmr_priors)
    for block in format_priors(Priors(Vocab.of(src), Vocab.of(tgt), pairs, (ferf, ferr), jumps)):
        priorsf.write(block.decode())


def read_priors(
    priors_file: Lines,
) -> tuple[
    list[tuple[str, str, float]],
    dict[int, float],
    dict[int, float],
    list[tuple[str, int, float]],
    list[tuple[str, int, float]],
]:
    """The priors of lines: word pairs, jumps forward and reverse, fertilities forward and reverse."""
    with _input():
        priors = parse_priors(_lines(priors_file), name_of(priors_file, "priors"))
    src, tgt = priors.src.words, priors.tgt.words
    ferf, ferr = priors.fertilities
    return (
        [(src[e], tgt[f], n) for e, f, n in _rows(priors.pairs)],
        *priors.jumps,
        [(src[e], k, n) for e, k, n in _rows(ferf)],
        [(tgt[f], k, n) for f, k, n in _rows(ferr)],
    )
