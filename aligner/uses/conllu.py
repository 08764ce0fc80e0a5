"""CoNLL-U: annotated sentences, read one by one and written as they were read, to the byte.

A sentence has comments and lines of ten columns: words with ids 1, 2, ..., multiword tokens such as `3-4`,
and empty nodes such as `5.1`. Only words count for links. All other lines are passed on as they are.
Tokenised text, one sentence a line, is read as sentences whose words have no annotation.
https://universaldependencies.org/format.html
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator

from aligner.errors import DataError, number_of
from aligner.files import SUFFIX, display_name, read_chunks
from aligner.text.blanks import Splitter
from aligner.text.reading import text_blocks

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
NOTHING = "_"  # what an empty column has
NO_HEAD = -1  # of a word whose HEAD is empty
NUMBERS = [str(n) for n in range(1024)]
NUMBER = re.compile(r"[1-9][0-9]{0,8}")
OTHER_ID = re.compile(r"(0|[1-9][0-9]{0,8})([-.])([1-9][0-9]{0,8})")
TOKEN = re.compile(
    rb"(?:1|1-[1-9]\d*|0\.1)\t(?:[^\t\n]+\t){8}[^\t\n]+$"
)  # the first line of a sentence's tokens


class Sentence:
    """A sentence of a file.

    words   a list of ten columns for each word, which may be changed
    places  word -> its place in lines
    lines   all lines of the sentence, comments first, as they were read
    file    what messages call the file
    line    the number, from 1, of the first line in the file
    plain   whether it is a line of text, without annotation
    newline, end  what ends a line, and the last one: an empty line, too, but perhaps not in the last sentence
    """

    __slots__ = ("end", "file", "line", "lines", "newline", "places", "plain", "words")

    def __init__(
        self,
        words: list[list[str]],
        places: list[int],
        lines: list[str],
        file: str = "<text>",
        line: int = 1,
        newline: str = "\n",
        plain: bool = False,
    ) -> None:
        self.words, self.places, self.lines = words, places, lines
        self.file, self.line, self.plain = file, line, plain
        self.newline, self.end = newline, 2 * newline

    def __len__(self) -> int:
        """How many words links count."""
        return len(self.words)

    def __repr__(self) -> str:
        return f"Sentence({' '.join(row[FORM] for row in self.words)})"

    def text(self) -> str:
        """The sentence as the file has it, with what was changed in its words."""
        lines = self.lines.copy()
        for place, row in zip(self.places, self.words, strict=True):
            lines[place] = "\t".join(row)
        return self.newline.join(lines) + self.end

    def column(self, column: int) -> list[str]:
        """What the words have in a column."""
        return [row[column] for row in self.words]

    def comment(self, name: str) -> str | None:
        """The first comment `# name = ...`, whole; None: there is none."""
        return next((line for line in self.lines if re.match(rf"#\s*{name}\s*=", line)), None)

    def has_multiword(self) -> bool:
        """Whether there are multiword tokens."""
        return any("-" in line.partition("\t")[0] for line in self.lines if line[:1] != "#")

    def error(self, what: str, word: int | None = None, hint: str | None = None) -> DataError:
        """What is wrong with the sentence, or with one of its words."""
        line = self.line + (0 if word is None else self.places[word])
        return DataError(what, file=self.file, line=line, hint=hint)

    def heads(self) -> list[int]:
        """The head of each word: 0 for the root, from 1 on for words, NO_HEAD where HEAD is empty.

        Refuses heads that are no words, two roots, and cycles.
        """
        n = len(self.words)
        heads = []
        root = None
        for k, row in enumerate(self.words):
            text = row[HEAD]
            if text == NOTHING:
                heads.append(NO_HEAD)
                continue
            head = int(text) if text == "0" or NUMBER.fullmatch(text) else NO_HEAD
            if not 0 <= head <= n or head == k + 1:
                what = "the word itself" if head == k + 1 else f"no word of the sentence, which has {n}"
                raise self.error(f"HEAD {text!r} is {what}", k, "a head is 0, the root, or the ID of another")
            if head == 0:
                if root is not None:
                    ids = f"words {root + 1} and {k + 1}"
                    raise self.error(f"two roots: {ids} have HEAD 0", k, "a sentence has one root")
                root = k
            heads.append(head)
        cycle = cycle_of(heads)
        if cycle:
            path = " -> ".join(map(str, [*cycle, cycle[0]]))
            raise self.error(f"the heads are a cycle: {path}", cycle[0] - 1, "heads must be a tree")
        return heads


def cycle_of(heads: list[int]) -> list[int]:
    """The words, from 1 on, of a cycle of heads, from its first word on; none: heads are a forest."""
    seen = [0] * (len(heads) + 1)  # the walk that passed a word first
    for start in range(1, len(heads) + 1):
        word = start
        while word > 0 and not seen[word]:
            seen[word] = start
            word = heads[word - 1]
        if word > 0 and seen[word] == start:
            cycle = [word]
            while heads[cycle[-1] - 1] != word:
                cycle.append(heads[cycle[-1] - 1])
            first = cycle.index(min(cycle))
            return cycle[first:] + cycle[:first]
    return []


def read_conllu(path: str, *, encoding: str = "utf-8", split: str = "ascii") -> Iterator[Sentence]:
    """The sentences of a CoNLL-U file, or of tokenised text, one sentence a line; "-" is stdin.

    A file is CoNLL-U if its name ends in .conllu, or if its first line that is neither empty nor a comment
    has ten columns.
    split: where words of text end, as of read_corpus
    """
    chunks = read_chunks(path, encoding)
    head, rest = first_lines(chunks)
    whole = itertools.chain([head], rest)
    return (
        read_sentences(whole, path) if is_conllu(path, head) else _plain(whole, path, Splitter(path, split))
    )


def is_conllu(path: str, head: bytes) -> bool:
    """Whether a file is CoNLL-U. head: how it begins"""
    stem, ending = os.path.splitext(path)
    if ending.lower() in SUFFIX:
        ending = os.path.splitext(stem)[1]
    lines = (line.removesuffix(b"\r") for line in head.split(b"\n"))
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return ending.lower() == ".conllu" or TOKEN.match(first) is not None


def first_lines(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """(how a file begins: up to a whole line that is neither empty nor a comment, the chunks after it)"""
    head = b""
    for chunk in chunks:
        head += chunk
        *lines, _ = head.split(b"\n")
        if any(line.rstrip(b"\r") and not line.startswith(b"#") for line in lines):
            break
    return head, chunks


def _plain(chunks: Iterator[bytes], path: str, splitter: Splitter) -> Iterator[Sentence]:
    """A sentence a line of text. A line without words is a sentence that has a comment only."""
    for text, _, n_before in text_blocks(chunks, path, splitter):
        for n, line in enumerate(text.decode().split("\n")[:-1]):
            words = line.removesuffix("\r").replace("\t", " ").split(" ")
            yield plain_sentence([word for word in words if word], display_name(path), n_before + n + 1)
    splitter.warn()


def plain_sentence(words: list[str], file: str = "<text>", line: int = 1) -> Sentence:
    """Words without annotation, below a comment that has the text."""
    rows = [[str(k), word, *[NOTHING] * 8] for k, word in enumerate(words, 1)]
    lines = [f"# text = {' '.join(words)}".rstrip(), *[""] * len(rows)]
    return Sentence(rows, list(range(1, len(lines))), lines, file, line, plain=True)


def read_sentences(chunks: Iterator[bytes], path: str) -> Iterator[Sentence]:
    """The sentences of CoNLL-U. What ends the last one is as the file has it.

    chunks: of the file that messages call path
    """
    last = b""

    def remembered() -> Iterator[bytes]:
        nonlocal last
        for chunk in chunks:
            last = chunk[-1:] or last
            yield chunk

    file = display_name(path)
    lines: list[str] = []  # of a sentence
    before: Sentence | None = None  # the sentence before, which is given away when the next one begins
    n_blank = number = 0  # empty lines since the sentence; lines
    for text, _, _ in text_blocks(remembered(), path):
        for line in text.decode().split("\n")[:-1]:
            number += 1
            if line and line != "\r":
                if not lines:
                    if n_blank > (before is not None):
                        what = "an empty line that ends no sentence"
                        raise DataError(what, file=file, line=number - 1, hint="take the line out")
                    if before is not None:
                        yield before
                    before, n_blank = None, 0
                lines.append(line)
            else:
                n_blank += 1
                if lines:
                    before = parsed(lines, file, number - len(lines))
                    lines = []
    if lines:
        if lines[0].endswith("\r") and last not in b"\r\n":
            lines[-1] += "\r"  # the only line without an end
        before = parsed(lines, file, number - len(lines) + 1)
        before.end = before.newline
    elif before is not None:
        before.end = before.newline * (1 + n_blank)
    if before is not None:
        if last != b"\n":
            before.end = before.end.removesuffix("\n" if last == b"\r" else before.newline)
        yield before


def parsed(lines: list[str], file: str = "<text>", line: int = 1) -> Sentence:
    """The sentence of some lines. file, line: where they are from, for messages"""
    newline = "\n"
    if lines[0].endswith("\r"):
        newline = "\r\n"
        for k, text in enumerate(lines):
            if not text.endswith("\r"):
                raise _mixed(file, line + k)
        lines = [text[:-1] for text in lines]
    words: list[list[str]] = []
    places: list[int] = []
    n = n_more = last = (
        0  # words so far; lines that are neither words nor comments; the end of a multiword token
    )
    for k, text in enumerate(lines):
        row = text.split("\t")
        if len(row) == 10 and row[0] == (NUMBERS[n + 1] if n < 1023 else str(n + 1)) and "" not in row:
            if row[9][-1] == "\r":
                raise _mixed(file, line + k)
            n += 1
            words.append(row)
            places.append(k)
            continue
        if text.startswith("#") and not n and not n_more:
            continue
        last = _other(row, n, last, file, line + k)
        n_more += 1
    if last > n:
        what = f"the sentence has {number_of(n, 'word')}, and a multiword token up to {last}"
        raise DataError(what, file=file, line=line + len(lines) - 1, hint="its words must follow")
    return Sentence(words, places, lines, file, line, newline)


def _mixed(file: str, line: int) -> DataError:
    hint = "convert the file to one kind of line ends"
    return DataError(
        "the sentence has lines that end in CR LF and others in LF", file=file, line=line, hint=hint
    )


def _other(row: list[str], n: int, last: int, file: str, line: int) -> int:
    """Checks a line that is no word: a multiword token or an empty node after word n.

    last: where the multiword token before ends. Returns where the last one ends
    """
    if len(row) != 10:
        if row[0].startswith("#"):
            raise DataError("a comment among the words", file=file, line=line, hint="comments stand first")
        found = f"{number_of(len(row), 'column')} where CoNLL-U has 10"
        hint = "columns end at tabs, not at spaces" if len(row) == 1 else "an empty column is `_`"
        if len(row) == 1 and not row[0].strip():
            found, hint = "a line of blanks", "the line that ends a sentence is empty"
        raise DataError(found, file=file, line=line, hint=hint)
    if "" in row:
        empty = COLUMNS[row.index("")]
        raise DataError(f"column {empty} is empty", file=file, line=line, hint="an empty column is `_`")
    match = OTHER_ID.fullmatch(row[0])
    if match is not None:
        first, end = int(match[1]), int(match[3])
        if match[2] == "-" and first == n + 1 > last and end > first:
            return end
        if match[2] == "." and first == n:
            return last
    raise DataError(
        f"ID {row[0]!r} where word {n + 1} is next",
        file=file,
        line=line,
        hint="words count 1, 2, 3 in each sentence; an empty line ends a sentence",
    )
