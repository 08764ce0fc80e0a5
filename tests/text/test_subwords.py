"""Tokenisations of one text: schemes against what tokenisers print, overlaps against a slow twin."""

from __future__ import annotations

import itertools

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner import Corpus, DataError
from aligner.text import _subwords
from aligner.text.likeness import filled, recut
from aligner.text.schemes import SCHEMES, likely
from aligner.text.subwords import HeldTokens, Overlaps, Retokenised, Surfaces, TokenFile, difference

# A text, and what SentencePiece (with bytes of what it does not know; NO_PREFIX: with no space at the start),
# tokenizers (byte-level BPE and WordPiece) and sacremoses make of it. Models were trained on 20,000 lines.
TEXT = [
    "🤣 ½ ﬁne café Ⅷ №5",
    "ÉCOLE İstanbul Straße",
    "co-operate well-known 3/4 1,000.50",
    "été ô ạ́",
    "zero\u200bwidth x\u00ady nb\u00a0sp",
    "ｆｕｌｌ ｗｉｄｔｈ ～ ①",
    "it's a <tag> |x| [y]",
]
GOLDEN = {
    "sentencepiece": [
        "▁ <0xF0> <0x9F> <0xA4> <0xA3> ▁1 <0xE2> <0x81> <0x84> 2 ▁fine ▁ca f <0xC3> <0xA9> ▁ <0x56> I I I"
        " ▁No 5",
        "▁ <0xC3> <0x89> C OL E ▁ <0xC4> <0xB0> st an b ul ▁S tra <0xC3> <0x9F> e",
        "▁co - op e rate ▁well - k n own ▁3 <0x2F> 4 ▁1 ,000 . 5 0",
        "▁ <0xC3> <0xA9> t <0xC3> <0xA9> ▁ <0xC3> <0xB4> ▁ <0xE1> <0xBA> <0xA1> <0xCC> <0x81>",
        "▁zero ▁w id th ▁ x <0xC2> <0xAD> y ▁ n b ▁sp",
        "▁full ▁w id th ▁ <0xEF> <0xBD> <0x9E> ▁1",
        "▁it ' s ▁a ▁ <0x3C> t ag <0x3E> ▁ <0x7C> x <0x7C> ▁ <0x5B> y <0x5D>",
    ],
    "byte-level": [
        "ð Ł ¤ £ Ġ Â ½ Ġ ï ¬ ģ ne Ġc af Ã © Ġ â ħ § Ġ â Ħ ĸ 5",
        "Ã ī C O L E Ġ Ä ° st an b ul ĠS tra Ã Ł e",
        "c o - op er ate Ġwell - know n Ġ3 / 4 Ġ1 , 000 . 5 0",
        "Ã © t Ã © Ġ Ã ´ Ġ á º ¡ Ì ģ",
        "z er o â Ģ ĭ w id th Ġ x Â Ń y Ġn b Â ł sp",
        "ï ½ Ĩ ï ½ ķ ï ½ Į ï ½ Į Ġ ï ½ Ĺ ï ½ ī ï ½ Ħ ï ½ Ķ ï ½ Ī Ġ ï ½ ŀ Ġ â ĳ ł",
        "it ' s Ġa Ġ < t ag > Ġ | x | Ġ [ y ]",
    ],
    "wordpiece": [
        "[CLS] [UNK] [UNK] [UNK] ca ##fe [UNK] [UNK] [SEP]",
        "[CLS] e ##c ##ol ##e is ##ta ##n ##bu ##l [UNK] [SEP]",
        "[CLS] co - oper ##ate well - known 3 / 4 1 , 000 . 50 [SEP]",
        "[CLS] e ##te o a [SEP]",
        "[CLS] z ##er ##ow ##id ##th x ##y n ##b sp [SEP]",
        "[CLS] [UNK] [UNK] [UNK] [UNK] [SEP]",
        "[CLS] it ' s a [UNK] ta ##g [UNK] [UNK] x [UNK] [UNK] y ] [SEP]",
    ],
}
NO_PREFIX = [
    "🤣 ▁1 ⁄ 2 ▁f ine ▁c af é ▁V I I I ▁No 5",
    "É C O L E ▁ İ st an b ul ▁S tr a ß e",
    "c o - op er ate ▁well - know n ▁3 / 4 ▁1 ,000 .5 0",
    "é t é ▁ ô ▁ ạ́",
    "z er o ▁w id th ▁ x \u00ad y ▁n b ▁sp",
    "f ull ▁w id th ▁ ～ ▁1",
    "it ' s ▁a ▁ < t ag > ▁ | x | ▁ [ y ]",
]
MOSES = ["it &apos;s a &lt; tag &gt; &#124; x &#124; &#91; y &#93;", "co @-@ operate"]


def side(lines: list[str]):
    return Corpus.from_pairs([(line, "") for line in lines]).src


def mapped(old: list[str], new: list[str], *schemes: str | None) -> tuple[list[list[list[int]]], Retokenised]:
    """(for each sentence, old token -> new tokens; the tokenisations)"""
    sides = side(old), side(new)
    tokens = [
        HeldTokens(x, name, scheme=s) for x, name, s in zip(sides, "ab", schemes or (None, None), strict=True)
    ]
    both = Retokenised(*tokens)
    overlaps = both.take(len(old))
    found = []
    for n in range(len(old)):
        one = overlaps.part(n, n + 1)
        real = np.flatnonzero(one.back_first < one.back_stop)
        found.append([[int(x) for x in real if a <= x < b] for a, b in zip(one.first, one.stop, strict=True)])
    return found, both


@pytest.mark.parametrize("scheme", GOLDEN)
def test_golden(scheme):
    """Words of the text and tokens of a tokeniser: a word's pieces end where the next word starts."""
    there, both = mapped(TEXT, GOLDEN[scheme])
    assert (both.old.scheme, both.new.scheme) == ("words", scheme)
    back, _ = mapped(GOLDEN[scheme], TEXT)
    for n, (words, pieces) in enumerate(zip(there, back, strict=True)):
        tokens = GOLDEN[scheme][n].split()
        nothing = [k for k, token in enumerate(tokens) if token in ("[CLS]", "[SEP]")]
        assert [k for k, to in enumerate(pieces) if to == []] == nothing
        assert all(words), TEXT[n]
        assert sorted({k for to in words for k in to} | {*nothing}) == [*range(len(tokens))]
        for i, to in enumerate(words):
            assert all(i in pieces[k] for k in to)
            if scheme == "sentencepiece" and "\u200b" not in TEXT[n] and "\u00a0" not in TEXT[n]:
                assert to == [k for k in range(len(tokens)) if _word(tokens, k) == i]


def test_no_space_at_the_start():
    there, both = mapped(TEXT, NO_PREFIX)
    assert both.new.scheme == "sentencepiece"
    assert there[0] == [[0], [1, 2, 3], [4, 5], [6, 7, 8], [9, 10, 11, 12], [13, 14]]
    assert there[3] == [[0, 1, 2], [3, 4], [5, 6]]
    other, _ = mapped(NO_PREFIX, GOLDEN["sentencepiece"])
    assert other[0][:5] == [[0, 1, 2, 3, 4], [5], [6, 7, 8], [9], [10]]


def _word(tokens: list[str], k: int) -> int:
    return sum(token.startswith("▁") for token in tokens[: k + 1]) - 1


@pytest.mark.parametrize("scheme", GOLDEN)
def test_from_one_tokeniser_to_another(scheme):
    for other in GOLDEN:
        # two sides that both have what the other does not know cannot be compared
        some = slice(2, 5, 2) if "wordpiece" in (scheme, other) and scheme != other else slice(None)
        there, _ = mapped(GOLDEN[scheme][some], GOLDEN[other][some])
        if scheme == other:  # exactly the same: even [CLS] is a token like others
            assert there[3] == [[k] for k in range(len(GOLDEN[scheme][3].split()))]


def test_moses():
    raw = ["it's a <tag> |x| [y]", "co-operate"]
    there, _ = mapped(MOSES, raw)
    assert there[0] == [[0], [0], [1], [2], [2], [2], [3], [3], [3], [4], [4], [4]]
    assert there[1] == [[0], [0], [0]]
    cut = ["it &@@ apos@@ ;s a &@@ lt; t@@ ag &gt; &#@@ 124; x &#124; &#91; y &#93;", "co @-@ oper@@ ate"]
    assert mapped(raw, cut)[0][0][:3] == [[0, 1, 2, 3], [4], [5, 6, 7, 8, 9]]


@pytest.mark.parametrize(
    ("scheme", "line", "pieces"),
    [
        ("bpe", "Hel@@ lo wor@@ ld @ @@", [[0, 1], [2, 3], [4], [5]]),
        ("bpe-end", "Hel lo</w> wor ld</w> @</w> @@</w>", [[0, 1], [2, 3], [4], [5]]),
        ("sentencepiece", "▁Hel lo ▁ world ▁@ ▁@@", [[0, 1], [2, 3], [4], [5]]),
        ("sentencepiece", "Hel lo ▁world ▁@ ▁@ @", [[0, 1], [2], [3], [4, 5]]),
        ("sentencepiece", "Hel lo▁ world▁ @▁ @@ ▁", [[0, 1], [2], [3], [4, 5]]),
        ("wordpiece", "hel ##lo world @ @ @", [[0, 1], [2], [3], [4, 5]]),
        ("byte-level", "Hel lo Ġworld Ġ@ Ġ@ @", [[0, 1], [2], [3], [4, 5]]),
        ("joiner", "Hel ￭lo world @ @￭ @", [[0, 1], [2], [3], [4, 5]]),
        ("icu", "Hello ▁ world ▁ @ ▁ @@", [[0], [2], [4], [6]]),
        ("words", "He llo world @ @@", [[0, 1], [2], [3], [4]]),
    ],
)
def test_schemes(scheme, line, pieces):
    there, both = mapped(["Hello world @ @@"], [line])
    assert there == [pieces] and both.new.scheme == scheme
    assert mapped(["Hello world @ @@"], [line], "words", scheme)[0] == [pieces]
    if not line.endswith(" ▁"):  # it belongs to the word before it, and so to the last piece
        same = [[] if scheme == "icu" and token == "▁" else [k] for k, token in enumerate(line.split())]
        assert mapped([line], [line], scheme, scheme)[0] == [same]


def test_marks_of_other_schemes_are_words():
    """A hashtag in a text makes no WordPiece of it: the scheme that fits the other file is taken."""
    words, pieces = ["see ##tag and a@@ Ġ", "the end"], ["se@@ e ##@@ tag and a@@@@ Ġ", "th@@ e end"]
    there, both = mapped(words, pieces)
    assert (both.old.scheme, both.new.scheme) == ("words", "bpe")
    assert there == [[[0, 1], [2, 3], [4], [5], [6]], [[0, 1], [2]]]
    assert likely(["##tag", "a@@"]) == ["bpe", "wordpiece", "words"]


@pytest.mark.parametrize(
    ("scheme", "line", "pieces"),
    [
        ("sentencepiece", "日 本 <0xE8> <0xAA> <0x9E>", [[0, 1], [2, 3, 4]]),
        ("byte-level", "æĹ¥ æľ ¬ èªŀ", [[0, 1, 2], [3]]),
    ],
)
def test_text_without_blanks(scheme, line, pieces):
    """Bytes tell the scheme where no blank does."""
    there, both = mapped(["日本 語"], [line])
    assert there == [pieces] and both.new.scheme == scheme
    assert likely(["«LIBERTÉ»", "ģimene", "déjà", "x"]) == ["words"]


surfaces = st.lists(st.tuples(st.text("ab", max_size=3), st.sampled_from([-1, 0, 1])), max_size=8)


@given(data=st.data(), n_threads=st.sampled_from([1, 2]))
def test_overlaps(data, n_threads):
    """Sentences cut twice, with empty tokens here and there, and some whose texts differ."""
    sentences = []
    for _ in range(data.draw(st.integers(1, 4))):
        first = data.draw(surfaces)
        text = "".join(x for x, _ in first)
        if data.draw(st.booleans()):
            sentences.append((first, data.draw(surfaces)))
            continue
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        sentences.append((first, [(piece, data.draw(st.sampled_from([-1, 0, 1]))) for piece in pieces]))
    check_overlaps(sentences, n_threads)


def test_overlaps_of_all_short_sentences():
    """Letters, blanks, marks and nothings: up to four tokens in one tokenisation, three in the other."""
    kinds = [("a", 0), ("", 1), ("", -1), ("", 0)]
    lines = [line for n in range(5) for line in itertools.product(kinds, repeat=n)]
    sentences = [
        (a, b) for a in lines for b in lines if len(b) < 4 and a.count(kinds[0]) == b.count(kinds[0])
    ]
    check_overlaps(sentences, n_threads=2)


def check_overlaps(sentences, n_threads):
    """Compares the kernel with the slow twin. sentences: two tokenisations of each, of (surface, hold)"""
    arrays, ranges = [], []
    for k in range(2):
        tokens = [token for sentence in sentences for token in sentence[k]]
        starts = np.cumsum([0, *(len(x) for x, _ in tokens)], dtype=np.int64)
        offsets = np.cumsum([0, *(len(sentence[k]) for sentence in sentences)], dtype=np.int64)
        holds = np.array([hold for _, hold in tokens], dtype=np.int8)
        text = "".join(x for x, _ in tokens).encode()
        arrays.append((np.arange(len(tokens), dtype=np.int32), offsets, text, starts, holds))
        ranges += [np.full(len(tokens), -1, dtype=np.int32) for _ in range(2)]
    matched = np.zeros(len(sentences), dtype=np.uint8)
    _subwords.match(*arrays, matched, *ranges, n_threads)
    for n, pair in enumerate(sentences):
        texts = ["".join(x for x, _ in tokens) for tokens in pair]
        assert matched[n] == (texts[0] == texts[1])
        if not matched[n]:
            continue
        covered = [oracle.slots([x.encode() for x, _ in t], [hold for _, hold in t]) for t in pair]
        for k, (own, other) in enumerate((covered, covered[::-1])):
            at = arrays[k][1][n]
            for token, slots in enumerate(own):
                a, b = (int(ranges[2 * k + end][at + token]) for end in range(2))
                assert {x for x in range(a, b) if other[x]} == {x for x, y in enumerate(other) if slots & y}
                assert a == b or other[a] and other[b - 1]


def test_a_kernel_looks_at_what_it_is_given():
    def arrays(ids, offsets, text=b"ab", starts=(0, 1, 2), holds=(0, 0)):
        kinds = ((ids, np.int32), (offsets, np.int64), (starts, np.int64), (holds, np.int8))
        a, b, c, d = (np.array(x, dtype=kind) for x, kind in kinds)
        return a, b, text, c, d

    good, one, two = arrays([0, 1], [0, 2]), np.zeros(1, np.uint8), [np.zeros(2, np.int32) for _ in range(4)]
    _subwords.match(good, good, one, *two, 1)
    for bad in (
        arrays([0, 2], [0, 2]),
        arrays([0, -1], [0, 2]),
        arrays([0, 1], [0, 3]),
        arrays([0, 1], [2, 0]),
        arrays([0, 1], [0, 2], starts=(0, 1, 3)),
        arrays([0, 1], [0, 2], starts=(0, 2)),
        arrays([0, 1], [0, 1, 2]),
    ):
        with pytest.raises(ValueError):
            _subwords.match(good, bad, one, *two, 1)
    for more in ((good, good, one, *two, 0), (good, good, np.zeros(2, np.uint8), *two, 1)):
        with pytest.raises(ValueError):
            _subwords.match(*more)
    with pytest.raises(ValueError, match="a first and a stop"):
        _subwords.match(good, good, one, *two[:3], np.zeros(1, np.int32), 1)


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        (b"thecolour", b"thecolor", (7, 1, 0)),
        (b"abc", b"abd", (2, 1, 1)),
        (b"", b"abc", (0, 0, 3)),
        (b"xaaaaaaaaaybbbbbbbbb", b"xaaaaaaaaazzbbbbbbbbb", (10, 1, 2)),
        (b"ab" * 300, b"cd" * 300 + b"b", (0, 599, 600)),
    ],
)
def test_shortest_difference(a, b, found):
    assert difference(a, b) == found


def test_texts_that_differ(write):
    old, new = write("old", "a b\nthe colour of it\n"), write("new", "a b\nthe col@@ or  of it\n")
    both = Retokenised(TokenFile(old), TokenFile(new))
    with pytest.raises(DataError) as error:
        both.take(10)
    message = str(error.value)
    assert message.startswith(f'{new}:2:11: the text is not that of {old}, line 2: "or" here, "colour" there')
    assert "read as words and bpe" in message
    wrapped = [
        write(f"w{n}", f"<s snum=1> the {text} </s>\n") for n, text in enumerate(("colour", "col@@ or"))
    ]
    with pytest.raises(DataError, match='w1:1:22: .* "or" here, "colour" there'):
        Retokenised(*map(TokenFile, wrapped)).take(10)
    new = write("new", "a b\nthe colour of\n")
    huge = write("huge", "a " + "b" * 1000 + "\n")
    with pytest.raises(DataError, match=rf'"{"b" * 60} ..." here, nothing there'):
        Retokenised(TokenFile(old), TokenFile(huge)).take(10)
    with pytest.raises(DataError, match=r'new:2:12: .* nothing here, "it" there'):
        Retokenised(TokenFile(old), TokenFile(new)).take(10)


@given(cuts=st.lists(st.integers(0, 60), max_size=8))
def test_characters_that_are_cut(cuts):
    text = "ﬁne &amp;apos; É @-@ x\u200b½".replace(" ", "").encode()
    ends = sorted({min(cut, len(text)) for cut in cuts} | {len(text)})
    pieces = [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    assert b"".join(recut(pieces)) == b"".join(recut([text])) == "fine'e-x1⁄2".encode()
    assert b"".join(recut(pieces, escapes=False)) == "fine&amp;apos;e@-@x1⁄2".encode()


def test_unknown_tokens():
    assert filled([b"a", None, b"d"], [b"ab", b"cd"]) == [b"a", b"bc", b"d"]
    assert filled([None, None, b"d"], [b"a", b"bc", b"d"]) == [b"a", b"bc", b"d"]
    assert filled([None, None, None], [b"ab"]) == [b"ab", b"", b""]
    assert filled([b"a", None], [b"a"]) is None and filled([b"b", None], [b"ab"]) is None
    assert filled([None, b"x", b"y"], [b"axy"]) == [b"a", b"x", b"y"]
    assert filled([b"", None, b"", None], [b"ab", b"cd"]) == [b"", b"ab", b"", b"cd"]
    assert filled([None, b"", b"a", b"", b""], [b"a", b"a"]) == [b"a", b"", b"a", b"", b""]
    assert filled([b"a", None, b"b"], [b"a", b"b"]) is None
    assert filled([b"a", None, b"b"], [b"a", b"", b"b"]) == [b"a", b"", b"b"]


def test_unknown_tokens_among_blanks_and_accents():
    """`<unk>` behind a blank of its own is one word; `[UNK]` may be an accent that has no letters."""
    assert mapped(["le ÉTÉ ÔTÉ"], ["▁le ▁ <unk> ▁ <unk>"])[0] == [[[0], [1, 2], [3, 4]]]
    assert mapped(["le ÉTÉ ÔTÉ la"], ["le▁ <unk> ▁ <unk> ▁ la▁"])[0] == [[[0], [1], [2, 3], [4, 5]]]
    assert mapped(["système \u00a8 vrai"], ["syst ##eme [UNK] vrai"])[0][0][1:] == [[1, 2], [3]]


def test_words_are_remembered_up_to_a_number(write, monkeypatch):
    monkeypatch.setattr("aligner.text.reading.MOST_WORDS", 3)
    old = write("old", "".join(f"word{n} and\n" for n in range(30)))
    new = write("new", "".join(f"wo@@ rd{n} and\n" for n in range(30)))
    both = Retokenised(TokenFile(old), TokenFile(new))
    for n in (1, 5, 7, 17, 2):
        found = both.take(n)
        n = min(n, len(found.old) - 1)
        assert found.first.tolist() == [0, 2] * n and found.stop.tolist() == [2, 3] * n
    assert len(both.old.words) <= 40 and both.old.count() == both.new.count() == 30


def test_surfaces_grow_with_the_vocabulary():
    small, large = side(["a b"]).vocab, side(["a b É"]).vocab
    surfaces = Surfaces("words")
    assert surfaces.arrays(small, 0)[0] == b"ab"
    assert surfaces.arrays(large, 0)[0] == "abÉ".encode() and surfaces.arrays(large, 2)[0] == b"abe"
    assert set(SCHEMES) >= set(GOLDEN)


def test_sides_that_stay():
    same = Overlaps.same(side(["a b", "", "c"]))
    assert same.first.tolist() == [0, 1, 0] and same.stop.tolist() == [1, 2, 1]
