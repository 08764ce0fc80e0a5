"""The function words, and how verbs go with them.

Agreement is counted as feminine + 2 * plural, person as I, we, you, he, they.
"""

from __future__ import annotations

import re

from aligner.text.generate.phrases import Inflections, Phrase, inflect, phrase, table

VerbGroups = tuple[Inflections, Inflections]  # without and with an object pronoun

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
OBJECTS = [  # person of the subject -> pronouns that do not mean the subject, with their agreement
    [
        (words, agreement)
        for agreement, text in (
            (0, "3 it = le | 3 him = le | 2 me = me | 2 you = vous"),
            (1, "2 it = la | 1 her = la"),
            (2, "2 them = les"),
            (3, "1 them = les"),
        )
        for words in table(text)
        if words[0] != own
    ]
    for own in (["me"], ["us"], ["you"], [], [])
]
OBLIQUES = table("2 me = moi-0 | 2 us = nous-0 | 2 you = vous-0 | 3 him = lui-0 | 2 them = eux-0")
PREPOSITIONS = table(
    "8 in = dans-0 | 2 in = à-0 | 5 to = à-0 | 5 with = avec-0 | 5 for = pour-0 | 3 on = sur-0 |"
    "2 about = sur-0 | 3 from = de-0 | 2 at = à-0 | 1 by = par-0 | 2 against = contre-0 |"
    "2 after = après-0 | 2 before = avant-0 | 2 without = sans-0"
)
SUBJECT_RELATIVES = (  # of things, of people
    table("3 that = qui-0 | 2 which = qui-0"),
    table("2 that = qui-0 | 4 who = qui-0"),
)
OBJECT_RELATIVES = (
    table("3 that = que-0 | 1 which = que-0 | 3 = que"),
    table("3 that = que-0 | 1 whom = que-0 | 3 = que"),
)
COMPLEMENTS = table("3 that = que-0 | 1 = que")
LINKERS = table("4 and = et-0 | 3 , and = ,-0 et-1 | 3 , but = ,-0 mais-1 | 1 or = ou-0")
SUBORDINATORS = table(
    "3 because = parce-0 que-0 | 2 when = quand-0 | 1 when = lorsque-0 | 1 while = tandis-0 que-0"
)
TIMES = table(
    "4 today = aujourd'hui-0 | 3 now = maintenant-0 | 2 this week = cette-0 semaine-1 |"
    "2 this year = cette-0 année-1 | 2 this morning = ce-0 matin-1 | 1 here = ici-0 |"
    "1 every day = tous-0 les?0?1 jours-1 | 2 at the same time = en-0?1 même-2 temps-3"
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
SRC_VOWELS = frozenset("aeiouAEIOU")
TGT_VOWELS = SRC_VOWELS | frozenset("éêîh")  # names have a capital, aspirated H
SRC_ELISIONS = {"a": "an"}
TGT_ELISIONS = {word: f"{word[:-1]}'" for word in "le la de ne je me que lorsque".split()}
TGT_ELISIONS |= {"ce": "cet", "ma": "mon", "sa": "son"}

# Verb groups: V, Vs, present0, participle0 ... stand for forms of a verb, `^` for an object pronoun.

DO, VS, BE, WAS = "do/do/do/does/do", "V/V/V/Vs/V", "am/are/are/is/are", "was/were/were/was/were"
AVOIR, POUVOIR = "ai/avons/avez/a/ont", "peux/pouvons/pouvez/peut/peuvent"
ETRE, ETAIT = "suis/sommes/êtes/est/sont", "étais/étions/étiez/était/étaient"
PRESENT = "present0/present1/present2/present3/present4"
FUTURE = PRESENT.replace("present", "future")


def verb_groups(text: str) -> VerbGroups:
    """The text has an object pronoun everywhere; it is read once without and once with it."""
    return inflect(re.sub(r" \^(-\d)?", "", text), 5), inflect(text, 5)


FINITE = verb_groups(
    f"34 {VS} ^ = ^-1 {PRESENT}-0 | 26 Ved ^ = ^-1 {AVOIR}?0 participle0-0 |"
    f"8 {DO} not V ^ = ne?0?1 ^-3 {PRESENT}-2 pas-1 | 4 {BE} Ving ^ = ^-2 {PRESENT}-1?0 |"
    f"5 did not V ^ = ne?0?1 ^-3 {AVOIR}?0?2 pas-1 participle0-2 | 7 will V ^ = ^-2 {FUTURE}-1?0 |"
    f"3 will not V ^ = ne?1 ^-3 {FUTURE}-2?0 pas-1 | 7 can V ^ = {POUVOIR}-0 ^-2 infinitive-1 |"
    f"2 can not V ^ = ne?1 {POUVOIR}-0 pas-1 ^-3 infinitive-2"
)
BARE = verb_groups(f"1 V ^ = ^-1 {PRESENT}-0")  # after a question's `do` and its subject
PARTICIPIAL = verb_groups(f"1 that {VS} ^ = ^-2 gerund-1")  # the target has nothing for `that`
COPULAS = inflect(f"6 {BE} = {ETRE}-0 | 2 {BE} not = ne?1 {ETRE}-0 pas-1 | 3 {WAS} = {ETAIT}-0", 5)
QUESTIONS = inflect(
    f"4 {DO} = est-ce?0 que?0 | 1 {DO} = | 2 why {DO} = pourquoi-0 | 2 how {DO} = comment-0", 5
)
