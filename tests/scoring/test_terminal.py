"""Words on a terminal: how many places they take, and what is left of them where there are too few."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aligner.scoring.terminal import cut, places, printable


def test_places():
    assert [places(x) for x in ("", "ab", "日本", "e\u0301", "\u200bx", "ｱ", "Ａ")] == [0, 2, 4, 1, 1, 1, 2]


def test_no_control_character_is_left():
    assert printable("a\x1b[31m\x07e\u0301\x9b") == "a?[31m?é?"
    assert printable("x\u2028\u2029\u202e\u2066y") == "x????y", "lines end, and turn around"
    assert printable("של \u200fום") == "של \u200fום"


@given(text=st.text(st.sampled_from("ab日本e\u0301")), width=st.integers(1, 8))
def test_a_text_is_cut_as_late_as_can_be(text, width):
    shown = cut(text, width)
    if places(text) <= width:
        assert shown == text
    else:
        kept = shown.removesuffix("…")
        assert shown == kept + "…" and text.startswith(kept) and places(shown) <= width
        assert places(text[: len(kept) + 1]) > width - 1
