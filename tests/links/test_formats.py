"""Link formats: round trips, worked examples of each, detection, and what is refused where."""

from __future__ import annotations

import re

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import positions, scores, sentences_of_links

from aligner import DataError, LinkReader, Links, format_links, read_corpus
from aligner.links.formats import FORMATS
from aligner.links.formats.lines import ENOUGH

pytestmark = pytest.mark.usefixtures("blocks")


@st.composite
def some_links(draw, scored=None):
    """Links in any order, perhaps repeated, with or without labels and (None: or) scores."""
    pairs = draw(st.lists(st.lists(st.tuples(positions, positions), max_size=6), max_size=6))
    links = Links.from_pairs(pairs)
    n = len(links.src)
    sure = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), dtype=np.uint8)
    values = np.array(draw(st.lists(scores, min_size=n, max_size=n)), dtype=np.float64)
    return Links(
        links.offsets,
        links.src,
        links.tgt,
        sure if draw(st.booleans()) else None,
        values if (draw(st.booleans()) if scored is None else scored) else None,
    )


def reread(tmp_path_factory, text: bytes, *args, **options) -> Links:
    path = tmp_path_factory.getbasetemp() / "links"
    path.write_bytes(text)
    return LinkReader(str(path), *args, **options).read()


def spelled(links: Links) -> list[list[tuple]]:
    n = len(links.src)
    sure = [1] * n if links.sure is None else links.sure.tolist()
    values = [None] * n if links.scores is None else links.scores.tolist()
    columns = zip(links.src.tolist(), links.tgt.tolist(), sure, values, strict=True)
    flat = list(columns)
    return [flat[a:b] for a, b in zip(links.offsets[:-1], links.offsets[1:], strict=True)]


def assert_same(a: Links, b: Links, labels: bool = True) -> None:
    def told(links: Links) -> list:
        return [[(i, j, labels and s, x) for i, j, s, x in part] for part in spelled(links)]

    assert told(a) == told(b)


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("format", ["pharaoh", "gold", "talp"])
@given(links=some_links(scored=False))
def test_round_trip(tmp_path_factory, format, base, links):
    again = reread(tmp_path_factory, format_links(links, format, base=base), format, base)
    assert_same(links, again, labels=format != "pharaoh")


@given(links=some_links(scored=True))
def test_round_trip_of_scores(tmp_path_factory, links):
    again = reread(tmp_path_factory, format_links(links, "scored"), "scored", 0)
    assert_same(links, again, labels=False)


@given(links=some_links(), first=st.sampled_from([0, 1]))
def test_round_trip_of_simalign(tmp_path_factory, links, first):
    text = format_links(links, "simalign", first)
    again = reread(tmp_path_factory, text, "simalign", 0)
    assert_same(links, again)


@given(links=some_links())
def test_round_trip_of_wpt(tmp_path_factory, links):
    again = reread(tmp_path_factory, format_links(links, "wpt"), "wpt", 1).padded(len(links))
    assert_same(links, again)


@given(value=st.floats(allow_nan=False, allow_infinity=False, min_value=0))
def test_every_score_survives(tmp_path_factory, value):
    links = Links(*(getattr(Links.from_pairs([[(0, 0)]]), x) for x in ("offsets", "src", "tgt")),
                  scores=np.array([value]))  # fmt: skip
    again = reread(tmp_path_factory, format_links(links, "scored"), "scored", 0)
    assert again.scores is not None and again.scores[0] == value


@given(links=sentences_of_links)
def test_text_against_plain_python(links):
    text = "".join(" ".join(f"{i}-{j}" for i, j in sentence) + "\n" for sentence in links)
    assert bytes(format_links(Links.from_pairs(links), "pharaoh")).decode() == text


# Each format as it stands in files, and the links it means: (i, j, sure, score)
EXAMPLES = {
    "pharaoh": ("0-0 1-2\n\n2-1\n", [[(0, 0, 1, None), (1, 2, 1, None)], [], [(2, 1, 1, None)]]),
    "scored": ("0-0:0.93 1-2:1\n\n2-1:1e-3\n", [[(0, 0, 1, 0.93), (1, 2, 1, 1.0)], [], [(2, 1, 1, 0.001)]]),
    "gold": ("0-0 1?2\n\n2-1\n", [[(0, 0, 1, None), (1, 2, 0, None)], [], [(2, 1, 1, None)]]),
    "talp": ("1-1 2p3\n\n3-2\n", [[(0, 0, 1, None), (1, 2, 0, None)], [], [(2, 1, 1, None)]]),
    "wpt": (
        "0001 1 1 S\n0001 2 3 P\n0003 3 2\n",
        [[(0, 0, 1, None), (1, 2, 0, None)], [], [(2, 1, 1, None)]],
    ),
    "simalign": ("0\t0-0 1p2\n1\t\n2\t2-1\n", [[(0, 0, 1, None), (1, 2, 0, None)], [], [(2, 1, 1, None)]]),
}


@pytest.mark.parametrize("format", EXAMPLES)
def test_worked_example(write, format):
    text, expected = EXAMPLES[format]
    for variant in (
        text,
        text.replace("\n", "\r\n"),
        text.rstrip("\n"),
        "\ufeff" + text,
        text.replace(" ", "  "),
    ):
        reader = LinkReader(write("links", variant))
        assert spelled(reader.read()) == expected
        assert reader.format == format
    assert spelled(LinkReader(write("links", text), format).read()) == expected


def test_simalign_scores(write):
    """SimAlign writes the mean and the maximum of a link's similarities, without the leading zero."""
    links = LinkReader(write("links", "0\t0-1-.93-.95 2-0-.5-.5\n1\t\n")).read()
    assert spelled(links) == [[(0, 1, 1, 0.93), (2, 0, 1, 0.5)], []]


def test_simalign_scores_after_sentences_without_links(write):
    text = "0\t\n1\t\n2\t\n3\t0-1-.5\n"
    assert spelled(LinkReader(write("links", text)).read()) == [[], [], [], [(0, 1, 1, 0.5)]]


def test_wpt_in_any_order_and_with_confidence(write):
    reader = LinkReader(write("links", "3 1 1 P 0.5\n1 2 2\n\n1 1 1 S 0.25\n1 0 3 S\n"))
    assert spelled(reader.read()) == [[(1, 1, 1, 1.0), (0, 0, 1, 0.25)], [], [(0, 0, 0, 0.5)]]
    assert reader.n_null == 1


def test_base_is_seen_where_it_is_safe(write, monkeypatch):
    monkeypatch.setattr("aligner.links.formats.BLOCK", 100)
    lines = "".join(f"{k}-{k}\n" for k in range(1, ENOUGH + 1))
    assert LinkReader(write("zero", lines + "0-0\n")).read().pairs()[-1] == [(0, 0)]
    with pytest.raises(DataError, match=r"one: no link to position 0 in 20 sentences") as caught:
        LinkReader(write("one", lines)).read()
    assert caught.value.setting == "base"
    assert LinkReader(write("one", lines), base=1).read().pairs()[0] == [(0, 0)]
    assert LinkReader(write("one", lines), base=0).read().pairs()[0] == [(1, 1)]
    few = lines[: lines.index("5-5")]
    assert LinkReader(write("few", few)).read().pairs()[0] == [(1, 1)]
    assert LinkReader(write("talp", "0-0 1p1\n")).read().pairs() == [[(0, 0), (1, 1)]]


@pytest.mark.parametrize("format", FORMATS)
def test_a_format_knows_its_own_examples_only(format):
    """A file without marks is pharaoh's: pharaoh recognises nothing."""
    for name, (text, _) in EXAMPLES.items():
        assert FORMATS[format].detect(text.encode()) == (format == name != "pharaoh")
    assert not FORMATS[format].detect(b"")


def test_three_numbers_between_tabs_are_wpt(write):
    reader = LinkReader(write("links", "1\t2\t1\n"))
    assert reader.read().pairs() == [[(1, 0)]] and reader.format == "wpt"


def test_two_formats_at_once_are_refused(write):
    """Seen from the first block: no format can be both."""
    with pytest.raises(DataError, match=r"scored and gold at once; name the format$"):
        LinkReader(write("links", "0-0:0.5\n0?1\n")).read()


REFUSED = [
    ("0-0\n0-\n", None, 2, 3, "a position was expected"),
    ("0-0\n\n0-0 x\n", None, 3, 5, "a position was expected"),
    ("0-0 1_1\n", None, 1, 6, "`-` was expected"),
    ("0-0 1?1\n", "pharaoh", 1, 6, "`-` was expected"),
    ("0-0 1p1\n", "gold", 1, 6, "`-` or `?` was expected"),
    ("0-0,1-1\n", None, 1, 4, "a blank was expected after the link"),
    ("0-0 2147483648-1\n", None, 1, 5, "above 2,147,483,647"),
    ("-1-0\n", None, 1, 1, "a position was expected"),
    ("0-0:0.5 1-1\n", None, 1, 12, "`:` and a number were expected"),
    ("0-0:nan\n", "scored", 1, 5, "`:` and a number were expected"),
    ("0-0:1e999\n", "scored", 1, 5, "not a finite number"),
    ("0-0:0.5x\n", "scored", 1, 8, "a blank was expected after the link"),
    ("1-1 0-1\n", "talp1", 1, 5, "position 0 in links that count from 1"),
    ("0\t0-0\n2\t0-0\n", None, 2, 2, "sentence number does not follow"),
    ("0-0\n", "simalign", 1, 2, "a sentence number and a tab"),
    ("1 1 1 Q\n", "wpt", 1, 7, "`sentence i j [S|P] [confidence]`"),
    ("1 1\n", "wpt", 1, 4, "a position was expected"),
    ("0 1 1\n", "wpt", 1, 1, "sentence 0"),
    ("1 1 1 S 0.5 x\n", "wpt", 1, 13, "`sentence i j [S|P] [confidence]`"),
    ("0-0 ||| -3.5\n", None, 1, 5, "||| among the links"),
]


@pytest.mark.parametrize("text, format, line, column, what", REFUSED)
def test_refused_with_line_and_column(assert_refused, text, format, line, column, what):
    base = None
    if format == "talp1":
        format, base = "talp", 1
    assert_refused(text, format, line, column, what, base)


@given(
    lines=st.lists(st.text(st.sampled_from("0123456789-?:p. \t|x"), max_size=12), max_size=4),
    format=st.sampled_from(["pharaoh", "scored", "gold", "talp"]),
)
def test_parser_equals_slow_twin(tmp_path_factory, lines, format):
    """The same links, or both refuse, and on the same line."""
    text = "".join(line + "\n" for line in lines)
    style = FORMATS[format]
    try:
        result: object = spelled(reread(tmp_path_factory, text.encode(), format, 0))
    except DataError as error:
        result = error.line
    assert result == oracle.parse_links(text, style.possible, style.score)


@given(links=sentences_of_links, format=st.sampled_from(["pharaoh", "gold", "talp"]), data=st.data())
def test_parser_equals_slow_twin_on_links(tmp_path_factory, links, format, data):
    mark = FORMATS[format].possible
    marks = st.sampled_from(["-", mark]) if mark else st.just("-")
    blanks = st.sampled_from([" ", "  ", "\t", " \t "])
    text = "".join(
        "".join(f"{i}{data.draw(marks)}{j}{data.draw(blanks)}" for i, j in line) + "\n" for line in links
    )
    assert spelled(reread(tmp_path_factory, text.encode(), format, 0)) == oracle.parse_links(text, mark, "")


@given(
    garbage=st.text(st.sampled_from("0123456789-?:p. \tSPe|\r") | st.characters(codec="utf-8"), max_size=40)
)
def test_rubbish_is_read_or_refused(tmp_path_factory, garbage):
    """No crash, no reading past the end: links or a DataError with a place."""
    path = tmp_path_factory.getbasetemp() / "rubbish"
    path.write_bytes(garbage.encode())
    for format in (None, *FORMATS):
        try:
            links = LinkReader(str(path), format).read()
            assert format == "wpt" or links.offsets[-1] == len(links.src)
        except DataError as error:
            assert error.file


def test_ranges_are_checked_against_the_text(write):
    src, tgt = write("src", "a b\nc\n"), write("tgt", "x\ny z\n")
    text = read_corpus(src, tgt)
    assert LinkReader(write("ok", "0-0 1-0\n0-1\n"), text=text).read().pairs() == [[(0, 0), (1, 0)], [(0, 1)]]
    with pytest.raises(
        DataError, match=r"far:2: link 1-1 of sentence 2 is outside its pair of 1 and 2 words"
    ):
        LinkReader(write("far", "0-0\n1-1\n"), text=text).read()
    with pytest.raises(DataError, match="look 1-based") as caught:
        LinkReader(write("one", "1-1 2-1\n1-2\n"), text=text).read()
    assert (caught.value.setting, caught.value.value) == ("base", "1")
    with pytest.raises(DataError, match="3 sentences, the text has 2"):
        LinkReader(write("long", "0-0\n0-0\n0-0\n"), text=text).read()
    with pytest.raises(DataError, match="1 sentence, the text has 2"):
        LinkReader(write("short", "0-0\n"), text=text).read()
    for wpt in ("1 1 1\n", "\n", ""):
        assert len(LinkReader(write("wpt", wpt), "wpt", text=text).read()) == 2
    with pytest.raises(DataError, match=r"wpt: link 3-9 of sentence 1 is outside"):
        LinkReader(write("wpt", "1 1 1\n1 2 1\n1 3 9\n"), text=text).read()
    with pytest.raises(DataError, match=r"sentence 3 is beyond the last, 2"):
        LinkReader(write("wpt", "3 1 1\n"), text=text).read()
    with pytest.raises(DataError, match=r"sentence 900000000 is beyond the last"):
        LinkReader(write("wpt", "900000000 1 1\n")).read()


def test_blocks_have_their_places(write, monkeypatch):
    monkeypatch.setattr("aligner.links.formats.BLOCK", 3)
    blocks = list(LinkReader(write("links", "0-0\n" * 8)).blocks())
    assert [(first, len(links)) for first, links in blocks] == [(0, 3), (3, 3), (6, 2)]
    with pytest.raises(DataError) as caught:
        LinkReader(write("links", "0-0\n" * 7 + "0-x\n")).read()
    assert (caught.value.line, caught.value.column) == (8, 3)
    text = read_corpus(write("src", "a\n" * 7 + "\n"), write("tgt", "x\n" * 8))
    with pytest.raises(
        DataError, match="links:8: link 0-0 of sentence 8 is outside its pair of 0 and 1 words"
    ):
        LinkReader(write("links", "0-0\n" * 8), text=text).read()


def test_a_reader_can_read_twice(write):
    reader = LinkReader(write("links", "3\t0-0\n4\t\n5\t1-1\n"))
    assert reader.read().pairs() == reader.read().pairs() == [[(0, 0)], [], [(1, 1)]]


def test_no_links_at_all(write):
    assert len(LinkReader(write("empty", "")).read()) == 0
    assert LinkReader(write("blank", "\n\n\n")).read().pairs() == [[], [], []]


def test_losses_are_counted():
    links = Links.from_pairs([[(0, 0), (1, 1)]])
    links = Links(links.offsets, links.src, links.tgt, np.array([1, 0], np.uint8), np.array([0.5, 0.1]))
    assert FORMATS["wpt"].losses(links) == FORMATS["simalign"].losses(links) == {}
    assert FORMATS["gold"].losses(links) == {"scores left out": 2}
    lost = {"scores left out": 2, "possible links written as plain ones": 1}
    assert FORMATS["pharaoh"].losses(links) == lost


def test_scores_cannot_be_made_up():
    with pytest.raises(DataError, match="no scores to write"):
        format_links(Links.from_pairs([[(0, 0)]]), "scored")


def test_wpt_file_comes_back_byte_for_byte(shared):
    path = shared / "wpt2003-en-fr" / "test.wa.nonullalign"
    assert bytes(format_links(LinkReader(str(path)).read(), "wpt")) == path.read_bytes()
    gold = LinkReader(str(shared / "hansards-en-fr" / "test.gold"), "gold").read()
    wpt = LinkReader(str(path)).read()
    assert [sorted(x) for x in spelled(wpt)] == [sorted(x) for x in spelled(gold)]
    assert re.match(r"\d+-\d+", str(bytes(format_links(wpt, "pharaoh")), "ascii"))
