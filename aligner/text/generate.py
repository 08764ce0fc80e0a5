"""Parallel text with exact gold links, made up from a seed.

A small grammar writes each sentence in two languages at once, so that its links are known and not
guessed. The function words are English and French. The content words are invented: their
frequencies follow Zipf's law, many have several translations, and they are the same for all seeds.

A phrase is (source words, target words, links), its links counted from its own first words. Phrases
grow by join(), which keeps the order of the parts, and swap(), which turns it round in the target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from random import Random
from typing import NamedTuple, TypeVar

T = TypeVar("T")
Phrase = tuple[list[str], list[str], list[int]]
Inflections = list[list[Phrase]]  # agreement or person -> table
VerbGroups = tuple[Inflections, Inflections]  # without and with an object pronoun

# A link is a number, SRC * i + TGT * j + (1 if it is only possible): it is shifted by adding, and
# numbers sort by (i, j).
TGT = 2
SRC = TGT << 10  # no target sentence has 1,024 words


def phrase(source: str, target: str) -> Phrase:
    """A fixed phrase; target words carry their links: `pas-1` a sure one, `ne?0?1` two possible."""
    words, links = [], []
    for j, marked in enumerate(target.split()):
        word, *marks = re.split(r"([-?])(\d+)", marked)  # for each link: mark, i, ""
        words.append(word)
        for mark, i in zip(marks[::3], marks[1::3], strict=True):
            links.append(SRC * int(i) + TGT * j + (mark == "?"))
    return source.split(), words, links


def join(first: Phrase, *parts: Phrase) -> Phrase:
    """The parts one after another on both sides."""
    src, tgt, links = first[0].copy(), first[1].copy(), first[2].copy()
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


def inflect(text: str, n: int) -> Inflections:
    """n tables: table k has form k of the words that are written `form0/form1/...`."""
    choices = [rf"(?:\w+/){{{k}}}(\w+)(?:/\w+){{{n - k - 1}}}" for k in range(n)]
    return [table(re.sub(choice, r"\1", text)) for choice in choices]


# Function words. Agreement is counted as feminine + 2 * plural, person as I, we, you, he, they.

DETERMINERS = inflect(
    "52 the = le/la-0 | 18 a = un/une-0 | 6 this = ce/cette-0 | 5 his = son/sa-0 |"
    "4 my = mon/ma-0 | 4 our = notre-0 | 4 their = leur-0 | 3 every = chaque-0",
    2,
) + inflect(
    "44 the = les-0 | 24 = les | 6 these = ces-0 | 5 his = ses-0 | 4 my = mes-0 | 4 our = nos-0 |"
    "4 their = leurs-0 | 3 all the = tous/toutes-0 les-1 | 3 many = beaucoup-0 de?0",
    2,
)
SUBJECTS = [
    (words, agreement, person)
    for agreement, person, text in (
        (0, 0, "7 I = je-0"),
        (2, 1, "5 we = nous-0"),
        (2, 2, "5 you = vous-0"),
        (0, 3, "7 he = il-0 | 5 it = il-0"),
        (1, 3, "4 she = elle-0 | 3 it = elle-0"),
        (2, 4, "5 they = ils-0"),
        (3, 4, "2 they = elles-0"),
    )
    for words in table(text)
]
OBJECTS = table("3 it = le | 2 it = la | 3 him = le | 2 me = me | 2 you = vous | 3 them = les")
OBLIQUES = table("2 me = moi-0 | 2 us = nous-0 | 2 you = vous-0 | 3 him = lui-0 | 2 them = eux-0")
PREPOSITIONS = table(
    "9 in = dans-0 | 2 in = en-0 | 6 to = à-0 | 5 with = avec-0 | 5 for = pour-0 | 4 on = sur-0 |"
    "3 from = de-0 | 2 at = à-0 | 2 by = par-0 | 1 against = contre-0 | 1 under = sous-0"
)
SUBJECT_RELATIVES = table("3 that = qui-0 | 2 which = qui-0 | 2 who = qui-0")
OBJECT_RELATIVES = table("3 that = que-0 | 1 which = que-0 | 3 = que")
COMPLEMENTS = table("3 that = que-0 | 1 = que")
LINKERS = table("4 and = et-0 | 3 , and = ,-0 et-1 | 3 , but = ,-0 mais-1 | 1 or = ou-0")
SUBORDINATORS = table(
    "3 because = parce-0 que-0 | 2 when = quand-0 | 1 when = lorsque-0 | 1 while = tandis-0 que-0"
)
TIMES = table(
    "4 today = aujourd'hui-0 | 3 yesterday = hier-0 | 3 now = maintenant-0 | 1 soon = bientôt-0 |"
    "2 last week = la?1 semaine-1 dernière-0 | 2 last year = l'?1 an-1 dernier-0 |"
    "2 this morning = ce-0 matin-1 | 1 every day = tous-0 les?0?1 jours-1"
)
MONTHS = table("1 March = mars-0 | 1 May = mai-0 | 1 June = juin-0 | 1 October = octobre-0")
OPENERS = table("3 however , = toutefois-0 ,-1 | 2 in fact , = en-0 fait-1 ,-2")
FORMULAS = table("3 thank you = merci-0?1 | 2 yes = oui-0 | 2 no = non-0")
STOPS = table("12 . = .-0 | 1 ! = !-0")
TITLES = [phrase("Mr.", "M.-0"), phrase("Mrs.", "Mme-0")]
OF, IN, ON = phrase("of", "de-0"), phrase("in", "en-0"), phrase("on", "le?0")
AND, VERY, PERCENT = phrase("and", "et-0"), phrase("very", "très-0"), phrase("%", "p.-0 100-0")
NOTHING: Phrase = ([], [], [])
SRC_COMMA, TGT_COMMA, QUESTION_MARK = phrase(",", ""), phrase("", ","), phrase("?", "?-0")

CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
VOWELS = frozenset("aeiouéêAEIOU")
SRC_ELISIONS = {"a": "an"}
TGT_ELISIONS = {word: f"{word[:-1]}'" for word in "le la de ne je me que lorsque".split()}
TGT_ELISIONS |= {"ce": "cet", "ma": "mon", "sa": "son"}

# Verb groups: V, Vs, present0 ... stand for forms of a verb, `^` for an object pronoun.

DO, VS, BE, WAS = "do/do/do/does/do", "V/V/V/Vs/V", "am/are/are/is/are", "was/were/were/was/were"
AVOIR, POUVOIR = "ai/avons/avez/a/ont", "peux/pouvons/pouvez/peut/peuvent"
ETRE, ETAIT = "suis/sommes/êtes/est/sont", "étais/étions/étiez/était/étaient"
PRESENT = "present0/present1/present2/present3/present4"
FUTURE = PRESENT.replace("present", "future")


def verb_groups(text: str) -> VerbGroups:
    """The text has an object pronoun everywhere; it is read once without and once with it."""
    return inflect(re.sub(r" \^(-\d)?", "", text), 5), inflect(text, 5)


FINITE = verb_groups(
    f"34 {VS} ^ = ^-1 {PRESENT}-0 | 26 Ved ^ = ^-1 {AVOIR}?0 participle-0 |"
    f"8 {DO} not V ^ = ne?0?1 ^-3 {PRESENT}-2 pas-1 | 4 {BE} Ving ^ = ^-2 {PRESENT}-1?0 |"
    f"5 did not V ^ = ne?0?1 ^-3 {AVOIR}?0?2 pas-1 participle-2 | 7 will V ^ = ^-2 {FUTURE}-1?0 |"
    f"3 will not V ^ = ne?1 ^-3 {FUTURE}-2?0 pas-1 | 7 can V ^ = {POUVOIR}-0 ^-2 infinitive-1 |"
    f"2 can not V ^ = ne?1 {POUVOIR}-0 pas-1 ^-3 infinitive-2"
)
BARE = verb_groups(f"1 V ^ = ^-1 {PRESENT}-0")  # after a question's `do` and its subject
PARTICIPIAL = verb_groups(f"1 that {VS} ^ = ^-2 gerund-1")  # the target has nothing for `that`
COPULAS = inflect(f"6 {BE} = {ETRE}-0 | 2 {BE} not = ne?1 {ETRE}-0 pas-1 | 3 {WAS} = {ETAIT}-0", 5)
QUESTIONS = inflect(
    f"4 {DO} = est-ce?0 que?0 | 1 {DO} = | 2 why {DO} = pourquoi-0 | 2 how {DO} = comment-0", 5
)

# Content words. By their last sounds they are never function words.

SRC_SOUNDS = (
    "b br d dr f fl g gr h j k l m n p pl r s sh sk sl t th tr v".split() + [""] * 2,
    "a e i o u ea oo ai".split(),
    "ck ft lk lt mp nch pt rb rk rm rn sh x".split(),
)
TGT_SOUNDS = (
    "b bl c ch cr d f fr g j l m n p pr qu r s t tr v".split() + [""] * 4,
    "a é i o u ou eu oi an on in".split(),
    "b ch d g gn l m n p r t v".split(),
)
NOUN_ENDINGS = (  # masculine and feminine: singular, plural
    ("on ons", "age ages", "eau eaux", "ement ements", "al aux"),
    ("e es", "ation ations", "ité ités", "ure ures", "ette ettes"),
)
ADJECTIVE_ENDINGS = (
    "ant ante ants antes", "if ive ifs ives", "eux euse eux euses", "é ée és ées", "al ale aux ales"
)  # fmt: skip
VERB_ENDINGS = (
    "e ons ez e ent erai erons erez era eront er é ant",
    "e ons ez e ent erai erons erez era eront er é ant",
    "is issons issez it issent irai irons irez ira iront ir i issant",
)
VERB_FORMS = [*PRESENT.split("/"), *FUTURE.split("/"), "infinitive", "participle", "gerund"]
NOUN_LINKS = {  # of `N` or `N N` with `N` or `N de N`: the head is the last and the first of them
    (1, 1): [0],
    (2, 1): [0, SRC],
    (1, 3): [0, TGT + 1, 2 * TGT + 1],
    (2, 3): [SRC, TGT + 1, 2 * TGT],
}
SHARES = [(1.0,)] * 7 + [(0.8, 0.2)] * 2 + [(0.65, 0.25, 0.1)]  # of the translations of a word
COMMON = 20  # the most frequent words of a kind are no compounds and share no translations
CARDS = 1 << 16


class Lexicon(NamedTuple):
    """Decks of cards, more of them for what is more frequent: a draw takes one random number."""

    nouns: list[tuple[bool, list[Phrase]]]  # whether feminine; singular, plural
    adjectives: list[tuple[bool, list[Phrase]]]  # whether before the noun in the target; agreement
    verbs: list[dict[str, str]]  # name of the form -> word
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

    def target_forms(rank: int, endings: Sequence[str], compound: float = 0) -> list[str]:
        stem, tail = coin(TGT_SOUNDS, rank), ""
        if rank > COMMON and random() < compound:
            tail = f" de {coin(TGT_SOUNDS, rank)}on"
        return [stem + ending + tail for ending in pick(endings).split()]

    def target_noun(rank: int) -> tuple[bool, list[str]]:
        feminine = random() < 0.45
        return feminine, target_forms(rank, NOUN_ENDINGS[feminine], compound=0.1)

    def target_adjective(rank: int) -> tuple[bool, list[str]]:
        return random() < 0.15, target_forms(rank, ADJECTIVE_ENDINGS)

    def target_verb(rank: int) -> dict[str, str]:
        return dict(zip(VERB_FORMS, target_forms(rank, VERB_ENDINGS), strict=True))

    def translated(
        n: int, translate: Callable[[int], T], compound: float = 0
    ) -> Iterator[tuple[float, str, T]]:
        """Weight, source word, translation of n words from frequent to rare."""
        known: list[T] = []
        for rank in range(n):
            word = coin(SRC_SOUNDS, rank)
            if rank > COMMON and random() < compound:
                word = f"{coin(SRC_SOUNDS, rank)} {word}"
            for share in pick(SHARES):
                shared = rank > COMMON and random() < 0.05  # with another source word
                translation = pick(known) if shared else translate(rank)
                known.append(translation)
                yield share / (rank + 3), word, translation

    def s(word: str) -> str:
        return word + ("es" if word.endswith(("ch", "sh", "x")) else "s")

    def noun_form(source: str, target: str) -> Phrase:
        src, tgt = source.split(), target.split()
        return src, tgt, NOUN_LINKS[len(src), len(tgt)]

    def number(size: int) -> Phrase:
        tgt = f"{size:,}".split(",")
        return [f"{size:,}"], tgt, [TGT * j for j in range(len(tgt))]

    nouns = [
        (weight, (feminine, [noun_form(word, singular), noun_form(s(word), plural)]))
        for weight, word, (feminine, (singular, plural)) in translated(4000, target_noun, 0.08)
    ]
    adjectives = [
        (weight, (before, [([word], [form], [0]) for form in forms]))
        for weight, word, (before, forms) in translated(1500, target_adjective)
    ]
    adverbs = [  # made from the feminine of adjectives
        (weight, ([src[0] + "ly"], [tgt[0] + "ment"], links))
        for weight, (_, (_, (src, tgt, links), *_)) in adjectives[::6]
    ]
    verbs = [
        (weight, {"V": word, "Vs": s(word), "Ved": f"{word}ed", "Ving": f"{word}ing", **forms})
        for weight, word, forms in translated(1500, target_verb)
    ]
    names = [identical(coin(SRC_SOUNDS, rank).capitalize()) for rank in range(1500)]
    sizes = [*range(2, 100), *range(100, 1000, 10), *range(1000, 100000, 500)]
    return Lexicon(
        nouns=deck(nouns),
        adjectives=deck(adjectives),
        verbs=deck(verbs),
        adverbs=deck(adverbs),
        names=deck([(1 / (rank + 3), name) for rank, name in enumerate(names)]),
        numbers=deck([(1 / (rank + 3), number(size)) for rank, size in enumerate(sizes)]),
    )


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

    def noun_phrase(self, depth: int = 0) -> tuple[Phrase, int]:
        """With its agreement. depth: how many phrases and clauses it stands in."""
        u = self.random()
        if u < 0.1:
            feminine, name = self.chance(0.3), self.draw(self.lexicon.names)
            return join(TITLES[feminine], name) if self.chance(0.4) else name, int(feminine)
        feminine, forms = self.draw(self.lexicon.nouns)
        agreement = feminine + 2 * (u < 0.4)
        words = self.noun_group(forms, agreement)
        if u < 0.16:
            parts = [self.draw(self.lexicon.numbers), words]
        elif u < 0.18:
            of_the = self.after(OF, DETERMINERS[agreement][0])
            parts = [self.draw(self.lexicon.numbers), PERCENT, of_the, words]
        else:
            parts = [self.draw(DETERMINERS[agreement]), words]
        if depth < 2 and self.chance(0.2):
            parts.append(self.after(OF, self.noun_phrase(depth + 1)[0]))
        if depth == 0 and self.chance(0.08):
            parts.append(self.relative(3 + (agreement > 1)))
        if depth == 0 and self.chance(0.06):
            other, other_agreement = self.noun_phrase(1)
            parts += AND, other
            agreement = agreement & other_agreement | 2
        return join(*parts), agreement

    def after(self, preposition: Phrase, noun_phrase: Phrase) -> Phrase:
        """`of the` is `du` or `des`, possibly linked with both, unless the article is elided."""
        src, tgt, links = noun_phrase
        contraction = CONTRACTIONS.get((preposition[1][0], tgt[0]))
        if contraction is None or (tgt[0] == "le" and tgt[1][0] in VOWELS):
            return join(preposition, noun_phrase)
        links = [1, *(link + SRC if link else SRC + 1 for link in links)]
        return preposition[0] + src, [contraction, *tgt[1:]], links

    def prepositional(self, depth: int) -> Phrase:
        if self.chance(0.1):
            return join(self.draw(PREPOSITIONS), self.draw(OBLIQUES))
        return self.after(self.draw(PREPOSITIONS), self.noun_phrase(depth)[0])

    def relative(self, person: int) -> Phrase:
        """A relative clause whose pronoun is its subject, or its object, or a participle."""
        u = self.random()
        if u < 0.4:
            return join(self.draw(SUBJECT_RELATIVES), *self.verb_phrase(person, 1))
        if u < 0.6:
            return join(self.verb_group(PARTICIPIAL, person, False), self.noun_phrase(1)[0])
        subject, _, person = self.subject(1)
        return join(self.draw(OBJECT_RELATIVES), subject, self.verb_group(FINITE, person, False))

    def verb_group(self, groups: VerbGroups, person: int, pronoun: bool) -> Phrase:
        """A verb with its auxiliaries and negation, and perhaps an object pronoun."""
        verb = self.draw(self.lexicon.verbs)
        src, tgt, links = self.draw(groups[pronoun][person])
        src = [verb.get(word, word) for word in src]
        tgt = [verb.get(word, word) for word in tgt]
        if pronoun:
            (src[-1],), (tgt[tgt.index("^")],), _ = self.draw(OBJECTS)
        return src, tgt, links

    def verb_phrase(self, person: int, depth: int = 0) -> list[Phrase]:
        """Its parts: the verb group, and what follows."""
        u = self.random()
        words = self.verb_group(FINITE, person, pronoun=u < 0.12)
        if 0.12 < u < 0.2 and depth == 0:
            return [words, self.draw(COMPLEMENTS), self.clause(1)]
        rest = self.noun_phrase(depth)[0] if u > 0.4 else NOTHING
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
        words, agreement = self.noun_phrase(depth)
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
        verb_group = self.verb_group(BARE, person, pronoun=self.chance(0.15))
        return join(self.draw(QUESTIONS[person]), subject, verb_group, self.prepositional(1))

    def sentence(self) -> Phrase:
        u = self.random()
        if u < 0.06:
            return join(self.question(), QUESTION_MARK)
        if u < 0.09:
            words = self.draw(FORMULAS)
        elif u < 0.13:
            words, _ = self.noun_phrase()
        else:
            words = self.statement()
        return join(words, self.draw(STOPS))


def elide(words: list[str], elisions: dict[str, str]) -> str:
    """The line, with `le`, `de`, `a` and the like as they are before a vowel."""
    for k, word in enumerate(words):
        if word in elisions and words[k + 1][0] in VOWELS:
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
        yield elide(src, SRC_ELISIONS), elide(tgt, TGT_ELISIONS), gold
