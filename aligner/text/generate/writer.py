"""Sentences of the grammar and the lexicon: parallel text, made up from a seed.

A small grammar writes each sentence in two languages at once, so that its links are known and not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import TypeVar

from aligner.text.generate.grammar import (
    AND,
    BARE,
    COMPLEMENTS,
    CONTRACTIONS,
    COPULAS,
    DETERMINERS,
    FINITE,
    FORMULAS,
    IN,
    LINKERS,
    MONTHS,
    NOTHING,
    OBJECT_RELATIVES,
    OBJECTS,
    OBLIQUES,
    OF,
    ON,
    OPENERS,
    PARTICIPIAL,
    PERCENT,
    PREPOSITIONS,
    QUESTION_MARK,
    QUESTIONS,
    SRC_COMMA,
    SRC_ELISIONS,
    SRC_VOWELS,
    STOPS,
    SUBJECT_RELATIVES,
    SUBJECTS,
    SUBORDINATORS,
    TGT_COMMA,
    TGT_ELISIONS,
    TGT_VOWELS,
    TIMES,
    TITLES,
    VERY,
    VerbGroups,
)
from aligner.text.generate.lexicon import Verb, lexicon
from aligner.text.generate.phrases import SRC, TGT, Phrase, identical, join, swap

T = TypeVar("T")


class Writer:
    """Builders of phrases, from words to sentences, that draw from one stream of random numbers."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed).random
        self.lexicon = lexicon()

    def draw(self, items: Sequence[T]) -> T:
        return items[int(self.random() * len(items))]

    def chance(self, p: float) -> bool:
        return self.random() < p

    def freely(self, modifier: Phrase) -> Phrase:
        """Now and then a free translation leaves a modifier out on one side."""
        u = self.random()
        if u > 0.024:
            return modifier
        return (modifier[0], [], []) if u < 0.012 else ([], modifier[1], [])

    def noun_group(self, forms: list[Phrase], agreement: int) -> Phrase:
        """A noun with its adjectives."""
        words = forms[agreement > 1]
        u = self.random()
        for _ in range((u < 0.35) + (u < 0.07)):
            before, adjective = self.draw(self.lexicon.adjectives)
            modifier = self.freely(adjective[agreement])
            words = join(modifier, words) if before else swap(modifier, words)
        return words

    def noun_phrase(self, people: float, depth: int = 0) -> tuple[Phrase, int]:
        """With its agreement. people: how often it names people; depth: how many phrases it stands in."""
        of_people, u = self.chance(people), self.random()
        if of_people and u > 0.78:
            feminine, name = self.chance(0.3), self.draw(self.lexicon.names)
            return join(TITLES[feminine], name) if self.chance(0.4) else name, int(feminine)
        feminine, forms = self.draw(self.lexicon.people if of_people else self.lexicon.things)
        agreement = feminine + 2 * (u < 0.3)
        words = self.noun_group(forms, agreement)
        if u < 0.06:
            parts = [self.draw(self.lexicon.numbers), words]
        elif u < 0.08:
            of_the = self.after(OF, DETERMINERS[agreement][0])
            parts = [self.draw(self.lexicon.numbers), PERCENT, of_the, words]
        else:
            parts = [self.draw(DETERMINERS[agreement]), words]
        if depth < 2 and self.chance(0.2):
            parts.append(self.after(OF, self.noun_phrase(0.4, depth + 1)[0]))
        if depth == 0 and self.chance(0.08):
            parts.append(self.relative(agreement, of_people))
        if depth == 0 and self.chance(0.06):
            other, other_agreement = self.noun_phrase(of_people, 1)
            parts += AND, other
            agreement = agreement & other_agreement | 2
        return join(*parts), agreement

    def after(self, preposition: Phrase, noun_phrase: Phrase) -> Phrase:
        """`of the` is `du` or `des`, possibly linked with both, unless the article is elided."""
        src, tgt, links = noun_phrase
        contraction = CONTRACTIONS.get((preposition[1][0], tgt[0]))
        if contraction is None or (tgt[0] == "le" and tgt[1][0] in TGT_VOWELS):
            return join(preposition, noun_phrase)
        links = [1, *(link + SRC if link else SRC + 1 for link in links)]
        return preposition[0] + src, [contraction, *tgt[1:]], links

    def prepositional(self, depth: int) -> Phrase:
        if self.chance(0.1):
            return join(self.draw(PREPOSITIONS), self.draw(OBLIQUES))
        return self.after(self.draw(PREPOSITIONS), self.noun_phrase(0.3, depth)[0])

    def object(self, depth: int) -> Phrase:
        return self.noun_phrase(0.15, depth)[0]

    def relative(self, agreement: int, of_people: bool) -> Phrase:
        """A relative clause whose pronoun is its subject, or its object, or a participle.

        It follows a noun phrase of this agreement.
        """
        u = self.random()
        person = 3 + (agreement > 1)
        if u < 0.4:
            return join(self.draw(SUBJECT_RELATIVES[of_people]), *self.verb_phrase(person, 1))
        if u < 0.6:
            verb = self.draw(self.lexicon.transitive)
            return join(self.verb_group(PARTICIPIAL[0][person], verb), self.object(1))
        subject, _, person = self.subject(1)
        verb = self.draw(self.lexicon.transitive)
        words = self.verb_group(FINITE[0][person], verb, agreement)
        return join(self.draw(OBJECT_RELATIVES[of_people]), subject, words)

    def verb_group(self, groups: list[Phrase], verb: Verb, agreement: int = 0) -> Phrase:
        """A verb with its auxiliaries and negation.

        agreement: of an object before the verb, which the participle shares.
        """
        src, tgt, links = self.draw(groups)
        if agreement:
            tgt = [f"participle{agreement}" if word == "participle0" else word for word in tgt]
        return [verb.get(word, word) for word in src], [verb.get(word, word) for word in tgt], links

    def with_pronoun(self, groups: VerbGroups, person: int) -> Phrase:
        """A verb group with an object pronoun."""
        ((pronoun,), (target,), _), agreement = self.draw(OBJECTS[person])
        src, tgt, links = self.verb_group(groups[1][person], self.draw(self.lexicon.transitive), agreement)
        src[-1] = pronoun
        tgt[tgt.index("^")] = target
        return src, tgt, links

    def verb_phrase(self, person: int, depth: int = 0) -> list[Phrase]:
        """Its parts: the verb group, and what follows."""
        u = self.random()
        if u > 0.4:
            words = self.verb_group(FINITE[0][person], self.draw(self.lexicon.transitive))
            rest = self.object(depth)
        elif u < 0.12:
            words, rest = self.with_pronoun(FINITE, person), NOTHING
        elif u < 0.2 and depth == 0:
            words = self.verb_group(FINITE[0][person], self.draw(self.lexicon.speech))
            return [words, self.draw(COMPLEMENTS), self.clause(1)]
        else:
            words = self.verb_group(FINITE[0][person], self.draw(self.lexicon.intransitive))
            rest = NOTHING
        if self.chance(0.2):  # an adverb, always after the verb in the target
            adverb = self.freely(self.draw(self.lexicon.adverbs))
            if len(words[0]) == 1:
                words = swap(adverb, words)
            else:
                rest = swap(rest, adverb)
        if self.chance(0.3):
            return [words, rest, self.prepositional(depth)]
        return [words, rest]

    def subject(self, depth: int = 0) -> tuple[Phrase, int, int]:
        """With its agreement and person."""
        if self.chance(0.35):
            return self.draw(SUBJECTS)
        words, agreement = self.noun_phrase(0.85, depth)
        return words, agreement, 3 + (agreement > 1)

    def clause(self, depth: int = 0) -> Phrase:
        subject, agreement, person = self.subject(depth)
        if self.chance(0.85):
            return join(subject, *self.verb_phrase(person, depth))
        adjective = self.draw(self.lexicon.adjectives)[1][agreement]
        very = VERY if self.chance(0.2) else NOTHING
        return join(subject, self.draw(COPULAS[person]), very, adjective)

    def time(self) -> Phrase:
        """`today`, `in 1998`, or `on March 12 , 1998` = `le 12 mars 1998`."""
        if self.chance(0.75):
            return self.draw(TIMES)
        year = identical(str(1900 + int(self.random() * 110)))
        if self.chance(0.5):
            return join(IN, year)
        day = identical(str(1 + int(self.random() * 28)))
        return join(ON, swap(self.draw(MONTHS), day), SRC_COMMA, year)

    def statement(self) -> Phrase:
        words = self.clause()
        if self.chance(0.2):  # a time, which the target may put first
            time = self.time()
            words = swap(words, join(time, TGT_COMMA)) if self.chance(0.6) else join(words, time)
        while len(words[0]) < 25 and self.chance(0.25):
            words = join(words, self.draw(LINKERS), self.clause())
        if len(words[0]) < 25 and self.chance(0.12):
            clause = join(self.draw(SUBORDINATORS), self.clause(1))
            moved = self.chance(0.3)
            words = swap(words, join(clause, TGT_COMMA)) if moved else join(words, clause)
        return join(self.draw(OPENERS), words) if self.chance(0.1) else words

    def question(self) -> Phrase:
        subject, _, person = self.subject(1)
        if self.chance(0.15):
            words = self.with_pronoun(BARE, person)
        else:
            words = self.verb_group(BARE[0][person], self.draw(self.lexicon.intransitive))
        return join(self.draw(QUESTIONS[person]), subject, words, self.prepositional(1))

    def sentence(self) -> Phrase:
        u = self.random()
        if u < 0.06:
            return join(self.question(), QUESTION_MARK)
        if u < 0.09:
            words = self.draw(FORMULAS)
        elif u < 0.13:
            words, _ = self.noun_phrase(0.3)
        else:
            words = self.statement()
        return join(words, self.draw(STOPS))


def elide(words: list[str], elisions: dict[str, str], vowels: frozenset[str]) -> str:
    """The line, with `le`, `de`, `a` and the like as they are before a vowel."""
    for k, word in enumerate(words):
        if word in elisions and words[k + 1][0] in vowels:
            words[k] = elisions[word]
    return " ".join(words)


@cache
def link_text(link: int) -> str:
    """`i-j`, or `i?j` if the link is only possible."""
    return f"{link // SRC}{'-?'[link % TGT]}{link % SRC // TGT}"


def generate(n_pairs: int, seed: int = 1) -> Iterator[tuple[str, str, str]]:
    """Source line, target line and gold line of each pair, the lines without newline.

    The first pairs do not depend on how many follow.
    """
    writer = Writer(seed)
    for _ in range(n_pairs):
        src, tgt, links = writer.sentence()
        gold = " ".join(map(link_text, sorted(links)))
        yield elide(src, SRC_ELISIONS, SRC_VOWELS), elide(tgt, TGT_ELISIONS, TGT_VOWELS), gold
