"""Matrices on the terminal: every mark under its word, whatever the script, however narrow the terminal."""

from __future__ import annotations

from gold import gold_links
from hypothesis import given, settings
from hypothesis import strategies as st

from aligner import Corpus, Links
from aligner.scoring.drawing import ASCII, UNICODE, Drawing, clusters
from aligner.scoring.terminal import places
from aligner.scoring.viewer import page_data


def drawn(src: str, tgt: str, links, gold=None, marks=UNICODE, width=80) -> str:
    corpus = Corpus.from_pairs([(src, tgt)])
    answer = None
    if gold is not None:
        sure, possible = ({link[:2] for link in gold if link[2] == kind} for kind in (1, 0))
        answer = ("gold", gold_links([(sure, possible)]))
    files = [] if links is None else [("links", Links.from_pairs([links]))]
    return Drawing(page_data(corpus, ("s", "t"), None, answer, files), marks, width).sentence(0)


def test_a_matrix():
    shown = drawn(
        "the house",
        "das alte Haus",
        [(0, 0, 0.93), (1, 1, 0.3), (1, 2, 0.6)],
        [(0, 0, 1), (0, 1, 0), (1, 2, 1)],
    )
    assert shown == (
        "1\n"
        "\n"
        "          a  H\n"
        "       d  l  a\n"
        "       a  t  u\n"
        "       s  e  s\n"
        "  the [●]( )\n"
        "house     ∘ [○]\n"
        "\n"
        "right   the ~ das 0.93   house ~ Haus 0.60\n"
        "wrong   house ~ alte 0.30\n"
        "\n"
    )


def test_ascii_and_blocks_of_columns():
    shown = drawn("a", "b c d e f g h", [(0, 0), (0, 6)], marks=ASCII, width=20)
    assert shown == "1\n\n   b  c  d  e  f  g\na  @\n\n   h\na  @\n\nlinks  a ~ b   a ~ h\n\n"
    more = drawn("long", "words in", [(0, 0), (0, 1)], width=20).split("\n")
    assert more[-4:] == ["links  long ~ words", "       long ~ in", "", ""]


def test_wide_characters_and_marks_line_up():
    shown = drawn("東京 は cafe\u0301", "日本 がい x", [(0, 0, 1.0), (1, 1, 0.01), (2, 2, 1.0)]).split("\n")
    assert shown[2:7] == ["      日 が", "      本 い x", "東京  ●", "  は", "café        ●"]
    assert clusters("कि") == ["कि"] and clusters("e\u0301a") == ["e\u0301", "a"]


def test_gold_alone_and_nothing_at_all():
    assert "sure      a ~ x\npossible  b ~ x\n" in drawn("a b", "x", None, [(0, 0, 1), (1, 0, 0)])
    assert drawn("only this", "", []) == "1\n\nonly\nthis\n\n\n", "an empty side hides no words"
    assert drawn("", "x", []) == "1\n\n x\n\n\n".replace(" x", "  x")


def test_what_moves_a_cursor_is_not_printed():
    assert "\x1b" not in (shown := drawn("\x1b[2J", "a\rb", [(0, 0)])) and "?[2J ~ a?b" in shown


WORD = st.text("aé日e\u0301กำ", max_size=30).map("a".__add__)
WORDS = st.lists(WORD, min_size=1, max_size=12)


@settings(max_examples=50)
@given(WORDS, WORDS, st.integers(20, 90), st.sampled_from([UNICODE, ASCII]))
def test_every_circle_stands_under_its_word(src, tgt, width, marks):
    """A link of every cell: each row of a block has its circles at the places of the block's words."""
    links = [(i, j, 1.0) for i in range(len(src)) for j in range(len(tgt))]
    lines = drawn(" ".join(src), " ".join(tgt), links, marks=marks, width=width).split("\n")
    circle, n_circles = marks.circles[3], 0
    for k, line in enumerate(lines[: lines.index(next(x for x in lines if x.startswith("links")))]):
        assert places(line) <= width
        if circle in line:
            n_circles += line.count(circle)
            at = [places(line[:c]) for c, x in enumerate(line) if x == circle]
            assert [b - a for a, b in zip(at, at[1:], strict=False)] == [3] * (len(at) - 1)
            head = k - 1
            while circle in lines[head]:
                head -= 1
            ends = [places(lines[head][:c]) for c, x in enumerate(lines[head]) if x != " " and places(x)]
            assert at == ends, "the last line of the heads has a cluster for each column"
    assert n_circles == len(src) * len(tgt)
