"""A3 files of GIZA++: a worked example, round trips, words that look like signs, parts, what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner import DataError, LinkReader, Links, format_links
from aligner.links.formats.giza import format_a3
from aligner.text.corpus import Corpus

pytestmark = pytest.mark.usefixtures("blocks")

EXAMPLE = """\
# Sentence pair (1) source length 2 target length 3 alignment score : 0.0123
la maison bleue\x20
NULL ({ 1 }) house ({ 2 }) blue ({ 3 })\x20
# Sentence pair (2) source length 3 target length 3 alignment score : 2.5e-310
}) 2 #\x20
NULL ({ }) ({ ({ 1 3 }) NULL ({ }) }) ({ 2 })\x20
"""
PAIRS = [("house blue", "la maison bleue"), ("({ NULL })", "}) 2 #")]
LINKS = [[(0, 1), (1, 2)], [(0, 0), (0, 2), (2, 1)]]


@pytest.fixture
def text():
    return Corpus.from_pairs(PAIRS)


def swapped(text: Corpus) -> Corpus:
    return Corpus(text.tgt, text.src)


def test_worked_example(write, text):
    for variant in (
        EXAMPLE,
        EXAMPLE.replace("\n", "\r\n"),
        EXAMPLE.rstrip("\n"),
        EXAMPLE.replace(" \n", "\n"),
    ):
        reader = LinkReader(write("links", variant), text=text)
        assert reader.read().pairs() == LINKS
        assert (reader.format, reader.base, reader.n_scored) == ("a3", 1, 2)


def test_reverse_is_read_with_sides_swapped(write, text):
    path = write("links", EXAMPLE)
    turned = [[(j, i) for i, j in sentence] for sentence in LINKS]
    for reader in (
        LinkReader(path, "a3-reverse", text=swapped(text)),
        LinkReader(path, "a3", text=swapped(text), reverse=True),
        LinkReader(path, text=swapped(text), reverse=True),
    ):
        assert reader.read().pairs() == turned
        assert reader.format == "a3-reverse"


def test_what_is_read_is_written(text):
    """Byte for byte. NULL takes the words that have no link."""
    links = Links.from_pairs(LINKS)
    assert format_a3(links, text.src, text.tgt, scores=np.array([0.0123, 2.5e-310])).decode() == EXAMPLE
    plain = re.sub("score : .*", "score : 1", EXAMPLE)
    assert format_links(links, "a3", text=text).decode() == plain
    assert format_links(links.transposed(), "a3-reverse", text=swapped(text)).decode() == plain


@pytest.mark.parametrize("score", [0.0, 1.0, 0.1, 1e-5, 1e-4, 123456.0, 1234567.0, 1 / 3, 5e-324, 2.5e-17])
def test_scores_have_six_digits_as_in_c(text, score):
    written = format_a3(Links.from_pairs([[]]), *(s.part(0, 1) for s in (text.src, text.tgt)),
                        scores=np.array([score]))  # fmt: skip
    assert f"score : {score:g}\n" in written.decode()


def test_numbers_are_those_given(text):
    written = format_a3(Links.from_pairs(LINKS), text.src, text.tgt, numbers=np.array([7, 1234567890123]))
    assert re.findall(r"\((\d+)\)", written.decode()) == ["7", "1234567890123"]


word = st.text(st.sampled_from("ab({})#NULL19é\u00a0"), min_size=1, max_size=5) | st.sampled_from(
    ["({", "})", "NULL", "#", "1"]
)


@st.composite
def aligned(draw):
    """Sentence pairs, empty sides too, and at most one link a target word."""
    pairs = draw(st.lists(st.tuples(st.lists(word, max_size=4), st.lists(word, max_size=4)), max_size=5))
    links = []
    for src, tgt in pairs:
        by = draw(st.lists(st.integers(-1, len(src) - 1), min_size=len(tgt), max_size=len(tgt)))
        links.append(sorted((i, j) for j, i in enumerate(by) if i >= 0))
    return pairs, links


@given(case=aligned())
def test_round_trip(tmp_path_factory, case):
    """Also against a slow twin that writes."""
    pairs, links = case
    text = Corpus.from_pairs(pairs)
    lines = []
    for n, ((src, tgt), linked) in enumerate(zip(pairs, links, strict=True), 1):
        by = {j: i for i, j in linked}
        units = [
            f"{w} ({{ {''.join(f'{j + 1} ' for j in range(len(tgt)) if by.get(j, -1) == i)}}}) "
            for i, w in enumerate(["NULL", *src], -1)
        ]
        lines += [
            f"# Sentence pair ({n}) source length {len(src)} target length {len(tgt)} alignment score : 1\n",
            "".join(w + " " for w in tgt) + "\n",
            "".join(units) + "\n",
        ]
    written = bytes(format_links(Links.from_pairs(links), "a3", text=text))
    assert written.decode() == "".join(lines)
    path = tmp_path_factory.getbasetemp() / "a3"
    path.write_bytes(written)
    for given_text in (None, text):
        assert LinkReader(str(path), "a3", text=given_text).read().pairs() == links


def test_a_word_with_two_links_is_refused(text):
    with pytest.raises(DataError, match=r"word 2 of 'la maison bleue', sentence pair 1, has two links"):
        format_links(Links.from_pairs([[(0, 1), (1, 1)], []]), "a3", text=text)
    twice = Links.from_pairs([[(0, 1), (0, 1)], []])
    assert b"house ({ 2 })" in format_links(twice, "a3", text=text)


def test_what_a3_cannot_say_is_refused(text):
    with pytest.raises(DataError, match="give the text"):
        format_links(Links.from_pairs(LINKS), "a3")
    with pytest.raises(DataError, match="count from 1"):
        format_links(Links.from_pairs(LINKS), "a3", base=0, text=text)
    odd = Corpus.from_pairs([("a", "b\x0cc")])
    with pytest.raises(DataError, match=r"the character '\\x0c'"):
        format_links(Links.from_pairs([[]]), "a3", text=odd)


REFUSED = [  # what is replaced, by what, line, column, message
    ("(1)", "(3)", 1, 18, "sentence pair 1: the number of the sentence pair does not follow"),
    ("(2)", "(1)", 4, 18, "sentence pair 2: the number of the sentence pair does not follow"),
    ("2 target length", "2 target", 1, 37, "`# Sentence pair (N)"),
    ("# Sentence pair (2)", "# sentence pair (2)", 4, 1, "`# Sentence pair (N)"),
    ("la maison bleue", "la maison", 2, 11, "fewer words than the length"),
    ("la maison", "la grande maison", 2, 18, "goes on after as many words"),
    ("NULL ({ 1 }) house", "house", 3, 1, "`NULL` was expected"),
    ("house ({ 2 })", "house { 2 })", 3, 20, "`({` was expected"),
    ("({ 3 })", "({ 3 )", 3, 38, "a position or `})` was expected"),
    ("({ 3 })", "({ 3})", 3, 36, "a position or `})` was expected"),
    ("({ 3 })", "({ 4 })", 3, 36, "beyond the last word"),
    ("({ 3 })", "({ 0 })", 3, 36, "beyond the last word"),
    ("({ 3 })", "({ 99999999999999999999 })", 3, 36, "beyond the last word"),
    ("house ({ 2 }) ", "", 3, 27, "fewer words than the length"),
    ("blue ({ 3 })", "blue ({ 3 }) x ({ })", 3, 41, "goes on after as many words"),
    ("\nNULL ({ }) ({ ({ 1 3 }) NULL ({ }) }) ({ 2 }) \n", "\n", 6, 1, "ends within a sentence pair"),
]


@pytest.mark.parametrize("old, new, line, column, what", REFUSED)
def test_refused_with_line_and_column(assert_refused, old, new, line, column, what):
    assert EXAMPLE.count(old) == 1
    assert_refused(EXAMPLE.replace(old, new), "a3", line, column, what)


def test_words_are_those_of_the_text(write, text):
    """A file that has lost a line is told, not read as links of other sentences."""
    path = write("links", EXAMPLE)
    with pytest.raises(DataError, match=r"links:2:4: sentence pair 1: the word is not that of the text"):
        LinkReader(path, text=Corpus.from_pairs([("house blue", "la Maison bleue"), PAIRS[1]])).read()
    with pytest.raises(DataError, match=r"links:3:14: sentence pair 1: the word is not that of the text"):
        LinkReader(path, text=Corpus.from_pairs([("hous blue", "la maison bleue"), PAIRS[1]])).read()
    with pytest.raises(DataError, match=r"links:6:1: sentence pair 2: the sentence has not as many words"):
        LinkReader(path, text=Corpus.from_pairs([PAIRS[0], ("({ NULL", "}) 2 #")])).read()
    with pytest.raises(DataError, match=r"links:2:1: sentence pair 1: the sentence has not as many words"):
        LinkReader(path, text=swapped(text)).read()
    for n in (1, 3):
        with pytest.raises(DataError, match=rf"links of 2 sentences, the text has {n}"):
            LinkReader(path, text=Corpus.from_pairs([*PAIRS, PAIRS[0]][:n])).read()


def test_base_is_1(write):
    with pytest.raises(DataError, match="count from 1") as caught:
        LinkReader(write("links", EXAMPLE), base=0).read()
    assert (caught.value.setting, caught.value.value) == ("base", "1")


@given(data=st.data())
def test_rubbish_is_read_or_refused(tmp_path_factory, data):
    """No crash, no reading past the end: an example that is cut up is read, or refused with its place."""
    text = bytearray(EXAMPLE.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from([b"", b"\n", b" ", b"7", b"\r", b"x"])
        )
    path = tmp_path_factory.getbasetemp() / "rubbish"
    path.write_bytes(text)
    for format in ("a3", "a3-reverse"):
        try:
            links = LinkReader(str(path), format, text=Corpus.from_pairs(PAIRS)).read()
            assert links.offsets[-1] == len(links.src)
        except DataError as error:
            assert error.file or "sentences, the text has" in str(error)


def part(numbers):
    return "".join(
        f"# Sentence pair ({n}) source length 1 target length 1 alignment score : 1\n"
        f"t{n} \nNULL ({{ }}) s{n} ({{ 1 }}) \n"
        for n in numbers
    )


def test_parts_are_put_in_order(write):
    paths = [
        write("x.part000", part([2, 3, 6])),
        write("x.part001", part([1, 4, 5, 7])),
        write("x.part002", ""),
    ]
    text = Corpus.from_pairs([(f"s{n}", f"t{n}") for n in range(1, 8)])
    reader = LinkReader(paths, text=text)
    assert reader.read().pairs() == [[(0, 0)]] * 7
    assert reader.name == f"{paths[0]} and 2 more"
    with pytest.raises(DataError, match=r"sentence pair 1: .*; is this one of several parts") as caught:
        LinkReader(paths[0]).read()
    assert (caught.value.line, caught.value.column) == (1, 18)


def test_parts_that_do_not_fit_are_refused(write):
    good = write("x.part000", part([1, 3]))
    for name, text, message in (
        ("missing", part([4, 5]), r"x.part000:4: no sentence pair 2; give all parts"),
        ("twice", part([2, 3]), r"\d: sentence pair 3 is there twice"),
        ("falls", part([2, 4, 1]), r"falls:7: sentence pair 1 comes after sentence pair 4"),
        ("short", part([2])[:-25], r"short:1: the sentence pair is cut off"),
        ("links", "0-0\n0-0\n", r"links:1: `# Sentence pair \(N\) ...` was expected; several files can be"),
    ):
        with pytest.raises(DataError, match=message):
            LinkReader([good, write(name, text)]).read()
    broken = write("broken", part([2]).replace("({ 1 })", "({ 9 })"))
    with pytest.raises(
        DataError, match=r"x.part000 and 1 more: sentence pair 2: the position is beyond"
    ) as caught:
        LinkReader([good, broken]).read()
    assert caught.value.line is None  # lines of the parts are not those of the whole
