"""When two texts count as the same: exactly, after normalisation, or by their letters alone.

A tokeniser often changes text: SentencePiece normalises it (NFKC), BERT lower-cases it and takes accents off,
Moses escapes some characters. Texts are compared without their blanks, at one level after another:

    EXACT       as they are
    NORMALISED  decomposed (NFKD) in lower case, without control characters; escapes, and tokens such as `@-@`
                and `<s>`, are what they stand for
    LETTERS     also without accents, and with plain quotes and dashes
"""

from __future__ import annotations

import bisect
import itertools
import re
import unicodedata

EXACT, NORMALISED, LETTERS = LEVELS = range(3)
UNKNOWN = (
    "<unk>",
    "[UNK]",
    "<UNK>",
    "\u2047",
)  # what tokenisers write in place of characters that they do not know
NOTHING = ("[CLS]", "[SEP]", "[PAD]", "<s>", "</s>", "<pad>", "<bos>", "<eos>", "<|endoftext|>")
ESCAPES = {"apos": "'", "quot": '"', "lt": "<", "gt": ">", "amp": "&", "#124": "|", "#91": "[", "#93": "]"}
ESCAPES |= {"lrb": "(", "rrb": ")", "lsb": "[", "rsb": "]", "lcb": "{", "rcb": "}"}  # of the Penn Treebank
# Moses' escapes, also of escaped text; brackets of the Penn Treebank
ESCAPE = re.compile("(?i:&(?:amp;)*(?P<moses>apos|quot|lt|gt|amp|#124|#91|#93);|-(?P<bracket>[LR][RSC]B)-)")
DASH = re.compile("@(.)@")  # Moses' @-@
UNIT = re.compile(f"{ESCAPE.pattern}|@[-,./:]@|.", re.DOTALL)  # what becomes something else as a whole
SINGLE = "\u2018\u2019\u201a\u201b\u2032`\u00b4"
DOUBLE = '\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033"'
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
# two single quotes may stand for a double one
PLAIN = str.maketrans(dict.fromkeys(SINGLE, "'") | dict.fromkeys(DOUBLE, "''") | dict.fromkeys(DASHES, "-"))
DROPPED = {"Cc", "Cf", "Zs", "Zl", "Zp"}  # kinds of characters


def likened(token: str, level: int) -> str:
    """What is compared of a token's text, which has no blanks."""
    if level == EXACT:
        return token
    text = meant(token)
    return folded(ESCAPE.sub(_unescaped, text) if "&" in text or "-" in text else text, level)


def meant(token: str) -> str:
    """What a token stands for as a whole: nothing, or Moses' @-@."""
    dash = DASH.fullmatch(token)
    return "" if token in NOTHING else token if dash is None else dash[1]


def _unescaped(match: re.Match[str]) -> str:
    return ESCAPES[(match["moses"] or match["bracket"]).lower()]


def folded(text: str, level: int) -> str:
    """The characters of a text as they are compared. Those of each character stand one after another."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    if level == LETTERS:
        text = text.translate(PLAIN)
    if text.isascii() and text.isprintable():
        return text.replace(" ", "")
    return "".join(x for x in text if not _is_dropped(x, level))


def _is_dropped(character: str, level: int) -> bool:
    kind = unicodedata.category(character)
    return kind in DROPPED or character in "\u2581\ufffd" or level == LETTERS and kind == "Mn"


def recut(surfaces: list[bytes], escapes: bool = True) -> list[bytes]:
    """What is compared of tokens by their letters, where tokens cut characters or escapes.

    surfaces  what each token stands for, exactly
    escapes   whether escapes are what they stand for, or the characters that they are written with
    A part of a character has a part of what the character becomes, or nothing.
    """
    cuts = [0, *itertools.accumulate(map(len, surfaces))]
    made, new, at = bytearray(), [0], 0
    text = b"".join(surfaces).decode(errors="surrogateescape")
    for unit in (match[0] for match in UNIT.finditer(text)) if escapes else text:
        compared = likened(unit, LETTERS).encode(errors="surrogateescape")
        end = at + len(unit.encode(errors="surrogateescape"))
        while len(new) < len(cuts) and cuts[len(new)] < end:
            new.append(len(made) + min(cuts[len(new)] - at, len(compared)))
        made += compared
        at = end
    new += [len(made)] * (len(cuts) - len(new))
    return [bytes(made[a:b]) for a, b in itertools.pairwise(new)]


def filled(tokens: list[bytes | None], others: list[bytes]) -> list[bytes] | None:
    """The tokens of a sentence, with texts in place of None, what is unknown, that make them equal to others.

    None: there are no such texts.
    """
    return _filled(tokens, others, bare=set()) or _filled(tokens, others, bare=_bare(others))


def _bare(tokens: list[bytes]) -> set[int]:
    """Where tokens without text stand, such as an accent of its own."""
    ends = itertools.accumulate(map(len, tokens))
    return {end for token, end in zip(tokens, ends, strict=True) if not token}


def _filled(tokens: list[bytes | None], others: list[bytes], bare: set[int]) -> list[bytes] | None:
    """As filled. bare: places where what is unknown may be empty

    What is known is looked for from left to right. What is unknown is as short as that allows. Of unknown
    tokens with no text between them each has one token of the others, and the last has the rest, if any.
    """
    text = b"".join(others)
    ends = list(itertools.accumulate(map(len, others)))
    found: list[bytes] = []
    at = k = 0
    while k < len(tokens):
        run = next((n for n in range(k, len(tokens)) if tokens[n]), len(tokens))
        stop = next((n for n in range(run, len(tokens)) if tokens[n] is None), len(tokens))
        while run < stop < len(tokens) and not tokens[stop - 1]:  # blanks before what is unknown
            stop -= 1
        unknown = tokens[k:run].count(None)
        known = [token for token in tokens[run:stop] if token is not None]
        literal = b"".join(known)
        least = at + (unknown > 0 and at not in bare)
        last = len(text) - len(literal) if stop == len(tokens) else text.find(literal, least)
        if last < least or not text.startswith(literal, last) or not unknown and last > at:
            return None
        for token in tokens[k:run]:
            end = at
            if token is None:
                following = bisect.bisect(ends, at) if unknown > 1 else len(ends)
                end = min(last, ends[following]) if following < len(ends) else last
                unknown -= 1
            found.append(text[at:end])
            at = end
        found += known
        at, k = last + len(literal), stop
    return found if at == len(text) else None
