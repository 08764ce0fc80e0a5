"""Schemes of subwords: how a token shows what it stands for, and whether it begins or goes on with a word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

BLANK = "\u2581"  # SentencePiece's mark of a space
JOINER = "\uffed"  # OpenNMT's mark of a place where no space was
BYTE = re.compile("<0x([0-9A-Fa-f]{2})>")


@dataclass(frozen=True)
class Scheme:
    """How tokens are written.

    decode  token -> the bytes of text that it stands for; its blanks may stand among them
    mark    what some tokens of the scheme look like and few other words do
    holds   what a token of blanks alone is: 1 it begins the word that follows, 0 it belongs to no word
    """

    help: str
    decode: Callable[[str], bytes]
    mark: re.Pattern[str]
    holds: int = 1


def _sentencepiece(token: str) -> bytes:
    byte = BYTE.fullmatch(token)
    return token.replace(BLANK, " ").encode() if byte is None else bytes([int(byte[1], 16)])


def _alphabet() -> dict[str, int]:
    """GPT-2's letters of bytes: letter -> byte. Bytes that cannot be seen have letters from U+0100 on."""
    visible = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = [byte for byte in range(256) if byte not in visible]
    return {chr(byte): byte for byte in visible} | {chr(256 + k): byte for k, byte in enumerate(others)}


_BYTES = _alphabet()
# three bytes of one character, as in Chinese, Japanese and Thai, whose texts may have no blank, U+0120
_INNER = "".join(letter for letter, byte in _BYTES.items() if 0x80 <= byte < 0xC0)
_LONG = f"[\u00e0-\u00ef][{_INNER}][{_INNER}]"


def _byte_level(token: str) -> bytes:
    """A token with other letters, as `<|endoftext|>` may have, stands for itself."""
    found = [_BYTES.get(letter) for letter in token]
    return token.encode() if None in found else bytes(x for x in found if x is not None)


def _without_end(mark: str) -> Callable[[str], bytes]:
    """A token without the mark at its end. A token that is the mark alone stands for itself."""
    return lambda token: (token.removesuffix(mark) or token).encode()


# The first whose tokens are most like the text is taken where several could be meant.
SCHEMES = {
    "sentencepiece": Scheme(
        "`\u2581Hel lo`: \u2581 is a space, with or without one at the start; `<0x0A>` is a byte",
        _sentencepiece,
        re.compile(f"{BLANK}.+|.+{BLANK}.*|{BYTE.pattern}", re.DOTALL),
    ),
    "icu": Scheme(
        "`Hello \u2581 world`: words, and spaces as tokens of their own, which get no links",
        _sentencepiece,
        re.compile(BLANK),
        holds=0,
    ),
    "bpe": Scheme(
        "`Hel@@ lo`: subword-nmt's, @@ where a word goes on", _without_end("@@"), re.compile(".+@@")
    ),
    "bpe-end": Scheme("`Hel lo</w>`: </w> where a word ends", _without_end("</w>"), re.compile(".+</w>")),
    "wordpiece": Scheme(
        "`Hel ##lo`: BERT's, ## where a word goes on",
        lambda token: (token.removeprefix("##") or token).encode(),
        re.compile("##.+"),
    ),
    "byte-level": Scheme(
        "`\u0120Hel lo`: GPT-2's, a letter for each byte",
        _byte_level,
        re.compile(f"\u0120.*|.*{_LONG}.*", re.DOTALL),
    ),
    "joiner": Scheme(
        f"`Hel {JOINER}lo`: OpenNMT's, {JOINER} where no space was",
        lambda token: (token.strip(JOINER) or token).encode(),
        re.compile(f"{JOINER}.+|.+{JOINER}", re.DOTALL),
    ),
    "words": Scheme("tokens that stand for themselves, Moses' escapes included", str.encode, re.compile("")),
}


def likely(words: Iterable[str]) -> list[str]:
    """The schemes that some words could be of, as their marks tell, the likeliest first."""
    marked = {name: scheme for name, scheme in SCHEMES.items() if name != "words"}
    found: set[str] = set()
    for word in words:
        for name in [name for name, scheme in marked.items() if scheme.mark.fullmatch(word)]:
            found.add(name)
            del marked[name]
    if {"icu", "sentencepiece"} <= found:  # spaces are not always tokens of their own
        found.remove("icu")
    return [name for name in SCHEMES if name in found or name == "words"]
