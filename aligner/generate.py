"""Parallel text with exact gold links, made up from a seed.

A small grammar writes each sentence in two languages at once, so that its links are known and not
guessed. The function words are English and French; the content words are invented, their frequencies
follow Zipf's law, and many have several translations. The lexicon is the same for all seeds.

A phrase is (source words, target words, links), its links counted from its own first words. Phrases
grow by join(), which keeps the order of the parts, and swap(), which turns it round in the target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from random import Random
from typing import NamedTuple, TypeVar

T = TypeVar("T")
Phrase = tuple[list[str], list[str], list[int]]
VerbGroups = tuple[list[list[Phrase]], list[list[Phrase]]]  # no pronoun or one -> person -> table

# A link is a number, SRC * i + TGT * j + (1 if it is only possible): it is shifted by adding, and
# numbers sort by (i, j).
TGT = 2
SRC = TGT << 8  # no target sentence has 256 words


def phrase(source: str, target: str) -> Phrase:
    """A fixed phrase; target words carry their links: `pas-1` is a sure one, `ne?0?1` two possible."""
    words, links = [], []
    for j, marked in enumerate(target.split()):
        word, *marks = re.split(r"([-?])(\d+)", marked)  # word, (mark, i, "") for each link
        words.append(word)
        for mark, i in zip(marks[::3], marks[1::3], strict=True):
            links.append(SRC * int(i) + TGT * j + (mark == "?"))
    return source.split(), words, links


def join(*parts: Phrase) -> Phrase:
    """The parts one after another on both sides."""
    src: list[str] = []
    tgt: list[str] = []
    links: list[int] = []
    for part_src, part_tgt, part_links in parts:
        shift = SRC * len(src) + TGT * len(tgt)
        links += [link + shift for link in part_links]
        src += part_src
        tgt += part_tgt
    return src, tgt, links


def swap(a: Phrase, b: Phrase) -> Phrase:
    """`a b` in the source, `b a` in the target."""
    past_a, past_b = SRC * len(a[0]), TGT * len(b[1])
    return a[0] + b[0], b[1] + a[1], [x + past_b for x in a[2]] + [x + past_a for x in b[2]]


def table(text: str) -> list[Phrase]:
    """Phrases `weight source = target` between bars, each as many times as its weight says."""
    phrases = []
    for row in text.split("|"):
        weight, pair = row.split(maxsplit=1)
        phrases += [phrase(*pair.split("="))] * int(weight)
    return phrases


# The function words. Index of agreement: feminine + 2 * plural; of person: I, we, you, he, they.

SINGULAR = (
    "52 the = {le}-0 | 18 a = {un}-0 | 6 this = {ce}-0 | 5 his = {son}-0 | 4 my = {mon}-0 |"
    "4 our = notre-0 | 4 their = leur-0 | 3 every = chaque-0 | 1 no = {aucun}-0"
)
PLURAL = (
    "44 the = les-0 | 24 = les | 6 these = ces-0 | 5 his = ses-0 | 4 my = mes-0 | 4 our = nos-0 |"
    "4 their = leurs-0 | 3 all the = {tous}-0 les-1 | 3 many = beaucoup-0 de?0"
)
GENDERS = (
    dict(le="le", un="un", ce="ce", son="son", mon="mon", aucun="aucun", tous="tous"),
    dict(le="la", un="une", ce="cette", son="sa", mon="ma", aucun="aucune", tous="toutes"),
)
DETERMINERS = [table(text.format(**forms)) for text in (SINGULAR, PLURAL) for forms in GENDERS]
SUBJECTS = [  # phrase, agreement, person
    (words, agreement, person)
    for row, agreement, person in (
        ("7 I = je-0", 0, 0), ("5 we = nous-0", 2, 1), ("5 you = vous-0", 2, 2),
        ("7 he = il-0 | 5 it = il-0", 0, 3), ("4 she = elle-0 | 3 it = elle-0", 1, 3),
        ("5 they = ils-0", 2, 4), ("2 they = elles-0", 3, 4),
    )
    for words in table(row)
]  # fmt: skip
OBJECTS = table(
    "3 it = le | 2 it = la | 3 him = le | 2 her = la | 2 me = me | 2 us = nous | 2 you = vous |"
    "4 them = les"
)
OBLIQUES = table("2 me = moi-0 | 2 us = nous-0 | 2 you = vous-0 | 3 him = lui-0 | 2 them = eux-0")
PREPOSITIONS = table(
    "9 in = dans-0 | 2 in = en-0 | 6 to = à-0 | 5 with = avec-0 | 5 for = pour-0 | 4 on = sur-0 |"
    "3 from = de-0 | 2 at = à-0 | 2 by = par-0 | 1 against = contre-0 | 1 under = sous-0"
)
THAT_SUBJECT = table("3 that = qui-0 | 2 which = qui-0 | 2 who = qui-0")
THAT_OBJECT = table("3 that = que-0 | 1 which = que-0 | 3 = que")
THAT_CLAUSE = table("3 that = que-0 | 1 = que")
LINKERS = table("4 and = et-0 | 3 , and = ,-0 et-1 | 3 , but = ,-0 mais-1 | 1 or = ou-0 | 1 ; = ;-0")
SUBORDINATORS = table(
    "3 because = parce-0 que-0 | 2 when = quand-0 | 1 when = lorsque-0 | 1 while = tandis-0 que-0 |"
    "1 since = puisque-0 | 1 as = comme-0"
)
TIMES = table(
    "4 today = aujourd'hui-0 | 3 yesterday = hier-0 | 3 now = maintenant-0 | 1 tomorrow = demain-0 |"
    "2 last week = la?1 semaine-1 dernière-0 | 2 last year = l'?1 an-1 dernier-0 |"
    "2 this morning = ce-0 matin-1 | 1 every day = tous-0 les?0?1 jours-1 |"
    "1 at the moment = pour?0 le-1 moment-2 | 1 so far = jusque?0?1 à?0?1 présent?0?1"
)
MONTHS = table(
    "1 January = janvier-0 | 1 March = mars-0 | 1 April = avril-0 | 1 May = mai-0 | 1 June = juin-0 |"
    "1 July = juillet-0 | 1 October = octobre-0 | 1 November = novembre-0 | 1 December = décembre-0"
)
OPENERS = table(
    "3 however , = toutefois-0 ,-1 | 3 in fact , = en-0 fait-1 ,-2 | 2 yes , = oui-0 ,-1 |"
    "2 I think that = je-0 crois-1 que-2 | 2 I think = je-0 crois-1 que | 1 no , = non-0 ,-1"
)
FORMULAS = table(
    "3 thank you = merci-0?1 | 2 yes = oui-0 | 2 no = non-0 | 1 of course = bien?0?1 sûr?0?1"
)
THERE = table("3 there is = il?0 y?0 a-1 | 1 there was = il?0 y?0 avait-1")
STOPS = table("12 . = .-0 | 1 ! = !-0")
OF, AND, VERY = phrase("of", "de-0"), phrase("and", "et-0"), phrase("very", "très-0")
COMMA, SOURCE_COMMA, QUESTION_MARK = phrase("", ","), phrase(",", ""), phrase("?", "?-0")
IN, ON, PERCENT = phrase("in", "en-0"), phrase("on", "le?0"), phrase("%", "p.-0 100-0")
TITLES = [phrase("Mr.", "M.-0"), phrase("Mrs.", "Mme-0")]  # by gender

CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
VOWELS = frozenset("aeiouàâéèêôAEIOU")
SRC_ELISION = {"a": "an"}
TGT_ELISION = {"le": "l'", "la": "l'", "de": "d'", "ne": "n'", "je": "j'", "me": "m'", "que": "qu'",
               "ce": "cet", "ma": "mon", "sa": "son", "jusque": "jusqu'", "lorsque": "lorsqu'",
               "puisque": "puisqu'"}  # fmt: skip

# Verb groups. V, Vs, present ... are forms of the verb, `^` is an object pronoun if there is one.

PERSONS = [
    dict(
        zip("do Vs be was avoir être était pouvoir devoir".split(), row.split(), strict=True),
        present=f"present{person}",
        future=f"future{person}",
    )
    for person, row in enumerate(
        (
            "do V am was ai suis étais peux dois",
            "do V are were avons sommes étions pouvons devons",
            "do V are were avez êtes étiez pouvez devez",
            "does Vs is was a est était peut doit",
            "do V are were ont sont étaient peuvent doivent",
        )
    )
]


def conjugated(text: str) -> list[list[Phrase]]:
    """person -> its table"""
    return [table(text.format(**forms)) for forms in PERSONS]


def verb_groups(text: str) -> VerbGroups:
    """The tables without and with an object pronoun."""
    return conjugated(re.sub(r" \^(-\d)?", "", text)), conjugated(text)


FINITE = verb_groups(
    "34 {Vs} ^ = ^-1 {present}-0 | 26 Ved ^ = ^-1 {avoir}?0 participle-0 |"
    "8 {do} not V ^ = ne?0?1 ^-3 {present}-2 pas-1 | 4 {be} Ving ^ = ^-2 {present}-1?0 |"
    "5 did not V ^ = ne?0?1 ^-3 {avoir}?0?2 pas-1 participle-2 | 7 will V ^ = ^-2 {future}-1?0 |"
    "3 will not V ^ = ne?1 ^-3 {future}-2?0 pas-1 | 5 can V ^ = {pouvoir}-0 ^-2 infinitive-1 |"
    "2 can not V ^ = ne?1 {pouvoir}-0 pas-1 ^-3 infinitive-2 |"
    "4 must V ^ = {devoir}-0 ^-2 infinitive-1"
)
BARE = verb_groups("1 V ^ = ^-1 {present}-0")  # after a question's `do` and its subject
PARTICIPIAL = verb_groups("1 that {Vs} ^ = ^-2 gerund-1")  # the target has no word for `that`
COPULAS = conjugated(
    "6 {be} = {être}-0 | 3 {was} = {était}-0 | 2 {be} not = ne?1 {être}-0 pas-1 |"
    "1 {was} not = ne?1 {était}-0 pas-1"
)
QUESTIONS = conjugated(
    "4 {do} = est-ce?0 que?0 | 1 {do} = | 2 why {do} = pourquoi-0 | 2 how {do} = comment-0"
)


# The content words.

SRC_SOUNDS = (
    "b br d dr f fl g gr h j k l m n p pl r s sh sk sl t th tr v".split() + [""] * 2,
    "a e i o u ea oo ai".split(),
    "ck ft g lk m mp nch nd p rb rk rm sh t x".split(),
)
TGT_SOUNDS = (
    "b bl c ch cr d f fr g j l m n p pr qu r s t tr v".split() + [""] * 4,
    "a é i o u ou eu oi an on in".split(),
    "b ch d g gn l m n p r t v".split(),
)
NAME_SOUNDS = ("B C D Dr F G H K L M N P R S T V".split(), *SRC_SOUNDS[1:])
NOUN_ENDINGS = (  # singular, plural; of the masculine, of the feminine
    (("on", "ons"), ("age", "ages"), ("eau", "eaux"), ("ement", "ements"), ("al", "aux")),
    (("e", "es"), ("ation", "ations"), ("ité", "ités"), ("ure", "ures"), ("ette", "ettes")),
)
ADJECTIVE_ENDINGS = [
    row.split()
    for row in ("ant ante ants antes", "if ive ifs ives", "eux euse eux euses",
                "ique ique iques iques", "é ée és ées", "al ale aux ales")
]  # fmt: skip
VERB_FORMS = [f"{tense}{person}" for tense in ("present", "future") for person in range(5)]
VERB_FORMS += ["infinitive", "participle", "gerund"]
VERB_ENDINGS = [
    "e ons ez e ent erai erons erez era eront er é ant".split(),
    "e ons ez e ent erai erons erez era eront er é ant".split(),
    "is issons issez it issent irai irons irez ira iront ir i issant".split(),
]
SHARES = [(1.0,)] * 7 + [(0.8, 0.2)] * 2 + [(0.65, 0.25, 0.1)]  # of a word's translations
NOUN_LINKS = {  # numbers of words -> links; `N de N` is headed by its first word, `N N` by its last
    (1, 1): [0],
    (2, 1): [0, SRC],
    (1, 3): [0, TGT + 1, 2 * TGT + 1],
    (2, 3): [SRC, TGT + 1, 2 * TGT],
}
CARDS = 1 << 16


class Noun(NamedTuple):
    feminine: bool
    forms: list[Phrase]  # singular, plural


class Adjective(NamedTuple):
    before: bool  # whether it stands before the noun in the target
    forms: list[Phrase]  # by agreement


class Verb(NamedTuple):
    src: dict[str, str]  # name of the form -> word
    tgt: dict[str, str]


class Lexicon(NamedTuple):
    """Decks: an item is on as many cards as its frequency asks, a draw takes one random number."""

    nouns: list[Noun]
    adjectives: list[Adjective]
    verbs: list[Verb]
    adverbs: list[Phrase]
    names: list[Phrase]
    numbers: list[Phrase]


def deck(weighted: Iterable[tuple[float, T]]) -> list[T]:
    """CARDS cards, each item on as many as its weight asks."""
    items = list(weighted)
    total = sum(weight for weight, _ in items)
    cards: list[T] = []
    seen = 0.0
    for weight, item in items:
        seen += weight
        cards += [item] * (round(CARDS * seen / total) - len(cards))
    return cards


def identical(word: str) -> Phrase:
    return [word], [word], [0]


@cache
def lexicon() -> Lexicon:
    """Built once, with random numbers of its own."""
    random = Random(0).random
    taken: set[str] = set()

    def pick(items: Sequence[T]) -> T:
        return items[int(random() * len(items))]

    def coin(sounds: Sequence[Sequence[str]], rank: int) -> str:
        """A new stem, a short one if it is frequent."""
        onsets, vowels, codas = sounds
        while True:
            n_syllables = 1 + (rank > 100) + (random() < rank / 4000)
            stem = "".join(pick(onsets) + pick(vowels) for _ in range(n_syllables)) + pick(codas)
            if stem not in taken and len(stem) > 2:
                taken.add(stem)
                return stem

    def translated(n: int, translate: Callable[[int], T]) -> Iterator[tuple[float, str, T]]:
        """Weight, source stem, translation, from frequent to rare; some translations serve two."""
        known: list[T] = []
        for rank in range(n):
            stem = coin(SRC_SOUNDS, rank)
            for share in pick(SHARES):
                if not known or random() < 0.95:
                    known.append(translate(rank))
                    translation = known[-1]
                else:
                    translation = pick(known)
                yield share / (rank + 3), stem, translation

    def target_noun(rank: int) -> tuple[bool, list[str]]:
        feminine = random() < 0.45
        stem = coin(TGT_SOUNDS, rank)
        tail = f" de {coin(TGT_SOUNDS, rank)}on" if random() < 0.1 else ""
        return feminine, [stem + ending + tail for ending in pick(NOUN_ENDINGS[feminine])]

    def target_adjective(rank: int) -> tuple[bool, list[str]]:
        stem = coin(TGT_SOUNDS, rank)
        return random() < 0.15, [stem + ending for ending in pick(ADJECTIVE_ENDINGS)]

    def target_verb(rank: int) -> dict[str, str]:
        stem = coin(TGT_SOUNDS, rank)
        endings = pick(VERB_ENDINGS)
        return {form: stem + ending for form, ending in zip(VERB_FORMS, endings, strict=True)}

    def s(stem: str) -> str:
        return stem + ("es" if stem.endswith(("ch", "sh", "x")) else "s")

    def noun_form(source: str, target: str) -> Phrase:
        src, tgt = source.split(), target.split()
        return src, tgt, NOUN_LINKS[len(src), len(tgt)]

    modifiers = [coin(SRC_SOUNDS, 1000) for _ in range(200)]
    nouns = []
    for weight, stem, (feminine, tgt) in translated(4000, target_noun):
        stem = f"{modifiers[len(nouns) % 200]} {stem}" if stem[0] in "kv" else stem
        forms = [noun_form(stem, tgt[0]), noun_form(s(stem), tgt[1])]
        nouns.append((weight, Noun(feminine, forms)))
    adjectives = [
        (weight, Adjective(before, [([stem], [form], [0]) for form in forms]))
        for weight, stem, (before, forms) in translated(1500, target_adjective)
    ]
    adverbs = [
        (weight, ([f"{src[0]}ly"], [f"{tgt[0]}ment"], links))
        for weight, (_, (_, (src, tgt, links), *_)) in adjectives[::6]
    ]
    verbs = [
        (weight, Verb({"V": stem, "Vs": s(stem), "Ved": f"{stem}ed", "Ving": f"{stem}ing"}, tgt))
        for weight, stem, tgt in translated(1500, target_verb)
    ]
    names = [(1 / (rank + 3), identical(coin(NAME_SOUNDS, rank))) for rank in range(1500)]
    sizes = [*range(2, 100), *range(100, 1000, 10), *range(1000, 100000, 500)]
    numbers = []
    for rank, size in enumerate(sizes):
        tgt_number = f"{size:,}".split(",")
        links = [TGT * j for j in range(len(tgt_number))]
        numbers.append((1 / (rank + 3), ([f"{size:,}"], tgt_number, links)))
    decks = map(deck, (nouns, adjectives, verbs, adverbs, names, numbers))
    return Lexicon(*decks)


# The sentences.


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
        if u > 0.03:
            return modifier
        return (modifier[0], [], []) if u < 0.015 else ([], modifier[1], [])

    def noun_group(self, agreement: int, noun: Noun) -> Phrase:
        """A noun with its adjectives."""
        words = noun.forms[agreement > 1]
        while self.chance(0.3):
            adjective = self.draw(self.lexicon.adjectives)
            form = self.freely(adjective.forms[agreement])
            words = join(form, words) if adjective.before else swap(form, words)
        return words

    def noun_phrase(self, depth: int = 0) -> tuple[Phrase, int]:
        """With its agreement. depth: how many noun phrases it stands in."""
        u = self.random()
        if u < 0.1:
            feminine = self.chance(0.3)
            name = self.draw(self.lexicon.names)
            return join(TITLES[feminine], name) if self.chance(0.4) else name, int(feminine)
        noun = self.draw(self.lexicon.nouns)
        agreement = noun.feminine + 2 * (u < 0.4)
        group = self.noun_group(agreement, noun)
        if u < 0.17:
            words = join(self.draw(self.lexicon.numbers), group)
        elif u < 0.19:
            the = DETERMINERS[agreement][0]
            percent = join(self.draw(self.lexicon.numbers), PERCENT)
            words = join(percent, self.after(OF, join(the, group)))
        else:
            words = join(self.draw(DETERMINERS[agreement]), group)
        if depth < 2 and self.chance(0.2):
            words = join(words, self.after(OF, self.noun_phrase(depth + 1)[0]))
        if depth == 0 and self.chance(0.08):
            words = join(words, self.relative(3 + (agreement > 1)))
        if depth == 0 and self.chance(0.06):
            other, other_agreement = self.noun_phrase(1)
            words, agreement = join(words, AND, other), agreement & other_agreement | 2
        return words, agreement

    def after(self, preposition: Phrase, noun_phrase: Phrase) -> Phrase:
        """`of the` is `du` or `des` unless the article is elided: both words are possibly linked."""
        src, tgt, links = noun_phrase
        contracted = CONTRACTIONS.get((preposition[1][0], tgt[0]))
        if contracted is None or tgt[0] == "le" and tgt[1][0] in VOWELS:
            return join(preposition, noun_phrase)
        links = [1, *(link + SRC if link else SRC + 1 for link in links)]
        return preposition[0] + src, [contracted, *tgt[1:]], links

    def prepositional(self, depth: int) -> Phrase:
        if self.chance(0.1):
            return join(self.draw(PREPOSITIONS), self.draw(OBLIQUES))
        return self.after(self.draw(PREPOSITIONS), self.noun_phrase(depth)[0])

    def relative(self, person: int) -> Phrase:
        """A relative clause about a subject, about an object, or a participle."""
        u = self.random()
        if u < 0.4:
            return join(self.draw(THAT_SUBJECT), self.verb_phrase(person, 1))
        if u < 0.6:
            return join(self.verb_group(PARTICIPIAL, person, False), self.noun_phrase(1)[0])
        subject, _, person = self.subject(1)
        return join(self.draw(THAT_OBJECT), subject, self.verb_group(FINITE, person, False))

    def verb_group(self, groups: VerbGroups, person: int, pronoun: bool) -> Phrase:
        """A verb, its auxiliaries and negation, and perhaps an object pronoun."""
        verb = self.draw(self.lexicon.verbs)
        src, tgt, links = self.draw(groups[pronoun][person])
        src = [verb.src.get(word, word) for word in src]
        tgt = [verb.tgt.get(word, word) for word in tgt]
        if pronoun:
            (src[-1],), (tgt[tgt.index("^")],), _ = self.draw(OBJECTS)
        return src, tgt, links

    def verb_phrase(self, person: int, depth: int = 0) -> Phrase:
        u = self.random()
        words = self.verb_group(FINITE, person, u < 0.12)
        adverb = self.freely(self.draw(self.lexicon.adverbs)) if self.chance(0.2) else None
        if adverb and len(words[0]) == 1:
            words = swap(adverb, words)
            adverb = None
        if 0.12 < u < 0.2 and depth == 0:
            return join(words, self.draw(THAT_CLAUSE), self.clause(1))
        if u > 0.4:
            noun_phrase, _ = self.noun_phrase(depth)
            words = join(words, swap(noun_phrase, adverb) if adverb else noun_phrase)
        elif adverb:
            words = join(words, adverb)
        return join(words, self.prepositional(depth)) if self.chance(0.3) else words

    def subject(self, depth: int = 0) -> tuple[Phrase, int, int]:
        """With its agreement and person."""
        if self.chance(0.35):
            return self.draw(SUBJECTS)
        words, agreement = self.noun_phrase(depth)
        return words, agreement, 3 + (agreement > 1)

    def clause(self, depth: int = 0) -> Phrase:
        subject, agreement, person = self.subject(depth)
        if self.chance(0.85):
            return join(subject, self.verb_phrase(person, depth))
        adjective = self.draw(self.lexicon.adjectives).forms[agreement]
        if self.chance(0.2):
            adjective = join(VERY, adjective)
        return join(subject, self.draw(COPULAS[person]), adjective)

    def time(self) -> Phrase:
        """A word, or a date: `on March 12 , 1998`, `le 12 mars 1998`."""
        if self.chance(0.75):
            return self.draw(TIMES)
        year = identical(str(1900 + int(self.random() * 110)))
        if self.chance(0.5):
            return join(IN, year)
        day = identical(str(1 + int(self.random() * 28)))
        return join(ON, swap(self.draw(MONTHS), day), SOURCE_COMMA, year)

    def statement(self) -> Phrase:
        words = self.clause()
        if self.chance(0.2):  # a time at the end, of which the target speaks first
            time = self.time()
            words = swap(words, join(time, COMMA)) if self.chance(0.6) else join(words, time)
        while len(words[0]) < 25 and self.chance(0.25):
            words = join(words, self.draw(LINKERS), self.clause())
        if len(words[0]) < 25 and self.chance(0.12):
            clause = join(self.draw(SUBORDINATORS), self.clause(1))
            words = swap(words, join(clause, COMMA)) if self.chance(0.3) else join(words, clause)
        return join(self.draw(OPENERS), words) if self.chance(0.1) else words

    def question(self) -> Phrase:
        subject, _, person = self.subject(1)
        verb_group = self.verb_group(BARE, person, self.chance(0.15))
        return join(self.draw(QUESTIONS[person]), subject, verb_group, self.prepositional(1))

    def sentence(self) -> Phrase:
        u = self.random()
        if u < 0.03:
            words = self.draw(FORMULAS)
        elif u < 0.07:
            words, _ = self.noun_phrase()
        elif u < 0.13:
            return join(self.question(), QUESTION_MARK)
        elif u < 0.17:
            words = join(self.draw(THERE), self.noun_phrase(1)[0], self.prepositional(1))
        else:
            words = self.statement()
        return join(words, self.draw(STOPS))


def elide(words: list[str], elision: dict[str, str]) -> str:
    """The sentence, with `le`, `de`, `a` and the like as they are before a vowel."""
    for j, word in enumerate(words):
        if word in elision and words[j + 1][0] in VOWELS:
            words[j] = elision[word]
    return " ".join(words)


@cache
def link_text(link: int) -> str:
    return f"{link // SRC}{'-?'[link % TGT]}{link % SRC // TGT}"


def generate(n_pairs: int, seed: int = 1) -> Iterator[tuple[str, str, str]]:
    """Sentence pairs: source line, target line, gold line (`i-j` sure, `i?j` possible) of each."""
    writer = Writer(seed)
    for _ in range(n_pairs):
        src, tgt, links = writer.sentence()
        yield elide(src, SRC_ELISION), elide(tgt, TGT_ELISION), " ".join(map(link_text, sorted(links)))
