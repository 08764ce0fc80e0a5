"""One direction's links, at most one a generated word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner.decoding.combine import one_each
from aligner.links.links import Links

scores = st.integers(0, 8).map(lambda n: n / 8)  # few values: many are equal
direction_links = st.lists(
    st.dictionaries(st.tuples(*[st.integers(0, 4)] * 2), scores, max_size=9), max_size=4
)


def links_of(sentences) -> Links:
    links = [[(i, j, p) for (i, j), p in sorted(sentence.items())] for sentence in sentences]
    return Links.from_pairs(links)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@given(st.tuples(direction_links, direction_links), scores)
def test_one_each_is_the_best_of_each_word(direction, two, threshold):
    n = min(map(len, two))
    fwd, rev = (sentences[:n] for sentences in two)
    expected = []
    for a, b in zip(fwd, rev, strict=True):
        mean = {link: (a.get(link, 0) + b.get(link, 0)) / 2 for link in sorted({*a, *b})}
        best: dict[int, tuple[int, int]] = {}
        for link, score in mean.items():
            word = link[1] if direction == "forward" else link[0]
            if score > threshold and (word not in best or score > mean[best[word]]):
                best[word] = link
        expected.append([best[word] for word in sorted(best)])
    found = one_each(links_of(fwd), links_of(rev), direction, threshold)
    assert found.pairs() == expected and len(found) == n
