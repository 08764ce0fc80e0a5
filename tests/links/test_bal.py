"""bal files, symal's input: a worked example of giza2bal.pl, both directions, and what is told or refused."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner import DataError, LinkReader, Links, format_links
from aligner.links.formats.bal import format_bal
from aligner.links.symmetrize import symmetrize_files
from aligner.text.corpus import Corpus

pytestmark = pytest.mark.usefixtures("blocks")

# As giza2bal.pl writes it: two blanks before # because A3 lines end in one; -1 for a side without words.
EXAMPLE = """\
1
3 la maison bleue  # 0 1 2
2 house blue  # 2 3
1
3 # 1 NULL  # 1 1 2
2 # 2  # 2 0
1
-1  #\x20
1 x  # 0
"""
PAIRS = [("house blue", "la maison bleue"), ("# 2", "# 1 NULL"), ("x", "")]
FORWARD = [[(0, 1), (1, 2)], [(0, 0), (0, 1), (1, 2)], []]
REVERSE = [[(0, 1), (1, 2)], [(0, 1)], []]
FAILED = "1\n1 ALIGN_ERR # 1\n1 ALIGN_ERR # 1\n"


def both(path: str, text: Corpus | None = None) -> list:
    """The links of both directions."""
    found = list(LinkReader(path, text=text).directions())
    assert [first for first, _, _ in found] == [
        sum(len(f) for _, f, _ in found[:k]) for k in range(len(found))
    ]
    return [Links.joined(x[k] for x in found).pairs() for k in (1, 2)]


def test_worked_example(write):
    for variant in (EXAMPLE, EXAMPLE.replace("\n", "\r\n"), EXAMPLE.rstrip("\n"), EXAMPLE.replace("  ", " ")):
        path = write("links", variant)
        for text in (None, Corpus.from_pairs(PAIRS)):
            assert both(path, text) == [FORWARD, REVERSE]
            assert LinkReader(path, "bal", text=text).read().pairs() == FORWARD
            assert LinkReader(path, "bal-reverse", text=text).read().pairs() == REVERSE
            assert LinkReader(path, reverse=True).read().pairs() == REVERSE


def test_what_is_written_is_what_giza2bal_writes(write):
    text = Corpus.from_pairs(PAIRS)
    written = format_bal(Links.from_pairs(FORWARD), Links.from_pairs(REVERSE), text).decode()
    assert written == EXAMPLE.replace("-1  # ", "0   # ")
    assert both(write("links", written), text) == [FORWARD, REVERSE]


def test_two_links_of_a_word_are_not_written():
    text = Corpus.from_pairs([("x", "y"), ("a b", "c d")])
    one, two = Links.from_pairs([[], [(0, 0)]]), Links.from_pairs([[(0, 0)], [(0, 1), (1, 1)]])
    with pytest.raises(DataError, match="word 2 of 'c d', sentence pair 2, has two links"):
        format_bal(two, one, text)
    with pytest.raises(DataError, match="word 1 of 'a b', sentence pair 2, has two links"):
        format_bal(one, Links.from_pairs([[], [(0, 0), (0, 1)]]), text)
    with pytest.raises(DataError, match=r"the character '\\x0c' in it"):
        format_bal(one, one, Corpus.from_pairs([("x", "y"), ("a b", "c\fd")]))


def test_a_direction_must_be_named(write):
    with pytest.raises(DataError, match="both directions; name the one that is meant") as caught:
        LinkReader(write("links", EXAMPLE)).read()
    assert caught.value.setting == "format"
    with pytest.raises(
        DataError, match="links of one direction, in format pharaoh; give the file of the other"
    ):
        list(LinkReader(write("links", "0-0\n")).directions())


def test_symmetrized(write):
    blocks = symmetrize_files(LinkReader(write("links", EXAMPLE)), None, "union")
    assert b"".join(format_links(links, "pharaoh") for links in blocks) == b"0-1 1-2\n0-1 0-0 1-2\n\n"


def test_what_giza2bal_failed_at_has_no_links_and_is_told(write, caplog):
    """The pair stays in its place. Its words are not those of the text."""
    path = write("links", FAILED + EXAMPLE + FAILED)
    text = Corpus.from_pairs([("a b", "c"), *PAIRS, ("d", "e")])
    with caplog.at_level(logging.WARNING):
        assert both(path, text) == [[[], *FORWARD, []], [[], *REVERSE, []]]
    [told] = caplog.records
    assert told.message.startswith(f"{path}: 2 sentence pairs are ALIGN_ERR, the first is 1: ")
    assert told.message.endswith("they have no links")


def test_words_are_those_of_the_text(write):
    path = write("links", EXAMPLE)
    with pytest.raises(
        DataError, match=r"links:2:6: sentence pair 1: the word is not that of the text.*order\?$"
    ):
        both(path, Corpus.from_pairs([("house blue", "la Maison bleue"), *PAIRS[1:]]))
    with pytest.raises(DataError, match=r"links:6:3: sentence pair 2: the sentence has not as many words"):
        both(path, Corpus.from_pairs([PAIRS[0], ("# 2 3", "# 1 NULL"), PAIRS[2]]))
    with pytest.raises(DataError, match="links of 3 sentences, the text has 4"):
        both(path, Corpus.from_pairs([*PAIRS, ("a", "b")]))


REFUSED = [  # what is replaced, by what, line, column, message
    ("1\n3 la", "x\n3 la", 1, 1, "the number of times"),
    ("3 la", "la", 2, 1, "the number of words was expected"),
    ("3 la", "4 la", 2, 22, "`#` was expected"),
    ("3 la", "2 la", 2, 13, "`#` was expected"),
    ("# 0 1 2", "# 0 1", 2, 25, "a position was expected for each word"),
    ("# 0 1 2", "# 0 1 2 1", 2, 28, "goes on after as many words"),
    ("# 0 1 2", "# 0 1 x", 2, 26, "a position was expected for each word"),
    ("# 0 1 2", "# 0 1 3", 3, 20, "beyond the last word"),
    ("# 2 3", "# 2 4", 3, 20, "beyond the last word"),
    ("\n1 x  # 0\n", "\n", 9, 1, "ends within a sentence pair"),
]


@pytest.mark.parametrize("old, new, line, column, what", REFUSED)
def test_refused_with_line_and_column(assert_refused, old, new, line, column, what):
    assert EXAMPLE.count(old) == 1
    assert_refused(EXAMPLE.replace(old, new), "bal", line, column, what)


@given(data=st.data())
def test_rubbish_is_read_or_refused(tmp_path_factory, data):
    text = bytearray(EXAMPLE.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        bit = data.draw(st.sampled_from([b"", b"\n", b" ", b"7", b"\r", b"#"]))
        text[at : at + data.draw(st.integers(0, 3))] = bit
    path = tmp_path_factory.getbasetemp() / "rubbish"
    path.write_bytes(text)
    try:
        assert len(LinkReader(str(path), "bal").read()) <= 3 + text.count(b"\n")
    except DataError as error:
        assert error.file and error.line


def test_one_direction_is_not_written():
    with pytest.raises(DataError, match="both directions; give the links of both"):
        format_links(Links.from_pairs([]), "bal")
