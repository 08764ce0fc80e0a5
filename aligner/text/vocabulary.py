"""Vocabulary files of translation systems: SentencePiece's models, Marian's YAML and JSON, lines of words.

The number of a word is its place in the vocabulary. Systems read a word that is not there as the unknown one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.files import display_name, read_chunks

UNKNOWN = (b"<unk>", b"UNK")  # Marian's name of the unknown word, and that of Nematus
TEXT, KIND = 0x0A, 0x18  # tags of a SentencePiece model: a piece, or the text of a piece; the kind of a piece
UNKNOWN_KIND = 2
MOST = 1 << 24  # words
# `word: number` of YAML, where the word may be in quotes
ENTRY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'].*?)\s*:\s+([0-9]{1,18})\s*""")
ESCAPE = re.compile(r"\\(?:x(..)|U(.{8})|(.))", re.DOTALL)  # two that YAML has and JSON has not, or any other


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary:
    """The words of a vocabulary file.

    file     what messages call it
    words    number -> word; "": the number stands for no word
    unknown  the number that other words are read as; None: the vocabulary has no unknown word
    """

    file: str
    words: list[str]
    unknown: int | None

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Vocabulary({self.file}, {len(self)} words)"

    @cached_property
    def numbers(self) -> dict[str, int]:
        """word -> its number"""
        return {word: n for n, word in enumerate(self.words) if word}

    def find(self, words: Iterable[str]) -> npt.NDArray[np.int64]:
        """The number of each word, -1 for a word that is not there."""
        return np.array([self.numbers.get(word, -1) for word in words], dtype=np.int64)


def read_vocabulary(path: str, encoding: str = "utf-8") -> Vocabulary:
    """The vocabulary of a file, "-" for stdin: the kind of the file is told by its first byte and its name.

    encoding: what the bytes of words are decoded by
    """
    name, text = display_name(path), b"".join(read_chunks(path))
    if text.startswith(b"\n"):  # the first field of a SentencePiece model; no other file begins so
        numbers, unknown = _of_pieces(name, text)
    elif re.search(r"\.(?:json|yaml|yml)(?:\.[a-z0-9]+)?$", path):
        numbers, unknown = _of_entries(name, text), None
    else:
        numbers, unknown = _of_lines(name, text), None
    if not numbers:
        raise DataError("the vocabulary is empty", file=name)
    if max(numbers.values()) >= MOST:
        raise DataError(f"a word has a number above {MOST:,}", file=name, hint="is this a vocabulary?")
    words = [""] * (max(numbers.values()) + 1)
    for word, n in numbers.items():
        words[n] = _decoded(word, encoding, name)
    if unknown is None:
        unknown = next((numbers[word] for word in UNKNOWN if word in numbers), None)
    return Vocabulary(name, words, unknown)


def _decoded(word: bytes, encoding: str, name: str) -> str:
    try:
        return word.decode(encoding)
    except UnicodeDecodeError:
        raise DataError(f"the word {word!r} is not {encoding}", file=name) from None


def _of_lines(name: str, text: bytes) -> dict[bytes, int]:
    """A word a line, in the order of the numbers. What follows a blank is not looked at: a score, a count."""
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    numbers: dict[bytes, int] = {}
    for n, line in enumerate(lines):
        fields = line.split()
        if not fields:
            what, hint = "the line is empty", "a vocabulary has a word on each line"
            raise DataError(what, file=name, line=n + 1, hint=hint)
        if (before := numbers.setdefault(fields[0], n)) != n:
            what = f"the word of line {before + 1} stands here again"
            raise DataError(what, file=name, line=n + 1, hint="is this a vocabulary, a word on each line?")
    return numbers


def _of_entries(name: str, text: bytes) -> dict[bytes, int]:
    """JSON, or YAML with an entry a line, as Marian writes it"""
    try:
        lines = text.decode()
    except UnicodeDecodeError as error:
        raise DataError("invalid UTF-8", file=name, line=text.count(b"\n", 0, error.start) + 1) from None
    if lines.lstrip().startswith("{"):
        try:
            found = json.loads(lines)
        except (RecursionError, ValueError) as error:
            raise DataError(f"the file is not JSON ({error})", file=name) from None
        if not all(type(n) is int and n >= 0 for n in found.values()):
            raise DataError("the JSON is not an object of words and their numbers", file=name)
        return {word.encode("utf-8", "surrogatepass"): n for word, n in found.items()}
    entries: dict[bytes, int] = {}
    for number, line in enumerate(lines.split("\n"), 1):
        if not line.strip() or line.startswith(("#", "---")):
            continue
        if not (match := ENTRY.fullmatch(line)):
            hint = "is this a vocabulary in YAML, an entry on each line?"
            raise DataError("the line is not `word: number`", file=name, line=number, hint=hint)
        entries[_unquoted(match[1]).encode("utf-8", "surrogatepass")] = int(match[2])
    return entries


def _unquoted(word: str) -> str:
    """A key of YAML without its quotes and escapes."""
    if word.startswith("'"):
        return word[1:-1].replace("''", "'")
    if not word.startswith('"'):
        return word
    try:
        as_json = ESCAPE.sub(lambda m: _escaped(int(m[1] or m[2], 16)) if m[1] or m[2] else m[0], word)
        return str(json.loads(as_json, strict=False))
    except ValueError:
        return word[1:-1]  # an escape that neither has: the word stays as it stands


def _escaped(code: int) -> str:
    """A character as JSON escapes it."""
    return json.dumps(chr(code))[1:-1]


def _of_pieces(name: str, text: bytes) -> tuple[dict[bytes, int], int | None]:
    """A SentencePiece model: a message of protocol buffers that has the pieces, messages, too.

    Returns the number of each piece, and that of the unknown one.
    """
    numbers: dict[bytes, int] = {}
    unknown = None
    try:
        for tag, value in _fields(text):
            if tag == TEXT:
                piece = dict(_fields(value))
                unknown = len(numbers) if piece.get(KIND) == UNKNOWN_KIND else unknown
                if piece[TEXT] in numbers:  # the numbers of all later pieces would be wrong
                    raise ValueError
                numbers[piece[TEXT]] = len(numbers)
    except (IndexError, KeyError, ValueError):
        hint = "is this a vocabulary? One of lines has no empty line"
        raise DataError("damaged SentencePiece model", file=name, hint=hint) from None
    return numbers, unknown


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """(tag, value) of the fields of a message of protocol buffers. The tag tells a number from bytes."""
    value: Any
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        if tag & 7 == 0:
            value, at = _varint(message, at)
        else:
            size, at = _varint(message, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            if at + size > len(message):
                raise ValueError
            value, at = message[at : at + size], at + size
        yield tag, value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """(a number of seven bits a byte, the lowest first; where it ends)"""
    value = shift = 0
    while True:
        value |= (message[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if message[at - 1] < 0x80:
            return value, at
        if shift > 63:
            raise ValueError
