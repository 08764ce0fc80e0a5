"""Words on a terminal.

A line of a terminal has places. A character takes one place, a wide one (of Chinese or Japanese) two. A
combining mark takes none, since it stands over the character before it.
"""

from __future__ import annotations

import unicodedata

# embeddings, overrides and isolates of directions of writing, and their ends
TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def places(text: str) -> int:
    """How many places of a terminal a text takes."""
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def printable(text: str) -> str:
    """The text with as few combining marks as can be. What moves cursors, or turns lines around, becomes ?"""
    text = unicodedata.normalize("NFC", text)
    return "".join("?" if _moves(x) else x for x in text)


def _moves(character: str) -> bool:
    """Whether it is a control character, the end of a line, or the start or end of a direction of writing."""
    return unicodedata.category(character) in ("Cc", "Zl", "Zp") or (
        unicodedata.bidirectional(character) in TURNS
    )


def cut(text: str, width: int, more: str = "…") -> str:
    """A text of at most `width` places; a mark says that more follows."""
    if places(text) <= width:
        return text
    shown = ""
    for character in text:
        if places(shown + character + more) > width:
            break
        shown += character
    return shown + more
