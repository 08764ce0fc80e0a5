"""Sentences as eflomal sees them: words end at any blanks of Unicode, and may be lower-cased and cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aligner.errors import DataError
from aligner.text.corpus import Corpus


@dataclass(frozen=True)
class Sight:
    """What is seen of words.

    prefix, suffix  only so many letters, from the left or from the right; 0: all of the word
    lowercase       words are lower-cased
    """

    prefix: int = 0
    suffix: int = 0
    lowercase: bool = True

    def __post_init__(self) -> None:
        if (least := min(self.prefix, self.suffix)) < 0:
            raise DataError(f"words cannot be cut to {least} letters", hint="0 means all letters")

    @property
    def cuts(self) -> bool:
        return bool(self.prefix or self.suffix)

    def word(self, word: str) -> str:
        """What is seen of a word."""
        return self._cut(word.lower() if self.lowercase else word)

    def words(self, line: str) -> list[str]:
        """What is seen of the words of a line."""
        words = (line.lower() if self.lowercase else line).split()
        return [self._cut(word) for word in words] if self.cuts else words

    def _cut(self, word: str) -> str:
        if self.prefix:
            return word[: self.prefix]
        return word[-self.suffix :] if self.suffix else word


AS_IS = Sight(lowercase=False)


def name_of(lines: Iterable[str], other: str) -> str:
    """What messages call lines: the name of their file, if they have one."""
    name = getattr(lines, "name", None)
    return name if isinstance(name, str) else other


def corpus_of(src: Iterable[str], tgt: Iterable[str], sights: tuple[Sight, Sight] = (AS_IS, AS_IS)) -> Corpus:
    """The lines of two sides as sentence pairs. sights: what is seen of the words of each side"""
    sides = [
        [" ".join(sight.words(line)) for line in side] for side, sight in zip((src, tgt), sights, strict=True)
    ]
    if len(sides[0]) != len(sides[1]):
        raise DataError(
            f"{name_of(src, 'the source')} has {len(sides[0])} sentences,"
            f" {name_of(tgt, 'the target')} has {len(sides[1])}",
            hint="they must match line by line",
        )
    return Corpus.from_pairs(zip(*sides, strict=True))
