"""Views: what they see of words, a view a side, and stems, which depend on a text's words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import words

from aligner import Corpus, Recipe, train
from aligner.text.views import LONG, describe_view, parse, parse_views, see, settled


def corpus_of(src: list[str], tgt: list[str]) -> Corpus:
    return Corpus.from_pairs([(src, tgt)])


LONG_WORDS = ["elephant", "crocodile", "hippopotamus"]
SHORT_WORDS = ["a", "bcd", "ef"]


def test_a_stem_is_a_prefix_on_a_side_of_long_words():
    corpus = corpus_of(LONG_WORDS, LONG_WORDS)
    assert settled(("word", "stem3", "stem5"), corpus) == ("word", "prefix3", "prefix5")
    exact = corpus_of(["sevenab", "sevenac"], ["sixsix", "eightabc"])  # 7 letters on average
    assert settled(("stem5",), exact) == ("prefix5",)


def test_a_stem_has_fewer_letters_on_a_side_of_short_words():
    """Two letters on average: stem5 is round(5 * 2 / 7) = 1 letter, stem12 is round(24 / 7) = 3 of them."""
    corpus = corpus_of(LONG_WORDS, SHORT_WORDS)
    assert settled(("stem5", "stem12"), corpus) == ("prefix5/prefix1", "prefix12/prefix3")
    turned = corpus_of(SHORT_WORDS, LONG_WORDS)
    assert settled(("stem5", "stem12"), turned) == ("prefix1/prefix5", "prefix3/prefix12")
    assert settled(("stem5",), corpus_of(SHORT_WORDS, SHORT_WORDS)) == ("prefix1",)
    assert settled(("stem1",), corpus_of(["a"], ["b"])) == ("prefix1",)  # one letter at least


def test_the_mean_is_over_words_not_over_tokens():
    corpus = Corpus.from_pairs([(["a"] * 50 + ["b" * 9, "c" * 11], ["b" * 9] * 4)])
    assert settled(("stem7",), corpus) == ("prefix7",)  # (1 + 9 + 11) / 3 letters


def test_letters_are_not_bytes():
    corpus = corpus_of(["\u65e5\u672c\u8a9e", "\u732b", "\u72ac\u5c0f"], LONG_WORDS)  # 2 letters, 6 bytes
    assert settled(("stem7",), corpus) == ("prefix2/prefix7",)


@given(
    src=st.lists(words, min_size=1, max_size=6),
    tgt=st.lists(words, min_size=1, max_size=6),
    n=st.integers(1, 40),
)
def test_stems_equal_slow_twin(src, tgt, n):
    def letters(side: list[str]) -> int:
        mean = sum(len(word) for word in set(side)) / len(set(side))
        return max(1, round(n * min(1.0, mean / LONG)))

    a, b = letters(src), letters(tgt)
    expected = f"prefix{a}" if a == b else f"prefix{a}/prefix{b}"
    corpus = corpus_of(src, tgt)
    assert settled((f"stem{n}",), corpus) == (expected,)
    seen = see(corpus, expected)
    assert seen.src.sentence(0) == [word[:a] for word in src]
    assert seen.tgt.sentence(0) == [word[:b] for word in tgt]


def test_views_that_become_equal_are_there_once():
    corpus = corpus_of(SHORT_WORDS, SHORT_WORDS)
    assert settled(("word", "stem3", "stem5", "prefix1"), corpus) == ("word", "prefix1")
    assert settled(("prefix2", "stem7", "stem6"), corpus) == ("prefix2",)
    assert settled(("prefix2/prefix2", "prefix2", "word/word", "word"), corpus) == ("prefix2", "word")
    assert settled(("suffix2", "prefix2", "word"), corpus) == ("suffix2", "prefix2", "word")  # in their order


def test_a_stem_may_stand_on_one_side():
    corpus = corpus_of(LONG_WORDS, SHORT_WORDS)
    assert settled(("stem7/word", "word/stem7"), corpus) == ("prefix7/word", "word/prefix2")
    assert settled(("suffix2/stem7", "prefix2/stem7"), corpus) == ("suffix2/prefix2", "prefix2")


def test_stems_of_an_empty_side():
    assert settled(("word", "stem5"), Corpus.from_pairs([("", "")])) == ("word", "prefix1")
    assert settled(("stem5",), Corpus.from_pairs([])) == ("prefix1",)


def test_a_view_a_side():
    corpus = corpus_of(["walked", "walking", "cat"], ["marcher", "chat"])
    seen = see(corpus, "prefix4/suffix2")
    assert seen.src.sentence(0) == ["walk", "walk", "cat"] and seen.tgt.sentence(0) == ["er", "at"]
    assert len(seen.src.vocab) == 2 and seen.src.ids[0] == seen.src.ids[1]
    half = see(corpus, "word/prefix2")
    assert half.src is corpus.src and half.tgt.sentence(0) == ["ma", "ch"]
    assert see(corpus, "word") is corpus and see(corpus, "word/word") is corpus
    assert see(corpus, "prefix3").tgt.sentence(0) == see(corpus, "prefix3/prefix3").tgt.sentence(0)
    assert see(corpus, "stem4").src.sentence(0) == see(corpus, "prefix4").src.sentence(0)


BAD = [
    "", "/", "word/", "/word", "word/word/word", "stem", "stem0", "stem-1", "stem05", "stem5.0", "stem5x",
    "stem10000", "stems5", "Stem5", " stem5", "stem5 ", "prefix3,prefix5", "prefix3/words", "stem5\n",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_names_are_refused(name):
    for door in (parse, lambda x: parse_views(["word", x]), lambda x: see(corpus_of(["a"], ["b"]), x)):
        with pytest.raises(ValueError, match="unknown view"):
            door(name)
    with pytest.raises(ValueError):
        Recipe.of("loo", views=["word", name])


def test_names_given_twice_are_refused():
    for names in ([], ["stem5", "stem5"], ["word", "prefix1/word", "prefix1/word"]):
        with pytest.raises(ValueError, match="at least one view is needed, and none twice"):
            parse_views(names)
        with pytest.raises(ValueError, match="none twice"):
            Recipe.of("loo", views=names)
    parse_views(["stem5", "prefix5", "word/stem5"])


def test_a_model_has_the_views_that_stems_are_in_its_text():
    """A text that the model aligns later may have longer words."""
    corpus = corpus_of(SHORT_WORDS, LONG_WORDS)
    recipe = Recipe.of("loo", views=["word", "stem3", "stem7", "prefix2/prefix7"])
    model = train(corpus, recipe)
    assert recipe.views == ("word", "stem3", "stem7", "prefix2/prefix7")
    assert [view.name for view in model.views] == ["word", "prefix1/prefix3", "prefix2/prefix7"]
    assert model.recipe.views == ("word", "prefix1/prefix3", "prefix2/prefix7")
    assert model.views[2].src.words == ["a", "bc", "ef"]
    links = model.align([(["elephants", "a"], ["elephant", "crocs"])])
    assert len(links) == 1 and [view.name for view in model.views][2] == "prefix2/prefix7"


@pytest.mark.parametrize(
    "name, text",
    [
        ("word", "words"),
        ("prefix3", "first 3 letters"),
        ("suffix1", "last letter"),
        ("prefix1/word", "source: first letter, target: words"),
    ],
)
def test_views_are_told_in_words(name, text):
    assert describe_view(name) == text
