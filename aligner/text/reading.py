"""Files of parallel text to a Corpus. Lines are never dropped: an empty side is a sentence of no tokens.

Text has one of three layouts: two files line by line, one file of `src ||| tgt` lines, one file of
`src<TAB>tgt` lines. Hansards text, `<s snum=N> ... </s>`, is recognised by its first line and stripped.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.errors import DataError
from aligner.files import display_name, read_chunks
from aligner.text import _corpus
from aligner.text._corpus import Status
from aligner.text.blanks import Splitter
from aligner.text.corpus import Corpus
from aligner.text.sides import Builder, Side

LAYOUTS = ("bars", "first-bar", "tsv")  # of one file
BLOCK = 1 << 14  # lines indexed at a time
MOST_WORDS = 1 << 20  # that a SideReader remembers
_MESSAGES = {
    Status.NO_SEPARATOR: ("no {separator} on the line", "each line must be `source {separator} target`"),
    Status.TWO_SEPARATORS: ("more than one {separator} on the line", "give the two sides as two files"),
    Status.NOT_WRAPPED: (
        "the line is not `<s snum=N> ... </s>` as the first is",
        "wrap all lines of the file or none",
    ),
    Status.TOO_MANY_WORDS: ("more than 2,147,483,647 different words", "is this tokenised text?"),
}


def read_corpus(
    src: str,
    tgt: str | None = None,
    *,
    encoding: str = "utf-8",
    lowercase: bool = False,
    split: str = "ascii",
    layout: str | None = None,
) -> Corpus:
    """The sentence pairs of two parallel files, or of one file with both sides on each line; "-" is stdin.

    split   where words end: "ascii" at spaces and tabs; "unicode" where str.split() separates them, at NBSP
            and U+3000, too. A warning says if the two ways differ
    layout  how one file separates the sides: "bars" for `src ||| tgt`, "first-bar" for the same with further
            ||| among the target words, "tsv" for `src<TAB>tgt`. None: the first line that is not blank tells
            whether it is bars or tsv
    """
    splitters = [Splitter(path, split) for path in (src, tgt) if path is not None]
    if tgt is None:
        builders = _read_pairs(src, encoding, splitters[0], layout)
    else:
        if src == tgt == "-":
            raise DataError("stdin cannot be both sides", hint="pipe in `source ||| target` lines")
        if "-" in (src, tgt):  # a thread that waits for stdin could not be stopped
            builders = read_side(src, encoding, splitters[0]), read_side(tgt, encoding, splitters[1])
        else:
            builders = _read_both(src, tgt, encoding, splitters)
        n_src, n_tgt = (builder.n_lines for builder in builders)
        if n_src != n_tgt:
            raise DataError(
                f"{display_name(src)} has {n_src} lines, {display_name(tgt)} has {n_tgt}",
                hint="parallel files must match line by line",
            )
        _check_numbers(src, tgt, *(builder.numbers for builder in builders))
    for splitter in splitters:
        splitter.warn()
    return Corpus(*(builder.side(lowercase) for builder in builders))


def stream_corpus(
    path: str,
    *,
    encoding: str = "utf-8",
    lowercase: bool = False,
    split: str = "ascii",
    layout: str | None = None,
) -> Iterator[Corpus]:
    """The sentence pairs of one file in parts. Lines are read as soon as they come."""
    reader, splitter = _PairReader(path, layout), Splitter(path, split)
    for text, n_lines, n_before in _text_blocks(path, encoding, splitter, eager=True):
        builders = Builder(), Builder()
        reader.add(text, n_lines, n_before, *builders)
        yield Corpus(*(builder.side(lowercase) for builder in builders))
    splitter.warn()


def read_sentences(
    path: str, *, encoding: str = "utf-8", lowercase: bool = False, split: str = "ascii"
) -> Side:
    """The sentences of one file, "-" for stdin. split: as of read_corpus"""
    splitter = Splitter(path, split)
    builder = read_side(path, encoding, splitter)
    splitter.warn()
    return builder.side(lowercase)


def read_lines(path: str, encoding: str = "utf-8") -> Iterator[str]:
    """The lines of a file, "-" for stdin, without their newlines."""
    for text, _, _ in _text_blocks(path, encoding):
        yield from text.decode().removesuffix("\n").split("\n")


def stream_sides(path: str, max_lines: int) -> Iterator[Side]:
    """The sentences of a file in parts of max_lines. Words are bytes of any encoding, and not checked."""
    for text, n_lines in line_blocks(read_chunks(path), max_lines):
        builder = Builder()
        builder.add(text, n_lines)
        yield builder.side(lowercase=False)


def stream_side(
    path: str,
    max_lines: int,
    *,
    encoding: str = "utf-8",
    lowercase: bool = False,
    split: str = "ascii",
) -> Iterator[Side]:
    """The sentences of a file in parts of max_lines, read as read_corpus reads them; "-" is stdin."""
    splitter, wrapped = Splitter(path, split), False
    for text, n_lines, n_before in _text_blocks(path, encoding, splitter, max_lines=max_lines):
        if n_before == 0:
            wrapped = _corpus.is_wrapped(text[: text.index(b"\n")])
        builder = Builder()
        status, line = builder.add(text, n_lines, np.empty(n_lines, dtype=np.int64) if wrapped else None)
        _refuse(status, path, n_before + line + 1)
        yield builder.side(lowercase)
    splitter.warn()


def line_blocks(chunks: Iterator[bytes], max_lines: int, eager: bool = False) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines, (bytes, n_lines): max_lines each, the last perhaps fewer.

    Every line of every block ends in a newline: the last line of a file is given one if it has none.
    eager: a block is made of the whole lines that have come, however few, so that no line has to wait.
    """
    parts: list[bytes] = []
    n_lines = 0  # newlines in parts
    for chunk in chunks:
        parts.append(chunk)
        n_lines += chunk.count(b"\n")
        if eager and n_lines:
            text = b"".join(parts)
            end = text.rindex(b"\n") + 1
            yield text[:end], n_lines
            parts, n_lines = [text[end:]], 0
        if n_lines < max_lines:
            continue
        text, start = b"".join(parts), 0
        while n_lines >= max_lines:
            end = _corpus.end_of_line(text, start, max_lines)
            yield text[start:end], max_lines
            start, n_lines = end, n_lines - max_lines
        parts = [text[start:]]
    text = b"".join(parts)
    if text and not text.endswith(b"\n"):
        text, n_lines = text + b"\n", n_lines + 1
    if text:
        yield text, n_lines


class SideReader:
    """A file of sentences, of which as many are read as are asked for. Ids begin anew after MOST_WORDS words.

    lines     the lines that were read last
    n_before  how many lines stand before them
    words     id -> word, of all words so far; a new object when ids begin anew
    """

    def __init__(self, path: str, encoding: str = "utf-8", split: str = "ascii") -> None:
        self.path, self.name = path, display_name(path)
        self.splitter = Splitter(path, split)
        self.words = _corpus.Interner()
        self.lines, self.n_before, self.n_taken = b"", 0, 0
        self._blocks = _text_blocks(path, encoding, self.splitter)
        self._text, self._at, self._n_left = b"", 0, 0
        self._wrapped: bool | None = None

    def take(self, n: int) -> Side:
        """The next n sentences, or the last ones, which may be fewer."""
        parts, missing = [], n
        while missing:
            if self._n_left == 0:
                self._text, self._n_left, _ = next(self._blocks, (b"", 0, 0))
                self._at = 0
                if self._n_left == 0:
                    break
            some = min(missing, self._n_left)
            end = _corpus.end_of_line(self._text, self._at, some) if some < self._n_left else len(self._text)
            parts.append(self._text[self._at : end])
            self._at, self._n_left, missing = end, self._n_left - some, missing - some
        return self._indexed(b"".join(parts), n - missing)

    def _indexed(self, text: bytes, n: int) -> Side:
        if len(self.words) > MOST_WORDS:
            self.words = _corpus.Interner()
        if self._wrapped is None:
            self._wrapped = _corpus.is_wrapped(text.partition(b"\n")[0])
        self.lines, self.n_before, self.n_taken = text, self.n_taken, self.n_taken + n
        builder = Builder()
        builder.words = self.words
        status, line = builder.add(text, n, np.empty(n, dtype=np.int64) if self._wrapped else None)
        _refuse(status, self.path, self.n_before + line + 1)
        return builder.side(lowercase=False)

    def count(self) -> int:
        """How many lines the file has. Reads it to its end."""
        self.n_taken += self._n_left + sum(n_lines for _, n_lines, _ in self._blocks)
        self._n_left = 0
        return self.n_taken


def _text_blocks(
    path: str,
    encoding: str,
    splitter: Splitter | None = None,
    eager: bool = False,
    max_lines: int | None = None,
) -> Iterator[tuple[bytes, int, int]]:
    """Blocks of valid UTF-8 lines of a file."""
    return text_blocks(read_chunks(path, encoding), path, splitter, eager, max_lines)


def text_blocks(
    chunks: Iterator[bytes],
    path: str,
    splitter: Splitter | None = None,
    eager: bool = False,
    max_lines: int | None = None,
) -> Iterator[tuple[bytes, int, int]]:
    """Blocks of valid UTF-8 lines: (bytes, number of lines, number of lines before the block).

    chunks:    of the file that messages call path
    splitter:  prepares the lines; None: they stay as they are
    max_lines: of a block; None: BLOCK
    """
    n_before = n_bytes = 0
    for text, n_lines in line_blocks(chunks, max_lines or BLOCK, eager):
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
                    hint="convert the text to UTF-8, or name the text's encoding, for example latin-1",
                    setting="encoding",
                ) from None
        yield text if splitter is None else splitter.prepared(text, n_before), n_lines, n_before
        n_before += n_lines
        n_bytes += len(text)


def _read_both(src: str, tgt: str, encoding: str, splitters: Sequence[Splitter]) -> tuple[Builder, Builder]:
    """Both sides at once, in two threads: the kernel runs without the interpreter's lock.

    The second thread is a daemon, so that an interrupted program does not wait for the thread.
    """
    result: list[Builder | BaseException] = []

    def read_tgt() -> None:
        try:
            result.append(read_side(tgt, encoding, splitters[1]))
        except BaseException as error:
            result.append(error)

    thread = threading.Thread(target=read_tgt, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the system has no room for one more thread
        return read_side(src, encoding, splitters[0]), read_side(tgt, encoding, splitters[1])
    src_builder = read_side(src, encoding, splitters[0])
    thread.join()
    if isinstance(result[0], BaseException):
        raise result[0]
    return src_builder, result[0]


def _refuse(status: int, path: str, line: int, separator: str = "") -> None:
    """Raises what a kernel says of a line, if that is not OK."""
    if status:
        what, hint = (part.format(separator=separator) for part in _MESSAGES[Status(status)])
        setting = value = ""
        if status == Status.TWO_SEPARATORS and separator == "|||":
            hint, setting, value = f"{hint}, or split lines at the first |||", "layout", "first-bar"
        raise DataError(what, file=display_name(path), line=line, hint=hint, setting=setting, value=value)


def read_side(path: str, encoding: str, splitter: Splitter | None = None) -> Builder:
    """One side from a file of its own."""
    builder = Builder()
    wrapped = False
    for text, n_lines, n_before in _text_blocks(path, encoding, splitter):
        if n_before == 0:
            wrapped = _corpus.is_wrapped(text[: text.index(b"\n")])
        numbers = np.empty(n_lines, dtype=np.int64) if wrapped else None
        status, line = builder.add(text, n_lines, numbers)
        _refuse(status, path, n_before + line + 1)
        if numbers is not None:
            builder.numbers.append(numbers)
    return builder


def _read_pairs(path: str, encoding: str, splitter: Splitter, layout: str | None) -> tuple[Builder, Builder]:
    """Both sides from one file."""
    builders = Builder(), Builder()
    reader = _PairReader(path, layout)
    for text, n_lines, n_before in _text_blocks(path, encoding, splitter):
        reader.add(text, n_lines, n_before, *builders)
    return builders


class _PairReader:
    """Lines with both sides. The first line that is not blank tells what separates them."""

    def __init__(self, path: str, layout: str | None) -> None:
        if layout is not None:
            arguments.choice("layout", layout, LAYOUTS)
        self.path = path
        self.tab = None if layout is None else layout == "tsv"
        self.first = layout == "first-bar"

    def add(self, text: bytes, n_lines: int, n_before: int, src: Builder, tgt: Builder) -> None:
        if self.tab is None:
            self.tab = _find_layout(text, self.path, n_before)
        src_ids, src_lengths = src.room(len(text) // 2 + 1, n_lines)
        tgt_ids, tgt_lengths = tgt.room(len(text) // 2 + 1, n_lines)
        status, line, n_src, n_tgt = _corpus.index_pairs(
            text, bool(self.tab), self.first, src.words, tgt.words, src_ids, tgt_ids, src_lengths, tgt_lengths
        )
        _refuse(status, self.path, n_before + line + 1, "tab" if self.tab else "|||")
        for builder, n_tokens in ((src, n_src), (tgt, n_tgt)):
            builder.n_tokens += n_tokens
            builder.n_lines += n_lines


def _find_layout(text: bytes, path: str, n_before: int) -> bool | None:
    """Whether a tab separates the sides on the first line that is not blank. None: all lines are blank."""
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
            hint="name the layout, bars or tsv"
            if bars
            else "give two files, or one of `source ||| target` or `source<TAB>target` lines",
            setting="layout" if bars else "",
        )
    return None


def _check_numbers(
    src: str, tgt: str, src_numbers: list[npt.NDArray[np.int64]], tgt_numbers: list[npt.NDArray[np.int64]]
) -> None:
    """Refuses Hansards files whose sentence numbers differ: such files are not parallel."""
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
