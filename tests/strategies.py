"""Hypothesis strategies: small sentences, link sets, and links as they stand in files."""

from __future__ import annotations

from hypothesis import strategies as st

positions = st.integers(0, 6)
link_sets = st.sets(st.tuples(positions, positions), max_size=12)
sentences_of_links = st.lists(link_sets.map(sorted), max_size=6)
scores = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 0.5, 0.93, 1e-7, 0.1 + 0.2])

# Tokens: anything but what ends a token or a line. "\r" is left out: before "\n" it belongs to the line end.
characters = st.characters(codec="utf-8", exclude_characters=" \t\n\r")
words = st.text(characters, min_size=1, max_size=20) | st.sampled_from(
    [
        "a",
        "de",
        "\u00a0",
        "\u3000",
        "x\u2028y",
        "|",
        "||",
        "||||",
        "exactly8",
        "ninebytes",
        "\x0b\x0c",
        "<s",
        "\ufeff",
    ]
)
sentences = st.lists(words, max_size=8)


@st.composite
def directional(draw):
    """Forward and reverse links of one pair as directional models give them: one link a word at most."""
    n_src, n_tgt = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    forward = {(draw(st.integers(0, n_src - 1)), j) for j in range(n_tgt) if draw(st.booleans())}
    reverse = {(i, draw(st.integers(0, n_tgt - 1))) for i in range(n_src) if draw(st.booleans())}
    return forward, reverse
