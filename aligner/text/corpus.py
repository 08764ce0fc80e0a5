"""Parallel text as ids: one int32 array of tokens a side, cut into sentences by int64 offsets.

Three layouts: two files line by line; one file of `src ||| tgt` lines; one file of `src<TAB>tgt` lines.
Hansards text, `<s snum=N> ... </s>`, is recognised by its first line and stripped. Lines are never
dropped: an empty side is a sentence of no tokens. Tokens stand between ASCII spaces and tabs.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.files import display_name, line_blocks, read_chunks
from aligner.text import _corpus
from aligner.text._corpus import Status

BLOCK = 1 << 14  # lines indexed at a time
_MESSAGES = {
    Status.NO_SEPARATOR: ("no {separator} on the line", "each line must be `source {separator} target`"),
    Status.TWO_SEPARATORS: ("more than one {separator} on the line", "give the two sides as two files"),
    Status.NOT_WRAPPED: (
        "the line is not `<s snum=N> ... </s>` as the first is",
        "wrap all lines of the file or none",
    ),
    Status.TOO_MANY_WORDS: ("more than 2,147,483,647 different words", "is this tokenised text?"),
}


@dataclass(frozen=True, eq=False)
class Vocab:
    """The words of one side in the order of their ids.

    text     all words in UTF-8, one after another
    offsets  [n_words + 1]  word id -> where it begins in text
    """

    text: bytes
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def words(self) -> list[str]:
        """word id -> word"""
        cuts = self.offsets.tolist()
        return [self.text[a:b].decode() for a, b in zip(cuts, cuts[1:], strict=False)]

    def find(self, words: Iterable[str]) -> npt.NDArray[np.int32]:
        """The id of each word, -1 if it is not there."""
        return _corpus.find_words(self.text, self.offsets, [word.encode() for word in words])


@dataclass(frozen=True, eq=False)
class Side:
    """One language of a corpus.

    ids      [n_tokens]  token -> word id
    offsets  [S + 1]     sentence n is ids[offsets[n]:offsets[n + 1]]
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    vocab: Vocab

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """[S] sentence -> number of its tokens"""
        return np.diff(self.offsets)

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """[n_words] word id -> number of its tokens"""
        return np.bincount(self.ids, minlength=len(self.vocab))

    def part(self, start: int, stop: int) -> Side:
        """Sentences start to stop."""
        offsets = self.offsets[start : stop + 1]
        return Side(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0], self.vocab)

    def sentence(self, n: int) -> list[str]:
        """The tokens of sentence n."""
        words = self.vocab.words
        return [words[k] for k in self.ids[self.offsets[n] : self.offsets[n + 1]]]


@dataclass(frozen=True, eq=False)
class Corpus:
    """Sentence pairs: src and tgt have the same number of sentences."""

    src: Side
    tgt: Side

    def __len__(self) -> int:
        return len(self.src)

    @staticmethod
    def from_pairs(
        pairs: Iterable[tuple[str | Sequence[str], str | Sequence[str]]], lowercase: bool = False
    ) -> Corpus:
        """Sentence pairs given as text or as lists of tokens."""
        builders = _Builder(), _Builder()
        lines = []
        for n, pair in enumerate(pairs):
            if isinstance(pair, str) or len(pair) != 2:
                raise ValueError(f"pair {n} is not two sentences: {pair!r}")
            lines.append([_line(sentence, n) for sentence in pair])
        for k, builder in enumerate(builders):
            text = "".join(line[k] + "\n" for line in lines).encode()
            ids, lengths = builder.room(len(text) // 2 + 1, len(lines))
            _, _, builder.n_tokens = _corpus.index_lines(text, builder.words, ids, lengths, None)
            builder.n_lines = len(lines)
        return Corpus(*(builder.side(lowercase) for builder in builders))

    def part(self, start: int, stop: int) -> Corpus:
        """Sentence pairs start to stop."""
        return Corpus(self.src.part(start, stop), self.tgt.part(start, stop))

    def select(self, keep: npt.NDArray[np.bool_]) -> Corpus:
        """The sentence pairs to keep; vocabularies stay as they are."""
        sides = []
        for side in (self.src, self.tgt):
            offsets = np.concatenate([[0], np.cumsum(side.lengths[keep])])
            sides.append(Side(side.ids[np.repeat(keep, side.lengths)], offsets, side.vocab))
        return Corpus(*sides)


def read_corpus(
    src: str,
    tgt: str | None = None,
    *,
    encoding: str = "utf-8",
    lowercase: bool = False,
    layout: str | None = None,
) -> Corpus:
    """Two parallel files, or one file with both sides a line; "-" is stdin, of which there is one.

    layout, of one file: "bars" for `src ||| tgt`, "tsv" for `src<TAB>tgt`, None to see from the first
    line that is not blank.
    """
    if tgt is None:
        builders = _read_pairs(src, encoding, layout)
    else:
        if src == tgt == "-":
            raise DataError("stdin cannot be both sides", hint="pipe in `source ||| target` lines")
        if "-" in (src, tgt):  # a thread that waits for stdin could not be stopped
            builders = _read_lines(src, encoding), _read_lines(tgt, encoding)
        else:
            builders = _read_both(src, tgt, encoding)
        n_src, n_tgt = (builder.n_lines for builder in builders)
        if n_src != n_tgt:
            raise DataError(
                f"{display_name(src)} has {n_src} lines, {display_name(tgt)} has {n_tgt}",
                hint="parallel files must match line by line",
            )
        _check_numbers(src, tgt, *(builder.numbers for builder in builders))
    return Corpus(*(builder.side(lowercase) for builder in builders))


class _Builder:
    """A side while it is read: arrays that grow in place, so that the peak is what is kept."""

    def __init__(self) -> None:
        self.words = _corpus.Interner()
        self.ids = np.empty(0, dtype=np.int32)
        self.lengths = np.empty(0, dtype=np.int64)
        self.numbers: list[npt.NDArray[np.int64]] = []  # of Hansards lines
        self.n_tokens = self.n_lines = 0

    def room(self, n_tokens: int, n_lines: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Where the next block's ids and lengths may be written."""
        for name, used, more in (("ids", self.n_tokens, n_tokens), ("lengths", self.n_lines, n_lines)):
            array = getattr(self, name)
            if used + more > len(array):
                array.resize(max(used + more, len(array) * 5 // 4), refcheck=False)
        return self.ids[self.n_tokens :], self.lengths[self.n_lines :]

    def side(self, lowercase: bool) -> Side:
        self.ids.resize(self.n_tokens, refcheck=False)
        offsets = np.zeros(self.n_lines + 1, dtype=np.int64)
        np.cumsum(self.lengths[: self.n_lines], out=offsets[1:])
        side = Side(self.ids, offsets, Vocab(*self.words.words()))
        if lowercase:
            side = relabelled(side, str.lower, in_place=True)
        for array in (side.ids, side.offsets, side.vocab.offsets):
            array.flags.writeable = False
        return side


def _line(sentence: str | Sequence[str], n: int) -> str:
    """A sentence as a line of text."""
    if not isinstance(sentence, str):
        if any(not token or " " in token or "\t" in token for token in sentence):
            raise ValueError(f"pair {n}: a token is empty or has a space or a tab in it")
        sentence = " ".join(sentence)
    if "\n" in sentence:
        raise ValueError(f"pair {n}: a sentence has a line break in it")
    return sentence


def relabelled(side: Side, see: Callable[[str], str], in_place: bool = False) -> Side:
    """The same side with see(word) for each word; words that become equal get one id, none may be empty."""
    interner = _corpus.Interner()
    text = " ".join(map(see, side.vocab.words)).encode() + b" \n"
    new_ids = np.empty(len(text), dtype=np.int32)
    _, _, n = _corpus.index_lines(text, interner, new_ids, np.empty(1, dtype=np.int64), None)
    ids = np.take(new_ids[:n], side.ids, out=side.ids if in_place else None) if n else side.ids
    return Side(ids, side.offsets, Vocab(*interner.words()))


def _text_blocks(path: str, encoding: str, eager: bool = False) -> Iterator[tuple[bytes, int, int]]:
    """Blocks of valid UTF-8 lines: (bytes, number of lines, lines before it)."""
    n_before = n_bytes = 0
    for text, n_lines in line_blocks(read_chunks(path, encoding), BLOCK, eager):
        if not text.isascii():
            try:
                text.decode()
            except UnicodeDecodeError as error:
                at = error.start
                raise DataError(
                    f"invalid UTF-8: byte 0x{text[at]:02x} at offset {n_bytes + at} of the text",
                    file=display_name(path),
                    line=n_before + text.count(b"\n", 0, at) + 1,
                    column=at - text.rfind(b"\n", 0, at),
                    hint="name the text's encoding, for example --encoding latin-1",
                ) from None
        yield text, n_lines, n_before
        n_before += n_lines
        n_bytes += len(text)


def _read_both(src: str, tgt: str, encoding: str) -> tuple[_Builder, _Builder]:
    """Both sides at once: the kernel runs without the interpreter's lock.

    The second thread is a daemon, so that an interrupted program does not wait for it.
    """
    result: list[_Builder | BaseException] = []

    def read_tgt() -> None:
        try:
            result.append(_read_lines(tgt, encoding))
        except BaseException as error:
            result.append(error)

    thread = threading.Thread(target=read_tgt, daemon=True)
    thread.start()
    src_builder = _read_lines(src, encoding)
    thread.join()
    if isinstance(result[0], BaseException):
        raise result[0]
    return src_builder, result[0]


def _refuse(status: int, path: str, line: int, separator: str = "") -> None:
    if status:
        what, hint = (part.format(separator=separator) for part in _MESSAGES[Status(status)])
        raise DataError(what, file=display_name(path), line=line, hint=hint)


def _read_lines(path: str, encoding: str) -> _Builder:
    """One side from a file of its own."""
    builder = _Builder()
    wrapped = False
    for text, n_lines, n_before in _text_blocks(path, encoding):
        if n_before == 0:
            wrapped = _corpus.is_wrapped(text[: text.index(b"\n")])
        numbers = np.empty(n_lines, dtype=np.int64) if wrapped else None
        ids, lengths = builder.room(len(text) // 2 + 1, n_lines)
        status, line, n_tokens = _corpus.index_lines(text, builder.words, ids, lengths, numbers)
        _refuse(status, path, n_before + line + 1)
        builder.n_tokens += n_tokens
        builder.n_lines += n_lines
        if numbers is not None:
            builder.numbers.append(numbers)
    return builder


def _read_pairs(path: str, encoding: str, layout: str | None) -> tuple[_Builder, _Builder]:
    """Both sides from one file."""
    builders = _Builder(), _Builder()
    reader = _PairReader(path, layout)
    for text, n_lines, n_before in _text_blocks(path, encoding):
        reader.add(text, n_lines, n_before, *builders)
    return builders


def stream_corpus(
    path: str, *, encoding: str = "utf-8", lowercase: bool = False, layout: str | None = None
) -> Iterator[Corpus]:
    """The same as read_corpus of one file, in parts: as many lines as have come, as soon as they come."""
    reader = _PairReader(path, layout)
    for text, n_lines, n_before in _text_blocks(path, encoding, eager=True):
        builders = _Builder(), _Builder()
        reader.add(text, n_lines, n_before, *builders)
        yield Corpus(*(builder.side(lowercase) for builder in builders))


class _PairReader:
    """Lines with both sides; how they are separated is known from the first that is not blank."""

    def __init__(self, path: str, layout: str | None) -> None:
        self.path = path
        self.tab = None if layout is None else layout == "tsv"

    def add(self, text: bytes, n_lines: int, n_before: int, src: _Builder, tgt: _Builder) -> None:
        if self.tab is None:
            self.tab = _find_layout(text, self.path, n_before)
        src_ids, src_lengths = src.room(len(text) // 2 + 1, n_lines)
        tgt_ids, tgt_lengths = tgt.room(len(text) // 2 + 1, n_lines)
        status, line, n_src, n_tgt = _corpus.index_pairs(
            text, bool(self.tab), src.words, tgt.words, src_ids, tgt_ids, src_lengths, tgt_lengths
        )
        _refuse(status, self.path, n_before + line + 1, "tab" if self.tab else "|||")
        for builder, n_tokens in ((src, n_src), (tgt, n_tgt)):
            builder.n_tokens += n_tokens
            builder.n_lines += n_lines


def _find_layout(text: bytes, path: str, n_before: int) -> bool | None:
    """Whether the first line that is not blank is separated by a tab; None if all are blank."""
    for n, line in enumerate(text.split(b"\n")[:-1]):
        if not line.strip(b" \t\r"):
            continue
        bars = re.search(rb"(?:^|[ \t])\|\|\|(?:[ \t\r]|$)", line) is not None
        tabs = b"\t" in line
        if bars != tabs:
            return tabs
        raise DataError(
            "both ||| and a tab on the line" if bars else "neither ||| nor a tab on the line",
            file=display_name(path),
            line=n_before + n + 1,
            hint="say which with --layout bars|tsv"
            if bars
            else "give two files, or one of `source ||| target` or `source<TAB>target` lines",
        )
    return None


def _check_numbers(
    src: str, tgt: str, src_numbers: list[npt.NDArray[np.int64]], tgt_numbers: list[npt.NDArray[np.int64]]
) -> None:
    """Hansards files whose sentence numbers part ways are not parallel."""
    if not (src_numbers and tgt_numbers):
        return
    a, b = np.concatenate(src_numbers), np.concatenate(tgt_numbers)
    if (differ := np.flatnonzero(a != b)).size:
        n = int(differ[0])
        raise DataError(
            f"snum={a[n]} stands beside snum={b[n]} of {display_name(tgt)}",
            file=display_name(src),
            line=n + 1,
            hint="the files are out of step",
        )
