"""Spans of words with a type, such as names: read, carried along links, written, and compared.

A span is written down in one of three forms:

    conllu    BIO tags in an attribute of MISC, as `NER=B-PER`, in CoNLL-U
    columns   a line a word, the word first, its BIO tag last; an empty line ends a sentence (CoNLL 2003)
    standoff  a line a span, `sentence<TAB>start<TAB>end<TAB>type`: sentences count from 1; words from 0, as
              in links; the end is the first word after the span

Tags may be IOB1, BIO, BIOES or BILOU when they are read. BIO is written.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aligner.errors import DataError, number_of
from aligner.files import display_name, read_chunks
from aligner.text.reading import text_blocks
from aligner.uses import conllu
from aligner.uses.conllu import FORM, MISC, NOTHING, Sentence

KEY = "NER"  # the attribute of MISC that has the tags
OUTSIDE = ("O", NOTHING)
TAG = re.compile(r"([BIESLU])-(.+)")
STANDOFF = re.compile(r"([1-9][0-9]{0,8})\t([0-9]{1,9})\t([0-9]{1,9})\t([^\t]+)(?:\t.*)?")
LIKE_STANDOFF = re.compile(r"[0-9]+\t[0-9]+\t[0-9]+\t")  # how a line of standoff begins, right or wrong
PARTS = ("longest", "all", "hull", "none")


class Span(NamedTuple):
    """Words start to end, the end not included, and what they are. score: None if there is none"""

    start: int
    end: int
    type: str
    score: float | None = None


class Spans(NamedTuple):
    """The spans of a sentence.

    number  of the sentence, from 0
    words   None where the file does not have them
    line    of the file, where the sentence begins
    lines   of standoff: where each span stands
    """

    number: int
    words: Sequence[str] | None
    spans: list[Span]
    line: int
    lines: Sequence[int] = ()

    def line_of(self, k: int) -> int:
        """The line of span k in columns or standoff."""
        return self.lines[k] if self.words is None else self.line + self.spans[k].start


@dataclass(frozen=True)
class SpanRules:
    """How a span is carried, if the words that its words are linked to do not stand together.

    gap    runs of linked words that are at most so many words apart are made one
    parts  what is kept of the runs: the longest, all as spans of their own, the hull of all; none: no span
    trim   whether punctuation is taken off both ends of a span that was carried
    least  the least score of a span: the mean, over the words of the source span, of their best link
    ratio  None, or how many times as many words as the source span there may be
    """

    gap: int = 1
    parts: str = "longest"
    trim: bool = False
    least: float = 0.0
    ratio: float | None = None


def spans_of(tags: Sequence[str]) -> list[Span]:
    """The spans of tags. A ValueError has the place of a tag that is none."""
    spans: list[Span] = []
    start, kind = 0, None  # of the span that is open; None: there is none
    for k, tag in enumerate([*tags, "O"]):
        prefix, what = "O", None
        if tag not in OUTSIDE:
            match = TAG.fullmatch(tag)
            if match is None:
                raise ValueError(k)
            prefix, what = match.groups()
        if kind is not None and (prefix in "BSUO" or what != kind):
            spans.append(Span(start, k, kind))
            kind = None
        if what is not None and kind is None:
            start, kind = k, what
        if kind is not None and prefix in "ELSU":
            spans.append(Span(start, k + 1, kind))
            kind = None
    return spans


def tags_of(spans: Iterable[Span], n: int) -> list[str]:
    """The BIO tags of n words. Spans must not overlap."""
    tags = ["O"] * n
    for span in spans:
        tags[span.start : span.end] = [f"I-{span.type}"] * (span.end - span.start)
        tags[span.start] = f"B-{span.type}"
    return tags


def attribute(misc: str, key: str) -> str | None:
    """What MISC says of a key; None: nothing."""
    if f"{key}=" not in misc:
        return None
    return next((x[len(key) + 1 :] for x in misc.split("|") if x.startswith(f"{key}=")), None)


def with_attributes(misc: str, attributes: dict[str, str | None]) -> str:
    """MISC with new values of attributes, behind the others; None: without the attribute."""
    old = [x for x in misc.split("|") if x != NOTHING and x.partition("=")[0] not in attributes]
    return (
        "|".join(old + [f"{key}={value}" for key, value in attributes.items() if value is not None])
        or NOTHING
    )


def sentence_spans(sentence: Sentence, key: str) -> list[Span]:
    """The spans of a sentence in CoNLL-U."""
    miscs = sentence.column(MISC)
    if not any(f"{key}=" in misc for misc in miscs):
        return []
    tags = [attribute(misc, key) or "O" for misc in miscs]
    try:
        return spans_of(tags)
    except ValueError as error:
        k = error.args[0]
        raise sentence.error(f"{key}={tags[k]} is no BIO tag", k, _HINT) from None


_HINT = "tags are O, B-TYPE and I-TYPE"


class SpanFile:
    """A file of spans, in a form that its beginning tells. form: one of the three"""

    def __init__(self, path: str, key: str = KEY, encoding: str = "utf-8") -> None:
        self.path, self.name, self.key = path, display_name(path), key
        head, chunks = conllu.first_lines(read_chunks(path, encoding))
        self._chunks = itertools.chain([head], chunks)
        first = next((line for line in head.decode(errors="replace").splitlines() if line), "")
        if conllu.is_conllu(path, head):
            self.form = "conllu"
        else:
            self.form = "standoff" if not first or LIKE_STANDOFF.match(first) else "columns"
        self._sentences = self._read()
        self.next = next(self._sentences, None)  # the spans that were read last

    @property
    def sparse(self) -> bool:
        """Whether the file does not tell how many sentences and words there are."""
        return self.form == "standoff"

    def at(self, number: int) -> Spans | None:
        """The spans of a sentence; None: the file has none. Sentences are asked for in order."""
        if self.next is None or self.next.number != number:
            return None
        found, self.next = self.next, next(self._sentences, None)
        return found

    def _read(self) -> Iterator[Spans]:
        """The sentences of the file. Of a standoff file, those that have spans."""
        if self.form == "conllu":
            for n, sentence in enumerate(conllu.read_sentences(self._chunks, self.path)):
                yield Spans(n, sentence.column(FORM), sentence_spans(sentence, self.key), sentence.line)
        elif self.form == "columns":
            yield from self._columns()
        else:
            yield from self._standoff()

    def _lines(self) -> Iterator[tuple[int, str]]:
        """(number, line)"""
        for text, _, n_before in text_blocks(self._chunks, self.path):
            for n, line in enumerate(text.decode().split("\n")[:-1]):
                yield n_before + n + 1, line.removesuffix("\r")

    def _columns(self) -> Iterator[Spans]:
        words: list[str] = []
        tags: list[str] = []
        n = last = 0
        for number, line in itertools.chain(self._lines(), [(0, "")]):
            row = line.split("\t") if "\t" in line else line.split()
            if len(row) > 1:
                words.append(row[0])
                tags.append(row[-1])
                last = number
            elif row:
                raise self.error(number, "one column", "a line has a word first and its tag last")
            elif words:
                first = last - len(words) + 1
                try:
                    yield Spans(n, words, spans_of(tags), first)
                except ValueError as error:
                    k = error.args[0]
                    raise self.error(first + k, f"{tags[k]!r} is no BIO tag", _HINT) from None
                n, words, tags = n + 1, [], []

    def _standoff(self) -> Iterator[Spans]:
        lines: list[int] = []
        found = Spans(0, None, [], 1, lines)
        for number, text in self._lines():
            if not text:
                continue
            match = STANDOFF.fullmatch(text)
            if match is None:
                hint = "a line is `sentence<TAB>start<TAB>end<TAB>type`; sentences count from 1, words from 0"
                raise self.error(number, "this is no span", hint)
            sentence, start, end = (int(match[k]) for k in (1, 2, 3))
            if sentence <= found.number:
                what = f"sentence {sentence} after sentence {found.number + 1}"
                raise self.error(number, what, "sort the lines by sentence")
            if start >= end:
                raise self.error(number, f"a span of no words, {start} to {end}", "the end is not included")
            if sentence > found.number + 1:
                if found.spans:
                    yield found
                lines = []
                found = Spans(sentence - 1, None, [], number, lines)
            found.spans.append(Span(start, end, match[4]))
            lines.append(number)
        if found.spans:
            yield found

    def error(self, line: int, what: str, hint: str) -> DataError:
        return DataError(what, file=self.name, line=line, hint=hint)

    def check(self, found: Spans, n_words: int, of: str) -> None:
        """Refuses the spans of a sentence that has another number of words. of: where these are counted"""
        if found.words is not None and len(found.words) != n_words:
            what = f"a sentence of {number_of(len(found.words), 'word')}, {of} has {n_words}"
            raise self.error(found.line, what, "both must have the same words")
        for k, span in enumerate(found.spans):
            if span.end > n_words:
                what = f"span {span.start} to {span.end} of {span.type} is outside the sentence, {of}"
                hint = "words count from 0"
                raise self.error(found.line_of(k), f"{what} has {number_of(n_words, 'word')}", hint)


def carry_spans(
    spans: Sequence[Span],
    links: Iterable[tuple[int, int, float]],
    words: Sequence[str],
    rules: SpanRules,
) -> list[Span]:
    """The spans of the target sentence, in order. Of spans that overlap, the best is kept.

    It is the one of the largest score, of equal ones the first span of the source.
    links: of the sentence pair. words: of the target sentence
    """
    targets: dict[int, list[tuple[int, float]]] = {}
    for i, j, score in links:
        targets.setdefault(i, []).append((j, score))
    found: list[Span] = []
    for span in spans:
        linked = [targets[i] for i in range(span.start, span.end) if i in targets]
        n = span.end - span.start
        score = sum(max(score for _, score in one) for one in linked) / n
        if not linked or score < rules.least:
            continue
        for start, end in _parts(sorted({j for one in linked for j, _ in one}), rules):
            if rules.trim:
                while start < end and _is_punctuation(words[start]):
                    start += 1
                while start < end and _is_punctuation(words[end - 1]):
                    end -= 1
            if start < end and (rules.ratio is None or end - start <= rules.ratio * n):
                found.append(Span(start, end, span.type, score))
    taken = [False] * len(words)
    kept = []
    for span in sorted(found, key=lambda span: -(span.score or 0)):  # stable
        if not any(taken[span.start : span.end]):
            taken[span.start : span.end] = [True] * (span.end - span.start)
            kept.append(span)
    return sorted(kept)


def _parts(places: Sequence[int], rules: SpanRules) -> list[tuple[int, int]]:
    """Runs of words, (start, end), of which a span is made. places: of the linked words, rising"""
    if rules.parts == "hull":
        return [(places[0], places[-1] + 1)]
    runs = [[places[0], places[0] + 1]]
    for j in places[1:]:
        if j - runs[-1][1] <= rules.gap:
            runs[-1][1] = j + 1
        else:
            runs.append([j, j + 1])
    if len(runs) > 1 and rules.parts == "none":
        return []
    if rules.parts == "longest":
        runs = [max(runs, key=lambda run: run[1] - run[0])]
    return [(a, b) for a, b in runs]


def _is_punctuation(word: str) -> bool:
    return all(unicodedata.category(x)[0] == "P" for x in word)


def format_spans(form: str, number: int, words: Sequence[str], spans: Iterable[Span]) -> str:
    """The spans of sentence `number`, from 1, as standoff or columns."""
    if form == "columns":
        tags = tags_of(spans, len(words))
        return "".join(f"{word}\t{tag}\n" for word, tag in zip(words, tags, strict=True)) + "\n"
    lines = []
    for start, end, kind, score in spans:
        lines.append(f"{number}\t{start}\t{end}\t{kind}" + ("" if score is None else f"\t{score:.4g}") + "\n")
    return "".join(lines)


@dataclass(frozen=True)
class SpanScores:
    """How many spans there are, in a hypothesis and in gold, and how many are right, by type."""

    found: Counter[str]
    gold: Counter[str]
    right: Counter[str]
    n_sentences: int

    def rows(self) -> dict[str, dict[str, float]]:
        """type -> precision, recall, f1, found, gold, right; `all` is the first. A share of nothing is 1."""
        rows = {"all": self._row(*(counts.total() for counts in (self.found, self.gold, self.right)))}
        for kind in sorted({*self.found, *self.gold}):
            name = kind if kind != "all" else "type all"
            rows[name] = self._row(self.found[kind], self.gold[kind], self.right[kind])
        return rows

    @staticmethod
    def _row(found: int, gold: int, right: int) -> dict[str, float]:
        precision, recall = right / found if found else 1.0, right / gold if gold else 1.0
        f1 = 2 * right / (found + gold) if found + gold else 1.0
        shares = {"precision": precision, "recall": recall, "f1": f1}
        return {**shares, "found": found, "gold": gold, "right": right}


def score_spans(hyp: SpanFile, gold: SpanFile) -> SpanScores:
    """Compares spans: right ones have the same words and the same type."""
    found, answer, right = Counter[str](), Counter[str](), Counter[str]()
    n = 0
    while (ahead := [x.next for x in (hyp, gold) if x.next is not None]) != []:
        n = min(spans.number for spans in ahead)
        a, b = hyp.at(n), gold.at(n)
        for file, mine, other, theirs in ((hyp, a, gold, b), (gold, b, hyp, a)):
            if mine is None or (theirs is None and other.sparse):
                continue
            if theirs is None:
                what = f"sentence {n + 1} is not in {other.name}, which has {n}"
                raise file.error(mine.line, what, "both must have the same sentences")
            if theirs.words is not None:
                file.check(mine, len(theirs.words), other.name)
        both = [set[Span]() if x is None else {span._replace(score=None) for span in x.spans} for x in (a, b)]
        for counts, some in ((found, both[0]), (answer, both[1]), (right, both[0] & both[1])):
            counts.update(span.type for span in some)
        n += 1
    return SpanScores(found, answer, right, n)
