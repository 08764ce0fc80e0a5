"""Shortlists: against slow twins, and against what prune_shortlist.py and marian-conv made of a text."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from aligner import Corpus, DataError, LinkReader, Links, read_corpus, shortlist
from aligner.lexicons.counting import count
from aligner.lexicons.formats import FORMATS
from aligner.lexicons.table import NULL, Table
from aligner.text.sides import Vocab
from aligner.text.vocabulary import Vocabulary, read_vocabulary
from aligner.uses.shortlist import MAGIC, Shortlist, as_written, binary, first_words, last_is_listed, pruned

GOLDEN = Path(__file__).parent / "golden"
LINKS = ROOT / "tests" / "links" / "golden" / "sample.symal.grow-diag-final-and"
WORDS = ["a", "b", "é", "z"]

tables = st.dictionaries(
    st.tuples(st.sampled_from([*WORDS, "NULL"]), st.sampled_from([*WORDS, "NULL"])),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]),
)


def table_of(rows: dict[tuple[str, str], float]) -> Table:
    """(e, f) -> p(f | e), in the order of the rows"""
    ids = {word: n for n, word in enumerate(WORDS)} | {"NULL": NULL}
    e, f = (np.array([ids[pair[k]] for pair in rows], dtype=np.int64) for k in range(2))
    p = np.column_stack([np.array(list(rows.values()), dtype=np.float64), np.full(len(rows), np.nan)])
    return Table(Vocab.of(WORDS), Vocab.of(WORDS), e, f, p)


def written(table: Table) -> list[str]:
    Shortlist().write(table, out := io.BytesIO())
    return out.getvalue().decode().splitlines()


def pruned_slowly(rows: dict[tuple[str, str], float], best: int, tops: list[str]) -> list[str]:
    """The definition, word by word."""
    lines = []
    for e in sorted({e for e, _ in rows} - {"NULL"}):
        found = {f: p for (x, f), p in rows.items() if x == e and f != "NULL"}
        chosen = sorted(found, key=lambda f: -found[f])[:best] + [f for f in tops if f in found]
        lines += [f"{f} {e} {found[f]:.8f}" for f in chosen]
    return lines


def packed_slowly(
    rows: dict[tuple[str, str], float], src: Vocabulary, tgt: Vocabulary, best: int, first: int
) -> bytes:
    """The layout, number by number."""
    found = [{} for _ in src.words]
    for (e, f), p in rows.items():
        if "NULL" not in (e, f):
            one = found[src.numbers.get(e, src.unknown)]
            number = tgt.numbers.get(f, tgt.unknown)
            one[number] = max(p, one.get(number, 0))
    lists = [sorted(sorted(one, key=lambda f: (-one[f], -f))[:best]) for one in found]
    starts = [sum(map(len, lists[:n])) for n in range(len(lists) + 1)]
    content = struct.pack(f"<4Q{len(starts)}Q", first, best, len(starts), starts[-1], *starts)
    content += b"".join(struct.pack("<I", f) for one in lists for f in one)
    seed = 0
    for n in range(len(content) // 8):
        (word,) = struct.unpack_from("<Q", content, 8 * n)
        seed ^= (word + 0x9E3779B9 + (seed << 6) + (seed >> 2)) % 2**64
    return struct.pack("<2Q", MAGIC, seed) + content


@given(rows=tables, best=st.integers(1, 5), tops=st.lists(st.sampled_from([*WORDS, "x"]), unique=True))
def test_lines_are_those_of_the_slow_twin(rows, best, tops):
    """Of equal probabilities the earlier row comes first."""
    assert written(pruned(table_of(rows), best, tops)) == pruned_slowly(rows, best, tops)


@given(
    rows=tables,
    best=st.integers(1, 5),
    orders=st.tuples(*2 * [st.permutations(["</s>", "<unk>", "a", "é", "x"])]),
)
def test_binary_shortlists_are_those_of_the_slow_twin(rows, best, orders):
    """Words that are not in a vocabulary become its unknown word."""
    src, tgt = (Vocabulary("v", order, order.index("<unk>")) for order in orders)
    assert binary(table_of(rows), src, tgt, best, 7) == packed_slowly(rows, src, tgt, best, 7)


@pytest.fixture(scope="module")
def counted() -> Table:
    text = read_corpus(*(str(ROOT / "data" / name) for name in ("sample.en", "sample.fr")))
    return count(text, LinkReader(str(LINKS), text=text).read())


@pytest.mark.parametrize("way", ["s2t", "t2s"])
def test_shortlists_are_those_of_the_originals(counted, way):
    vocabulary = read_vocabulary(str(GOLDEN / "sample.vocab"))
    table = as_written(counted if way == "s2t" else counted.transposed())
    Shortlist().write(pruned(table, 3, first_words(vocabulary, 3)), out := io.BytesIO())
    assert out.getvalue() == (GOLDEN / f"sample.pruned.{way}").read_bytes()
    packed = binary(table, vocabulary, vocabulary, best=2, first=5)
    assert packed == (GOLDEN / f"sample.{way}.bin").read_bytes()


@given(st.integers(1, 2**24 - 1), st.integers(1, 2**24 - 1))
def test_probabilities_are_those_that_extract_lex_writes(n, more):
    """Rounded from single precision to seven decimals, ties to even, as C's printf does."""
    p = np.array([[n / (n + more), np.nan], [1 / 256, np.nan]])
    table = Table(Vocab.of("ab"), Vocab.of("x"), np.array([0, 1]), np.array([0, 0]), p)
    FORMATS["marian"].write(table, out := io.BytesIO())
    assert [line[:-1] for line in written(as_written(table))] == out.getvalue().decode().splitlines()
    assert written(as_written(table))[1] == "x b 0.00390620"


def test_a_vocabulary_without_an_unknown_word_must_have_all_words():
    words = Vocabulary("v", ["a", "b"], None)
    assert binary(
        table_of({("a", "b"): 1.0}), Vocabulary("v", WORDS, None), Vocabulary("v", WORDS, None), 1, 1
    )
    with pytest.raises(DataError, match="v: 2 words of the text not in the vocabulary"):
        binary(table_of({("a", "b"): 1.0}), words, words, 1, 1)


def test_marian_wants_target_words_of_the_last_source_word():
    table = table_of({("a", "b"): 1.0, ("z", "NULL"): 1.0})
    assert last_is_listed(table, Vocabulary("v", ["z", "<unk>", "a"], 1))
    assert not last_is_listed(table, Vocabulary("v", ["a", "<unk>", "z"], 1))


def test_from_python():
    text, links = [("a b", "x y"), ("a", "z"), ("a", "x")], [[(0, 0), (1, 1)], [(0, 0)], [(0, 0)]]
    found = shortlist(text, Links.from_pairs(links))
    assert found == {"a": [("x", 0.6666667), ("z", 0.3333333)], "b": [("y", 1.0)]}
    assert shortlist(Corpus.from_pairs(text), Links.from_pairs(links), best=1, min_prob=0.7) == {
        "b": [("y", 1.0)]
    }
    with pytest.raises(ValueError, match="best must be a whole number between 1 and"):
        shortlist(text, Links.from_pairs(links), best=0)
    with pytest.raises(TypeError, match="links must be Links"):
        shortlist(text, links)
