"""eflomal's priors: counted, written, read, and what is refused."""

from __future__ import annotations

import gzip
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import directional

from aligner import Corpus, DataError, Links
from aligner.links.priors import Priors, count_priors, format_priors, parse_priors, read_priors


def text_of(priors: Priors) -> str:
    return b"".join(format_priors(priors)).decode()


def transposed(text: Corpus) -> Corpus:
    return Corpus(text.tgt, text.src)


def slow(pairs, forward, reverse) -> str:
    """The lines of a priors file, counted link by link."""
    lex, ferf, ferr, hmmf, hmmr = (Counter() for _ in range(5))
    for (src, tgt), fwd, rev in zip(pairs, forward, reverse, strict=True):
        lex.update((src[i], tgt[j]) for i, j in fwd)
        for links, side, own, other, fertilities, jumps in (
            (fwd, src, 0, 1, ferf, hmmf),
            (rev, tgt, 1, 0, ferr, hmmr),
        ):
            fertilities.update((side[k], n) for k, n in Counter(link[own] for link in links).items())
            before, done = -1, set()
            for link in sorted(links, key=lambda link: link[other]):
                if link[other] not in done:
                    jumps[link[own] - before] += 1
                before = link[own]
                done.add(link[other])
            jumps[len(side) - before] += 1
    return "".join(
        f"{kind}\t" + "".join(f"{part}\t" for part in (key if isinstance(key, tuple) else (key,))) + f"{n}\n"
        for kind, counts in (("LEX", lex), ("FERF", ferf), ("FERR", ferr), ("HMMF", hmmf), ("HMMR", hmmr))
        for key, n in sorted(counts.items())
    )


words = st.sampled_from(["a", "B", "é", "\U0001f600", "\ufb01", "<NULL>"])


@given(st.lists(directional(), max_size=5), st.booleans(), st.data())
def test_priors_are_those_counted_link_by_link(links, both, data):
    pairs = [tuple(data.draw(st.lists(words, min_size=7, max_size=9)) for _ in range(2)) for _ in links]
    forward, reverse = ([data.draw(st.permutations(sorted(pair[k]))) for pair in links] for k in range(2))
    if both:  # symmetrized links: more than one a word
        forward = reverse = [list(dict.fromkeys(a + b)) for a, b in zip(forward, reverse, strict=True)]
    text, fwd, rev = Corpus.from_pairs(pairs), Links.from_pairs(forward), Links.from_pairs(reverse)
    found = count_priors(text, fwd, rev)
    assert text_of(found) == slow(pairs, forward, reverse)
    assert text_of(parse_priors(text_of(found).splitlines(), "x")) == text_of(found)


def test_an_empty_sentence_is_a_jump_over_itself():
    text = Corpus.from_pairs([("", "x y"), ("a", "")])
    none = Links.from_pairs([[], []])
    assert text_of(count_priors(text, none, none)) == "HMMF\t1\t1\nHMMF\t2\t1\nHMMR\t1\t1\nHMMR\t3\t1\n"
    assert text_of(count_priors(Corpus.from_pairs([]), Links.from_pairs([]), Links.from_pairs([]))) == ""


def test_priors_of_swapped_sides_are_swapped():
    text = Corpus.from_pairs([("a b", "x y z")])
    fwd, rev = Links.from_pairs([[(0, 0), (0, 1), (1, 2)]]), Links.from_pairs([[(0, 1), (1, 2)]])
    swapped = text_of(count_priors(transposed(text), rev.transposed(), fwd.transposed()))
    assert swapped.splitlines()[:2] == ["LEX\ty\ta\t1", "LEX\tz\tb\t1"]
    assert [line.split("\t", 1)[1] for line in swapped.splitlines() if line.startswith("HMMF")] == [
        line.split("\t", 1)[1]
        for line in text_of(count_priors(text, fwd, rev)).splitlines()
        if line.startswith("HMMR")
    ]


def test_compressed_files_and_line_ends_are_read(tmp_path):
    text = "LEX\ta\tx\t2.5\r\nFERF\ta\t1\t1\r\nHMMF\t-1\t1e+06\r\nHMMF\t-1\t1\r\nHMMR\t0\t0"
    path = tmp_path / "priors.gz"
    path.write_bytes(gzip.compress(text.encode()))
    priors = read_priors(str(path))
    assert text_of(priors) == "LEX\ta\tx\t2.5\nFERF\ta\t1\t1\nHMMF\t-1\t1e+06\nHMMR\t0\t0\n"
    assert priors.jumps == ({-1: 1000001.0}, {0: 0.0})
    assert repr(priors) == "Priors(1 word pairs of 1 and 1 words)"


@pytest.mark.parametrize(
    "line, message",
    [
        ("", "not a line of eflomal's priors"),
        ("LEX\ta\tx", "not a line of eflomal's priors"),
        ("HMMF\t1\t2\t3", "not a line of eflomal's priors"),
        ("lex\ta\tx\t1", "not a line of eflomal's priors"),
        ("LEX\ta\tx\tone", "the count 'one' is not a number of 0 or more"),
        ("LEX\ta\tx\tnan", "the count 'nan' is not a number of 0 or more"),
        ("HMMR\t1\t-1", "the count '-1' is not a number of 0 or more"),
        ("FERR\tx\t1.5\t1", "'1.5' is not a whole number"),
        ("HMMF\ta\t1", "'a' is not a whole number"),
        ("FERF\ta\t2147483648\t1", "2147483648 is no jump and no fertility: 2147483647 is the largest"),
        (
            "HMMR\t-99999999999999999999\t1",
            "-99999999999999999999 is no jump and no fertility: 2147483647 is the largest",
        ),
    ],
)
def test_wrong_lines_are_refused(write, line, message):
    path = write("priors", f"LEX\ta\tx\t1\n{line}\nHMMF\t1\t1\n")
    with pytest.raises(DataError) as error:
        read_priors(path)
    assert error.value.what == message and (error.value.file, error.value.line) == (path, 2)


def test_invalid_text_is_refused(write):
    path = write("priors", b"LEX\ta\tx\t1\nLEX\t\xe9\tx\t1\n")
    with pytest.raises(DataError, match="priors:2:5: invalid UTF-8.*; priors are in UTF-8: convert the file"):
        read_priors(path)


def test_links_of_other_text_are_refused():
    text, links = Corpus.from_pairs([("a", "x")]), Links.from_pairs([[(0, 0)]])
    with pytest.raises(DataError, match="the reverse links are of 2 sentences, the text has 1"):
        count_priors(text, links, Links.from_pairs([[], []]))
    with pytest.raises(DataError, match="forward link 0-1 of sentence 1 is outside its pair of 1 and 1"):
        count_priors(text, Links.from_pairs([[(0, 1)]]), links)
