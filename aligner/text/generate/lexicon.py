"""The content words: frequent ones are real, rare ones made up, and the same for all seeds.

Their frequencies follow Zipf's law, and many have several translations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from random import Random
from typing import NamedTuple, TypeVar

from aligner.text.generate import words
from aligner.text.generate.inflection import (
    english_s,
    english_verb,
    french_adjective,
    french_noun,
    french_verb,
)
from aligner.text.generate.phrases import SRC, TGT, Phrase, identical

T = TypeVar("T")
Noun = tuple[bool, list[Phrase]]  # whether feminine; singular, plural
Adjective = tuple[bool, list[Phrase]]  # whether before the noun in the target; by agreement
Verb = dict[str, str]  # name of the form -> word

# Made-up words. By their last sounds they are never function words.

SRC_SOUNDS = (  # at the beginning, in the middle and at the end of a syllable
    "b br d dr f fl g gr h j k l m n p pl r s sh sk sl t th tr v".split(),
    "a e i o u ea oo ai".split(),
    "ck ft lk lt mp nch pt rb rk rm rn sh x".split(),
)
TGT_SOUNDS = (
    "b bl c ch cr d f fr g j l m n p pr qu r s t tr v".split(),
    "a é i o u ou eu oi an on in".split(),
    "b ch d g gn l m n p r t v".split(),
)
NOUN_ENDINGS = (  # masculine, feminine
    ("on", "age", "eau", "ement", "al"),
    ("e", "ation", "ité", "ure", "ette"),
)
ADJECTIVE_ENDINGS = ("ant", "if", "eux", "é", "al")
VERB_ENDINGS = ("er", "er", "ir")
NOUN_LINKS = {  # of `N` or `N N` with `N` or `N de N`: the head is the last and the first of them
    (1, 1): [0],
    (2, 1): [0, SRC],
    (1, 3): [0, TGT + 1, 2 * TGT + 1],
    (2, 3): [SRC, TGT + 1, 2 * TGT],
}
SHARES = {1: (1.0,), 2: (0.8, 0.2), 3: (0.65, 0.25, 0.1)}  # of the translations of a word
N_TRANSLATIONS = [1] * 7 + [2] * 2 + [3]  # of made-up words
CARDS = 1 << 16


class Lexicon(NamedTuple):
    """Decks of cards, more of them for what is more frequent: a draw takes one random number."""

    things: list[Noun]
    people: list[Noun]
    adjectives: list[Adjective]
    transitive: list[Verb]
    intransitive: list[Verb]
    speech: list[Verb]  # with `that` and a clause
    adverbs: list[Phrase]
    names: list[Phrase]
    numbers: list[Phrase]


def deck(weighted: Sequence[tuple[float, T]]) -> list[T]:
    """CARDS cards, each item on as many as its weight asks.

    Weights are not added by sum(), which rounds otherwise from Python 3.12 on.
    """
    cuts = list(accumulate(weight for weight, _ in weighted))
    cards: list[T] = []
    for (_, item), cut in zip(weighted, cuts, strict=True):
        cards += [item] * (round(CARDS * cut / cuts[-1]) - len(cards))
    return cards


def frequency(rank: int) -> float:
    """Zipf's law."""
    return 1 / (rank + 3)


def entries(text: str) -> list[tuple[list[str], list[str]]]:
    """The forms of the source word, and its translations, of each entry of a text of words.py."""
    rows = [" ".join(entry.split()).split(" = ") for entry in text.split(";")]
    return [(word.split("/"), translations.split(", ")) for word, translations in rows]


def real_noun(translation: str) -> tuple[bool, list[str]]:
    gender, forms = translation.split(" ", 1)
    return gender == "f", french_noun(forms.split("/"))


def real_adjective(translation: str) -> tuple[bool, list[str]]:
    return translation[0] == "<", french_adjective(translation.lstrip("<").split("/"))


def noun(source: list[str], translation: tuple[bool, list[str]]) -> Noun:
    feminine, (singular, plural) = translation
    src_plural = source[1] if len(source) > 1 else english_s(source[0])
    return feminine, [noun_form(source[0], singular), noun_form(src_plural, plural)]


def noun_form(source: str, target: str) -> Phrase:
    src, tgt = source.split(), target.split()
    return src, tgt, NOUN_LINKS[len(src), len(tgt)]


def adjective(source: list[str], translation: tuple[bool, list[str]]) -> Adjective:
    before, forms = translation
    return before, [(source, [form], [0]) for form in forms]


def verb(source: list[str], translation: Verb) -> Verb:
    return {**english_verb(source), **translation}


def adverb(source: list[str], translation: str) -> Phrase:
    return source, [translation], [0]


def number(size: int) -> Phrase:
    tgt = f"{size:,}".split(",")
    return [f"{size:,}"], tgt, [TGT * j for j in range(len(tgt))]


def beginnings(text: str) -> set[str]:
    """Of all words of the text: no made-up word has such a stem, so that it can be no form of theirs."""
    return {word[:k] for word in text.split() for k in range(1, len(word) + 1)}


class Coiner:
    """Makes up words, with random numbers of its own."""

    def __init__(self) -> None:
        self.random = Random(0).random
        texts = [words.PEOPLE, words.THINGS, words.ADJECTIVES, words.ADVERBS]
        texts += [words.TRANSITIVE, words.INTRANSITIVE, words.SPEECH, words.SURNAMES]
        marks = dict.fromkeys(map(ord, ";,/=<"), " ")
        self.taken = beginnings(" ".join(texts).translate(marks).lower())

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self.random() * len(items))]

    def stem(self, sounds: Sequence[Sequence[str]], rank: int) -> str:
        """A new stem, a short one if it is frequent."""
        onsets, vowels, codas = sounds
        while True:
            n_syllables = 1 + (rank > 250) + (self.random() < rank / 4000)
            syllables = [self.pick(onsets) + self.pick(vowels) for _ in range(n_syllables)]
            stem = "".join(syllables) + self.pick(codas)
            if stem not in self.taken:
                self.taken.add(stem)
                return stem

    def target(self, rank: int, endings: Sequence[str]) -> str:
        return self.stem(TGT_SOUNDS, rank) + self.pick(endings)

    def noun(self, rank: int) -> tuple[bool, list[str]]:
        feminine = self.random() < 0.45
        word = self.target(rank, NOUN_ENDINGS[feminine])
        if self.random() < 0.1:
            word += f" de {self.target(rank, ['on'])}"
        return feminine, french_noun([word])

    def adjective(self, rank: int) -> tuple[bool, list[str]]:
        return self.random() < 0.15, french_adjective([self.target(rank, ADJECTIVE_ENDINGS)])

    def verb(self, rank: int) -> Verb:
        return french_verb(self.target(rank, VERB_ENDINGS))

    def adverb(self, rank: int) -> str:
        return self.target(rank, ["ement"])

    def translated(
        self,
        text: str,
        read: Callable[[str], T],
        n: int,
        coin: Callable[[int], T],
        ending: str = "",
        compound: float = 0,
    ) -> Iterator[tuple[float, list[str], T]]:
        """Weight, forms of the source word, translation of n words: those of the text, then made-up ones.

        ending: of made-up source words. compound: how many of them are two words.
        """
        known: list[T] = []
        real = entries(text)
        for rank in range(n):
            if rank < len(real):
                source, targets = real[rank]
                translations = list(map(read, targets))
            else:
                source = [self.stem(SRC_SOUNDS, rank) + ending]
                if self.random() < compound:
                    source = [f"{self.stem(SRC_SOUNDS, rank)} {source[0]}"]
                translations = [  # a few are shared with another source word
                    self.pick(known) if self.random() < 0.05 else coin(rank)
                    for _ in range(self.pick(N_TRANSLATIONS))
                ]
            known += translations
            for share, translation in zip(SHARES[len(translations)], translations, strict=True):
                yield share * frequency(rank), source, translation


@cache
def lexicon() -> Lexicon:
    """Built once."""
    coiner = Coiner()

    def nouns(text: str, n: int) -> list[Noun]:
        made = coiner.translated(text, real_noun, n, coiner.noun, compound=0.16)
        return deck([(weight, noun(source, translation)) for weight, source, translation in made])

    def verbs(text: str, n: int) -> list[Verb]:
        made = coiner.translated(text, french_verb, n, coiner.verb)
        return deck([(weight, verb(source, translation)) for weight, source, translation in made])

    adjectives = coiner.translated(words.ADJECTIVES, real_adjective, 1000, coiner.adjective)
    adverbs = coiner.translated(words.ADVERBS, str, 120, coiner.adverb, ending="ly")
    names = words.SURNAMES.split()
    names += [coiner.stem(SRC_SOUNDS, rank).capitalize() for rank in range(len(names), 1000)]
    sizes = [*range(2, 100), *range(100, 1000, 10), *range(1000, 100000, 500)]
    return Lexicon(
        things=nouns(words.THINGS, 2000),
        people=nouns(words.PEOPLE, 1000),
        adjectives=deck([(weight, adjective(source, x)) for weight, source, x in adjectives]),
        transitive=verbs(words.TRANSITIVE, 800),
        intransitive=verbs(words.INTRANSITIVE, 150),
        speech=verbs(words.SPEECH, len(entries(words.SPEECH))),
        adverbs=deck([(weight, adverb(source, x)) for weight, source, x in adverbs]),
        names=deck([(frequency(rank), identical(name)) for rank, name in enumerate(names)]),
        numbers=deck([(frequency(rank), number(size)) for rank, size in enumerate(sizes)]),
    )
