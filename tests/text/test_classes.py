"""Word classes: the exchange against slow twins, and files of classes."""

from __future__ import annotations

import io
import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligner.errors import DataError
from aligner.text import _classes
from aligner.text.classes import cluster, read_classes, write_classes
from aligner.text.corpus import Corpus
from aligner.text.sides import Side, Vocab

ROUNDED = 50 * 2.0**-20  # f of the kernel counts in 2^-20, and F has fewer than 50 terms
TEXTS = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=7), min_size=1, max_size=8)


def criterion(sentences: list[list[str]], class_of: dict[str, int]) -> float:
    """F, counted in full."""
    bigrams: Counter[tuple[int, int]] = Counter()
    tokens: Counter[int] = Counter()
    for sentence in filter(None, sentences):
        row = [-1, *(class_of[word] for word in sentence), -1]
        bigrams.update(itertools.pairwise(row))
        tokens.update(row[1:])
    return sum(x * math.log(x) for x in bigrams.values()) - 2 * sum(x * math.log(x) for x in tokens.values())


def side_of(sentences: list[list[str]]) -> Side:
    return Corpus.from_pairs([(sentence, []) for sentence in sentences]).src


def classed(side: Side, classes: np.ndarray) -> dict[str, int]:
    return dict(zip(side.vocab.words, classes.tolist(), strict=True))


@settings(max_examples=80)
@given(TEXTS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_each_word_goes_to_its_best_class(sentences, C, random):
    """The slow twin tries all classes, and finds none that is better."""
    side = side_of(sentences)
    words = side.vocab.words
    bigrams = _classes.Bigrams(side.ids, side.offsets, len(words))
    classes = np.array([random.randrange(C) for _ in words], dtype=np.int32)
    value = _classes.criterion(bigrams, classes, C)
    assert value == pytest.approx(criterion(sentences, classed(side, classes)), rel=0, abs=ROUNDED)
    for word in random.sample(range(len(words)), len(words)):
        old, before = value, classed(side, classes)
        moved, value = _classes.exchange(bigrams, np.array([word], dtype=np.int32), classes, C, 0.0, 1)
        after = classed(side, classes)
        best = max(criterion(sentences, {**before, words[word]: c}) for c in range(C))
        assert value == pytest.approx(best, rel=0, abs=ROUNDED)
        assert value == pytest.approx(criterion(sentences, after), rel=0, abs=ROUNDED)
        assert moved == (before != after) and before.items() - after.items() <= {
            (words[word], before[words[word]])
        }
        assert value > old if moved else value == old


@settings(max_examples=40)
@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=7), min_size=1, max_size=8), st.integers(2, 3))
def test_no_better_than_the_best_of_all_classes(sentences, C):
    side = side_of(sentences)
    words = side.vocab.words
    best = max(
        criterion(sentences, dict(zip(words, classes, strict=True)))
        for classes in itertools.product(range(C), repeat=len(words))
    )
    ours = criterion(sentences, classed(side, cluster(side, C).classes))
    assert best - 0.02 * abs(best) - 1e-9 <= ours <= best + 1e-9


def test_words_of_one_kind_have_one_class():
    subjects, verbs, objects = ["she", "he", "it"], ["sees", "hears", "knows"], ["cats", "dogs", "mice"]
    sentences = [list(row) for row in itertools.product(subjects, verbs, objects)]
    found = cluster(side_of(sentences), 3)
    assert found.n_classes == 3
    kinds = [set(found.of(Vocab.of(words)).tolist()) for words in (subjects, verbs, objects)]
    assert [len(kind) for kind in kinds] == [1, 1, 1] and len(set.union(*kinds)) == 3


def test_the_perplexity_is_that_of_the_model_and_never_rises_without_noise(data):
    text = (data / "sample.en").read_text()
    sentences = [line.split(" ") for line in text.splitlines()]
    side = side_of(sentences)
    rounds = []
    found = cluster(side, 10, rounds=2, tell=rounds.append)
    quiet = [one.perplexity for one in rounds if one.temperature == 0]
    assert [one.temperature for one in rounds[:3]] == pytest.approx([1.2, 0.6, 0], rel=1e-12, abs=1e-12)
    assert [one.number for one in rounds] == list(range(1, len(rounds) + 1))
    assert len(quiet) > 1 and rounds[-1].moved == 0 and max(np.diff(quiet)) <= 0
    class_of = classed(side, found.classes)
    pairs: Counter[tuple[int, int]] = Counter()
    classes: Counter[int] = Counter()
    words: Counter[str] = Counter()
    for sentence in sentences:
        row = [*(class_of[word] for word in sentence), -1]
        pairs.update(itertools.pairwise([-1, *row]))
        classes.update(row)
        words.update([*sentence, "</s>"])
    of_classes = sum(n * math.log(n / classes[a]) for (a, b), n in pairs.items())
    of_words = sum(n * math.log(n / classes[class_of.get(word, -1)]) for word, n in words.items())
    truth = math.exp(-(of_classes + of_words) / words.total())
    assert rounds[-1].perplexity == pytest.approx(truth, rel=1e-7, abs=0)


def test_noise_finds_better_classes(data):
    text = (data / "generated.src").read_text()
    side = side_of([line.split(" ") for line in text.splitlines()])
    last = {}
    for rounds in (0, 20):
        for seed in (1, 2):
            told = []
            classes = cluster(side, 20, rounds=rounds, seed=seed, tell=told.append).classes
            last[rounds, seed] = told[-1].perplexity, classes.tolist()
            again = cluster(side, 20, rounds=rounds, seed=seed).classes
            assert again.tolist() == classes.tolist()
    assert max(last[20, 1][0], last[20, 2][0]) < last[0, 1][0] == last[0, 2][0]
    assert last[20, 1][1] != last[20, 2][1]


def test_classes_are_numbered_by_their_most_frequent_words():
    found = cluster(side_of([["b", "c", "c", "a", "a", "a"]]), 5)
    assert found.vocab.words == ["b", "c", "a"] and found.classes.tolist() == [3, 2, 1]
    assert cluster(side_of([[]])).n_classes == 0
    assert cluster(side_of([["a", "b"], []]), 1).classes.tolist() == [1, 1]


def test_counts_beyond_the_table():
    """f of large counts is not in the table."""
    ids = np.tile(np.array([0, 1, 1, 2], dtype=np.int32), 600_000)
    side = Side(ids, np.array([0, len(ids)]), Vocab.of(["a", "b", "c"]))
    classes = np.array([0, 1, 0], dtype=np.int32)
    bigrams = _classes.Bigrams(side.ids, side.offsets, 3)
    n = 600_000  # times `a b b c`, in one sentence
    counts = {"a b": n, "b b": n, "b c": n, "c a": n - 1, "end a": 1, "c end": 1}
    truth = sum(x * math.log(x) for x in counts.values())
    truth -= 2 * sum(x * math.log(x) for x in (2 * n, 2 * n, 1))
    assert _classes.criterion(bigrams, classes, 2) == pytest.approx(truth, rel=1e-12, abs=0)
    _, value = _classes.exchange(bigrams, np.array([0, 1, 2], dtype=np.int32), classes, 2, 0.0, 1)
    assert value == _classes.criterion(bigrams, classes, 2) >= truth


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": [0, 2]}, "classes must be between 0 and 1"),
        ({"classes": [0, -1]}, "classes must be between 0 and 1"),
        ({"classes": [0]}, "1 classes are given for 2 words"),
        ({"order": [2]}, "order must be between 0 and 1"),
        ({"order": [-1]}, "order must be between 0 and 1"),
        ({"C": 0}, "there can be 1 to 4096 classes"),
        ({"C": 4097}, "there can be 1 to 4096 classes"),
        ({"temperature": -0.1}, "temperature must be between 0 and 100"),
        ({"temperature": math.nan}, "temperature must be between 0 and 100"),
    ],
)
def test_the_exchange_refuses(change, message):
    arguments = {"order": [0, 1], "classes": [0, 1], "C": 2, "temperature": 0.1, "seed": 1} | change
    for name in ("order", "classes"):
        arguments[name] = np.array(arguments[name], dtype=np.int32)
    side = side_of([["a", "b"]])
    with pytest.raises(ValueError, match=message):
        _classes.exchange(_classes.Bigrams(side.ids, side.offsets, 2), **arguments)


@pytest.mark.parametrize(
    ("ids", "offsets", "V", "message"),
    [
        ([0, 2], [0, 2], 2, "ids must be between 0 and 1"),
        ([0, -1], [0, 2], 2, "ids must be between 0 and 1"),
        ([0, 1], [0, 3], 2, "offsets leaves its array"),
        ([0, 1], [0, 2, 1], 2, "offsets falls"),
        ([0, 1], [], 2, "numbers"),
        ([], [0], -1, "V must be 0 or more"),
    ],
)
def test_bigrams_refuse(ids, offsets, V, message):
    with pytest.raises(ValueError, match=message):
        _classes.Bigrams(np.array(ids, dtype=np.int32), np.array(offsets, dtype=np.int64), V)


@pytest.mark.parametrize("wrong", [{"n_classes": 0}, {"n_classes": 5000}, {"rounds": -1}, {"seed": -1}])
def test_cluster_refuses(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        cluster(side_of([["a"]]), **wrong)


def test_classes_of_a_file(write):
    classes = read_classes(write("classes", "le\t2\nla 7\r\nmaison\t5\n"))
    assert classes.n_classes == 3
    vocab = Vocab.of(["maison", "mot", "la", "le", "5"])
    assert classes.of(vocab).tolist() == [2, 0, 3, 1, 0]
    assert classes.of(vocab).dtype == "int32"
    assert classes.of(Vocab.of([])).tolist() == []
    write_classes(out := io.BytesIO(), classes)
    assert out.getvalue() == b"la\t4\nle\t2\nmaison\t3\n"


def test_a_file_without_words(write):
    classes = read_classes(write("classes", ""))
    assert classes.n_classes == 0 and classes.of(Vocab.of(["le"])).tolist() == [0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\t2\nb\n", r"classes:2: the line is not `word<TAB>class`"),
        ("a\t2\n\n", r"classes:2: the line is not"),
        ("a 2 3\n", r"classes:1: the line is not"),
        ("a\t2\nb\tx\n", r"classes:2: a class is a whole number"),
        ("a\t-2\n", r"classes:1: a class is a whole number"),
        ("a\t2\nb\t3\na\t2\n", r"classes:3: the word a has a line already"),
        (b"a\t2\n\xe9\t2\n", r"classes:2:1: invalid UTF-8"),
        ("".join(f"w{n}\t{n}\n" for n in range(4097)), r"classes: 4,097 classes, more than 4,096"),
    ],
)
def test_what_is_no_file_of_classes(write, text, message):
    with pytest.raises(DataError, match=message):
        read_classes(write("classes", text))


def test_other_encodings(write):
    classes = read_classes(write("classes", b"\xe9t\xe9\t2\n"), encoding="latin-1")
    assert classes.of(Vocab.of(["été"])).tolist() == [1]
