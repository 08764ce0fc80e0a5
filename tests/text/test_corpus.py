"""Parallel text as ids: tokens and words against plain Python, and parts of a corpus."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner import Corpus
from aligner.text._corpus import Interner, Status, hash_sentences, index_lines, relabel
from aligner.text.corpus import sampled
from aligner.text.sides import Relabelled, relabelled


@given(lines=st.lists(st.text(st.sampled_from("ab\u00e9 \t\r\u00a0\u2028"), max_size=30), max_size=8))
def test_tokens_equal_slow_twin(lines):
    text = "".join(line + "\n" for line in lines).encode()
    words = Interner()
    ids, lengths = np.empty(len(text), np.int32), np.empty(len(lines), np.int64)
    status, n_lines, n = index_lines(text, words, ids, lengths, None)
    expected = [oracle.tokens(line.removesuffix("\r")) for line in lines]
    assert (status, n_lines) == (0, len(lines))
    assert lengths.tolist() == [len(line) for line in expected]
    flat = [token for line in expected for token in line]
    first_seen = list(dict.fromkeys(flat))
    assert ids[:n].tolist() == [first_seen.index(token) for token in flat]
    arena, starts = words.words()
    assert [arena[a:b].decode() for a, b in zip(starts[:-1], starts[1:], strict=True)] == first_seen


def test_many_words_of_every_length():
    """The table grows many times; words of 7, 8, 9 bytes and such with equal beginnings stay apart."""
    tokens = [f"{'x' * (k % 19)}{k}" for k in range(30_000)]
    text = (" ".join(tokens + tokens[::-1]) + "\n").encode()
    words = Interner()
    ids = np.empty(len(text), np.int32)
    _, _, n = index_lines(text, words, ids, np.empty(1, np.int64), None)
    assert n == 60_000 and len(words) == 30_000
    np.testing.assert_array_equal(ids[:30_000], np.arange(30_000))
    np.testing.assert_array_equal(ids[30_000:n], np.arange(30_000)[::-1])


@pytest.mark.parametrize("n", range(1, 41))
def test_a_word_is_the_same_wherever_it_stands(n):
    """At the beginning, in the middle and at the end of a line, and at the end of the text."""
    word = bytes(range(65, 65 + n))
    text = b"%b %b\t%b\r\n%b\n" % (word, word, word, word)
    ids = np.empty(len(text), np.int32)
    assert index_lines(text, words := Interner(), ids, np.empty(2, np.int64), None) == (0, 2, 4)
    assert len(words) == 1 and ids[:4].tolist() == [0] * 4


def test_words_of_equal_hash_stay_apart():
    """Two words of 16 bytes that the hash of _corpus.pyx cannot tell apart, made by turning it round."""

    def mix(h: int, eight: int) -> int:
        h = (h ^ eight) * 0x9E3779B97F4A7C15 % 2**64
        return h ^ (h >> 32)

    a, b = int.from_bytes(b"abcdefgh", "little"), int.from_bytes(b"ijklmnop", "little")
    for k in range(10_000):
        c = int.from_bytes(b"word%04d" % k, "little")
        d = b ^ mix(0, a) ^ mix(0, c)  # mix(mix(0, a), b) == mix(mix(0, c), d)
        pair = [x.to_bytes(8, "little") + y.to_bytes(8, "little") for x, y in ((a, b), (c, d))]
        if not set(pair[1]) & set(b" \t\n\r"):
            break
    words = Interner()
    index_lines(b" ".join(pair) + b"\n", words, np.empty(20, np.int32), np.empty(1, np.int64), None)
    assert words.words()[0] == b"".join(pair) and len(words) == 2


def test_parts():
    pairs = [("a b", "x"), ("", "y z"), ("c", "")]
    corpus = Corpus.from_pairs(pairs)
    for start, stop in ((1, 3), (0, 1), (2, 2)):
        part = corpus.part(start, stop)
        assert len(part) == stop - start
        sentences = [
            (" ".join(part.src.sentence(n)), " ".join(part.tgt.sentence(n))) for n in range(len(part))
        ]
        assert sentences == pairs[start:stop]


def test_corpus_is_frozen():
    corpus = Corpus.from_pairs([("a", "b")])
    with pytest.raises(AttributeError):
        corpus.src = corpus.tgt  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        corpus.src.ids[0] = 1


def test_kernels_refuse_what_they_cannot_hold():
    words = Interner()
    with pytest.raises(ValueError, match="does not end in a newline"):
        index_lines(b"abc", words, np.empty(9, np.int32), np.empty(1, np.int64), None)
    with pytest.raises(ValueError, match="no room for the tokens"):
        index_lines(b"a b c d\n", words, np.empty(3, np.int32), np.empty(1, np.int64), None)
    status, line, _ = index_lines(b"a\nb\n", words, np.empty(9, np.int32), np.empty(1, np.int64), None)
    assert (status, line) == (Status.NO_ROOM, 1)


def test_words_are_found():
    vocab = Corpus.from_pairs([("a \u00e9t\u00e9 " + "long" * 30 + " a b", "x")]).src.vocab
    assert vocab.find(["b", "x", "\u00e9t\u00e9", "long" * 30, "a", "b", "", "long"]).tolist() == [
        3,
        -1,
        1,
        2,
        0,
        3,
        -1,
        -1,
    ]
    assert vocab.find([]).tolist() == []
    assert Corpus.from_pairs([]).src.vocab.find(["a"]).tolist() == [-1]


def test_a_compact_corpus_is_what_its_lines_would_be_read_as():
    pairs = [("b a", "x"), ("", ""), ("c a c", "z x z"), ("a", "y")]
    corpus = Corpus.from_pairs(pairs)
    for keep in ([True] * 4, [False, True, True, False], [False, False, True, True], [False] * 4):
        found = corpus.select(np.array(keep)).compact()
        expected = Corpus.from_pairs([pair for pair, kept in zip(pairs, keep, strict=True) if kept])
        for one, other in ((found.src, expected.src), (found.tgt, expected.tgt)):
            assert one.vocab.words == other.vocab.words and one.ids.dtype == other.ids.dtype
            assert one.ids.tolist() == other.ids.tolist() and one.offsets.tolist() == other.offsets.tolist()


def test_a_sample_is_from_everywhere_and_always_the_same():
    assert sampled(7, 7).all() and sampled(7, 8).all() and sampled(0, 5).shape == (0,)
    keep = sampled(12_345, 10_000)
    assert keep.sum() == 10_000 and np.array_equal(keep, sampled(12_345, 10_000))
    assert np.abs(np.flatnonzero(~keep).mean() - 6172) < 200
    assert np.flatnonzero(sampled(50, 5)).tolist() == [2, 27, 35, 38, 40]


def test_a_relabelled_side_is_as_if_it_was_read_so():
    """Its ids are made when they are asked for: all of them, those of a part, and how often words occur."""
    corpus = Corpus.from_pairs([("Aa ab", "x"), ("", "u"), ("b aB A", "v"), ("B", "")])
    side, read = relabelled(corpus.src, str.lower), Corpus.from_pairs([("aa ab b ab a b", "")]).src
    assert side.vocab.words == read.vocab.words and side.ids.tolist() == read.ids.tolist()
    assert side.counts.tolist() == read.counts.tolist() == [1, 2, 2, 1]
    assert [side.sentence(n) for n in range(4)] == [["aa", "ab"], [], ["b", "ab", "a"], ["b"]]
    assert side.tokens(2, 4).tolist() == side.part(2, 4).ids.tolist() == side.held().tokens(2, 4).tolist()
    keep = np.array([False, True, True, False])
    assert side.select(keep).ids.tolist() == read.ids[2:5].tolist()
    seen = Corpus(side, corpus.tgt)
    assert [x.tolist() for x in seen.occurrences] == [[1, 2, 1, 1], [1, 0, 1]]
    unknown = Relabelled(corpus.src, np.array([-1, 0, 0, -1, 1, -1], dtype=np.int32), read.vocab)
    assert unknown.ids.tolist() == [-1, 0, 0, -1, 1, -1] and unknown.counts.tolist() == [2, 1, 0, 0]


@given(ids=st.lists(st.integers(0, 4), max_size=50), n_threads=st.sampled_from([1, 3]))
def test_tokens_get_other_ids(ids, n_threads):
    """In place, too. Ids that are of no word, and room for other tokens, are refused."""
    new, tokens = np.array([7, -1, 0, 7, 3], dtype=np.int32), np.array(ids, dtype=np.int32)
    out = np.empty(len(ids), dtype=np.int32)
    relabel(new, tokens, out, n_threads)
    assert out.tolist() == [new[k] for k in ids]
    relabel(new, tokens, tokens, n_threads)
    assert tokens.tolist() == out.tolist()
    for wrong, room in (([5], 1), ([-1], 1), ([0], 2)):
        with pytest.raises(ValueError):
            relabel(new, np.array(wrong, dtype=np.int32), np.empty(room, dtype=np.int32), n_threads)


@given(
    sentences=st.lists(st.lists(st.text("ab\u00e9", min_size=1, max_size=3), max_size=4), max_size=6),
    n_threads=st.sampled_from([1, 3]),
)
def test_checksums_of_sentences_equal_slow_twin(sentences, n_threads):
    """Model files keep them: they are the same for ever."""
    side = Corpus.from_pairs([(" ".join(words), "x") for words in sentences]).src
    found = hash_sentences(side.vocab.text, side.vocab.offsets, side.ids, side.offsets, n_threads)
    assert found.dtype == np.uint64 and found.tolist() == [oracle.checksum(words) for words in sentences]
