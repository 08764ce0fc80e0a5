"""Links as arrays: swapped sides, parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from strategies import link_sets, sentences_of_links

from aligner import Links


@given(links=sentences_of_links)
def test_transposed_twice(links):
    there = Links.from_pairs(links).transposed()
    assert there.pairs() == [[(j, i) for i, j in sentence] for sentence in links]
    assert there.transposed().pairs() == links


@given(links=st.lists(link_sets.map(sorted), min_size=1, max_size=8), data=st.data())
def test_parts_join_again(links, data):
    whole = Links.from_pairs(links)
    cut = data.draw(st.integers(0, len(links)))
    parts = whole.part(0, cut), whole.part(cut, len(links))
    assert [part.pairs() for part in parts] == [links[:cut], links[cut:]]
    assert Links.joined(parts).pairs() == links
