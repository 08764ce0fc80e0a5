"""Links of one tokenisation as links of another: kernel against its twin, and what other pipelines do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner import Corpus, DataError, Links, evaluate, read_corpus, remap
from aligner.links._remap import Merge, sizes
from aligner.links._remap import remap as kernel
from aligner.links.formats import LinkReader


@st.composite
def sides(draw):
    """(new tokens that each old token turns into, as ranges; old tokens that each new token may come from).

    Old tokens side by side may turn into the same new token, or into one of the new tokens alone.
    """
    n_old, n_new = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    overlaps, low, high = [], 0, 0
    for _ in range(n_old):
        low = draw(st.integers(low, n_new))
        high = draw(st.integers(max(low, high), n_new))
        overlaps.append((low, high))
    back = []
    for x in range(n_new):
        old = [k for k, (a, b) in enumerate(overlaps) if a <= x < b]
        back.append((min(old), max(old) + 1) if old else (0, 0))
    taken = draw(
        st.sampled_from(
            [lambda a, b: (a, b), lambda a, b: (a, min(b, a + 1)), lambda a, b: (max(a, b - 1), b)]
        )
    )
    return [taken(a, b) for a, b in overlaps], back


def arrays(sentences):
    old = np.cumsum([0, *(len(there) for there, _ in sentences)], dtype=np.int64)
    new = np.cumsum([0, *(len(back) for _, back in sentences)], dtype=np.int64)
    there = np.array([x for there, _ in sentences for x in there], dtype=np.int32).reshape(-1, 2)
    back = np.array([x for _, back in sentences for x in back], dtype=np.int32).reshape(-1, 2)
    columns = [np.ascontiguousarray(table[:, k]) for table in (there, back) for k in range(2)]
    return old, *columns[:2], new, *columns[2:]


@given(data=st.data(), rule=st.sampled_from(["any", "majority", "mean"]), n_threads=st.sampled_from([1, 2]))
def test_kernel(data, rule, n_threads):
    S = data.draw(st.integers(1, 3))
    both = [[data.draw(sides()) for _ in range(S)] for _ in range(2)]
    links = []
    for n in range(S):
        place = st.tuples(*(st.integers(0, len(side[n][0]) - 1) for side in both))
        link = st.tuples(place, st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]), st.integers(0, 1))
        links.append([(i, j, p, sure) for (i, j), p, sure in data.draw(st.lists(link, max_size=8))])
    flat = [x for one in links for x in one]
    offsets = np.cumsum([0, *map(len, links)], dtype=np.int64)
    kinds = np.int32, np.int32, np.float64, np.uint8
    src, tgt, scores, sure = (np.array([x[k] for x in flat], dtype=kind) for k, kind in enumerate(kinds))
    given_links, tables = (offsets, src, tgt, sure, scores), [arrays(side) for side in both]
    found = kernel(given_links, *tables, Merge[rule.upper()], n_threads)
    became = sizes(given_links, *tables)
    for n in range(S):
        turned = [[{*range(a, b)} for a, b in side[n][0]] for side in both]
        expected = oracle.remap(links[n], *turned, rule)
        assert became[n] == sum(len(turned[0][i]) * len(turned[1][j]) for i, j, _, _ in links[n])
        part = slice(found[0][n], found[0][n + 1])
        places = list(zip(found[1][part].tolist(), found[2][part].tolist(), strict=True))
        assert places == sorted(expected)
        assert found[3][part].tolist() == [expected[place][1] for place in places]
        wanted = [expected[place][0] for place in places]
        np.testing.assert_allclose(found[4][part], wanted, rtol=1e-12, atol=1e-12)


def test_kernel_looks_at_what_it_is_given():
    good = arrays([([(0, 1), (1, 2)], [(0, 1), (1, 2)])])
    links = tuple(np.array(x, kind) for x, kind in (([0, 1], np.int64), ([1], np.int32), ([0], np.int32)))
    assert kernel((*links, None, None), good, good, Merge.ANY, 1)[1].tolist() == [1]
    for change in (
        lambda x: {"src": (*x, arrays([([(0, 1), (1, 3)], [(0, 1), (1, 2)])]))},
        lambda x: {"src": (*x, arrays([([(0, 1), (1, 2)], [(0, 1), (1, 3)])]))},
        lambda x: {"src": (*x, arrays([([(0, 1)], [(0, 1)])]))},
    ):
        with pytest.raises(ValueError):
            kernel((*links, None, None), change(())["src"][0], good, Merge.ANY, 1)
    for bad in (
        (links[0], np.array([2], np.int32), links[2], None, None),
        (links[0], np.array([-1], np.int32), links[2], None, None),
        (np.array([0, 2]), *links[1:], None, None),
        (*links, np.ones(2, np.uint8), None),
        (*links, None, np.ones(2)),
    ):
        with pytest.raises(ValueError):
            kernel(bad, good, good, Merge.ANY, 1)
    with pytest.raises(ValueError):
        kernel((*links, None, None), good, good, Merge.ANY, 0)


def corpus(*lines: str) -> Corpus:
    return Corpus.from_pairs([tuple(line.split(" | ")) for line in lines])


WORDS, PIECES = corpus("hello world | bonjour monde"), corpus("hel@@ lo world | bon@@ jour mon@@ de")


def test_words_to_pieces_and_back():
    links = Links.from_pairs([[(0, 0, 0.5), (1, 1, 0.25)]])
    every = remap(links, WORDS, PIECES)
    assert every.scored() == [
        [(0, 0, 0.5), (0, 1, 0.5), (1, 0, 0.5), (1, 1, 0.5), (2, 2, 0.25), (2, 3, 0.25)]
    ]
    assert remap(links, WORDS, PIECES, pieces="first").pairs() == [[(0, 0), (2, 2)]]
    assert remap(links, WORDS, PIECES, pieces="last").pairs() == [[(1, 1), (2, 3)]]
    for merge in ("any", "mean"):
        assert remap(every, PIECES, WORDS, merge=merge).scored() == links.scored()
    diagonal = Links.from_pairs([[(0, 0), (1, 1), (1, 2), (2, 3)]])
    assert remap(diagonal, PIECES, WORDS).pairs() == [[(0, 0), (0, 1), (1, 1)]]
    assert remap(diagonal, PIECES, WORDS, merge="majority").pairs() == [[(0, 0), (1, 1)]]
    assert remap(diagonal, PIECES, WORDS, merge="mean").scored() == [
        [(0, 0, 1.0), (0, 1, 0.5), (1, 1, 2 / 3)]
    ]
    marked = replace(diagonal, sure=np.array([1, 0, 1, 0], dtype=np.uint8))
    assert remap(marked, PIECES, WORDS).sure.tolist() == [1, 1, 0]
    assert remap(marked, PIECES, WORDS, merge="majority").sure.tolist() == [0, 0]
    half = Links.from_pairs([[(0, 0)], [(0, 0)]])
    assert (
        len(remap(half[:1], PIECES, WORDS, merge="majority").src) == 0
    )  # 2 of 4 pieces are not more than half


def test_what_python_callers_get_wrong():
    links = Links.from_pairs([[(0, 0)]])
    for arguments, kind, message in (
        (("x", WORDS, PIECES), TypeError, "links must be Links"),
        ((links, "x", PIECES), TypeError, "old must be a Corpus"),
        (
            (Links.from_pairs([[], []]), WORDS, PIECES),
            DataError,
            "links of 2 sentence pairs, the old text has 1",
        ),
        ((Links.from_pairs([[(2, 0)]]), WORDS, PIECES), DataError, "link 2-0 of sentence pair 1 is outside"),
        (
            (links, WORDS, corpus("hello word | bonjour monde")),
            DataError,
            'new text:1: .*"word" here, "world"',
        ),
    ):
        with pytest.raises(kind, match=message):
            remap(*arguments)
    with pytest.raises(ValueError, match="unknown merge 'x'; there are any"):
        remap(links, WORDS, PIECES, merge="x")
    with pytest.raises(ValueError, match="unknown scheme 'x'"):
        remap(links, WORDS, PIECES, schemes=("x", None))
    assert len(remap(Links.from_pairs([]), Corpus.from_pairs([]), Corpus.from_pairs([]))) == 0


def test_many_links_are_made_in_parts(monkeypatch):
    old, new = (Corpus.from_pairs([(x, x)] * 5) for x in ("abcd ef", "a b c d e f"))
    links = Links.from_pairs([[(0, 0), (1, 1)]] * 5)
    whole = remap(links, old, new)
    monkeypatch.setattr("aligner.links.remap.AT_ONCE", 30)
    assert remap(links, old, new).pairs() == whole.pairs()
    monkeypatch.setattr("aligner.links.remap.MOST", 10)
    with pytest.raises(DataError, match="sentence pair 1 would have 20 links; let words turn into"):
        remap(links, old, new)


def mozilla(links, tokens, text):
    """What the pipeline of Mozilla does: tokens are joined until they are the word."""
    maps = []
    for tok, orig in zip(tokens, text, strict=True):
        words, found, k = tok.split(), {}, 0
        for n, word in enumerate(orig.split()):
            joined = ""
            while k < len(words) and joined != word:
                joined += words[k]
                found[k] = n
                k += 1
        maps.append(found)
    return sorted({(maps[0][i], maps[1][j]) for i, j in links})


def test_moses_tokens_to_words_as_mozilla_does():
    """mozilla/translations#507: align tokens of Moses, and give OpusTrainer links of words between blanks."""
    tokens = "“ I will not , ” retorted the Witch .", "« Я не буду » , — парировала Ведьма ."
    text = "“I will not,” retorted the Witch.", "«Я не буду», — парировала Ведьма."
    links = [(0, 0), (1, 1), (2, 3), (3, 2), (4, 5), (5, 4), (6, 7), (8, 8), (9, 9)]
    found = remap(Links.from_pairs([links]), Corpus.from_pairs([tokens]), Corpus.from_pairs([text]))
    assert (
        found.pairs()[0] == mozilla(links, tokens, text) == [(0, 0), (1, 2), (2, 1), (2, 2), (3, 4), (5, 5)]
    )
    # Moses may write other characters. Mozilla's words never end then: all that follows is one word.
    tokens, text = ("a semi @-@ colon isn &apos;t it", "x y z"), ("a semi-colon isn't it", "x y z")
    links = [(0, 0), (1, 1), (3, 1), (6, 2)]
    found = remap(Links.from_pairs([links]), Corpus.from_pairs([tokens]), Corpus.from_pairs([text]))
    assert found.pairs() == [[(0, 0), (1, 1), (3, 2)]]
    assert mozilla(links, tokens, text) == [(0, 0), (1, 1), (1, 2)]


def test_pieces_as_opustrainer_has_them():
    """OpusTrainer's own example. It links the last byte of a character alone, we link all of them."""
    old = Corpus.from_pairs([("This is a simple test statement 🤣 .", "这 是 一个 简单 的 测试 语 句 🤣 。")])
    emoji = "<0xF0> <0x9F> <0xA4> <0xA3>"
    new = Corpus.from_pairs(
        [
            (
                f"▁This ▁is ▁a ▁simple ▁test ▁statement ▁ {emoji} .",
                f"这 是 一 个 简 单 的 测 试 语 句 ▁ {emoji} ▁。",
            )
        ]
    )
    links = [(0, 0), (1, 1), (2, 2), (3, 3), (3, 4), (4, 5), (5, 6), (5, 7), (6, 8), (7, 9)]
    found = remap(Links.from_pairs([links]), old, new).pairs()[0]
    theirs = "0-0 1-1 2-2 2-3 3-4 3-5 3-6 4-7 4-8 5-9 5-10 10-15 11-16"
    theirs = [tuple(map(int, link.split("-"))) for link in theirs.split()]
    assert {*found} > {*theirs}
    assert {*found} - {*theirs} == {(i, j) for i in range(6, 11) for j in range(11, 16)} - {(10, 15)}
    spaced = Corpus.from_pairs(
        [("This ▁ is ▁ a ▁ simple ▁ test ▁ statement ▁ 🤣 .", "这 是 一个 简单 的 测试 语 句 ▁ 🤣 ▁ 。")]
    )
    links = [(0, 0), (2, 1), (4, 2), (6, 3), (6, 4), (8, 5), (10, 6), (10, 7), (12, 9), (13, 11)]
    assert remap(Links.from_pairs([links]), spaced, new).pairs()[0] == found


def aer(links: Links, gold: Links) -> float:
    return evaluate([links], gold, n_samples=0).results[0].scores["aer"]


def pieces(line: str, n: int) -> str:
    """A sentence in SentencePiece's pieces of n letters; the first space is a piece of its own."""
    found = [f"▁{word[:n]}" for word in line.split()]
    cut = [
        [first, *(word[k : k + n] for k in range(n, len(word), n))]
        for first, word in zip(found, line.split(), strict=True)
    ]
    if cut:
        cut[0] = ["▁", cut[0][0][1:], *cut[0][1:]]
    return " ".join(piece for word in cut for piece in word)


def test_pieces_are_not_scored_as_words(data):
    """lilt/alignment-scripts#5: words were counted from 1, which made an AER of 26% one of 64%."""
    text = read_corpus(str(data / "sample.en"), str(data / "sample.fr"))
    gold = LinkReader(str(data / "sample.gold")).read()
    lines = [(" ".join(text.src.sentence(n)), " ".join(text.tgt.sentence(n))) for n in range(len(text))]
    cut = Corpus.from_pairs([(pieces(src, 4), pieces(tgt, 4)) for src, tgt in lines])
    subword_links = remap(replace(gold, sure=None), text, cut)
    right = remap(subword_links, cut, text)
    assert aer(right, gold) == aer(replace(gold, sure=None), gold)
    one_more = replace(right, src=right.src + 1, tgt=right.tgt + 1)  # as lilt counted
    assert aer(one_more, gold) > 0.4
    assert aer(subword_links, gold) > 0.4
