"""Links for guided alignment: what fits a text as Marian splits it, and what does not."""

from __future__ import annotations

import pytest

from aligner import Corpus, DataError, Links
from aligner.uses.guided import GuidedReader, ends_early

TEXT = Corpus.from_pairs([("a b", "x y z"), ("", ""), ("a", "x")])


def test_links_of_both_ends_are_allowed_and_counted(write, blocks):
    reader = GuidedReader(write("links", "0-0 2-3 1-2\n0-0\n0-0 1-1\n"), TEXT)
    assert reader.read().pairs() == [[(0, 0), (2, 3), (1, 2)], [(0, 0)], [(0, 0), (1, 1)]]
    assert reader.n_ends == 3


@pytest.mark.parametrize(
    "links, message",
    [
        ("0-0\n\n0-1\n", "links:3: link 0-1 of sentence 3 is outside its pair of 1 and 1 words"),
        ("2-2\n\n\n", "links:1: link 2-2 of sentence 1 is outside its pair of 2 and 3 words"),
        ("1-3\n\n\n", "links:1: link 1-3 of sentence 1 is outside"),
        ("3-4\n\n\n", "links:1: link 3-4 of sentence 1 is outside"),
        ("0-0\n\n", "links has links of 2 sentences, the text has 3"),
        ("0-0\n\n\n\n", "links has links of 4 sentences, the text has 3"),
        ("0?0\n\n\n", "the links look like gold; convert them to `i-j` first"),
        ("0-0 ||| 1.5\n\n\n", "links:1:5: "),
        ("1-1 2-1\n\n\n", "the links look 1-based, and Marian counts from 0: convert them first"),
        ("0-0\n\n0-0\t0-0\n", "links:3:4: a tab among the links; Marian reads"),
        ("0-0:0.5 1-1:1e-05\n\n\n", "links:1:12: a score with a `-`; Marian reads"),
    ],
)
def test_what_marian_would_read_otherwise_is_refused(write, blocks, links, message):
    with pytest.raises(DataError) as error:
        GuidedReader(write("links", links), TEXT).read()
    assert message in str(error.value)


def test_links_that_end_early():
    """On both sides, and by more than a tenth. A sentence pair without links says nothing."""
    text = Corpus.from_pairs([("a " * 20, "x " * 10)] * 5)
    links = [[(17, 8)], [(18, 8)], [(17, 9)], [], [(0, 0), (3, 2)]]
    assert ends_early(Links.from_pairs(links), text).tolist() == [False, False, False, False, True]
    links = [[(16, 7)], [(19, 9)], [(20, 10)], [(2, 7), (5, 1)], []]
    assert ends_early(Links.from_pairs(links), text).tolist() == [True, False, False, True, False]
