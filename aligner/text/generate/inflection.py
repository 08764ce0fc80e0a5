"""English and French inflection, as far as the grammar needs it."""

from __future__ import annotations

import re

PERSONS = 5  # I, we, you, he, they
FUTURE = "ai ons ez a ont".split()

# How an infinitive ends -> the present of five persons, the stem of the future, the participle, and
# the gerund where it is not made from the second person. The longest ending counts.
CONJUGATIONS = {
    "er": "e ons ez e ent er é",
    "ir": "is issons issez it issent ir i",
    "dre": "ds dons dez d dent dr du",
    "prendre": "prends prenons prenez prend prennent prendr pris",
    "tenir": "tiens tenons tenez tient tiennent tiendr tenu",
    "venir": "viens venons venez vient viennent viendr venu",
    "mettre": "mets mettons mettez met mettent mettr mis",
    "voir": "vois voyons voyez voit voient verr vu",
    "cevoir": "çois cevons cevez çoit çoivent cevr çu",
    "savoir": "sais savons savez sait savent saur su sachant",
    "vouloir": "veux voulons voulez veut veulent voudr voulu",
    "aître": "ais aissons aissez aît aissent aîtr u",
    "crire": "cris crivons crivez crit crivent crir crit",
    "lire": "lis lisons lisez lit lisent lir lu",
    "dire": "dis disons dites dit disent dir dit",
    "uire": "uis uisons uisez uit uisent uir uit",
    "croire": "crois croyons croyez croit croient croir cru",
    "rire": "ris rions riez rit rient rir ri",
    "vivre": "vis vivons vivez vit vivent vivr vécu",
    "dormir": "dors dormons dormez dort dorment dormir dormi",
    "cueillir": "cueille cueillons cueillez cueille cueillent cueiller cueilli",
    "ffrir": "ffre ffrons ffrez ffre ffrent ffrir ffert",
    "vrir": "vre vrons vrez vre vrent vrir vert",
    "envoyer": "envoie envoyons envoyez envoie envoient enverr envoyé",
    "oyer": "oie oyons oyez oie oient oier oyé",
    "uyer": "uie uyons uyez uie uient uier uyé",
    "acheter": "achète achetons achetez achète achètent achèter acheté",
    "rejeter": "rejette rejetons rejetez rejette rejettent rejetter rejeté",
    "appeler": "appelle appelons appelez appelle appellent appeller appelé",
    "mener": "mène menons menez mène mènent mèner mené",
}  # fmt: skip


def english_s(word: str) -> str:
    """The plural of a noun, the third person of a verb."""
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    return f"{word[:-1]}ies" if re.search("[^aeiou]y$", word) else f"{word}s"


def english_verb(forms: list[str]) -> dict[str, str]:
    """Of the verb, or the verb and its past, or these and its form in -ing."""
    word = forms[0]
    regular_past = f"{word}d" if word.endswith("e") else re.sub("([^aeiou])y$", r"\1i", word) + "ed"
    regular_ing = re.sub("([^e])e$", r"\1", word) + "ing"
    past, ing = [*forms[1:], *[regular_past, regular_ing][len(forms) - 1 :]]
    return {"V": word, "Vs": english_s(word), "Ved": past, "Ving": ing}


def french_plural(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith("al"):
        return f"{word[:-2]}aux"
    return f"{word}x" if word.endswith(("eau", "eu")) else f"{word}s"


def french_noun(forms: list[str]) -> list[str]:
    """Singular and plural. Of `projet de loi` only the first word changes."""
    if len(forms) == 2:
        return forms
    head, *tail = forms[0].split()
    return [forms[0], " ".join([french_plural(head), *tail])]


def french_adjective(forms: list[str]) -> list[str]:
    """By agreement, feminine + 2 * plural, from the masculine, or it and the feminine, or all four."""
    if len(forms) == 4:
        return forms
    masculine = forms[0]
    feminine = forms[1] if len(forms) > 1 else french_feminine(masculine)
    return [masculine, feminine, french_plural(masculine), f"{feminine}s"]


def french_feminine(word: str) -> str:
    for ending, feminine in (("e", "e"), ("eux", "euse"), ("if", "ive"), ("er", "ère")):
        if word.endswith(ending):
            return word.removesuffix(ending) + feminine
    return f"{word}{word[-1]}e" if word.endswith(("el", "en")) else f"{word}e"


def french_verb(infinitive: str) -> dict[str, str]:
    """present0 ... present4, future0 ... future4, infinitive, participle by agreement, gerund."""
    ending = max(filter(infinitive.endswith, CONJUGATIONS), key=len)
    stem = infinitive.removesuffix(ending)
    *present, future, participle = (stem + form for form in CONJUGATIONS[ending].split()[: PERSONS + 2])
    gerund = [stem + form for form in CONJUGATIONS[ending].split()[PERSONS + 2 :]]
    if ending == "er":  # changeons, commençons, considère
        soft = re.sub("c$", "ç", re.sub("g$", "ge", stem))
        open_stem = re.sub("é([^aeiouéy]+)$", r"è\1", stem)
        present = [open_stem + "e", soft + "ons", stem + "ez", open_stem + "e", open_stem + "ent"]
    forms = {f"present{k}": form for k, form in enumerate(present)}
    forms |= {f"future{k}": future + form for k, form in enumerate(FUTURE)}
    forms |= {f"participle{k}": form for k, form in enumerate(french_adjective([participle]))}
    return {
        **forms,
        "infinitive": infinitive,
        "gerund": gerund[0] if gerund else present[1].removesuffix("ons") + "ant",
    }
